//! The manifest of the workspace has a reason for every dependency, and says which the command needs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tree::{ROOT, read};

/// Returns the keys of a manifest's tables for which `is_wanted`, without crates of this workspace.
fn keys(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut is_listed = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_listed = is_wanted(line);
        } else if let Some((key, _)) = line.split_once(['.', ' ']).filter(|_| is_listed)
            && !line.contains("path = ")
            && !line.starts_with('#')
        {
            found.insert(key.to_owned());
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    entries.map(|entry| entry.expect("an entry can be read").path()).collect()
}

/// Returns the dependencies of the crates that every build of the command needs.
fn needed() -> BTreeSet<String> {
    let rings = entries(&Path::new(ROOT).join("crates"));
    let folders = rings.iter().filter(|path| path.is_dir()).flat_map(|ring| entries(ring));
    let manifests = folders.filter_map(|path| fs::read_to_string(path.join("Cargo.toml")).ok());
    let is_wanted = |table: &str| {
        let is_for_models = table.contains("loom") || table.contains("shuttle");
        let is_normal = table == "[dependencies]" || table.ends_with(".dependencies]");
        is_normal && !is_for_models
    };
    // The libraries that `--adapter` names are optional, and in the default features.
    let always = |manifest: String| {
        let lines = manifest.lines().filter(|line| !line.contains("optional = true"));
        keys(&lines.collect::<Vec<_>>().join("\n"), is_wanted)
    };
    manifests.flat_map(always).collect()
}

/// The line above the dependencies that `cargo run --release` does not build.
const NOT_IN_THE_COMMAND: &str = "# These are built for tests, or for a feature:";

#[test]
fn every_dependency_has_a_reason() {
    let manifest = read("Cargo.toml");
    let (command, others) = manifest.split_once(NOT_IN_THE_COMMAND).expect("the manifest has both lists");
    let others = format!("[workspace.dependencies]{others}");
    let [command, others] =
        [command, &*others].map(|part| keys(part, |table| table == "[workspace.dependencies]"));
    assert!(command.len() > 30 && others.len() > 5, "{command:?} {others:?}");
    for (reason, line) in manifest.lines().zip(manifest.lines().skip(1)) {
        let name = line.split([' ', '.']).next().unwrap_or_default();
        let is_listed = command.contains(name) || others.contains(name);
        let has_reason = reason.starts_with("# ") && reason.ends_with('.');
        assert!(!is_listed || line.contains("path = ") || has_reason, "{line}: no reason above it");
    }
    let needed: BTreeSet<_> = needed().into_iter().filter(|name| !is_of_this_workspace(name)).collect();
    assert_eq!(needed.intersection(&others).collect::<Vec<_>>(), Vec::<&String>::new(), "needed");
    // Beside those that are in a default feature.
    let optional: Vec<_> = command.difference(&needed).map(String::as_str).collect();
    assert_eq!(optional, ["mio", "polling", "tokio"]);
}

/// Whether a key of a manifest names a crate of this workspace.
fn is_of_this_workspace(name: &str) -> bool {
    read("Cargo.toml").lines().any(|line| line.starts_with(&format!("{name} = {{ package = ")))
}
