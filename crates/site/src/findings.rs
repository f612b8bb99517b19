//! docs/findings.md as a page. The comment `<!-- found 2026-11-23 -->` after a heading dates a finding.

use std::collections::BTreeSet;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// The text of docs/findings.md.
pub const FINDINGS: &str = include_str!("../data/findings.txt");

/// The folder to which relative links of the text refer.
const DOCS: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/");

/// A section about one finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The fragment of its address.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The day, `2026-11-23`.
    pub found: String,
}

/// The rendered text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Findings {
    /// The HTML, without the title of the page.
    pub html: String,
    /// The dated sections, the newest first; those of one day in the order of the text.
    pub newest: Vec<Finding>,
}

/// Renders the text. HTML in it is dropped.
pub fn render(text: &str) -> Findings {
    let mut newest = Vec::new();
    let mut ids = BTreeSet::new();
    let mut out: Vec<Event<'_>> = Vec::new();
    let mut heading: Option<(usize, String)> = None;
    let mut last: Option<(String, String)> = None;
    let mut is_title = false;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => is_title = true,
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => is_title = false,
            _ if is_title => {}
            Event::Start(Tag::Heading { .. }) => {
                heading = Some((out.len(), String::new()));
                out.push(event);
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((place, title)) = heading.take() {
                    let id = fragment(&title, &mut ids);
                    if let Some(Event::Start(Tag::Heading { id: own, .. })) = out.get_mut(place) {
                        *own = Some(CowStr::from(id.clone()));
                    }
                    last = Some((id, title));
                }
                out.push(event);
            }
            Event::Html(ref comment) | Event::InlineHtml(ref comment) => {
                if let (Some(found), Some((id, title))) = (date(comment), last.take()) {
                    let shown = format!("found {found}");
                    out.push(Event::Start(Tag::Paragraph));
                    out.push(Event::Text(shown.into()));
                    out.push(Event::End(TagEnd::Paragraph));
                    newest.push(Finding { id, title, found });
                }
            }
            // Wide tables scroll, also with the keyboard.
            Event::Start(Tag::Table(_)) => {
                out.push(Event::Html(
                    r#"<div class="sideways" role="group" aria-label="Table" tabindex="0">"#.into(),
                ));
                out.push(event);
            }
            Event::End(TagEnd::Table) => {
                out.push(event);
                out.push(Event::Html("</div>".into()));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = match dest_url.starts_with("https://") || dest_url.starts_with('#') {
                    true => dest_url,
                    false => format!("{DOCS}{dest_url}").into(),
                };
                out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            event => {
                if let (Some((_, title)), Event::Text(text) | Event::Code(text)) = (&mut heading, &event) {
                    title.push_str(text);
                }
                out.push(event);
            }
        }
    }
    newest.sort_by(|one: &Finding, two| two.found.cmp(&one.found));
    let mut html = String::new();
    html::push_html(&mut html, out.into_iter());
    Findings { html, newest }
}

/// Returns the day in a comment.
fn date(comment: &str) -> Option<String> {
    let day = comment.trim().strip_prefix("<!-- found ")?.strip_suffix(" -->")?;
    let is_day = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_day.then(|| day.to_owned())
}

/// Returns the fragment of a heading, as GitHub makes it; with a number if another heading has it.
fn fragment(title: &str, used: &mut BTreeSet<String>) -> String {
    let lower = title.to_lowercase();
    let kept = lower.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    let plain: String = kept.collect();
    let mut id = plain.clone();
    for number in 1.. {
        if used.insert(id.clone()) {
            break;
        }
        id = format!("{plain}-{number}");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_findings_come_first_with_the_fragments_of_their_sections() {
        let text = "# t\n\n## `a`: One\n<!-- found 2026-01-01 -->\n\nText.\n\n## Two\n<!-- found 2026-02-01 -->\n\n## Two\n";
        let findings = render(text);
        let listed: Vec<_> = findings.newest.iter().map(|found| (&*found.id, &*found.title)).collect();
        assert_eq!(listed, [("two", "Two"), ("a-one", "a: One")]);
        assert!(findings.html.contains(r#"<h2 id="two-1">Two</h2>"#), "{}", findings.html);
        assert!(!findings.html.contains("<!--") && !findings.html.contains("<h1"), "{}", findings.html);
    }

    #[test]
    fn html_is_dropped_and_relative_links_lead_to_the_repository() {
        let findings = render("<script>alert(1)</script>\n\n[a](b.md#c) [d](#e) <b>f</b>\n");
        assert!(!findings.html.contains("<script") && !findings.html.contains("<b>"), "{}", findings.html);
        assert!(findings.html.contains("/blob/main/docs/b.md#c\"") && findings.html.contains("\"#e\""));
    }

    #[test]
    fn every_finding_about_a_system_is_dated() {
        let before = FINDINGS.split("\n## In this core").next().unwrap();
        let (mut is_code, mut undated) = (false, Vec::new());
        let lines: Vec<_> = before.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            is_code ^= line.starts_with("```");
            let is_heading = !is_code && (line.starts_with("## ") || line.starts_with("### "));
            if is_heading && lines.get(index + 1).is_none_or(|next| date(next).is_none()) {
                undated.push(*line);
            }
        }
        // Its sections are dated.
        assert_eq!(undated, ["## FreeBSD 12.3: what was measured"]);
        assert!(render(FINDINGS).newest.len() > 15);
    }
}
