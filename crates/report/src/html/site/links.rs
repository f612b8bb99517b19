//! The links of the site: each must lead to a file, and to a place in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use html5gum::{Token, Tokenizer};

use crate::Page;

/// A link that leads nowhere.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Broken {
    /// The page that has it.
    pub page: String,
    /// Its address.
    pub link: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.page, self.link)
    }
}

/// Returns the links within the site that lead to no file, or to no element of it. Web addresses are not
/// looked at. The part of a fragment after `=` is for the page's script.
pub fn broken(files: &[Page]) -> Vec<Broken> {
    let is_html = |page: &&Page| page.path.ends_with(".html");
    let read: BTreeMap<_, _> =
        files.iter().filter(is_html).map(|page| (page.path.as_str(), Read::of(&page.text))).collect();
    let others: BTreeSet<_> = files.iter().map(|page| page.path.as_str()).collect();
    let mut broken = Vec::new();
    for (&page, content) in &read {
        for link in &content.links {
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { Some(page.to_owned()) } else { resolve(page, path) };
            let leads = path.as_deref().is_some_and(|path| {
                let has_place = |read: &Read| {
                    fragment.is_empty() || fragment.contains(['=', '.']) || read.places.contains(fragment)
                };
                others.contains(path) && read.get(path).is_none_or(has_place)
            });
            if !leads {
                broken.push(Broken { page: page.to_owned(), link: link.clone() });
            }
        }
    }
    broken.sort();
    broken.dedup();
    broken
}

/// The links of a page within the site, and the places in it that a link can lead to.
#[derive(Default)]
struct Read {
    links: BTreeSet<String>,
    places: BTreeSet<String>,
}

impl Read {
    fn of(html: &str) -> Self {
        let mut read = Self::default();
        for token in Tokenizer::new(html) {
            let Ok(token) = token;
            let Token::StartTag(tag) = token else { continue };
            for (name, value) in &tag.attributes {
                let value = String::from_utf8_lossy(value).into_owned();
                match name.as_slice() {
                    b"id" => _ = read.places.insert(value),
                    b"href" | b"src" if !is_elsewhere(&value) => _ = read.links.insert(value),
                    _ => {}
                }
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
