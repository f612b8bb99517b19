//! Tests of every form of report with hostile text in every field of the results.

use std::collections::BTreeMap;

use metadata::{Results, Status, one_line, visible};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

use crate::diff::Diff;
use crate::{junit, markdown, samples, terminal};

/// Terminal control sequences, characters that reorder or hide text or that XML cannot hold, and Markdown
/// markup.
const TEXT: &str = "\x1b[8m\x1b]0;title\x07\u{9b}31m\u{7f}\r\u{8}\n\n# no heading\n\u{202e}\u{2028}\u{feff}\u{ffff}\t\
    <!-- <b> <img src=x> &amp; | \\| ` ``` `````` \\ ](https://example.org) ![i](j) [k]: l **m** __n__ ~~o~~ $p$ \\";

/// Returns the same results twice: with harmless and with hostile texts of equal length.
fn results() -> (Results, Results) {
    let harmless = "x".repeat(TEXT.chars().count());
    let [harmless, hostile] = [harmless.as_str(), TEXT].map(|text| {
        let mut value = serde_json::to_value(samples::merged()).unwrap();
        samples::poison(&mut value, text, &mut Vec::new());
        serde_json::from_value::<Results>(value).expect("hostile results are valid")
    });
    (harmless, hostile)
}

fn events(text: &str) -> Parser<'_> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    Parser::new_ext(text, options)
}

/// Returns the results with other statuses: no cell passes any more.
fn changed(results: &Results) -> Results {
    let mut changed = results.clone();
    for cell in &mut changed.cells {
        (cell.status, cell.reason) = (Status::Crash, Some(format!("why{TEXT}")));
    }
    changed.cells.truncate(2);
    changed
}

/// Asserts that the text contains no control sequences and no invisible characters.
#[track_caller]
fn assert_visible(text: &str) {
    let seen = text.replace(['\n', '\t'], " ");
    assert_eq!(visible(&seen), seen);
    assert!(!text.contains('\x1b'));
}

/// Returns each kind of markup in the text, with its number of occurrences.
fn markup(text: &str) -> BTreeMap<String, usize> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for event in events(text) {
        let kind = match event {
            // A code block may contain any text.
            Event::Start(Tag::CodeBlock(_)) => "code block".to_owned(),
            Event::Start(tag) => format!("{tag:?}"),
            // Code in a table is written as a tag if it contains an escaped pipe.
            Event::InlineHtml(tag) if ["<code>", "</code>"].contains(&tag.as_ref()) => continue,
            Event::Html(tag) | Event::InlineHtml(tag) => tag.into_string(),
            Event::FootnoteReference(_) | Event::Rule | Event::TaskListMarker(_) => format!("{event:?}"),
            Event::InlineMath(_) | Event::DisplayMath(_) => "formula".to_owned(),
            _ => continue,
        };
        *found.entry(kind).or_default() += 1;
    }
    found
}

#[test]
fn terminal_output_escapes_hostile_text() {
    let (harmless, hostile) = results();
    let forms = |results: &Results| {
        let diff = Diff::new(results, &changed(results));
        [
            terminal::matrix(results, false),
            diff.text(),
            results.to_json(),
            serde_json::to_string(&diff).unwrap(),
        ]
    };
    let ([table, diff, json, _], expected) = (forms(&hostile), forms(&harmless));
    for (text, expected) in [(&table, &expected[0]), (&diff, &expected[1]), (&json, &expected[2])] {
        assert_visible(text);
        assert_eq!(text.lines().count(), expected.lines().count(), "{text}");
    }
    assert!(table.matches("\\u{1b}[8m").count() > 10 && diff.contains("\\u{1b}]0;title"), "{table}\n{diff}");
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), hostile);

    // With colours, the control sequences equal those of the harmless results.
    let sequences = |text: &str| -> Vec<String> {
        text.split('\x1b')
            .skip(1)
            .map(|part| part.split_inclusive('m').next().unwrap_or_default().into())
            .collect()
    };
    let coloured = terminal::matrix(&hostile, true);
    assert_eq!(sequences(&coloured), sequences(&terminal::matrix(&harmless, true)));
    assert_visible(&coloured.replace('\x1b', ""));
}

#[test]
fn hostile_text_adds_no_markup_to_markdown() {
    let (harmless, hostile) = results();
    let forms = |results: &Results| {
        let diff = Diff::new(results, &changed(results)).markdown();
        let mut one = Results { runs: results.runs[..1].to_vec(), not_run: Vec::new(), ..results.clone() };
        one.cells.retain(|cell| cell.target == one.runs[0].target);
        [markdown::report(results), markdown::report(&one), diff]
    };
    for (text, expected) in forms(&hostile).iter().zip(&forms(&harmless)) {
        assert_visible(text);
        assert_eq!(markup(text), markup(expected), "{text}\n{expected}");
    }
}

#[test]
fn rendered_markdown_shows_each_text_unchanged() {
    let (_, hostile) = results();
    let text = markdown::report(&hostile);
    let mut shown = String::new();
    for event in events(&text) {
        match event {
            Event::Text(part) | Event::Code(part) => shown.push_str(&part),
            Event::End(_) => shown.push('\n'),
            _ => {}
        }
    }
    let in_line = one_line(TEXT);
    let cell = &hostile.cells[0];
    for name in [&cell.target, &cell.backend, &hostile.runs[0].kernel, &hostile.not_run[0].reason] {
        assert!(name.ends_with(TEXT));
        assert!(shown.contains(one_line(name).as_ref()), "{name:?} is not in:\n{shown}");
    }
    assert!(shown.matches(in_line.as_ref()).count() > 30, "{shown}");
}

#[test]
fn junit_xml_with_hostile_text_is_valid_and_complete() {
    let (_, hostile) = results();
    let text = junit::report(&hostile);
    assert_visible(&text);
    let read = quick_junit::Report::deserialize_from_str(&text).expect("the text is JUnit XML");
    let cases: Vec<_> = read.test_suites.iter().flat_map(|suite| &suite.test_cases).collect();
    assert_eq!(cases.len(), hostile.cells.len() + hostile.not_run.len());
    for cell in &hostile.cells {
        let same = hostile.cells.iter().filter(|other| other.id == cell.id).count();
        let named = cases.iter().filter(|case| case.name.as_str() == one_line(&cell.id)).count();
        assert_eq!(named, same, "{:?} is not in:\n{text}", cell.id);
    }
    let stderr: Vec<_> = cases.iter().filter_map(|case| Some(case.system_err.as_ref()?.as_str())).collect();
    assert_eq!(stderr, [visible(&hostile.cells[0].stderr).replace('\t', "    ")]);
}

#[test]
fn a_text_at_the_beginning_of_a_line_starts_no_block() {
    for beginning in
        ["# a", "- a", "+ a", "1. a", "12) a", "    a", "> a", "---", "===", "```", "~~~", "| a |", "\ta"]
    {
        let mut value =
            serde_json::to_value(samples::results("here", &[("a", "poll", Status::Pass)])).unwrap();
        let name = |value: &mut Value| *value = beginning.into();
        name(&mut value["runs"][0]["target"]);
        name(&mut value["cells"][0]["target"]);
        let results = serde_json::from_value::<Results>(value).expect("the results are valid");
        let expected = markdown::report(&samples::results("here", &[("a", "poll", Status::Pass)]));
        let text = markdown::report(&results);
        assert_eq!(markup(&text), markup(&expected), "{beginning}:\n{text}");
    }
}
