//! Every relative link of a page points to an existing file, and to an existing heading in it.

use std::path::{Component, Path, PathBuf};

use crate::tree::{ROOT, files};

/// Returns the targets of `[text](target)` outside of code.
fn targets(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if !is_code {
            let prose: Vec<_> = line.split('`').step_by(2).collect();
            // A link whose text is code is divided: its target is at the beginning of the next piece.
            for piece in prose {
                found.extend(piece.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)));
            }
        }
    }
    found
}

/// Returns the fragment that GitHub derives from a heading.
fn fragment(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_heading(page: &str, wanted: &str) -> bool {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| line.trim_start_matches('#').trim()).any(|heading| fragment(heading) == wanted)
}

/// Resolves the dots in `docs/a/../b.md`.
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

#[test]
fn every_relative_link_has_a_target() {
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
            let exists = Path::new(ROOT).join(&path).exists();
            let other = pages.iter().find(|page| Path::new(&page.path) == path);
            let has_target =
                heading.is_empty() || other.is_some_and(|other| has_heading(&other.text, heading));
            if !exists || !has_target {
                broken.push(format!("{}: {target}", page.path));
            }
        }
    }
    assert!(followed > 50, "{followed}");
    assert!(broken.is_empty(), "these links have no target:\n{}", broken.join("\n"));
}

#[test]
fn fragments_and_targets_are_found_as_github_does() {
    assert_eq!(fragment("18. Orderings"), "18-orderings");
    assert_eq!(fragment("Subjects: `subjects/NAME/OS.yml`"), "subjects-subjectsnameosyml");
    assert_eq!(targets("a [b](c.md#d) `[e](f)` [`g`](h)\n```\n[i](j)\n```\n"), ["c.md#d", "h"]);
}
