//! The picture in docs/architecture.md has every crate, and every crate is above its dependencies.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::tree::{ROOT, blocks, read};

/// Returns the crates of the workspace, each with its dependencies except dev-dependencies.
fn crates() -> BTreeMap<String, Vec<String>> {
    let folders = fs::read_dir(Path::new(ROOT).join("crates")).expect("the crates are here");
    let names = folders.map(|entry| entry.expect("a folder can be read").file_name());
    let names: Vec<_> = names.map(|name| name.into_string().expect("a crate has a plain name")).collect();
    let own = |name: &String| {
        let dependencies = dependencies(&read(&format!("crates/{name}/Cargo.toml")));
        dependencies.into_iter().filter(|dependency| names.contains(dependency)).collect()
    };
    names.iter().map(|name| (name.clone(), own(name))).collect()
}

/// Returns the dependencies in a manifest, of all systems.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut is_listed = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_listed = line == "[dependencies]" || line.ends_with(".dependencies]");
        } else if let Some((key, _)) = line.split_once(['.', ' ']).filter(|_| is_listed) {
            found.push(key.to_owned());
        }
    }
    found
}

/// Returns the floor of each box by the first word of each line in it. Floors are counted from the top.
fn floors(picture: &str) -> BTreeMap<&str, usize> {
    let mut floors = BTreeMap::new();
    let mut floor = 0;
    for line in picture.lines() {
        floor += usize::from(line.contains('┌'));
        for word in line.split('│').filter_map(|inside| inside.split_whitespace().next()) {
            floors.entry(word).or_insert(floor);
        }
    }
    floors
}

#[test]
fn the_picture_shows_every_crate_above_its_dependencies() {
    let page = read("docs/architecture.md");
    let floors = floors(blocks(&page, "text")[0]);
    let mut arrows = 0;
    for (name, dependencies) in crates() {
        let floor = floors.get(name.as_str()).unwrap_or_else(|| panic!("the picture has no box {name}"));
        for dependency in &dependencies {
            arrows += 1;
            assert!(floor < &floors[dependency.as_str()], "{name} is not above {dependency}");
        }
    }
    assert!(arrows > 30, "{arrows}");
}
