//! docs/dependencies.md has every dependency, in the right table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tree::{ROOT, read};

/// Returns the crates in the first column of the table that follows this heading.
fn listed(page: &str, heading: &str) -> BTreeSet<String> {
    let (_, after) = page.split_once(heading).unwrap_or_else(|| panic!("there is no {heading}"));
    let rows = after.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    rows.take_while(|line| line.starts_with('|'))
        .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split(','))
        .map(|name| name.trim().to_owned())
        .collect()
}

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

#[test]
fn every_dependency_has_a_reason() {
    let page = read("docs/dependencies.md");
    let (command, others) = (listed(&page, "## In the command"), listed(&page, "## In tests"));
    let all = keys(&read("Cargo.toml"), |table| table == "[workspace.dependencies]");
    assert!(all.len() > 30, "{all:?}");
    assert_eq!(command.union(&others).cloned().collect::<BTreeSet<_>>(), all);
    let needed: BTreeSet<_> = needed().intersection(&all).cloned().collect();
    assert_eq!(
        needed.intersection(&others).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "the command needs them"
    );
    // Beside those that are in a default feature.
    let optional: Vec<_> = command.difference(&needed).map(String::as_str).collect();
    assert_eq!(optional, ["mio", "polling", "tokio"]);
}
