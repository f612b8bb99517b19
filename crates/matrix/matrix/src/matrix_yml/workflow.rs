//! Generates the CI workflow: every target of matrix.yml that has a `ci` key, and one merged report.

use std::collections::BTreeSet;

use metadata::Os;
use serde::Serialize;

use crate::matrix_yml::axes::{Build, Vm};
use crate::matrix_yml::ci::Ci;
use crate::matrix_yml::file::{Matrix, Target};
use crate::matrix_yml::runners::Runner;
use crate::matrix_yml::templates::fill_in;

/// The values of the template.
#[derive(Serialize, Default)]
struct Values {
    /// The executables that are built once, on Linux, for the other jobs.
    builds: Vec<Built>,
    jobs: Vec<Job>,
    freebsd: Vec<Guest>,
    /// The label of the hosted machine that builds, merges, and boots virtual machines.
    label: String,
    /// The target of that machine. Its executable starts the cells of other targets.
    driver: String,
}

/// Machines that run the same steps.
#[derive(Serialize)]
struct Job {
    id: &'static str,
    /// The title on the workflow's page, after the target.
    title: &'static str,
    minutes: u32,
    machines: Vec<Machine>,
}

#[derive(Serialize)]
struct Built {
    target: String,
    triple: String,
}

#[derive(Serialize)]
struct Machine {
    target: String,
    /// The runner, as `--runner` takes it.
    runner: String,
    /// The label of the hosted machine.
    label: String,
    shard: String,
    /// The machine's part of the artifact's name, which is unique.
    name: String,
}

#[derive(Serialize)]
struct Guest {
    target: String,
    release: String,
    name: String,
}

/// Returns the text of `.github/workflows/conformance.yml`.
pub fn workflow_file(matrix: &Matrix) -> String {
    let mut values = Values::default();
    let job = |id, title, minutes| Job { id, title, minutes, machines: Vec::new() };
    let mut native = job("native", "", 30);
    // An emulator needs several times as long.
    let mut prefix = job("prefix", "behind a prefix", 90);
    let mut container = job("container", "in ${{ matrix.runner }}", 30);
    // With KVM, which GitHub's Linux runners have.
    let mut vm = job("vm", "in ${{ matrix.runner }}", 90);
    let mut macos = job("macos", "", 60);
    for target in &matrix.targets {
        let Some(ci) = &target.ci else { continue };
        // macOS executables are built on macOS, because only macOS has Apple's SDK.
        if target.os != Os::MacOs {
            values.builds.push(Built { target: target.id.clone(), triple: target.triple.clone() });
        }
        match ci {
            Ci::Hosted { label, runners, shards } => {
                if target.build == Build::Host && values.driver.is_empty() {
                    values.driver.clone_from(&target.id);
                    values.label.clone_from(label);
                }
                for name in runners {
                    let job = match name.as_str() {
                        "prefix" => &mut prefix,
                        "container" => &mut container,
                        "vm" => &mut vm,
                        _ if target.os == Os::MacOs => &mut macos,
                        _ => &mut native,
                    };
                    job.machines.extend(machines(target, name, label, *shards));
                }
            }
            Ci::Vm { system: Vm::FreeBsd, releases } => {
                values.freebsd.extend(releases.iter().map(|release| Guest {
                    target: target.id.clone(),
                    release: release.clone(),
                    name: format!("{}-{release}", target.id),
                }));
            }
        }
    }
    values.jobs = vec![native, prefix, container, vm, macos];
    values.jobs.retain(|job| !job.machines.is_empty());
    fill_in(include_str!("../../templates/conformance.yml"), values)
}

/// Returns the machines that run a target with the runners of this name: one for each shard and container
/// image.
fn machines(target: &Target, name: &str, label: &str, shards: usize) -> Vec<Machine> {
    let runners = target.runners.iter().filter(|runner| runner.name() == name);
    let machine = |runner: &Runner, number: usize| {
        let runner = runner.label();
        Machine {
            name: format!("{}-{}-{number}-of-{shards}", target.id, runner.replacen(':', "-", 1)),
            target: target.id.clone(),
            runner,
            label: label.to_owned(),
            shard: format!("{number}/{shards}"),
        }
    };
    runners.flat_map(|runner| (1..=shards).map(move |number| machine(runner, number))).collect()
}

/// Returns the text of `.github/actionlint.yaml`, which lists runner labels that are newer than the linter.
pub fn linter_file(matrix: &Matrix) -> String {
    #[derive(Serialize)]
    struct Values<'a> {
        labels: BTreeSet<&'a str>,
    }
    let label = |target: &'_ Target| match &target.ci {
        Some(Ci::Hosted { label, .. }) => Some(label.clone()),
        _ => None,
    };
    let labels: BTreeSet<String> = matrix.targets.iter().filter_map(label).collect();
    let labels = labels.iter().map(String::as_str).collect();
    fill_in(include_str!("../../templates/actionlint.yaml"), Values { labels })
}
