//! The findings: a text in Markdown, as HTML.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use serde::Serialize;

use super::slug;

/// The findings as HTML.
#[derive(Serialize)]
pub(super) struct Findings {
    /// The text.
    html: String,
    /// The heading of each finding.
    pub(super) headings: Vec<Heading>,
}

/// The heading of a finding.
#[derive(Clone, Serialize)]
pub(super) struct Heading {
    /// Its place: the fragment of its address.
    pub(super) id: String,
    pub(super) text: String,
    /// The day on which it was first described: `2026-11-21`.
    pub(super) date: Option<String>,
}

impl Findings {
    /// Renders a text. HTML in it becomes text, and links to files beside it become text, because the site
    /// does not have these files.
    pub(super) fn of(markdown: &str) -> Self {
        let mut events: Vec<_> = Parser::new_ext(markdown, Options::ENABLE_TABLES).map(as_text).collect();
        let mut headings: Vec<Heading> = Vec::new();
        for index in 0..events.len() {
            if !matches!(events[index], Event::Start(Tag::Heading { level: HeadingLevel::H2, .. })) {
                continue;
            }
            let end = |event: &Event<'_>| matches!(event, Event::End(TagEnd::Heading(_)));
            let length = events[index..].iter().take_while(|event| !end(event)).count();
            let text: String = events[index..index + length].iter().filter_map(text_of).collect();
            let same = |id: &str| headings.iter().filter(|other| other.id.starts_with(id)).count();
            let mut heading_id = slug(&text.to_lowercase().replace(' ', "-"));
            if same(&heading_id) > 0 {
                heading_id = format!("{heading_id}-{}", same(&heading_id));
            }
            if let Event::Start(Tag::Heading { id, .. }) = &mut events[index] {
                *id = Some(CowStr::from(heading_id.clone()));
            }
            let date = take_date(&mut events, index + length + 1);
            headings.push(Heading { id: heading_id, text, date });
        }
        let mut html = String::new();
        html::push_html(&mut html, without_local_links(events).into_iter());
        // A block of code that is wider than the screen scrolls, by the keyboard, too. Text cannot contain
        // the tag, because it is escaped.
        Self { html: html.replace("<pre>", "<pre tabindex=\"0\">"), headings }
    }

    /// Returns the findings, the newest first. Those without a date are last.
    pub(super) fn newest(&self) -> Vec<&Heading> {
        let mut all: Vec<_> = self.headings.iter().collect();
        // Stable: the order of the text within a day.
        all.sort_by(|one, other| other.date.cmp(&one.date));
        all
    }
}

/// Returns the date that is the paragraph at this place, and marks it up for programs.
fn take_date(events: &mut [Event<'_>], at: usize) -> Option<String> {
    let [Event::Start(Tag::Paragraph), text, Event::End(TagEnd::Paragraph)] = events.get_mut(at..at + 3)?
    else {
        return None;
    };
    let Event::Text(words) = &*text else { return None };
    let date = Some(words).filter(|words| is_date(words))?.to_string();
    *text = Event::Html(format!("First described on <time datetime=\"{date}\">{date}</time>.").into());
    Some(date)
}

/// Whether a text has the form of a day: `2026-11-21`.
fn is_date(text: &str) -> bool {
    let fits = |(index, byte): (usize, u8)| match index {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(fits)
}

/// HTML becomes the text that it is written with.
fn as_text(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        // The page has a heading of the first level.
        Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::Heading(HeadingLevel::H1)) => Event::End(TagEnd::Paragraph),
        other => other,
    }
}

fn text_of<'a>(event: &'a Event<'_>) -> Option<&'a str> {
    match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        _ => None,
    }
}

/// Removes links and pictures whose address is no web address, and keeps their text.
fn without_local_links(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut open = Vec::new();
    let keep = |event: &Event<'_>| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            open.push(dest_url.starts_with("https://") && !matches!(event, Event::Start(Tag::Image { .. })));
            open.last() == Some(&true)
        }
        Event::End(TagEnd::Link | TagEnd::Image) => open.pop() == Some(true),
        _ => true,
    };
    events.into_iter().filter(keep).collect()
}
