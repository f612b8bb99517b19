//! Checks a site as it is in its folder, whoever wrote or changed it.

use std::collections::BTreeSet;
use std::fmt;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use super::Page;
use super::links::{self, Read};

/// The list of pages for search engines.
const SITEMAP: &str = "sitemap.xml";
/// The only file that is empty: it keeps GitHub Pages from leaving files out.
const EMPTY: &str = ".nojekyll";

/// A mistake in a file of a site.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Problem {
    /// The path of the file in the folder.
    pub path: String,
    /// The line, counted from 1, if the mistake has one.
    pub line: Option<usize>,
    /// The mistake.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        write!(f, "{}{line}: {}", self.path, self.what)
    }
}

/// Checks the files of a folder. `listed` are the paths of the site's own files.
///
/// Every listed file is there and not empty. Every page has a title, a description and a language, and its
/// links lead to files and to places in them. The sitemap has the listed pages and no others. The badges can
/// be read. Returns the problems, sorted.
pub fn problems(files: &[Page], listed: &BTreeSet<String>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let read = links::read(files);
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let mut add =
        |path: &str, line, what: String| problems.push(Problem { path: path.to_owned(), line, what });
    for path in listed {
        match find(path) {
            None => add(path, None, "the file is missing".into()),
            Some(file) if file.text.trim().is_empty() && path != EMPTY => {
                add(path, None, "the file is empty".into());
            }
            Some(file) if path.starts_with("badges/") => {
                if let Err((line, what)) = badge(file) {
                    add(path, line, what);
                }
            }
            Some(_) => {
                let Some(Read { title, description, language, .. }) = read.get(path.as_str()) else {
                    continue;
                };
                let parts = [("title", title), ("description", description), ("language", language)];
                for (name, _) in parts.iter().filter(|(_, text)| text.trim().is_empty()) {
                    add(path, None, format!("the page has no {name}"));
                }
            }
        }
    }
    for broken in links::broken_in(files, &read) {
        add(&broken.page, Some(broken.line), broken.what());
    }
    if let Some(file) = find(SITEMAP).filter(|_| listed.contains(SITEMAP)) {
        let pages = listed.iter().filter(|path| path.ends_with(".html")).map(String::as_str).collect();
        sitemap(file, &pages).into_iter().for_each(|(line, what)| add(SITEMAP, line, what));
    }
    problems.sort();
    problems
}

/// A line, if it is known, and a mistake.
type Mistake = (Option<usize>, String);

/// Checks that a badge can be read.
fn badge(file: &Page) -> Result<(), Mistake> {
    if !file.path.ends_with(".json") {
        return match elements(&file.text)?.first() {
            Some((_, name, _)) if name == "svg" => Ok(()),
            _ => Err((Some(1), "the picture has no element svg".into())),
        };
    }
    let endpoint: Value = serde_json::from_str(&file.text)
        .map_err(|error| (Some(error.line()), format!("the badge is not JSON: {error}")))?;
    let missing = ["label", "message", "color"].into_iter().find(|name| !endpoint[name].is_string());
    match missing {
        _ if endpoint["schemaVersion"] != 1 => Err((None, "the badge has no schemaVersion 1".into())),
        Some(name) => Err((None, format!("the badge has no text {name}"))),
        None => Ok(()),
    }
}

/// Compares the addresses in the sitemap with the pages. The address of the site is that of its front page,
/// without `index.html`.
fn sitemap(file: &Page, pages: &BTreeSet<&str>) -> Vec<Mistake> {
    const FRONT: &str = "index.html";
    let all = match elements(&file.text) {
        Ok(all) => all,
        Err(mistake) => return vec![mistake],
    };
    let addresses: Vec<_> = all.into_iter().filter(|(_, name, _)| name == "loc").collect();
    let fronts = addresses.iter().filter_map(|(_, _, address)| address.strip_suffix(FRONT));
    let Some(site) = fronts.filter(|site| site.ends_with('/')).min_by_key(|site| site.len()) else {
        return vec![(None, format!("the page {FRONT} is not listed"))];
    };
    let mut mistakes = Vec::new();
    let mut seen = BTreeSet::new();
    for (line, _, address) in &addresses {
        let path = address.strip_prefix(site).filter(|path| pages.contains(path));
        match path {
            None => mistakes.push((Some(*line), format!("{address} is no page of the site"))),
            Some(path) if !seen.insert(path) => {
                mistakes.push((Some(*line), format!("{address} is listed twice")))
            }
            Some(_) => {}
        }
    }
    let missing = pages.iter().filter(|page| !seen.contains(*page));
    mistakes.extend(missing.map(|page| (None, format!("the page {page} is not listed"))));
    mistakes
}

/// Returns the elements of an XML document with their lines and their own text.
fn elements(xml: &str) -> Result<Vec<(usize, String, String)>, Mistake> {
    let line_at = |position: u64| {
        let end = usize::try_from(position).unwrap_or(usize::MAX).min(xml.len());
        xml.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count() + 1
    };
    let mut reader = Reader::from_str(xml);
    let mut all: Vec<(usize, String, String)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let line = line_at(reader.buffer_position());
        let malformed = |what: String| (Some(line), format!("this is not XML: {what}"));
        match reader.read_event().map_err(|error| malformed(error.to_string()))? {
            Event::Start(tag) => {
                open.push(all.len());
                all.push((line, String::from_utf8_lossy(tag.name().as_ref()).into_owned(), String::new()));
            }
            Event::Empty(tag) => {
                all.push((line, String::from_utf8_lossy(tag.name().as_ref()).into_owned(), String::new()));
            }
            Event::End(_) => _ = open.pop(),
            Event::Text(text) => {
                let text = String::from_utf8_lossy(&text).into_owned();
                if let Some(at) = open.last() {
                    all[*at].2.push_str(text.trim());
                }
            }
            Event::Eof if open.is_empty() => return Ok(all),
            Event::Eof => return Err(malformed(format!("{} is not closed", all[open[open.len() - 1]].1))),
            _ => {}
        }
    }
}
