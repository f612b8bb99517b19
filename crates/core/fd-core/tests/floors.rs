//! A file of this crate names files of its own floor and of lower floors only.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use source::{inside, is_punct};

mod source;

/// The floors, lowest first. A floor is a folder of `src`, or a file of that name. `src/lib.rs` describes
/// them.
const FLOORS: [&str; 8] = ["hooks", "words", "entry", "table", "poller", "shared", "worker", "runtime"];

/// The files of this floor may name each other in a circle: the core lends a context, and a context holds the
/// core.
const RECURSIVE: &str = "shared";

/// The only name that goes up. An entry keeps its owner and never calls it, but the interface of the owner
/// names the report that a worker passes to it.
const UPWARD: (&str, &str) = ("entry/owner.rs", "shared/ready.rs");

/// Whether a file is compiled for tests only: unit tests, models, and their helpers.
fn is_for_tests(file: &str) -> bool {
    file.starts_with("models/")
        || file.ends_with("tests.rs")
        || ["costs.rs", "model_based.rs", "testing.rs"].contains(&file)
}

/// Whether a file has wrong variants of steps. It belongs to the files of the steps.
fn is_mistakes(file: &str) -> bool {
    file.ends_with("mistakes.rs")
}

/// The source files without `lib.rs`, by their path below `src`.
fn sources() -> BTreeMap<String, TokenStream> {
    let files = source::files("fd-core").into_iter();
    let files = files.filter(|(name, _)| name != "lib.rs" && !is_for_tests(name));
    files.map(|(name, text)| (name, text.parse().unwrap())).collect()
}

fn floor_of(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

fn level(file: &str) -> usize {
    let floor = floor_of(file);
    FLOORS.iter().position(|name| *name == floor).unwrap_or_else(|| {
        panic!("error: {floor} is on no floor\nhelp: add it to FLOORS of this test, and to src/lib.rs")
    })
}

/// The path of the module of a file, below the crate.
fn module_of(file: &str) -> Vec<&str> {
    let path = file.strip_suffix(".rs").unwrap();
    path.strip_suffix("/mod").unwrap_or(path).split('/').collect()
}

fn is_ident(token: Option<&TokenTree>, wanted: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == wanted)
}

/// Appends the paths that continue `prefix` at `tokens`: one path, or those of a group in braces.
fn paths_from(prefix: &[String], tokens: &[TokenTree], found: &mut Vec<Vec<String>>) {
    match tokens.first() {
        Some(TokenTree::Ident(name)) => {
            let path: Vec<_> = prefix.iter().cloned().chain([name.to_string()]).collect();
            if is_punct(tokens.get(1), ':') && is_punct(tokens.get(2), ':') {
                paths_from(&path, &tokens[3..], found);
            } else {
                found.push(path);
            }
        }
        first => match inside(first, Delimiter::Brace) {
            Some(group) => {
                let is_comma = |token: &TokenTree| is_punct(Some(token), ',');
                group.split(is_comma).for_each(|path| paths_from(prefix, path, found));
            }
            None => found.push(prefix.to_vec()),
        },
    }
}

/// The paths of `module` that begin with `crate` or `super`, from the root of the crate. `depth` is the
/// number of modules between the tokens and the file's own. Unit tests are left out.
fn named(module: &[&str], tokens: &[TokenTree], depth: usize, found: &mut Vec<Vec<String>>) {
    let mut at = 0;
    while at < tokens.len() {
        let attribute =
            is_punct(tokens.get(at), '#').then(|| inside(tokens.get(at + 1), Delimiter::Bracket)).flatten();
        if attribute.is_some_and(|it| is_ident(it.first(), "cfg") && mentions(&it[1..], "test")) {
            // Skips the item after the attribute, up to its body or its semicolon.
            let is_end = |token: &TokenTree| {
                is_punct(Some(token), ';') || inside(Some(token), Delimiter::Brace).is_some()
            };
            at += 2;
            at += tokens[at..].iter().position(is_end).map_or(tokens.len(), |end| end + 1);
            continue;
        }
        let goes_on = is_punct(tokens.get(at + 1), ':') && is_punct(tokens.get(at + 2), ':');
        if is_ident(tokens.get(at), "crate") && goes_on {
            paths_from(&[], &tokens[at + 3..], found);
        } else if is_ident(tokens.get(at), "super") && goes_on && depth == 0 {
            let parent: Vec<_> =
                module[..module.len() - 1].iter().map(|segment| (*segment).to_owned()).collect();
            paths_from(&parent, &tokens[at + 3..], found);
        }
        if let Some(TokenTree::Group(group)) = tokens.get(at) {
            let is_module = at >= 2 && is_ident(tokens.get(at - 2), "mod");
            let inner: Vec<_> = group.stream().into_iter().collect();
            named(module, &inner, depth + usize::from(is_module), found);
        }
        at += 1;
    }
}

fn mentions(tokens: &[TokenTree], word: &str) -> bool {
    tokens.iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => mentions(&group.stream().into_iter().collect::<Vec<_>>(), word),
        _ => false,
    })
}

/// The file that has the item of a path.
fn file_of(path: &[String], files: &BTreeSet<String>) -> Option<String> {
    (1..=path.len()).rev().find_map(|length| {
        let base = path[..length].join("/");
        [format!("{base}.rs"), format!("{base}/mod.rs")].into_iter().find(|file| files.contains(file))
    })
}

/// The pairs of files of which the first names the second.
fn arrows(sources: &BTreeMap<String, TokenStream>) -> BTreeSet<(String, String)> {
    let files: BTreeSet<_> = sources.keys().cloned().collect();
    let mut arrows = BTreeSet::new();
    for (file, tokens) in sources {
        let mut paths = vec![];
        named(&module_of(file), &tokens.clone().into_iter().collect::<Vec<_>>(), 0, &mut paths);
        for path in paths {
            let Some(target) = file_of(&path, &files) else {
                // A macro is at the root of the crate, and so is `super` at the root of a floor.
                let is_macro = path.len() == 1 && ["fault", "unless"].contains(&path[0].as_str());
                assert!(
                    is_macro,
                    "error: src/{file}: crate::{} leads to no file\nhelp: name the module, not what lib.rs exports",
                    path.join("::")
                );
                continue;
            };
            if target != *file {
                arrows.insert((file.clone(), target));
            }
        }
    }
    arrows
}

/// The arrows that break the rules, each with the reason.
fn broken(arrows: &BTreeSet<(String, String)>) -> Vec<String> {
    let mut broken = vec![];
    let mut sideways: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows {
        let is_the_exception = (from.as_str(), to.as_str()) == UPWARD;
        if level(to) > level(from) && !is_the_exception {
            broken.push(format!("src/{from} goes up to src/{to}"));
        }
        if level(to) == level(from) && floor_of(from) != RECURSIVE && !is_mistakes(from) {
            sideways.entry(from).or_default().insert(to);
        }
    }
    for start in sideways.keys() {
        let (mut reached, mut next) = (BTreeSet::new(), vec![*start]);
        while let Some(file) = next.pop() {
            for to in sideways.get(file).into_iter().flatten() {
                if reached.insert(*to) {
                    next.push(to);
                }
            }
        }
        if reached.contains(start) {
            broken
                .push(format!("src/{start} comes back to itself by way of others of its floor: {reached:?}"));
        }
    }
    broken
}

#[test]
fn no_file_names_a_higher_floor_or_comes_back_to_itself() {
    let arrows = arrows(&sources());
    assert!(arrows.len() > 100, "this test finds too few arrows: {arrows:?}");
    assert!(arrows.contains(&(UPWARD.0.into(), UPWARD.1.into())), "the exception is no longer needed");
    let broken = broken(&arrows);
    assert!(
        broken.is_empty(),
        "error: {}\nhelp: a floor names lower ones only: {FLOORS:?}, see src/lib.rs",
        broken.join("\nerror: ")
    );
}

#[test]
fn every_kind_of_broken_arrow_is_found() {
    let source = |text: &str| text.parse::<TokenStream>().unwrap();
    let broken_by = |files: &[(&str, &str)]| {
        broken(&arrows(&files.iter().map(|(name, text)| ((*name).to_owned(), source(text))).collect()))
    };
    let (state, pin) = (("words/state.rs", ""), ("table/pin.rs", ""));
    assert_eq!(broken_by(&[state, ("table/pin.rs", "use crate::words::state;")]), [""; 0]);
    for up in [
        "use crate::table::pin::Pin;",
        "use crate::{hooks, table::{pin::Pin}};",
        "fn f(pin: &crate::table::pin::Pin) {}",
        "mod inner { fn f() { crate::table::pin::f() } }",
    ] {
        let found = broken_by(&[("words/state.rs", up), pin, ("hooks/mod.rs", "")]);
        assert_eq!(found, ["src/words/state.rs goes up to src/table/pin.rs"], "{up}");
    }
    let circle = [("words/a.rs", "use super::b;"), ("words/b.rs", "use crate::words::a;")];
    assert_eq!(broken_by(&circle).len(), 2);
    let tests = "#[cfg(test)] mod tests { use crate::table::pin::Pin; }";
    assert_eq!(broken_by(&[("words/state.rs", tests), pin]), [""; 0]);
}
