//! The rings: core names neither matrix nor lab, matrix does not name lab, and only the command names all.
//! The picture in docs/architecture.md shows the crates in this order.

use std::env;
use std::process::Command;

use serde_json::Value;

use crate::tree::{ROOT, blocks, read};

/// The rings, each above those that it may name. The command is a ring of its own.
const RINGS: [&str; 4] = ["command", "lab", "matrix", "core"];

/// A crate of the workspace.
#[derive(Clone, PartialEq, Debug)]
struct Place {
    ring: &'static str,
    folder: String,
}

impl Place {
    /// Returns the place of the crate in this folder of the tree. `tests/cells` has the cells as tests of the
    /// command.
    fn new(path: &str) -> Self {
        let inside = path.trim_start_matches('/').strip_prefix("crates/").unwrap_or("command/cells");
        let (ring, folder) = inside.split_once('/').expect("a crate is in the folder of a ring");
        let ring = if folder == "pollmatrix" { "command" } else { ring };
        let known = RINGS.into_iter().find(|known| *known == ring);
        Self { ring: known.unwrap_or_else(|| panic!("{path}: no ring {ring}")), folder: folder.to_owned() }
    }

    /// Whether a manifest here may name a crate there.
    fn may_name(&self, other: &Self) -> bool {
        let floor = |place: &Self| RINGS.iter().position(|ring| *ring == place.ring);
        floor(self) <= floor(other)
    }
}

/// Returns each crate with the crates of the workspace that its manifest names, and whether as a
/// dev-dependency.
fn crates() -> Vec<(Place, Vec<(Place, bool)>)> {
    let mut cargo = Command::new(env::var("CARGO").unwrap_or("cargo".to_owned()));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(ROOT);
    let output = cargo.output().expect("cargo starts");
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}:\n{}", String::from_utf8_lossy(&output.stderr)));
    let root = metadata["workspace_root"].as_str().expect("a path");
    let place = |path: &Value| Some(Place::new(path.as_str()?.strip_prefix(root)?));
    let packages = metadata["packages"].as_array().expect("a list").iter().map(|package| {
        let manifest = package["manifest_path"].as_str().expect("a path");
        let from = place(&manifest.trim_end_matches("/Cargo.toml").into()).expect("a crate of the workspace");
        let dependencies = package["dependencies"].as_array().expect("a list").iter();
        let named = dependencies.filter_map(|to| Some((place(&to["path"])?, to["kind"] == "dev")));
        (from, named.collect())
    });
    packages.collect()
}

/// Of all systems and kinds: tests and build scripts keep to the rings, too.
#[test]
fn no_manifest_names_a_crate_of_a_ring_above_its_own() {
    let crates = crates();
    let arrows: Vec<_> =
        crates.iter().flat_map(|(from, named)| named.iter().map(move |(to, _)| (from, to))).collect();
    let wrong: Vec<_> = arrows.iter().filter(|(from, to)| !from.may_name(to)).collect();
    assert!(
        wrong.is_empty(),
        "error: {wrong:#?}\nhelp: the matrix asks the lab through the trait matrix::Lab"
    );
    assert!(arrows.len() > 60, "{}", arrows.len());
}

/// Returns the crates of the picture from the top. The first word of a line is a crate, that of the upper
/// edge of a box is a ring.
fn drawn(picture: &str) -> Vec<Place> {
    let mut ring = "";
    let mut places = Vec::new();
    for line in picture.lines() {
        let word = line.split(['┌', '│', '─', ' ']).find(|word| !word.is_empty()).unwrap_or_default();
        if line.starts_with('┌') {
            ring = RINGS.into_iter().find(|known| *known == word).unwrap_or_else(|| panic!("no ring {word}"));
        } else if line.starts_with("│ ") {
            places.push(Place { ring, folder: word.to_owned() });
        }
    }
    places
}

#[test]
fn the_picture_shows_every_crate_in_its_ring_above_its_dependencies() {
    let page = read("docs/architecture.md");
    let drawn = drawn(blocks(&page, "text")[0]);
    let floor = |place: &Place| {
        let found = drawn.iter().position(|shown| shown == place);
        found.unwrap_or_else(|| panic!("the picture does not show {place:?}"))
    };
    let crates: Vec<_> = crates().into_iter().filter(|(place, _)| place.folder != "cells").collect();
    for (from, named) in &crates {
        let floor_of_from = floor(from);
        for (to, _) in named.iter().filter(|(_, is_dev)| !is_dev) {
            assert!(floor_of_from < floor(to), "{from:?} is not above {to:?}");
        }
    }
    assert_eq!(drawn.len(), crates.len(), "the picture shows a crate that does not exist, or one twice");
}

#[test]
fn the_page_of_a_ring_names_its_rooms_and_its_gate_on_one_screen() {
    for (place, _) in crates().iter().filter(|(place, _)| place.folder != "cells") {
        let ring = if place.ring == "command" { "matrix" } else { place.ring };
        let name = format!("crates/{ring}/README.md");
        let page = read(&name);
        for word in [&place.folder, &format!("just {ring}")] {
            assert!(page.contains(&format!("`{word}`")), "{name} does not name {word}");
        }
        assert!(page.lines().count() <= 45, "{name} is longer than a screen");
    }
}
