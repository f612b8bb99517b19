//! Every id that is cited in the tree has a definition: S and L in docs/invariants.md; sections, steps and M
//! in docs/protocol.md; bugs, suspects and the core's own mistakes in docs/history.md; behaviours in
//! docs/behaviours.md.

use std::collections::BTreeSet;

use crate::tree::{File, files, read};

/// The ids that the pages define, in the form of a citation: `S3`, `M5`, `V26`, `bug 66`, `protocol 6.2`.
struct Defined(BTreeSet<String>);

impl Defined {
    fn read() -> Self {
        let mut all = BTreeSet::new();
        for page in ["docs/invariants.md", "docs/history.md", "docs/behaviours.md"] {
            all.extend(first_cells(&read(page)));
        }
        let protocol = read("docs/protocol.md");
        all.extend(first_cells(&protocol).into_iter().filter(|cell| cell.starts_with('M')));
        all.extend(steps(&protocol).into_iter().map(|step| format!("protocol {step}")));
        Self(all)
    }

    fn has(&self, citation: &str) -> bool {
        self.0.contains(citation)
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
        "crates/expectations/src/answers/tests.rs",
        &["C55", "F76", "T58", "W55", "C70", "F66", "T52", "W29", "X98", "V35"],
    ),
    ("crates/expectations/src/catalogue.rs", &["X08", "V35"]),
    ("tests/end_to_end/expectations.rs", &["V99"]),
];

fn is_no_id(file: &File, citation: &str) -> bool {
    NOT_IDS.iter().any(|(path, words)| file.path == *path && words.contains(&citation))
}

/// Returns the files of the tree, without the answers of pollers: `expectations` checks their ids.
fn sources() -> impl Iterator<Item = File> {
    let own = |file: &File| !file.path.starts_with("tests/documents");
    files(&["rs", "md", "yml", "sh"]).into_iter().filter(own)
}

#[test]
fn every_citation_has_a_definition() {
    let defined = Defined::read();
    let (mut cited, mut missing) = (BTreeSet::new(), Vec::new());
    for file in sources() {
        for citation in citations(&joined(&file.text)) {
            if !defined.has(&citation) && !is_no_id(&file, &citation) {
                missing.push(format!("{}: {citation}", file.path));
            }
            cited.insert(citation);
        }
    }
    assert!(cited.len() > 150, "this test does not find all citations: {cited:?}");
    assert!(missing.is_empty(), "no page of docs/ defines these:\n{}", missing.join("\n"));
}

/// Checks `steps 4.3 to 4.5`, `(section 5)` and the last column of the invariants.
#[test]
fn the_steps_in_the_pages_exist() {
    let protocol = read("docs/protocol.md");
    let steps = steps(&protocol);
    let mut named = 0;
    let text = joined(&protocol);
    for (word, after) in words(&text) {
        if ["step", "steps", "section", "sections"].contains(&word) {
            for number in numbers(after)
                .into_iter()
                .filter(|number| number.contains('.') || word.starts_with("section"))
            {
                named += 1;
                assert!(steps.contains(number), "docs/protocol.md has no {word} {number}");
            }
        }
    }
    for row in
        read("docs/invariants.md").lines().filter(|row| row.starts_with("| S") || row.starts_with("| L"))
    {
        let cell = row.trim_end_matches(" |").rsplit("| ").next().expect("a row has cells");
        for number in numbers(&format!(" {cell}")) {
            named += 1;
            assert!(steps.contains(number), "docs/invariants.md: there is no step {number}: {row}");
        }
    }
    assert!(named > 60, "{named}");
}

#[test]
fn no_document_outside_the_tree_is_cited() {
    for file in sources() {
        let text = joined(&file.text);
        let lower = text.to_lowercase();
        assert!(!lower.contains("prior art"), "{}: cite a commit, a man page or docs/protocol.md", file.path);
        for (word, after) in words(&text) {
            let cited = numbers(after);
            let is_foreign = word == "design" && !cited.is_empty()
                || word == "seed"
                    && after.get(1..10).is_some_and(|hash| hash.bytes().all(|c| c.is_ascii_hexdigit()));
            assert!(!is_foreign, "{}: {word}{}", file.path, after.get(..12).unwrap_or(after));
        }
        let of_steps =
            |rest: &str| number(rest).is_some_and(|(n, after)| n.contains('.') && after.starts_with(" step"));
        for (at, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
            assert!(
                !of_steps(&text[at..]),
                "{}: {}: a step is cited as `protocol 6.2`",
                file.path,
                &text[at..at + 8]
            );
        }
    }
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
