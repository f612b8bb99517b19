//! Checks the links of a site.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Attributes that hold an address.
const ADDRESSES: [&str; 4] = ["href", "src", "action", "poster"];

/// Attributes that hold ids of the same page.
const REFERENCES: [&str; 6] =
    ["for", "headers", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns"];

/// Pages whose script reads a fragment such as `#text=pipe`.
const SCRIPTED: [&str; 6] =
    ["catalogue.html", "compare.html", "index.html", "matrix.html", "report.html", "search.html"];

/// The page from which every other file must be reachable.
const FRONT: &str = "index.html";

/// The report, most of whose elements its script makes.
const REPORT: &str = "report.html";

/// The list of pages for search engines. No page links it.
const SITEMAP: &str = "sitemap.xml";

/// A mistake in a page.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Problem {
    /// The path of the page.
    pub page: String,
    /// A description.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.page, self.what)
    }
}

/// The result of a check.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// The number of pages.
    pub pages: usize,
    /// The number of links within the site.
    pub links: usize,
    /// The mistakes, sorted.
    pub problems: Vec<Problem>,
}

/// What is needed of a page.
#[derive(Default)]
struct Page {
    ids: BTreeSet<String>,
    /// The path and the fragment of each link within the site.
    links: Vec<(String, String)>,
}

/// Checks the files of a site, by path: every link within the site has its page and its fragment, ids are
/// unique, references name ids, every page is well-formed, and every file can be reached from the front page.
/// `url` is the address at which the site is published.
pub fn check(files: &BTreeMap<String, String>, url: &str) -> Checked {
    let mut problems = BTreeSet::new();
    let mut pages: BTreeMap<&str, Page> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".html")) {
        pages.insert(path, read(path, text, url, &mut problems));
    }
    if let Some(text) = files.get(SITEMAP) {
        for address in addresses(text) {
            let path = address.strip_prefix(url).map(|path| if path.is_empty() { FRONT } else { path });
            if !path.is_some_and(|path| files.contains_key(path)) {
                problem(&mut problems, SITEMAP, format!("{address} is no page"));
            }
        }
    }
    for (from, page) in &pages {
        for (path, fragment) in &page.links {
            let shown = if fragment.is_empty() { path.clone() } else { format!("{path}#{fragment}") };
            if !files.contains_key(path) {
                problem(&mut problems, from, format!("links {shown}, and there is no such file"));
            } else if !has_fragment(pages.get(path.as_str()), path, fragment) {
                problem(&mut problems, from, format!("links {shown}, and that page has no such id"));
            }
        }
    }
    let reached = reached(&pages);
    for path in files.keys().filter(|path| *path != SITEMAP && !reached.contains(path.as_str())) {
        problem(&mut problems, path, format!("no link leads to it from {FRONT}"));
    }
    let links = pages.values().map(|page| page.links.len()).sum();
    Checked { pages: pages.len(), links, problems: problems.into_iter().collect() }
}

/// Returns the addresses in a sitemap.
fn addresses(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut is_address = false;
    for token in Tokenizer::new(text) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => is_address = *tag.name == b"loc",
            Token::EndTag(_) => is_address = false,
            Token::String(address) if is_address => all.push(words(&address.value)),
            _ => {}
        }
    }
    all
}

fn problem(problems: &mut BTreeSet<Problem>, page: &str, what: String) {
    problems.insert(Problem { page: page.to_owned(), what });
}

fn has_fragment(page: Option<&Page>, path: &str, fragment: &str) -> bool {
    match page {
        _ if fragment.is_empty() => true,
        Some(_) if fragment.contains('=') => SCRIPTED.contains(&path),
        Some(page) => page.ids.contains(fragment),
        None => false,
    }
}

/// Returns the files that links lead to from the front page.
fn reached<'a>(pages: &'a BTreeMap<&'a str, Page>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::from([FRONT]);
    let mut open = vec![FRONT];
    while let Some(page) = open.pop().and_then(|path| pages.get(path)) {
        open.extend(page.links.iter().map(|(path, _)| path.as_str()).filter(|path| reached.insert(path)));
        // A file that is no page has no links: skip it.
        while open.last().is_some_and(|path| !pages.contains_key(path)) {
            open.pop();
        }
    }
    reached
}

/// Reads a page, and reports what is wrong in it alone.
fn read(path: &str, text: &str, url: &str, problems: &mut BTreeSet<Problem>) -> Page {
    let mut page = Page::default();
    let mut open: Vec<String> = Vec::new();
    let mut references: Vec<String> = Vec::new();
    let mut emitter = DefaultEmitter::<()>::default();
    // The text of a script or a style is no markup.
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = words(&tag.name);
                attributes(path, &tag, url, &mut page, &mut references, problems);
                if !VOID.contains(&name.as_str()) && !tag.self_closing {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                let name = words(&tag.name);
                match open.pop() {
                    Some(last) if last == name => {}
                    Some(last) => {
                        problem(problems, path, format!("</{name}> ends <{last}>"));
                        open.push(last);
                    }
                    None => problem(problems, path, format!("</{name}> has no start")),
                }
            }
            Token::Error(error) => problem(problems, path, format!("is malformed: {}", error.value)),
            _ => {}
        }
    }
    if let Some(last) = open.last() {
        problem(problems, path, format!("<{last}> has no end"));
    }
    // The script of the report makes the elements that are referred to.
    for id in references.iter().filter(|id| path != REPORT && !page.ids.contains(*id)) {
        problem(problems, path, format!("refers to the id {id}, which it has not"));
    }
    page
}

fn attributes(
    path: &str,
    tag: &StartTag<()>,
    url: &str,
    page: &mut Page,
    references: &mut Vec<String>,
    problems: &mut BTreeSet<Problem>,
) {
    for (name, value) in &tag.attributes {
        let (name, value) = (words(name), words(&value.value));
        if name == "id" && (value.is_empty() || !page.ids.insert(value.clone())) {
            problem(problems, path, format!("has the id '{value}' twice, or empty"));
        }
        if REFERENCES.contains(&name.as_str()) {
            references.extend(value.split_ascii_whitespace().map(str::to_owned));
        }
        let is_meta = name == "content" && value.starts_with(url);
        if ADDRESSES.contains(&name.as_str()) || is_meta {
            match within(path, &value, url) {
                Ok(Some(link)) => page.links.push(link),
                Ok(None) => {}
                Err(why) => problem(problems, path, format!("links {value}, {why}")),
            }
        }
    }
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the path and the fragment of an address on the page `from`. `None` if it leads elsewhere.
fn within(from: &str, address: &str, url: &str) -> Result<Option<(String, String)>, &'static str> {
    let (address, fragment) = address.split_once('#').unwrap_or((address, ""));
    let fragment = decoded(fragment);
    let address = address.split('?').next().unwrap_or_default();
    if address.is_empty() {
        return Ok(Some((from.to_owned(), fragment)));
    }
    let mut parts: Vec<&str> = Vec::new();
    let rest = match address.strip_prefix(url) {
        Some(rest) => rest,
        None if address.starts_with("https://") || address.starts_with("http://") => return Ok(None),
        None if address.starts_with("data:image/") => return Ok(None),
        None if address.split('/').next().is_some_and(|first| first.contains(':')) => {
            return Err("which is no web address");
        }
        // The site may be published in any folder of a server.
        None if address.starts_with('/') => return Err("which leaves the site's folder"),
        None => {
            parts.extend(from.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev());
            address
        }
    };
    for part in rest.split('/') {
        match part {
            ".." if parts.pop().is_none() => return Err("which leaves the site's folder"),
            ".." | "." => {}
            part => parts.push(part),
        }
    }
    let mut path = decoded(&parts.join("/"));
    if path.is_empty() || path.ends_with('/') {
        path.push_str(FRONT);
    }
    Ok(Some((path, fragment)))
}

/// Decodes `%20`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://example.org/site/";

    /// Checks a front page with this body, beside `rows/a.html`, which has the id `here`.
    fn problems(body: &str) -> Vec<String> {
        let page = |body: &str| format!("<!DOCTYPE html><html lang=\"en\"><body>{body}</body></html>");
        let front = page(&format!("<a href=\"rows/a.html\">a</a>{body}"));
        let files = [
            ("index.html".to_owned(), front),
            ("rows/a.html".to_owned(), page("<p id=\"here\"><a href=\"../index.html\">b</a></p>")),
        ];
        check(&files.into(), URL).problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_to_pages_and_fragments_that_exist_are_no_problem() {
        for body in [
            "",
            "<a href=\"rows/a.html#here\">x</a>",
            "<a href=\"./rows/../rows/a.html?q#he%72e\">x</a>",
            "<a href=\"https://example.org/site/rows/a.html\">x</a><a href=\"https://example.org/site/\">y</a>",
            "<a href=\"https://example.org/elsewhere\">x</a>",
            "<a href=\"#text=pipe\">x</a>",
            "<label for=\"f\">x</label><input id=\"f\">",
            "<script>if (1 < 2 && '<a href=\"nowhere\">') {}</script>",
        ] {
            assert_eq!(problems(body), [""; 0], "{body}");
        }
    }

    #[test]
    fn each_mistake_is_found_and_named() {
        for (body, expected) in [
            ("<a href=\"rows/b.html\">x</a>", "index.html: links rows/b.html, and there is no such file"),
            (
                "<a href=\"rows/a.html#there\">x</a>",
                "index.html: links rows/a.html#there, and that page has no such id",
            ),
            ("<a href=\"#there\">x</a>", "index.html: links index.html#there, and that page has no such id"),
            (
                "<a href=\"rows/a.html#text=x\">x</a>",
                "index.html: links rows/a.html#text=x, and that page has no such id",
            ),
            (
                "<a href=\"https://example.org/site/no.html\">x</a>",
                "index.html: links no.html, and there is no such file",
            ),
            (
                "<a href=\"../index.html\">x</a>",
                "index.html: links ../index.html, which leaves the site's folder",
            ),
            (
                "<a href=\"/index.html\">x</a>",
                "index.html: links /index.html, which leaves the site's folder",
            ),
            (
                "<a href=\"javascript:alert(1)\">x</a>",
                "index.html: links javascript:alert(1), which is no web address",
            ),
            ("<img alt=\"\" src=\"a.png\">", "index.html: links a.png, and there is no such file"),
            ("<p id=\"a\"></p><p id=\"a\"></p>", "index.html: has the id 'a' twice, or empty"),
            ("<p aria-labelledby=\"no\"></p>", "index.html: refers to the id no, which it has not"),
            ("<p>", "index.html: </body> ends <p>"),
            ("<p a=\"1\" a=\"2\"></p>", "index.html: is malformed: duplicate-attribute"),
        ] {
            let found = problems(body);
            assert!(found.iter().any(|problem| problem == expected), "{body}: {found:?}");
        }
    }

    #[test]
    fn a_file_that_no_link_leads_to_is_found() {
        let page = "<!DOCTYPE html><html lang=\"en\"><body></body></html>";
        let files = ["index.html", "lost.html", "badge.svg"].map(|path| (path.to_owned(), page.to_owned()));
        let found: Vec<_> = check(&files.into(), URL).problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "badge.svg: no link leads to it from index.html",
                "lost.html: no link leads to it from index.html"
            ]
        );
    }

    #[test]
    fn an_address_in_the_sitemap_without_a_page_is_found() {
        let files = [
            ("index.html".to_owned(), "<!DOCTYPE html>".to_owned()),
            ("sitemap.xml".to_owned(), format!("<loc>{URL}</loc><loc>{URL}no.html</loc>")),
        ];
        let found: Vec<_> = check(&files.into(), URL).problems.iter().map(ToString::to_string).collect();
        assert_eq!(found, [format!("sitemap.xml: {URL}no.html is no page")]);
    }
}
