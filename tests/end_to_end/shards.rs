//! `--shard`: cells split over several machines, and the Kubernetes Job that runs the shards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{POLLMATRIX, Sandbox, answer, id, pollmatrix};

const CELLS: [&str; 4] = ["pass", "fail", "unsupported", "broken"];

/// Returns the status of each cell in a report.
fn statuses(sandbox: &Sandbox, report: &str) -> BTreeMap<String, String> {
    let results = sandbox.json(&format!("{report}/results.json"));
    let cells = results["cells"].as_array().expect("cells is a list");
    let text = |cell: &Value, key: &str| cell[key].as_str().expect("it is text").to_owned();
    cells.iter().map(|cell| (text(cell, "id"), text(cell, "status"))).collect()
}

#[test]
fn shards_together_list_every_cell_once_and_are_about_equal() {
    let all = pollmatrix(&["list"]).stdout;
    for of in [2, 3, 4, 8] {
        let part = |number| pollmatrix(&["list", "--shard", &format!("{number}/{of}")]).stdout;
        let parts: Vec<_> = (1..=of).map(part).collect();
        let mut joined: Vec<_> = parts.iter().flat_map(|part| part.lines()).collect();
        let mut lines: Vec<_> = all.lines().collect();
        joined.sort_unstable();
        lines.sort_unstable();
        assert_eq!(joined, lines);
        for part in parts {
            let (count, share) = (part.lines().count(), lines.len() / of);
            assert!((share * 3 / 4..share * 5 / 4).contains(&count), "{count} of {} cells", lines.len());
        }
    }
}

#[test]
fn machines_that_run_their_shards_run_every_cell_once() {
    let sandbox = Sandbox::new(&CELLS, 20);
    let mut seen = BTreeSet::new();
    for shard in ["1/2", "2/2"] {
        sandbox.run(&["run", "--shard", shard]).expect(1, &[]);
        assert!(
            sandbox.results().to_string().contains(&format!("--shard {shard}")),
            "the report names the shard"
        );
        for id in statuses(&sandbox, "pollmatrix-report").into_keys() {
            assert!(seen.insert(id.clone()), "{id} is in both");
        }
    }
    assert_eq!(seen, CELLS.iter().map(|name| id(name)).collect());
}

#[test]
fn a_resumed_shard_is_the_same_shard() {
    let sandbox = Sandbox::new(&CELLS, 20);
    sandbox.run(&["run", "--shard", "1/2"]).expect(1, &[]);
    let first = statuses(&sandbox, "pollmatrix-report");
    sandbox.run(&["run", "--resume"]).expect(1, &[]);
    assert_eq!(statuses(&sandbox, "pollmatrix-report"), first);
    sandbox.run(&["run", "--resume", "--shard", "2/2"]).expect(2, &["it has other cells: --shard 1/2"]);
}

#[test]
fn a_shard_without_cells_succeeds_and_can_be_merged() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let run = |shard: &str, report: &str| sandbox.run(&["run", "--shard", shard, "--report-dir", report]);
    run("1/2", "one").expect(0, &["0 cells"]);
    run("2/2", "two").expect(0, &["1 cells: 1 pass"]);
    sandbox.run(&["merge", "one", "two"]).expect(0, &["1 cells: 1 pass"]);
    sandbox.run(&["run", "--shard", "1/2", "--filter", "nothing"]).expect(2, &["no cell matches"]);
}

#[test]
fn malformed_shards_are_refused() {
    pollmatrix(&["run", "--shard", "5/4"]).expect(2, &["there is no shard 5 of 4: they go from 1/4 to 4/4"]);
    pollmatrix(&["run", "--shard", "0/4"]).expect(2, &["there is no shard 0 of 4"]);
    pollmatrix(&["list", "--shard", "1/0"]).expect(2, &["1/0 is a shard of no machines"]);
    pollmatrix(&["list", "--shard", "half"]).expect(2, &["write K/N, such as 1/4"]);
}

/// Runs the command of docker/job.yml for every index, with the matrix of the sandbox as its arguments, and
/// compares the merged results with those of one run. `pod` makes the command run in a pod, whose volume is
/// the folder `results` of the sandbox.
fn expect_the_job_to_run_every_cell(sandbox: &Sandbox, pod: impl Fn(&Value, Command) -> Command) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docker/job.yml");
    let job: Value = serde_saphyr::from_str(&fs::read_to_string(file).expect("readable")).expect("YAML");
    let pods = job["spec"]["completions"].as_u64().expect("a number");
    assert_eq!(job["spec"]["parallelism"], pods);
    let spec = &job["spec"]["template"]["spec"];
    let container = &spec["containers"][0];
    assert_eq!(container["volumeMounts"][0]["mountPath"], container["workingDir"]);
    assert_eq!(container["volumeMounts"][0]["name"], spec["volumes"][0]["name"]);
    let words: Vec<_> = container["command"].as_array().expect("a list").iter().collect();
    sandbox.put("results/matrix.yml", sandbox.text("matrix.yml"));
    for index in 0..pods {
        let mut command = Command::new(words[0].as_str().expect("a word"));
        for word in &words[1..] {
            let word = word.as_str().expect("a word");
            // Kubernetes replaces `$$` by `$`, and `$(NAME)` by a variable of the pod.
            assert!(!word.contains("$$") && !word.replace("$((", "").contains("$("), "{word}");
            command.arg(word);
        }
        command.args(["--matrix", "matrix.yml"]).env("JOB_COMPLETION_INDEX", index.to_string());
        let ran = answer(&mut pod(&job, command));
        assert!(matches!(ran.code, Some(0 | 1)), "pod {index}: {}\n{}", ran.stdout, ran.stderr);
    }
    let shards: Vec<_> = (1..=pods).map(|number| format!("results/shard-{number}")).collect();
    let shards: Vec<_> = shards.iter().map(String::as_str).collect();
    sandbox
        .run(&[&["merge", "--report-dir", "merged"], &shards[..]].concat())
        .expect(1, &["4 cells: 1 pass"]);
    sandbox.run(&["run"]).expect(1, &["4 cells: 1 pass"]);
    assert_eq!(statuses(sandbox, "merged"), statuses(sandbox, "pollmatrix-report"));
}

#[test]
fn the_pods_of_the_job_together_run_every_cell_once() {
    let sandbox = Sandbox::new(&CELLS, 20);
    let bin = sandbox.path("bin");
    fs::create_dir(&bin).expect("writable");
    symlink(POLLMATRIX, bin.join("pollmatrix")).expect("writable");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("there is a PATH"));
    expect_the_job_to_run_every_cell(&sandbox, |_, mut command| {
        command.current_dir(sandbox.path("results")).env("PATH", &path);
        command
    });
}

/// An image with this pollmatrix, a shell and their libraries. Removed when dropped.
#[cfg(target_os = "linux")]
struct Image {
    engine: String,
    name: String,
}

#[cfg(target_os = "linux")]
impl Image {
    fn make(sandbox: &Sandbox) -> Self {
        let root = sandbox.path("image");
        let put = |from: &str, to: &str| {
            let to = root.join(to.trim_start_matches('/'));
            fs::create_dir_all(to.parent().expect("the path is in the folder")).expect("writable");
            fs::copy(from, to).expect("the file can be copied");
        };
        for (program, place) in [(POLLMATRIX, "/usr/local/bin/pollmatrix"), ("/bin/sh", "/bin/sh")] {
            put(program, place);
            let needs = answer(Command::new("ldd").arg(program)).stdout;
            for library in needs.split_whitespace().filter(|word| word.starts_with('/')) {
                put(library, library);
            }
        }
        let engine = std::env::var("CONTAINER").unwrap_or_else(|_| "docker".into());
        let name = format!("pollmatrix-test-{}", std::process::id());
        let tar = sandbox.path("image.tar").display().to_string();
        answer(Command::new("tar").arg("-cf").arg(&tar).arg("-C").arg(&root).arg(".")).expect(0, &[]);
        answer(Command::new(&engine).args(["import", &tar, &name])).expect(0, &[]);
        Self { engine, name }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Image {
    fn drop(&mut self) {
        let _ = answer(Command::new(&self.engine).args(["rmi", "--force", &self.name]));
    }
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs a container engine: `ci/runners.sh container` runs it"]
fn the_pods_of_the_job_run_in_a_container_without_privileges() {
    let sandbox = Sandbox::new(&CELLS, 20);
    let image = Image::make(&sandbox);
    expect_the_job_to_run_every_cell(&sandbox, |job, command| {
        use std::os::unix::fs::PermissionsExt;

        let results = sandbox.path("results");
        // fsGroup has this effect: the user can write to a volume of another owner.
        fs::set_permissions(&results, fs::Permissions::from_mode(0o777)).expect("ours");
        let pod = &job["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let limits = &container["resources"]["limits"];
        let text = |value: &Value| value.as_str().expect("it is text").to_owned();
        let mut engine = Command::new(&image.engine);
        engine.args(["run", "--rm", "--network", "none", "--tmpfs", "/tmp"]);
        engine.args(["--cap-drop", &text(&container["securityContext"]["capabilities"]["drop"][0])]);
        engine.args(["--security-opt", "no-new-privileges"]);
        engine.args(["--user", &pod["securityContext"]["runAsUser"].to_string()]);
        engine.args(["--cpus", &text(&limits["cpu"])]);
        engine.args(["--memory", text(&limits["memory"]).trim_end_matches('i')]);
        engine.args(["--volume", &format!("{}:{}", results.display(), text(&container["workingDir"]))]);
        engine.args(["--workdir", &text(&container["workingDir"])]);
        for (name, value) in command.get_envs() {
            let value = value.expect("it is set").display();
            engine.args(["--env", &format!("{}={value}", name.display())]);
        }
        engine.arg(&image.name).arg(command.get_program()).args(command.get_args());
        engine
    });
}
