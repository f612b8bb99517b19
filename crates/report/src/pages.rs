//! The answers of each backend, as one Markdown page per target and backend. Equal answers give equal pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use metadata::{CellResult, Check, Results, Run, Scenario, Status};

use crate::text::{code_block, code_span, markdown, table_code};

/// A page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// `x86_64-linux-gnu/epoll.md`.
    pub path: String,
    /// The Markdown text.
    pub text: String,
}

/// Renders the pages of all targets and backends that have answers to scripts, in the order of the runs.
pub fn pages(results: &Results) -> Vec<Page> {
    let mut pages = Vec::new();
    for run in &results.runs {
        let cells = || results.cells.iter().filter(|cell| cell.target == run.target);
        let answered = cells().filter(|cell| cell.checks.iter().any(|check| check.asked.is_some()));
        let backends: BTreeSet<_> = answered.map(|cell| cell.backend.as_str()).collect();
        for backend in backends {
            let cells: Vec<_> = cells().filter(|cell| cell.backend == backend).collect();
            pages.push(Page {
                path: format!("{}/{backend}.md", run.target),
                text: page(results, run, backend, &cells),
            });
        }
    }
    pages
}

fn page(results: &Results, run: &Run, backend: &str, cells: &[&CellResult]) -> String {
    let mut out = format!("# {}\n\n", markdown(&format!("Answers of {backend} on {}, {}", run.os, run.arch)));
    let by = markdown(&format!("{} {} by pollmatrix {}", run.os, version(&run.kernel), run.pollmatrix));
    let _ = writeln!(out, "Measured on {by}.\n");
    out.push_str(
        "Written by `pollmatrix publish`. Each question is followed by its script: \
         `pollmatrix probe 'SCRIPT'` runs it again.\n\
         docs/expectations.md explains the notation, docs/verbs.md the verbs.\n",
    );
    let mut scenarios: BTreeMap<(&str, String, &str), (&Scenario, Vec<&CellResult>)> = BTreeMap::new();
    for cell in cells {
        let Some(scenario) = results.scenarios.get(&cell.scenario).filter(|known| known.verbs.is_some())
        else {
            continue;
        };
        let key = (cell.group(), scenario.clauses.join(", "), cell.scenario.as_str());
        scenarios.entry(key).or_insert_with(|| (scenario, Vec::new())).1.push(cell);
    }
    let mut group = "";
    for ((its_group, behaviour, id), (scenario, cells)) in &scenarios {
        if *its_group != group {
            group = its_group;
            let _ = writeln!(out, "\n## {}", markdown(group));
        }
        section(&mut out, behaviour, id, scenario, cells);
    }
    out
}

/// Returns the numbers of a kernel's release, without the suffix of its builder.
fn version(release: &str) -> &str {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    release[..end].trim_end_matches('.')
}

/// Writes one question with its script, its links and the table of answers.
fn section(out: &mut String, behaviour: &str, id: &str, scenario: &Scenario, cells: &[&CellResult]) {
    let question = scenario.question.as_deref().unwrap_or(&scenario.title);
    let heading = markdown(&format!("{behaviour}: {question}"));
    let _ = writeln!(out, "\n### {heading}\n\n{}\n", code_span(id));
    let _ = writeln!(out, "{}", code_block(scenario.verbs.as_deref().unwrap_or_default()));
    if !scenario.links.is_empty() {
        let links: Vec<_> = scenario.links.iter().map(|link| link_to(&link.text, &link.url)).collect();
        let _ = writeln!(out, "\nBugs: {}", links.join(", "));
    }
    table(out, cells);
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for cell in
        cells.iter().filter(|cell| !matches!(cell.status, Status::Pass | Status::Permitted | Status::Fail))
    {
        let variant = format!("{}, {}", cell.params.transport, cell.params.trigger);
        reasons.entry(cell.reason.as_deref().unwrap_or_default()).or_default().push(variant);
    }
    for (reason, mut variants) in reasons {
        variants.sort();
        let _ = writeln!(out, "\n{}.", markdown(&format!("{}: {reason}", variants.join("; "))));
    }
}

/// Returns a link if the URL is a plain web address, otherwise the text of both.
fn link_to(text: &str, url: &str) -> String {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    let is_plain = |c: char| c.is_ascii_graphic() && !"<>()[]\\`\"".contains(c);
    match is_web && url.chars().all(is_plain) {
        true => format!("[{}]({url})", markdown(text)),
        false => markdown(&format!("{text}: {url}")),
    }
}

/// Writes the answers as a table: questions as rows, kinds of descriptors as columns.
fn table(out: &mut String, cells: &[&CellResult]) {
    let mut columns: Vec<&str> = Vec::new();
    let mut rows: Vec<(String, BTreeMap<&str, Vec<String>>)> = Vec::new();
    for cell in cells {
        let mut place = 0;
        for check in &cell.checks {
            let Some(asked) = &check.asked else { continue };
            let column = asked.variant.split_once(':').map_or(asked.variant.as_str(), |(kind, _)| kind);
            if !columns.contains(&column) {
                columns.push(column);
            }
            let question = asked.to_string();
            // A new question goes after the previous one, so that questions stay in the order of the script.
            place = match rows.iter().position(|(known, _)| *known == question) {
                Some(index) => index,
                None => {
                    let next = if rows.is_empty() { 0 } else { (place + 1).min(rows.len()) };
                    rows.insert(next, (question, BTreeMap::new()));
                    next
                }
            };
            let answers = rows[place].1.entry(column).or_default();
            let answer = answer(check);
            if !answers.contains(&answer) {
                answers.push(answer);
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    let headings: Vec<_> = columns.iter().map(|column| markdown(column)).collect();
    let _ = writeln!(out, "\n| | {} |\n|---|{}", headings.join(" | "), "---|".repeat(columns.len()));
    for (question, answers) in &rows {
        let cells =
            columns.iter().map(|column| answers.get(column).map(|all| all.join(" or ")).unwrap_or_default());
        let cells: Vec<_> = cells.collect();
        let _ = writeln!(out, "| {} | {} |", table_code(question), cells.join(" | "));
    }
}

/// Returns the observed answer; the allowed answers if it varies from run to run.
fn answer(check: &Check) -> String {
    let spans =
        |answers: &[String]| answers.iter().map(|answer| table_code(answer)).collect::<Vec<_>>().join(" or ");
    match &check.varies {
        Some(why) => format!("{} (varies: {})", spans(&check.expected), markdown(why)),
        None if check.holds => table_code(&check.observed),
        None => format!("**{}**, expected {}", table_code(&check.observed), spans(&check.expected)),
    }
}

#[cfg(test)]
mod tests {
    use metadata::{Asked, Link};

    use super::*;
    use crate::samples;

    fn check(variant: &str, api: &str, observed: &str) -> Check {
        let (row, variant, api) = ("V06".into(), variant.into(), api.into());
        Check {
            observed: observed.into(),
            expected: vec!["IN|HUP".into()],
            holds: observed == "IN|HUP",
            asked: Some(Asked { row, variant, api, trigger: Some("level".into()) }),
            ..Check::default()
        }
    }

    fn results() -> Results {
        let rows = [
            ("a", "poll", Status::Pass),
            ("b", "poll", Status::Unsupported),
            ("a", "epoll", Status::Unsupported),
        ];
        let mut results = samples::results("here", &rows);
        for cell in &mut results.cells {
            cell.layer = metadata::Layer::Characterisation;
        }
        results.runs[0].kernel = "6.1.3-custom".into();
        results.runs[0].arch = "x86_64".into();
        let mut varies = check("unix:end", "poll", "12");
        varies.varies = Some("size".into());
        let poll = results.cells.iter_mut().find(|cell| cell.id.ends_with("a@poll")).unwrap();
        poll.checks = vec![
            check("tcp", "poll", "IN|HUP"),
            check("tcp:end", "poll", "HUP"),
            check("unix", "poll", "IN|HUP"),
            varies,
        ];
        let link = Link { text: "mio#1".into(), url: "https://example.org/1".into() };
        let scenario = Scenario {
            question: Some("What?".into()),
            verbs: Some("own and peer are connected, look at own".into()),
            clauses: vec!["V06".into()],
            links: vec![link],
            ..samples::scenario()
        };
        results.scenarios.insert("group/name".into(), scenario);
        results
    }

    #[test]
    fn a_page_has_questions_scripts_and_answers() {
        let pages = pages(&results());
        let expected = "# Answers of poll on linux, x86_64

Measured on linux 6.1.3 by pollmatrix 1.2.3.

Written by `pollmatrix publish`. Each question is followed by its script: `pollmatrix probe 'SCRIPT'` runs it again.
docs/expectations.md explains the notation, docs/verbs.md the verbs.

## group

### V06: What?

`group/name`

```text
own and peer are connected, look at own
```

Bugs: [mio#1](https://example.org/1)

| | tcp | unix |
|---|---|---|
| `poll@level` | `IN\\|HUP` | `IN\\|HUP` |
| `poll@level end` | **`HUP`**, expected `IN\\|HUP` | `IN\\|HUP` (varies: size) |

tcp, level: why unsupported.
";
        assert_eq!(pages.len(), 1, "a backend without an answer has no page");
        assert_eq!((pages[0].path.as_str(), pages[0].text.as_str()), ("here/poll.md", expected));
    }

    #[test]
    fn differences_between_runs_with_equal_answers_do_not_change_the_pages() {
        let mut other = results();
        for cell in &mut other.cells {
            cell.duration_ms += 1;
            cell.notes.push("a note".into());
            if let Some(last) = cell.checks.last_mut() {
                last.observed = "13".into();
            }
        }
        other.runs[0].kernel = "6.1.3-another".into();
        other.runs[0].seed = metadata::Seed(7);
        assert_eq!(pages(&other), pages(&results()));
    }
}
