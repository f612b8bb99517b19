//! Every relative link of a page points to an existing file, and to an existing heading in it.

use std::path::{Component, Path, PathBuf};

use crate::tree::{ROOT, Tree};

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

pub fn have_targets(tree: &Tree, problems: &mut Vec<String>) -> usize {
    let mut followed = 0;
    for page in tree.of("md") {
        for target in targets(&page.text).into_iter().filter(|target| !target.contains("://")) {
            followed += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match path {
                "" => PathBuf::from(&page.path),
                path => plain(&Path::new(&page.path).with_file_name(path)),
            };
            let mut pages = tree.of("md").filter(|other| Path::new(&other.path) == path);
            let has_target = heading.is_empty() || pages.any(|other| has_heading(&other.text, heading));
            if !Path::new(ROOT).join(&path).exists() || !has_target {
                problems.push(format!("{}: {target}", page.path));
            }
        }
    }
    followed
}

#[test]
fn fragments_and_targets_are_found_as_github_does() {
    assert_eq!(fragment("18. Orderings"), "18-orderings");
    assert_eq!(fragment("Adapters: `adapters/NAME/OS.yml`"), "adapters-adaptersnameosyml");
    assert_eq!(targets("a [b](c.md#d) `[e](f)` [`g`](h)\n```\n[i](j)\n```\n"), ["c.md#d", "h"]);
}
