//! The modules of the runner and of the command have floors: no circle of `use` leads from one back to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Which modules of its crate each module names.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Every Rust file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the sources are here");
    let (folders, files): (Vec<_>, Vec<_>) =
        entries.map(|entry| entry.expect("a folder can be read").path()).partition(|path| path.is_dir());
    let below = folders.iter().flat_map(|folder| self::files(folder));
    let rust = files.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    rust.chain(below).collect()
}

/// The names behind `crate::` in the code, and not in the comments and the unit tests.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        // `{a, b::c}` names several.
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
        let inside = file.strip_prefix(source).expect("it is below").with_extension("");
        let module = inside.iter().next().expect("it has a name").to_string_lossy().into_owned();
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

/// What is left if all modules are taken away, again and again, that use none of those that are left.
fn circles(mut uses: Uses) -> Uses {
    loop {
        let ground: BTreeSet<_> =
            uses.iter().filter(|(_, names)| names.is_empty()).map(|(module, _)| module.clone()).collect();
        if ground.is_empty() {
            return uses;
        }
        uses.retain(|module, _| !ground.contains(module));
        uses.values_mut().for_each(|names| names.retain(|name| !ground.contains(name)));
    }
}

#[test]
fn no_module_uses_what_uses_it() {
    for krate in ["runner", "cli", "matrix", "metadata"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src");
        let uses = uses(&source);
        assert!(uses.len() > 5, "{krate}: {uses:?}");
        let left = circles(uses);
        assert!(left.is_empty(), "{krate} has circles of modules, or what leads to them: {left:#?}");
    }
}
