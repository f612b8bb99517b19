//! The linter: rules for the text of the tree.

use std::collections::BTreeSet;

use fd_core::hooks::fault::Fault;
use scenarios::history::{Coverage, history};

use crate::tree::{Tree, read};
use crate::{arrival, circles, citations, links};

/// Adds the places that break the rule. Returns how many places it has looked at.
type Look = fn(&Tree, &mut Vec<String>) -> usize;

/// Each rule, with the number of places that it looks at in any case: a rule that finds less is broken.
const RULES: [(&str, usize, Look); 12] = [
    ("a page of docs/, the history or the catalogue defines each id that is cited", 150, citations::defined),
    ("each step that a page names is in docs/protocol.md", 60, citations::steps_exist),
    ("cite a commit, a man page or docs/protocol.md, a step as `protocol 6.2`", 500, citations::foreign),
    ("each relative link has a target", 50, links::have_targets),
    ("a comment is at most as wide as rustfmt.toml says for code", 1000, widths),
    ("each line of mutants.tsv names a line of the core, which `ci/nightly.sh mutants` compares", 1, mutants),
    ("each test and model in the history exists", 10, tests_of_the_history),
    ("each model is in docs/protocol.md, and each model that a page names exists", 20, models),
    ("each fault of the orderings in docs/protocol.md exists", 30, broken_rules),
    ("no modules of a crate depend on each other in a circle", 100, circles::none),
    ("send with Harness::send or Endpoint::send before a fence", 100, arrival::before_a_fence),
    ("wait with Harness::wait_until_polled before the fence", 100, arrival::masks_before_a_fence),
];

#[test]
fn the_text_of_the_tree_keeps_every_rule() {
    let (tree, mut report) = (Tree::read(), String::new());
    for (rule, least, look) in RULES {
        let mut problems = Vec::new();
        let places = look(&tree, &mut problems);
        if places < least {
            problems.push(format!("the linter looks at {places} places, and there are at least {least}"));
        }
        if !problems.is_empty() {
            report += &format!("error: {}\nhelp: {rule}\n", problems.join("\nerror: "));
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// rustfmt keeps code to the width, and leaves comments alone.
fn widths(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let config = read("rustfmt.toml");
    let width = config.lines().find_map(|line| line.strip_prefix("max_width = "));
    let width: usize = width.and_then(|value| value.parse().ok()).expect("rustfmt.toml has max_width");
    let lines = tree.of("rs").flat_map(|file| (1..).zip(file.text.lines()).map(move |line| (file, line)));
    let comments = lines.filter(|(_, (_, line))| line.trim_start().starts_with("//"));
    let looked = comments.map(|(file, (number, line))| {
        if line.chars().count() > width && !is_unbreakable(line) {
            problems.push(format!("{}:{number}: {line}", file.path));
        }
    });
    looked.count()
}

/// Whether the line has one word after the marks of the comment, so that it cannot be broken. The definition
/// of a link counts as one word.
fn is_unbreakable(comment: &str) -> bool {
    let text = comment.trim_start().trim_start_matches(['/', '!']).trim();
    let words = text.split_whitespace().count();
    words == 1 || (words == 2 && text.starts_with('[') && text.contains("]: "))
}

fn mutants(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let list = read("crates/core/fd-core/mutants.tsv");
    let looked = list.lines().skip(1).map(|line| {
        let fields: Vec<_> = line.split('\t').collect();
        let [mutant, text, _reason] = fields[..] else { panic!("mutants.tsv: three fields: {line}") };
        let (file, _) = mutant.split_once(": ").expect("a mutant begins with its file");
        if !tree.text(&format!("crates/core/fd-core/src/{file}")).lines().any(|line| line.trim() == text) {
            problems.push(format!("mutants.tsv: {file} has no line `{text}`"));
        }
    });
    looked.count()
}

fn tests_of_the_history(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let history = history().unwrap_or_else(|error| panic!("{error:?}"));
    let is_tested = |coverage| matches!(coverage, Coverage::Model | Coverage::UnitTest);
    let tested = history.iter().filter(|defect| is_tested(defect.coverage));
    let looked = tested.flat_map(|defect| &defect.names).map(|name| {
        if !tree.of("rs").any(|file| file.text.contains(&format!("fn {name}()"))) {
            problems.push(format!("history.tsv: there is no test {name}"));
        }
    });
    looked.count()
}

/// The words in backquotes.
fn quoted(page: &str) -> Vec<&str> {
    page.split('`').skip(1).step_by(2).collect()
}

fn looks_like_a_model(name: &str) -> bool {
    let number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('_');
    name.strip_prefix('m').is_some_and(number) || name.starts_with("mix_")
}

fn models(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let sources = tree.of("rs").filter(|file| file.path.starts_with("crates/core/fd-core/src/models/"));
    let tests = sources.flat_map(|file| file.text.split("#[test]\nfn ").skip(1));
    let names = tests.filter_map(|test| Some(test.split_once('(')?.0));
    let models: BTreeSet<_> = names.filter(|name| looks_like_a_model(name)).collect();
    let (protocol, history) = (quoted(tree.text("docs/protocol.md")), quoted(tree.text("docs/history.md")));
    let unnamed = models.iter().filter(|model| !protocol.contains(model));
    problems.extend(unnamed.map(|model| format!("docs/protocol.md does not mention {model}")));
    let named = protocol.iter().chain(&history).filter(|name| looks_like_a_model(name));
    let unknown = named.filter(|name| !models.contains(*name));
    problems
        .extend(unknown.map(|name| format!("docs/protocol.md or docs/history.md: there is no model {name}")));
    models.len()
}

fn broken_rules(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let page = tree.text("docs/protocol.md");
    let (_, orderings) = page.split_once("## 18. Orderings").expect("the page has its table of orderings");
    let rows = orderings.lines().filter(|line| line.starts_with("| `"));
    let in_page: Vec<_> = rows.filter_map(|row| row.split('|').nth(4)).flat_map(quoted).collect();
    assert!(in_page.len() > 8, "the linter finds too few rules in the table of orderings: {in_page:?}");
    let unknown = in_page.iter().filter(|name| Fault::named(name).is_none());
    problems.extend(unknown.map(|name| format!("docs/protocol.md: there is no fault {name}")));
    in_page.len()
}
