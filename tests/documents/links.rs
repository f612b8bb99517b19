//! Every relative link of a page leads to a file of the tree, and to a heading of it.

use std::path::{Component, Path, PathBuf};

use crate::tree::{ROOT, files};

/// The targets of `[text](target)`, outside code.
fn targets(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if !is_code {
            let prose: Vec<_> = line.split('`').step_by(2).collect();
            // A link whose text is code spans the pieces: its target begins one of them.
            for piece in prose {
                found.extend(piece.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)));
            }
        }
    }
    found
}

/// The fragment that GitHub makes of a heading.
fn fragment(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_heading(page: &str, wanted: &str) -> bool {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| line.trim_start_matches('#').trim()).any(|heading| fragment(heading) == wanted)
}

/// `docs/a/../b.md` without its dots.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
        plain
    })
}

/// Pages that CI publishes beside the documents and that are not kept in the tree.
const BUILT: [&str; 2] = ["docs/catalogue.html", "docs/results"];

#[test]
fn every_relative_link_leads_somewhere() {
    let pages = files(&["md"]);
    let mut broken = Vec::new();
    let mut followed = 0;
    for page in &pages {
        for target in targets(&page.text).into_iter().filter(|target| !target.contains("://")) {
            followed += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match path {
                "" => PathBuf::from(&page.path),
                path => plain(&Path::new(&page.path).with_file_name(path)),
            };
            let is_built = BUILT.iter().any(|built| path.starts_with(built));
            let leads = is_built || Path::new(ROOT).join(&path).exists();
            let other = pages.iter().find(|page| Path::new(&page.path) == path);
            if !leads
                || !heading.is_empty()
                    && !is_built
                    && !other.is_some_and(|other| has_heading(&other.text, heading))
            {
                broken.push(format!("{}: {target}", page.path));
            }
        }
    }
    assert!(followed > 50, "{followed}");
    assert!(broken.is_empty(), "these lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn a_fragment_is_what_a_browser_is_sent() {
    assert_eq!(fragment("18. Orderings"), "18-orderings");
    assert_eq!(fragment("Subjects: `subjects/NAME/OS.yml`"), "subjects-subjectsnameosyml");
    assert_eq!(targets("a [b](c.md#d) `[e](f)` [`g`](h)\n```\n[i](j)\n```\n"), ["c.md#d", "h"]);
}
