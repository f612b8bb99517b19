//! The dates in docs/findings.md.

use crate::tree::read;

/// Returns the headings of sections, each with the first line of its text.
fn sections(page: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        if !is_code && (line.starts_with("## ") || line.starts_with("### ")) {
            sections.push((line.to_owned(), String::new()));
        } else if let Some((_, first)) = sections.last_mut()
            && first.is_empty()
        {
            line.clone_into(first);
        }
    }
    sections
}

/// Whether the text is a day that a calendar has.
fn is_day(date: &str) -> bool {
    date.len() == "2026-11-21".len() && humantime::parse_rfc3339(&format!("{date}T00:00:00Z")).is_ok()
}

#[test]
fn each_finding_has_the_day_on_which_it_was_first_described() {
    let sections = sections(&read("docs/findings.md"));
    assert!(sections.len() > 20, "{sections:?}");
    for (heading, first) in sections {
        let date = first.strip_prefix("First described on ").and_then(|rest| rest.strip_suffix('.'));
        let help = "write `First described on 2026-11-21.` below the heading, with a line between";
        assert!(date.is_some_and(is_day), "docs/findings.md: {heading}: {first:?} has no date: {help}");
    }
    assert!(!is_day("2026-02-30") && !is_day("2026-11-2"));
}
