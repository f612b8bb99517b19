//! Every id that is cited in the tree has a definition: S and L in docs/invariants.md; sections, steps and M
//! in docs/protocol.md; bugs, suspects and the core's own mistakes in the table of history; behaviours in
//! the catalogue of crates/lab/raw.

use std::collections::BTreeSet;

use crate::tree::{File, Tree};

/// The ids that the pages define, in the form of a citation: `S3`, `M5`, `V26`, `bug 66`, `protocol 6.2`.
struct Defined(BTreeSet<String>);

impl Defined {
    fn read(tree: &Tree) -> Self {
        let mut all: BTreeSet<_> = first_cells(tree.text("docs/invariants.md")).into_iter().collect();
        all.extend(raw::expectations::BEHAVIOURS.iter().map(|(id, _)| (*id).to_owned()));
        let history = scenarios::history::history().unwrap_or_else(|error| panic!("{error:?}"));
        all.extend(history.iter().map(|defect| defect.name.to_owned()));
        let protocol = tree.text("docs/protocol.md");
        all.extend(first_cells(protocol).into_iter().filter(|cell| cell.starts_with('M')));
        all.extend(steps(protocol).into_iter().map(|step| format!("protocol {step}")));
        Self(all)
    }
}

/// Returns the first field of each table row.
fn first_cells(page: &str) -> Vec<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    cells.map(|(cell, _)| cell.trim().to_owned()).collect()
}

/// Returns the numbered headings and the items of the numbered lists below them: `6` and `6.2`.
fn steps(page: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut section = String::new();
    for line in page.lines() {
        if let Some((number, _)) = line.strip_prefix("## ").and_then(|heading| heading.split_once(". ")) {
            section = number.to_owned();
            all.insert(section.clone());
        } else if let Some((number, _)) = line.split_once(". ")
            && number.parse::<u32>().is_ok()
        {
            let is_new = all.insert(format!("{section}.{number}"));
            assert!(is_new, "docs/protocol.md: step {section}.{number} is defined twice");
        }
    }
    all
}

/// Joins comments and paragraphs into one line, so that a citation may span a line break.
fn joined(text: &str) -> String {
    let bare = text.lines().map(|line| line.trim_start().trim_start_matches(['/', '!', '#']).trim());
    bare.collect::<Vec<_>>().join(" ")
}

/// Returns the words of letters and digits, each with the text after it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[rest.find(is_part)?..];
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some((word, after))
    })
}

/// Splits off a number such as `6` or `6.2` at the beginning.
fn number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    (number.starts_with(|c: char| c.is_ascii_digit())).then(|| (number, &text[number.len()..]))
}

/// Returns the numbers after a word: ` 9`, ` 9 and 10`, ` 1, 2 and 3`, ` 4.3 to 4.5`.
fn numbers(after: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = after.strip_prefix(' ');
    while let Some((next, after)) = rest.and_then(number) {
        found.push(next);
        rest = [", ", " and ", " or ", " to "].iter().find_map(|link| after.strip_prefix(link));
    }
    found
}

fn is_id(word: &str, letters: &str, digits: impl Fn(usize) -> bool) -> bool {
    let (letter, number) = word.split_at_checked(1).unwrap_or_default();
    letters.contains(letter) && digits(number.len()) && number.bytes().all(|digit| digit.is_ascii_digit())
}

/// Returns the citations in the text.
fn citations(text: &str) -> Vec<String> {
    let mut cited = Vec::new();
    for (word, after) in words(text) {
        if is_id(word, "SLM", |digits| (1..=2).contains(&digits))
            || is_id(word, "ACEFTVWX", |digits| digits == 2)
        {
            cited.push(word.to_owned());
        }
        let kind = match word {
            "bug" | "bugs" | "Bug" | "Bugs" => "bug",
            "suspect" | "suspects" | "Suspect" => "suspect",
            "protocol" | "Protocol" => "protocol",
            _ => continue,
        };
        cited.extend(numbers(after).into_iter().map(|number| format!("{kind} {number}")));
    }
    // The core's own mistakes are cited in clauses only: "core 3" in a sentence may mean a processor core.
    let quoted = text.split("\"core ").skip(1).filter_map(|rest| rest.split_once('"'));
    cited
        .extend(quoted.filter(|(number, _)| number.parse::<u32>().is_ok()).map(|(n, _)| format!("core {n}")));
    cited
}

/// Words that look like ids but are none: parts of a checksum, invented ids in tests, a withdrawn id.
const NOT_IDS: [(&str, &[&str]); 3] = [
    (
        "crates/lab/raw/src/expectations/answers/tests.rs",
        &["C55", "F76", "T58", "W55", "C70", "F66", "T52", "W29", "X98", "V95"],
    ),
    ("crates/lab/raw/src/expectations/catalogue.rs", &["X08", "V99"]),
    ("tests/end_to_end/expectations.rs", &["V99"]),
];

fn is_no_id(file: &File, citation: &str) -> bool {
    NOT_IDS.iter().any(|(path, words)| file.path == *path && words.contains(&citation))
}

/// Returns the files whose citations are real.
fn sources(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| !file.path.starts_with("tests/documents"))
}

pub fn defined(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let defined = Defined::read(tree);
    let mut cited = BTreeSet::new();
    for file in sources(tree) {
        for citation in citations(&joined(&file.text)) {
            if !defined.0.contains(&citation) && !is_no_id(file, &citation) {
                problems.push(format!("{}: {citation}", file.path));
            }
            cited.insert(citation);
        }
    }
    cited.len()
}

/// Looks at `steps 4.3 to 4.5`, `(section 5)` and the last column of the invariants.
pub fn steps_exist(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let protocol = tree.text("docs/protocol.md");
    let (steps, text) = (steps(protocol), joined(protocol));
    let mut named = Vec::new();
    for (word, after) in words(&text) {
        match word {
            "step" | "steps" => {
                named.extend(numbers(after).into_iter().filter(|number| number.contains('.')))
            }
            "section" | "sections" => named.extend(numbers(after)),
            _ => {}
        }
    }
    let is_invariant = |row: &&str| row.starts_with("| S") || row.starts_with("| L");
    let invariants = tree.text("docs/invariants.md").lines().filter(is_invariant);
    let cells = invariants.filter_map(|row| row.trim_end_matches(" |").rsplit('|').next());
    named.extend(cells.flat_map(numbers));
    let missing = named.iter().filter(|number| !steps.contains(**number));
    problems.extend(missing.map(|number| format!("docs/protocol.md has no step {number}")));
    named.len()
}

/// Looks at citations of documents outside the tree, and of steps in another form.
pub fn foreign(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let looked = sources(tree).map(|file| {
        let text = joined(&file.text);
        let mut add = |what: &str| problems.push(format!("{}: {what}", file.path));
        if text.to_lowercase().contains("prior art") {
            add("prior art");
        }
        for (word, after) in words(&text) {
            let is_hash = |text: &str| text.bytes().all(|c| c.is_ascii_hexdigit());
            let is_foreign = word == "design" && !numbers(after).is_empty()
                || word == "seed" && after.get(1..10).is_some_and(is_hash);
            if is_foreign {
                add(&format!("{word}{}", after.get(..12).unwrap_or(after)));
            }
        }
        for (at, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
            let is_step = |(n, after): (&str, &str)| n.contains('.') && after.starts_with(" step");
            if number(&text[at..]).is_some_and(is_step) {
                add(&text[at..at + 8]);
            }
        }
    });
    looked.count()
}

#[test]
fn citations_are_found_in_all_their_forms() {
    let text = joined(
        "/// S3, L10: bugs 9 and\n/// 10 (bug 66), suspects 1, 2 or 3; protocol 4.3 to 4.5. M5 V26 m5_x S123",
    );
    let expected = [
        "S3",
        "L10",
        "bug 9",
        "bug 10",
        "bug 66",
        "suspect 1",
        "suspect 2",
        "suspect 3",
        "protocol 4.3",
        "protocol 4.5",
        "M5",
        "V26",
    ];
    assert_eq!(citations(&text), expected);
    assert_eq!(citations("clauses: [\"core 3\"], on core 7"), ["core 3"]);
}
