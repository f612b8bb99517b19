//! The comments of the sources, and the list of equivalent mutants.

use std::collections::BTreeSet;

use crate::tree::{files, read};

/// Returns the value of `max_width`. rustfmt keeps code to it, and leaves comments alone.
fn max_width() -> usize {
    let config = read("rustfmt.toml");
    let value = config.lines().find_map(|line| line.strip_prefix("max_width = "));
    value.and_then(|value| value.parse().ok()).expect("rustfmt.toml has max_width")
}

/// Whether the line has one word after the marks of the comment, so that it cannot be broken. The definition
/// of a link counts as one word.
fn is_unbreakable(comment: &str) -> bool {
    let text = comment.trim_start_matches(['/', '!']).trim();
    let words = text.split_whitespace().count();
    words == 1 || (words == 2 && text.starts_with('[') && text.contains("]: "))
}

#[test]
fn comments_keep_to_the_width_of_the_code() {
    let width = max_width();
    let mut wide = Vec::new();
    for file in files(&["rs"]) {
        for (number, line) in (1..).zip(file.text.lines()) {
            let comment = line.trim_start();
            if comment.starts_with("//") && line.chars().count() > width && !is_unbreakable(comment) {
                wide.push(format!("{}:{number}: {line}", file.path));
            }
        }
    }
    assert!(wide.is_empty(), "comments of more than {width} columns:\n{}", wide.join("\n"));
}

/// `ci/nightly.sh mutants` compares with the texts of lines. A change of such a line must change the list.
#[test]
fn equivalent_mutants_name_lines_of_the_core() {
    let list = read("crates/fd-core/mutants.tsv");
    for line in list.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let [mutant, text, _reason] = fields[..] else { panic!("three fields: {line}") };
        let (file, _) = mutant.split_once(": ").expect("a mutant begins with its file");
        let source = read(&format!("crates/fd-core/src/{file}"));
        let lines: BTreeSet<_> = source.lines().map(str::trim).collect();
        assert!(lines.contains(text), "mutants.tsv: {file} has no line `{text}`");
    }
}
