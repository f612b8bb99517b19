//! The files that are generated for CI agree with each other, with matrix.yml, and with the scripts in `ci`.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use metadata::{Axes, Description, Layer};
use pollmatrix_matrix::{Ci, Matrix, Runner, cross_file, linter_file, targets_file, workflow_file};
use serde_json::Value;

fn matrix() -> Matrix {
    parse(include_str!("../../../../matrix.yml"))
}

fn parse(text: &str) -> Matrix {
    // The files for CI do not depend on the scenarios, which belong to crates that this one does not know.
    let (rest, _) = text.split_once("\nscenarios:\n").expect("the scenarios come last");
    let one = Description { id: "group/one", title: "One", layer: Layer::Contract, axes: Axes::PLAIN };
    let text = format!("{rest}\nscenarios:\n  - id: group/one\n");
    Matrix::parse(&text, "matrix.yml", &[one]).expect("matrix.yml is well-formed")
}

fn workflow() -> Value {
    serde_saphyr::from_str(&workflow_file(&matrix())).expect("the workflow is YAML")
}

fn jobs(workflow: &Value) -> impl Iterator<Item = (&String, &Value)> {
    workflow["jobs"].as_object().expect("jobs are a mapping").iter()
}

fn steps(workflow: &Value) -> impl Iterator<Item = &Value> {
    jobs(workflow).flat_map(|(_, job)| job["steps"].as_array().expect("steps are a list"))
}

/// Returns the machines of a job.
fn machines(job: &Value) -> &[Value] {
    job["strategy"]["matrix"]["include"].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

#[test]
fn actions_are_pinned_by_commit_with_the_version_beside_it() {
    let text = workflow_file(&matrix());
    let uses: Vec<_> =
        text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses: ")).collect();
    assert!(uses.len() > 10, "{uses:?}");
    let mut pins = BTreeMap::new();
    for action in uses {
        let (name, pin) = action.split_once('@').unwrap_or_else(|| panic!("{action} has no pin"));
        let (commit, version) = pin.split_once(" # v").unwrap_or_else(|| panic!("{action} has no version"));
        assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{action}");
        assert!(version.starts_with(|digit: char| digit.is_ascii_digit()), "{action}");
        assert_eq!(*pins.entry(name).or_insert(pin), pin, "{name} has two pins");
    }
}

#[test]
fn every_job_has_the_least_permissions_a_limit_and_a_shell_that_stops_at_errors() {
    let workflow = workflow();
    assert_eq!(workflow["permissions"], serde_json::json!({}));
    assert_eq!(workflow["defaults"]["run"]["shell"], "bash");
    for (id, job) in jobs(&workflow) {
        let mut expected = serde_json::json!({ "contents": "read" });
        match id.as_str() {
            "report" => expected["actions"] = "read".into(),
            "site" => {
                expected["pages"] = "write".into();
                expected["id-token"] = "write".into();
            }
            _ => {}
        }
        assert_eq!(job["permissions"], expected, "{id}");
        assert!(job["timeout-minutes"].as_u64().is_some_and(|minutes| minutes <= 90), "{id}");
    }
    for step in
        steps(&workflow).filter(|step| step["uses"].as_str().is_some_and(|uses| uses.contains("checkout")))
    {
        assert_eq!(step["with"]["persist-credentials"], false);
    }
}

#[test]
fn every_called_script_exists_and_is_executable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let workflow = workflow();
    let called = |step: &Value| {
        [&step["run"], &step["with"]["run"]].into_iter().find_map(|run| run.as_str().map(str::to_owned))
    };
    let words: BTreeSet<String> = steps(&workflow)
        .filter_map(called)
        .flat_map(|run| {
            run.split_whitespace()
                .filter(|word| word.starts_with("ci/"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let expected = ["ci/conformance.sh", "ci/executable.sh", "ci/report.sh", "ci/setup.sh"];
    assert_eq!(words.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    for script in words {
        let mode = root
            .join(&script)
            .metadata()
            .unwrap_or_else(|error| panic!("{script}: {error}"))
            .permissions()
            .mode();
        assert!(mode & 0o111 == 0o111, "{script} is not executable: mode {mode:o}");
    }
}

#[test]
fn the_workflow_runs_exactly_the_machines_of_matrix_yml() {
    let matrix = matrix();
    let mut expected = BTreeSet::new();
    for target in &matrix.targets {
        match &target.ci {
            None => {}
            Some(Ci::Hosted { label, runners, shards }) => {
                for runner in
                    target.runners.iter().filter(|runner| runners.iter().any(|name| name == runner.name()))
                {
                    let runner = match runner {
                        Runner::Container(image) => format!("container:{image}"),
                        Runner::Vm(machine) => format!("vm:{machine}"),
                        other => other.to_string(),
                    };
                    expected.extend(
                        (1..=*shards)
                            .map(|number| format!("{} {runner} {label} {number}/{shards}", target.id)),
                    );
                }
            }
            Some(Ci::Vm { releases, .. }) => {
                expected.extend(releases.iter().map(|release| format!("{} release {release}", target.id)));
            }
        }
    }
    let workflow = workflow();
    let mut found = BTreeSet::new();
    let mut names = BTreeSet::new();
    for (id, machine) in
        jobs(&workflow).flat_map(|(id, job)| machines(job).iter().map(move |machine| (id, machine)))
    {
        if id == "build" {
            continue;
        }
        assert!(names.insert(text(machine, "name")), "two results have the name {}", machine["name"]);
        let target = text(machine, "target");
        found.insert(match machine["release"].as_str() {
            Some(release) => format!("{target} release {release}"),
            None => {
                let [runner, label, shard] = ["runner", "label", "shard"].map(|key| text(machine, key));
                format!("{target} {runner} {label} {shard}")
            }
        });
    }
    assert_eq!(found, expected);
    assert!(!found.is_empty());
}

#[test]
fn every_downloaded_executable_is_built_by_a_job() {
    let workflow = workflow();
    let built: BTreeSet<_> =
        machines(&workflow["jobs"]["build"]).iter().map(|entry| text(entry, "target")).collect();
    for (id, job) in jobs(&workflow) {
        for step in job["steps"].as_array().expect("a list") {
            match step["with"]["name"].as_str().and_then(|name| name.strip_prefix("executable-")) {
                None => {}
                Some("${{ matrix.target }}") => {
                    let missing: Vec<_> = machines(job)
                        .iter()
                        .map(|machine| text(machine, "target"))
                        .filter(|id| !built.contains(id))
                        .collect();
                    assert!(
                        missing.is_empty(),
                        "{id} downloads executables of {missing:?}, which no job builds"
                    );
                }
                Some(target) => assert!(built.contains(target), "{id} downloads one of {target}"),
            }
        }
    }
}

#[test]
fn the_report_waits_for_all_machines_and_runs_even_if_they_fail() {
    let workflow = workflow();
    let report = &workflow["jobs"]["report"];
    let needs: BTreeSet<_> =
        report["needs"].as_array().expect("a list").iter().map(|job| job.as_str().expect("a name")).collect();
    let machines: BTreeSet<_> =
        jobs(&workflow).map(|(id, _)| id.as_str()).filter(|id| !["report", "site"].contains(id)).collect();
    assert_eq!(needs, machines);
    assert_eq!(report["if"], "always()");
    assert_eq!(workflow["jobs"]["site"]["needs"], "report");
}

#[test]
fn jobs_without_machines_are_omitted() {
    let text = include_str!("../../../../matrix.yml");
    let without: String = text
        .lines()
        .filter(|line| !line.contains("vm: freebsd") && !line.contains("runners: [prefix]"))
        .map(|line| format!("{line}\n"))
        .collect();
    let matrix = parse(&without);
    let workflow: Value = serde_saphyr::from_str(&workflow_file(&matrix)).expect("YAML");
    let ids: BTreeSet<_> = jobs(&workflow).map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, BTreeSet::from(["build", "container", "macos", "native", "report", "site", "vm"]));
    let needs = workflow["jobs"]["report"]["needs"].as_array().expect("a list");
    assert_eq!(needs.len(), ids.len() - 2);
}

#[test]
fn the_cross_file_has_the_targets_that_gcc_links() {
    let text = cross_file(&matrix());
    for triple in ["aarch64-unknown-linux-gnu", "s390x-unknown-linux-gnu", "i686-unknown-linux-gnu"] {
        let table = format!("\n[target.{triple}.env]\npassthrough = [\"POLLMATRIX_SLOW\"]\n");
        assert!(text.contains(&table), "{text}");
    }
    assert!(!text.contains("x86_64"), "{text}");
}

#[test]
fn shells_can_read_the_targets() {
    let lines = targets_file(&matrix());
    assert!(
        lines
            .contains("armv7-linux-gnueabihf\tarmv7-unknown-linux-gnueabihf\tgcc\tarm-linux-gnueabihf-gcc\n"),
        "{lines}"
    );
    assert!(lines.contains("x86_64-illumos\tx86_64-unknown-illumos\tcheck\t-\n"), "{lines}");
    assert_eq!(lines.lines().count(), matrix().targets.len());
}

#[test]
fn the_linter_file_has_every_runner_label() {
    let labels: Value = serde_saphyr::from_str(&linter_file(&matrix())).expect("YAML");
    let labels = labels["self-hosted-runner"]["labels"].as_array().expect("a list");
    let workflow = workflow();
    for machine in jobs(&workflow).flat_map(|(_, job)| machines(job)) {
        if let Some(label) = machine.get("label") {
            assert!(labels.contains(label), "{label}");
        }
    }
}
