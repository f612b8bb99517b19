//! The CI workflow: every target of matrix.yml that says where CI can run it, and one report of all.

use std::collections::BTreeSet;

use metadata::Os;
use serde::Serialize;

use crate::axes::{Build, Vm};
use crate::ci::Ci;
use crate::file::{Matrix, Target};
use crate::templates::fill_in;
use crate::ways::Way;

/// What the template needs.
#[derive(Serialize, Default)]
struct Values {
    /// What is built once, on Linux, for the other jobs.
    builds: Vec<Built>,
    jobs: Vec<Job>,
    freebsd: Vec<Guest>,
    /// The label of the machine that builds and merges, and that virtual machines are booted on.
    runner: String,
    /// The target of that machine, whose executable drives the others.
    driver: String,
}

/// Machines that are told the same.
#[derive(Serialize)]
struct Job {
    id: &'static str,
    /// What it is called on the page, after the target.
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
    way: String,
    runner: String,
    shard: String,
    /// A part of the artifact's name: no two machines have the same.
    name: String,
}

#[derive(Serialize)]
struct Guest {
    target: String,
    release: String,
    name: String,
}

/// The text of `.github/workflows/conformance.yml`.
pub fn workflow_file(matrix: &Matrix) -> String {
    let mut values = Values::default();
    let job = |id, title, minutes| Job { id, title, minutes, machines: Vec::new() };
    let mut native = job("native", "", 30);
    // An emulator takes several times as long.
    let mut prefix = job("prefix", "behind a prefix", 90);
    let mut container = job("container", "in ${{ matrix.way }}", 30);
    let mut macos = job("macos", "", 60);
    for target in &matrix.targets {
        let Some(ci) = &target.ci else { continue };
        // macOS is built where it is run: only there is everything that Apple does not let others have.
        if target.os != Os::MacOs {
            values.builds.push(Built { target: target.id.clone(), triple: target.triple.clone() });
        }
        match ci {
            Ci::Runner { label, via, shards } => {
                if target.build == Build::Host && values.driver.is_empty() {
                    values.driver.clone_from(&target.id);
                    values.runner.clone_from(label);
                }
                for name in via {
                    let job = match name.as_str() {
                        "prefix" => &mut prefix,
                        "container" => &mut container,
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
    values.jobs = vec![native, prefix, container, macos];
    values.jobs.retain(|job| !job.machines.is_empty());
    fill_in(include_str!("../templates/conformance.yml"), values)
}

/// The machines that run a target in the ways of this name: one for each shard, and each container image.
fn machines(target: &Target, name: &str, label: &str, shards: usize) -> Vec<Machine> {
    let ways = target.ways.iter().filter(|way| way.name() == name);
    let machine = |way: &Way, number: usize| {
        let (way, file) = match way {
            Way::Container(image) => (format!("container:{image}"), format!("container-{image}")),
            other => (other.to_string(), other.to_string()),
        };
        Machine {
            name: format!("{}-{file}-{number}-of-{shards}", target.id),
            target: target.id.clone(),
            way,
            runner: label.to_owned(),
            shard: format!("{number}/{shards}"),
        }
    };
    ways.flat_map(|way| (1..=shards).map(move |number| machine(way, number))).collect()
}

/// The text of `.github/actionlint.yaml`: the linter knows the runners of its own day only.
pub fn linter_file(matrix: &Matrix) -> String {
    #[derive(Serialize)]
    struct Values<'a> {
        labels: BTreeSet<&'a str>,
    }
    let label = |target: &'_ Target| match &target.ci {
        Some(Ci::Runner { label, .. }) => Some(label.clone()),
        _ => None,
    };
    let labels: BTreeSet<String> = matrix.targets.iter().filter_map(label).collect();
    let labels = labels.iter().map(String::as_str).collect();
    fill_in(include_str!("../templates/actionlint.yaml"), Values { labels })
}
