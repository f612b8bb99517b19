//! The tables of docs/history.md and docs/behaviours.md equal those in the code. `POLLMATRIX_BLESS=1` updates
//! them.

use std::fmt::Write;
use std::path::Path;

use scenarios::history::{Coverage, Defect, Kind, history};

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
        "{page}: the table {name} differs from the code\nhelp: {BLESS}=1 cargo test --test documents"
    );
    std::fs::write(Path::new(ROOT).join(page), format!("{before}{begin}{rows}{end}{after}"))
        .expect("the page can be written");
}

fn defects_of(kind: Kind) -> impl Iterator<Item = &'static Defect> {
    history().iter().filter(move |defect| defect.kind == kind)
}

/// Describes the scenario, model or test that covers a defect.
fn covered_by(coverage: &Coverage) -> String {
    let names: Vec<_> = coverage.names().iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    match coverage {
        Coverage::Scenario(_) => names,
        Coverage::Model(_, why) => format!("model {names}: {why}"),
        Coverage::UnitTest(_, why) => format!("test {names}: {why}"),
        Coverage::NotApplicable(why) => format!("not applicable: {why}"),
    }
}

#[test]
fn the_page_of_the_history_equals_the_table_in_the_code() {
    let mut bugs = "| id | commits | defect | covered by |\n|---|---|---|---|\n".to_owned();
    for defect in defects_of(Kind::Bug) {
        let link = |hash: &&str| format!("[`{hash}`](https://github.com/haproxy/haproxy/commit/{hash})");
        let commits: Vec<_> = defect.commits.iter().map(link).collect();
        let _ = writeln!(
            bugs,
            "| {} | {} | {} | {} |",
            defect.name(),
            commits.join(", "),
            defect.description,
            covered_by(&defect.coverage)
        );
    }
    table("docs/history.md", "bugs", &bugs);
    for (kind, name) in [(Kind::Suspect, "suspects"), (Kind::Core, "core")] {
        let mut rows = "| id | defect | covered by |\n|---|---|---|\n".to_owned();
        for defect in defects_of(kind) {
            let _ = writeln!(
                rows,
                "| {} | {} | {} |",
                defect.name(),
                defect.description,
                covered_by(&defect.coverage)
            );
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
