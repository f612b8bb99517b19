//! The modules of the large crates have no circular dependencies.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;

/// The modules of the same crate that each module uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns the names after `crate::` in the code, without comments and unit tests.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        // `{a, b::c}` contains several names.
        let group =
            path.strip_prefix('{').and_then(|rest| rest.split_once(';')).map_or(path, |(group, _)| group);
        let words = group.split(|c| !is_word(c)).filter(|word| !word.is_empty());
        names.extend(words.take(if path.starts_with('{') { usize::MAX } else { 1 }).map(str::to_owned));
    }
    names
}

fn uses(tree: &Tree, krate: &str) -> Uses {
    let mut uses = Uses::new();
    let source = format!("crates/{krate}/src/");
    for file in tree.of("rs") {
        let Some(inside) = file.path.strip_prefix(&source) else { continue };
        if inside.ends_with("tests.rs") {
            continue;
        }
        let module = inside.split(['/', '.']).next().expect("the file has a name");
        uses.entry(module.to_owned()).or_default().extend(named(&file.text));
    }
    uses.retain(|module, _| module != "lib" && module != "main");
    let modules: BTreeSet<_> = uses.keys().cloned().collect();
    for (module, names) in &mut uses {
        names.retain(|name| name != module && modules.contains(name));
    }
    uses
}

/// Removes modules without dependencies until none is left to remove. Returns the remaining modules: those of
/// circles, and those that depend on circles.
fn circles(mut uses: Uses) -> Uses {
    loop {
        let leaves: BTreeSet<_> =
            uses.iter().filter(|(_, names)| names.is_empty()).map(|(module, _)| module.clone()).collect();
        if leaves.is_empty() {
            return uses;
        }
        uses.retain(|module, _| !leaves.contains(module));
        uses.values_mut().for_each(|names| names.retain(|name| !leaves.contains(name)));
    }
}

/// Looks at the modules of each crate.
pub fn none(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let looked = [
        "core/metadata",
        "matrix/matrix",
        "matrix/pollmatrix",
        "matrix/scenarios",
        "matrix/report",
        "lab/adapters",
        "lab/cost",
        "lab/explore",
        "lab/raw",
    ]
    .map(|krate| {
        let uses = uses(tree, krate);
        let modules = uses.len();
        assert!(modules > 5, "{krate}: {uses:?}");
        let circles = circles(uses);
        if !circles.is_empty() {
            problems.push(format!("{krate} has modules in circles, or above circles: {circles:#?}"));
        }
        modules
    });
    looked.iter().sum()
}
