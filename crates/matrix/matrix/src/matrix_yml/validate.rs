//! The rules of matrix.yml that its types do not express.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use metadata::{Axes, did_you_mean};
use serde_saphyr::{Location, Spanned};

use crate::matrix_yml::axes::Build;
use crate::matrix_yml::ci::{Ci, CiText};
use crate::matrix_yml::file::{Backend, Exclude, Scenario, Target, TargetText};
use crate::matrix_yml::runners::Runner;

/// The greatest number of threads in a group: the number of bits of a mask.
const THREADS_PER_GROUP: usize = 64;
/// The greatest number of groups.
const GROUPS: usize = 16;
/// The longest timeout, in seconds: a year, so that no sum of times overflows.
const LONGEST: u64 = 365 * 24 * 3600;

/// A problem and its remedy.
pub(crate) type Problem = (String, String);

pub(crate) fn check_backend(backend: &Backend, earlier: &[Backend]) -> Result<(), Problem> {
    check_name("backend", &backend.id)?;
    if earlier.iter().any(|other| other.id == backend.id) {
        return Err(twice("backend", &backend.id));
    }
    let name = format!("backend {}", backend.id);
    check_list(&name, "os", &backend.os)?;
    check_list(&name, "triggers", &backend.triggers)
}

/// Checks one target. An error without a location concerns the whole target.
pub(crate) fn read_target(text: TargetText) -> Result<Target, (Option<Location>, Problem)> {
    let mut runners: Vec<Runner> = Vec::new();
    for Spanned { value: runner, referenced, .. } in text.runners {
        check_runner(&text.id, &runner, &runners).map_err(|problem| (Some(referenced), problem))?;
        runners.push(runner);
    }
    let ci = text.ci.map(|Spanned { value, referenced, .. }| {
        read_ci(&text.id, value, &runners).map_err(|problem| (Some(referenced), problem))
    });
    let build = text.build.unwrap_or(Build::Host);
    let ci = ci.transpose()?;
    Ok(Target { id: text.id, triple: text.triple, os: text.os, arch: text.arch, build, runners, ci })
}

pub(crate) fn check_target(target: &Target, earlier: &[Target]) -> Result<(), Problem> {
    check_name("target", &target.id)?;
    if earlier.iter().any(|other| other.id == target.id) {
        return Err(twice("target", &target.id));
    }
    let native = |target: &Target| target.runner("native").is_some();
    if native(target) && earlier.iter().any(|other| native(other) && other.triple == target.triple) {
        let message = format!("two targets with the runner 'native' have the triple {}", target.triple);
        return Err((message, "a triple can belong to one native target only: keep one".into()));
    }
    if target.build == Build::Gcc && target.linker().is_none() {
        let message = format!("no gcc links for {}", target.triple);
        return Err((message, "its triple has no '-unknown-': write another 'build'".into()));
    }
    Ok(())
}

fn check_runner(id: &str, runner: &Runner, earlier: &[Runner]) -> Result<(), Problem> {
    match runner {
        Runner::Prefix(command) if command.trim().is_empty() => {
            return Err((format!("{id} has an empty prefix"), "write the command to put in front".into()));
        }
        Runner::Container(image) => check_name("container image", image)?,
        Runner::Vm(machine) => check_name("virtual machine", machine)?,
        Runner::Native | Runner::Prefix(_) | Runner::Ssh | Runner::Import => {}
    }
    // `--runner` can name one of several images or machines, but not one of several prefixes.
    let has_name = matches!(runner, Runner::Container(_) | Runner::Vm(_));
    let same = |other: &Runner| other == runner || (other.name() == runner.name() && !has_name);
    if earlier.iter().any(same) {
        return Err((format!("{id} has the runner '{runner}' twice"), "remove one of them".into()));
    }
    Ok(())
}

fn read_ci(id: &str, text: CiText, runners: &[Runner]) -> Result<Ci, Problem> {
    match text {
        CiText { label: Some(label), runners: names, shards, vm: None, releases: None } => {
            let names = names.unwrap_or_else(|| vec!["native".into()]);
            check_list(id, "runners", &names)?;
            let known = || runners.iter().map(Runner::name);
            if let Some(unknown) = names.iter().find(|wanted| !known().any(|name| name == **wanted)) {
                let message = format!("{id} uses '{unknown}' in CI, which is none of its 'runners'");
                return Err((message, did_you_mean(unknown, known())));
            }
            let shards = shards.unwrap_or(1);
            if shards == 0 {
                return Err((format!("{id} has 0 shards in CI"), "count them from 1".into()));
            }
            Ok(Ci::Hosted { label, runners: names, shards })
        }
        CiText { label: None, runners: None, shards: None, vm: Some(system), releases: Some(releases) } => {
            check_list(id, "releases", &releases)?;
            Ok(Ci::Vm { system, releases })
        }
        _ => Err((
            format!("the 'ci' of {id} is incomplete or mixes two forms"),
            "write { runs-on: LABEL, runners: [RUNNER, ...], shards: N } or { vm: SYSTEM, releases: [RELEASE, ...] }"
                .into(),
        )),
    }
}

pub(crate) fn check_scenario(scenario: &Scenario, axes: &Axes<'_>) -> Result<(), Problem> {
    let id = &scenario.id;
    let named = |part: &str| check_name("scenario", part).is_ok();
    if !id.split_once('/').is_some_and(|(group, name)| named(group) && named(name)) {
        let help =
            "write FAMILY/NAME with lower-case letters, digits and '-', such as migration/idle-takeover";
        return Err((format!("'{id}' is not the id of a scenario"), help.into()));
    }
    if scenario.title.trim().is_empty() {
        return Err((format!("{id} has an empty title"), "state the property in one sentence".into()));
    }
    check_list(id, "transports", axes.transports)?;
    check_list(id, "triggers", axes.triggers)?;
    check_list(id, "threads", axes.threads)?;
    check_list(id, "groups", axes.groups)?;
    if axes.threads.contains(&0) || axes.groups.contains(&0) {
        return Err((format!("{id} has a cell with 0 threads or groups"), "count them from 1".into()));
    }
    if let Some(groups) = axes.groups.iter().find(|groups| **groups > GROUPS) {
        return Err((format!("{id} has {groups} groups"), format!("there are at most {GROUPS}")));
    }
    if let Some(threads) = axes.threads.iter().find(|threads| **threads > THREADS_PER_GROUP * axes.groups[0])
    {
        let message = format!("{id} has {threads} threads in {} group(s)", axes.groups[0]);
        return Err((message, format!("a group holds at most {THREADS_PER_GROUP} threads")));
    }
    if scenario.variants.is_empty() {
        let help = "every combination has more groups than threads: add a larger number of threads";
        return Err((format!("{id} has no cells"), help.into()));
    }
    if scenario.timeout.is_zero() {
        return Err((
            format!("{id} has a timeout of 0 s"),
            "give 'timeout' in whole seconds, at least 1".into(),
        ));
    }
    if scenario.timeout.as_secs() > LONGEST {
        let message = format!("{id} has a timeout of {} s", scenario.timeout.as_secs());
        return Err((message, format!("give 'timeout' in whole seconds, at most {LONGEST}")));
    }
    Ok(())
}

/// Checks an exclude of the entry `id`, which selects these scenarios.
pub(crate) fn check_exclude(
    id: &str,
    exclude: &Exclude,
    scenarios: &[&Scenario],
    backends: &[Backend],
) -> Result<(), Problem> {
    if exclude.is_empty() {
        let help = "name at least one of backend, transport, trigger, threads, groups";
        return Err((format!("{id} excludes everything"), help.into()));
    }
    if let Some(name) = &exclude.backend
        && !backends.iter().any(|backend| backend.id == *name)
    {
        let names = backends.iter().map(|backend| backend.id.as_str());
        return Err((format!("{id} excludes the unknown backend '{name}'"), did_you_mean(name, names)));
    }
    let matches = scenarios.iter().flat_map(|scenario| &scenario.variants).any(|variant| {
        let matches = |backend: &Backend| {
            backend.triggers.contains(&variant.trigger) && exclude.matches(variant, &backend.id)
        };
        backends.iter().any(matches)
    });
    if matches { Ok(()) } else { Err((format!("an 'exclude' of {id} matches no cell"), "remove it".into())) }
}

/// Checks a name, which becomes a part of ids, of file names and of the names of generated tests.
fn check_name(kind: &str, name: &str) -> Result<(), Problem> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(allowed) {
        return Ok(());
    }
    let help = "use lower-case letters, digits, '-' and '_', beginning with a letter";
    Err((format!("'{name}' is not a name for a {kind}"), help.into()))
}

fn check_list<T: Hash + Eq + Debug>(owner: &str, what: &str, values: &[T]) -> Result<(), Problem> {
    if values.is_empty() {
        return Err((format!("{owner} has an empty list of {what}"), "omit it to use the default".into()));
    }
    let mut seen = HashSet::new();
    match values.iter().find(|value| !seen.insert(*value)) {
        Some(value) => Err((format!("{owner} lists {value:?} twice in {what}"), "remove one of them".into())),
        None => Ok(()),
    }
}

fn twice(kind: &str, id: &str) -> Problem {
    (format!("the {kind} {id} appears twice"), "ids are unique and never re-used: rename one".into())
}
