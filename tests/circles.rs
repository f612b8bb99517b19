//! The modules of the runner, the command and other large crates have no circular dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules of the same crate that each module uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns every Rust file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the sources are here");
    let (folders, files): (Vec<_>, Vec<_>) =
        entries.map(|entry| entry.expect("a folder can be read").path()).partition(|path| path.is_dir());
    let below = folders.iter().flat_map(|folder| self::files(folder));
    let rust = files.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    rust.chain(below).collect()
}

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

fn uses(source: &Path) -> Uses {
    let mut uses = Uses::new();
    for file in files(source) {
        let inside = file.strip_prefix(source).expect("the file is below the folder").with_extension("");
        let module = inside.iter().next().expect("the file has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("a source can be read");
        uses.entry(module).or_default().extend(named(&text));
    }
    let modules: BTreeSet<_> =
        uses.keys().filter(|name| *name != "lib" && *name != "main").cloned().collect();
    uses.retain(|module, _| modules.contains(module));
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

#[test]
fn no_modules_depend_on_each_other_in_a_circle() {
    for krate in ["runner", "cli", "matrix", "metadata", "scenarios", "exploration"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src");
        let uses = uses(&source);
        assert!(uses.len() > 5, "{krate}: {uses:?}");
        let circles = circles(uses);
        assert!(circles.is_empty(), "{krate} has modules in circles, or above circles: {circles:#?}");
    }
}
