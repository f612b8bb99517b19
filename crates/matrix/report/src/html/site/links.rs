//! The links of the site: each must lead to a file, and to a place in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use super::Page;

/// A link that leads nowhere.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Broken {
    /// The page that has it.
    pub page: String,
    /// The line in the page, counted from 1.
    pub line: usize,
    /// Its address.
    pub link: String,
    /// Whether the file is there, and lacks the place.
    pub has_file: bool,
}

impl Broken {
    /// Returns the mistake, without its place.
    pub(super) fn what(&self) -> String {
        let what = if self.has_file { "no place of that page" } else { "no file" };
        format!("{} leads to {what}", self.link)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.page, self.line, self.what())
    }
}

/// Returns the links within the site that lead to no file, or to no element of it. Web addresses are not
/// looked at. The part of a fragment after `=` is for the page's script.
pub fn broken(files: &[Page]) -> Vec<Broken> {
    broken_in(files, &read(files))
}

/// Reads the pages among the files. Returns their contents by their paths.
pub(super) fn read(files: &[Page]) -> BTreeMap<&str, Read> {
    let pages = files.iter().filter(|file| file.path.ends_with(".html"));
    pages.map(|page| (page.path.as_str(), Read::of(&page.text))).collect()
}

/// As [`broken`], with the contents of the pages.
pub(super) fn broken_in(files: &[Page], read: &BTreeMap<&str, Read>) -> Vec<Broken> {
    let others: BTreeSet<_> = files.iter().map(|page| page.path.as_str()).collect();
    let mut broken = Vec::new();
    for (&page, content) in read {
        for (link, line) in &content.links {
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { Some(page.to_owned()) } else { resolve(page, path) };
            let path = path.filter(|path| others.contains(path.as_str()));
            let has_place = |path: &String| {
                let is_of_script = fragment.is_empty() || fragment.contains(['=', '.']);
                is_of_script || read.get(path.as_str()).is_none_or(|read| read.places.contains(fragment))
            };
            if !path.as_ref().is_some_and(has_place) {
                let (page, has_file) = (page.to_owned(), path.is_some());
                broken.push(Broken { page, line: *line, link: link.clone(), has_file });
            }
        }
    }
    broken.sort();
    broken
}

/// What a page says about itself, its links within the site, and the places in it that a link can lead to.
#[derive(Default)]
pub(super) struct Read {
    /// The first line of each link.
    links: BTreeMap<String, usize>,
    places: BTreeSet<String>,
    /// The language of the text.
    pub(super) language: String,
    /// The title.
    pub(super) title: String,
    /// The description for search engines.
    pub(super) description: String,
}

impl Read {
    fn of(html: &str) -> Self {
        let mut read = Self::default();
        let mut emitter = DefaultEmitter::<usize>::new_with_span();
        // The text of a script or a style is no markup.
        emitter.naively_switch_states(true);
        let (mut is_title, mut line, mut counted) = (false, 1, 0);
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(token) = token;
            match token {
                Token::StartTag(tag) => {
                    let passed = html.as_bytes().get(counted..tag.span.start).unwrap_or_default();
                    line += passed.iter().filter(|byte| **byte == b'\n').count();
                    counted = counted.max(tag.span.start);
                    // A picture can have a title of its own.
                    is_title = *tag.name == b"title" && read.title.is_empty();
                    let value_of = |name: &[u8]| {
                        let value = tag.attributes.iter().find(|(known, _)| known.as_slice() == name);
                        value.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
                    };
                    match tag.name.as_slice() {
                        b"html" => read.language = value_of(b"lang").unwrap_or_default(),
                        b"meta" if value_of(b"name").as_deref() == Some("description") => {
                            read.description = value_of(b"content").unwrap_or_default();
                        }
                        _ => {}
                    }
                    read.places.extend(value_of(b"id"));
                    let links = [value_of(b"href"), value_of(b"src")].into_iter().flatten();
                    for link in links.filter(|link| !is_elsewhere(link)) {
                        read.links.entry(link).or_insert(line);
                    }
                }
                Token::String(text) if is_title => {
                    read.title.push_str(&String::from_utf8_lossy(&text.value));
                }
                Token::EndTag(_) => is_title = false,
                _ => {}
            }
        }
        read
    }
}

/// Whether an address has a scheme, or leads to another server.
fn is_elsewhere(address: &str) -> bool {
    let scheme = address.split(['/', '#', '?']).next().unwrap_or_default();
    scheme.contains(':') || address.starts_with("//")
}

/// Returns the file that an address leads to from a page, without `..`. `None` if it leaves the site.
fn resolve(page: &str, address: &str) -> Option<String> {
    let mut folders: Vec<_> = page.split('/').collect();
    folders.pop();
    for part in address.split('/') {
        match part {
            ".." => _ = folders.pop()?,
            "." => {}
            name => folders.push(name),
        }
    }
    Some(folders.join("/"))
}
