//! docs/findings: a page for each finding, with its date, and an index of all pages.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::tree::{ROOT, read};

/// Whether the text is a day that a calendar has.
fn is_day(date: &str) -> bool {
    date.len() == "2026-11-21".len() && humantime::parse_rfc3339(&format!("{date}T00:00:00Z")).is_ok()
}

/// Returns the names of the files, with and without the extension `md`.
fn pages_and_programs() -> (BTreeSet<String>, BTreeSet<String>) {
    let entries = fs::read_dir(Path::new(ROOT).join("docs/findings")).expect("the folder can be read");
    let names = entries.map(|entry| entry.expect("an entry can be read").file_name());
    let names = names.map(|name| name.into_string().expect("a file has a plain name"));
    let (mut pages, programs): (BTreeSet<_>, _) = names.partition(|name| name.ends_with(".md"));
    assert!(pages.remove("README.md"), "docs/findings has no README.md");
    (pages, programs)
}

#[test]
fn each_finding_has_a_title_and_the_day_on_which_it_was_first_described() {
    let (pages, _) = pages_and_programs();
    assert!(pages.len() > 20, "{pages:?}");
    for name in pages {
        let page = read(&format!("docs/findings/{name}"));
        let mut lines = page.lines();
        let [title, empty, date] = [lines.next(), lines.next(), lines.next()].map(Option::unwrap_or_default);
        let help = "write `# TITLE`, an empty line, and the day: `2026-11-21`";
        assert!(
            title.starts_with("# ") && empty.is_empty() && is_day(date),
            "docs/findings/{name}: {title:?} {date:?}: {help}"
        );
        assert!(!page.contains("\n#"), "docs/findings/{name}: a page has one heading");
    }
    assert!(!is_day("2026-02-30") && !is_day("2026-11-2"));
}

#[test]
fn the_index_lists_each_finding_by_its_title() {
    let (pages, _) = pages_and_programs();
    let index = read("docs/findings/README.md");
    let listed = index.lines().filter(|line| line.starts_with("- ")).count();
    assert_eq!(listed, pages.len(), "a line of docs/findings/README.md for each page");
    for name in pages {
        let page = read(&format!("docs/findings/{name}"));
        let title = page.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        let line = format!("- [{title}]({name})\n");
        assert!(index.contains(&line), "docs/findings/README.md has no line\n{line}");
    }
}

#[test]
fn each_program_has_the_name_of_the_page_that_links_to_it() {
    let (pages, programs) = pages_and_programs();
    assert!(programs.len() > 15, "{programs:?}");
    for program in programs {
        let (name, _) = program.split_once('.').expect("a program has an extension");
        assert!(pages.contains(&format!("{name}.md")), "docs/findings/{program} has no page");
        let page = read(&format!("docs/findings/{name}.md"));
        assert!(page.contains(&format!("({program})")), "docs/findings/{name}.md has no link to {program}");
    }
}
