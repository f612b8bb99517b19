//! The tables of docs/history.md and docs/behaviours.md equal their sources. `POLLMATRIX_BLESS=1` updates
//! them.

use std::fmt::Write;
use std::path::Path;

use scenarios::history::{Coverage, Defect, history};

use crate::tree::{ROOT, read};

const BLESS: &str = "POLLMATRIX_BLESS";

/// Compares the text between the markers of `name` with `rows`, or replaces it.
fn table(page: &str, name: &str, rows: &str) {
    let text = read(page);
    let (begin, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->\n"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{page} has no {begin}"));
    let (now, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{page} has no {end}"));
    if now == rows {
        return;
    }
    let is_blessed = std::env::var_os(BLESS).is_some();
    assert!(
        is_blessed,
        "{page}: the table {name} differs from its source\nhelp: {BLESS}=1 cargo test --test documents"
    );
    std::fs::write(Path::new(ROOT).join(page), format!("{before}{begin}{rows}{end}{after}"))
        .expect("the page can be written");
}

/// Describes the scenario, model or test that covers a defect.
fn covered_by(defect: &Defect) -> String {
    let names: Vec<_> = defect.names.iter().map(|name| format!("`{name}`")).collect();
    let (names, why) = (names.join(", "), defect.reason);
    match defect.coverage {
        Coverage::Scenario => names,
        Coverage::Model => format!("model {names}: {why}"),
        Coverage::UnitTest => format!("test {names}: {why}"),
        Coverage::NotOurs => format!("not applicable: {why}"),
    }
}

#[test]
fn the_page_of_the_history_equals_its_file() {
    let history = history().unwrap_or_else(|error| panic!("{error:?}"));
    for (kind, name) in [("bug ", "bugs"), ("suspect ", "suspects"), ("core ", "core")] {
        // Only bugs have commits.
        let (head, rule) = if kind == "bug " { (" commits |", "---|") } else { ("", "") };
        let mut rows = format!("| id |{head} defect | covered by |\n|---|{rule}---|---|\n");
        for defect in history.iter().filter(|defect| defect.name.starts_with(kind)) {
            let link = |hash: &&str| format!("[`{hash}`](https://github.com/haproxy/haproxy/commit/{hash})");
            let commits: Vec<_> = defect.commits.iter().map(link).collect();
            let commits = if kind == "bug " { format!(" {} |", commits.join(", ")) } else { String::new() };
            let (name, what) = (defect.name, defect.description);
            let _ = writeln!(rows, "| {name} |{commits} {what} | {} |", covered_by(defect));
        }
        table("docs/history.md", name, &rows);
    }
}

#[test]
fn the_page_of_the_behaviours_equals_the_table_in_the_code() {
    for (family, about) in expectations::FAMILIES {
        let mut rows = format!("### {family}: {about}\n\n| id | behaviour |\n|---|---|\n");
        for (id, title) in expectations::BEHAVIOURS.iter().filter(|(id, _)| id.starts_with(family)) {
            let _ = writeln!(rows, "| {id} | {title} |");
        }
        table("docs/behaviours.md", family, &rows);
    }
}
