//! Disagreements as behaviours, which `pollmatrix run --behaviours` asks all pollers, as expectations, and as
//! lines of a file for `--known`.

use std::fmt::Write;
use std::path::Path;

use explore::{Accepted, Cluster, Outcome};
use matrix::command::quoted as quoted_for_a_shell;
use matrix::{diagnostics, output};
use metadata::one_line;
use raw::keys;
use raw::verbs::Script;

use super::text::Head;
use crate::error::Error;

/// The state under which the answer that differs is published.
const STATE: &str = "differs";

/// Where the disagreements without an explanation go, and as what.
pub enum Proposal<'a> {
    /// All of it to the output.
    Shown,
    /// Behaviours.
    Behaviours(&'a Path),
    /// Lines for `--known`.
    Known(&'a Path),
}

/// Returns whether a file with this name gets lines for `--known`.
pub fn is_for_known(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "txt")
}

impl<'a> Proposal<'a> {
    /// Returns the proposal for a file; the name of one for `--known` ends in `.txt`. `known` is that of this
    /// exploration.
    pub fn of(file: Option<&'a Path>, known: Option<&Path>) -> Result<Self, Error> {
        let Some(file) = file else { return Ok(Self::Shown) };
        let is_known = |known: &Path| known == file || known.canonicalize().ok() == file.canonicalize().ok();
        match is_for_known(file) {
            true if known.is_some_and(is_known) => Err(Error::Unfit {
                path: file.to_path_buf(),
                why: "it has the known disagreements, and would have the new ones alone".into(),
                help: "write to another file, and append its lines to this one after a review",
            }),
            true => Ok(Self::Known(file)),
            false => Ok(Self::Behaviours(file)),
        }
    }

    /// Returns the text, empty if there is no disagreement without an explanation.
    pub fn text(&self, head: &Head<'_>, outcome: &Outcome) -> String {
        match self {
            Self::Shown => behaviours(head, outcome).map(|behaviours| text(head, outcome, &behaviours)),
            Self::Behaviours(_) => behaviours(head, outcome),
            Self::Known(_) => unexplained(outcome).next().map(|_| known(head, outcome)),
        }
        .unwrap_or_default()
    }

    /// Writes the text into the file, and notes how to use it.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        let (file, note) = match self {
            Self::Shown => return Ok(()),
            Self::Behaviours(file) => (file, "`pollmatrix run --behaviours FILE` asks all pollers"),
            Self::Known(file) => (file, "`pollmatrix explore --known FILE` accepts them"),
        };
        output::write_file(file, text)?;
        let file = quoted_for_a_shell(&[file.display().to_string()]);
        diagnostics::note(&note.replace("FILE", &file));
        Ok(())
    }
}

/// Returns a file for `--known` with the disagreements that nothing explains.
fn known(head: &Head<'_>, outcome: &Outcome) -> String {
    let names = head.names();
    let mut out = format!(
        "# Disagreements of {} and {}, for `pollmatrix explore --known FILE` (docs/explore.md).\n",
        names[0], names[1]
    );
    for (line, difference) in unexplained(outcome).flat_map(|cluster| cluster.settings.values()) {
        let (left, right) = (&difference.left, &difference.right);
        let accepted = Accepted { line: line.clone(), what: difference.what.to_string(), number: 0 };
        let _ = writeln!(
            out,
            "\n# {} answers '{}', and {} '{}'. Why is that accepted?\n{accepted}",
            names[0],
            one_line(left),
            names[1],
            one_line(right)
        );
    }
    out
}

/// Returns a file of behaviours with the disagreements that the catalogue does not explain, if there are any.
fn behaviours(head: &Head<'_>, outcome: &Outcome) -> Option<String> {
    let sides = [&head.comparison.left.name, &head.comparison.right.name].map(|name| slug(name));
    let mut out = String::from("behaviours:\n");
    for (number, cluster) in (1..).zip(unexplained(outcome)) {
        let (line, names) = (&cluster.line, head.names());
        let (left, right) = (&cluster.difference.left, &cluster.difference.right);
        let question = format!("Why does {} answer {left:?}, and {} {right:?}?", names[0], names[1]);
        let _ = writeln!(
            out,
            "  - id: explored/{}-{}-{number}\n    question: {}\n    script: {}\n    transports: [{}]\n    modes: [{}]",
            sides[0],
            sides[1],
            quoted(&question),
            quoted(&script(cluster).to_string()),
            line.transport,
            line.mode
        );
    }
    unexplained(outcome).next().map(|_| out)
}

/// Returns the behaviours, and the answers as expectations, with headings.
fn text(head: &Head<'_>, outcome: &Outcome, behaviours: &str) -> String {
    format!(
        "Behaviours for `pollmatrix run --behaviours FILE` (docs/verbs.md):\n\n{behaviours}\n\
         Expectations (docs/expectations.md):\n\n{}\n",
        expectations(head, outcome)
    )
}

/// Returns the answers of both sides as expectations.
fn expectations(head: &Head<'_>, outcome: &Outcome) -> String {
    let mut out = String::new();
    for cluster in unexplained(outcome) {
        let script = script(cluster);
        let mut last_variant = String::new();
        for (about, answer) in [
            (&head.comparison.left, &cluster.difference.left),
            (&head.comparison.right, &cluster.difference.right),
        ] {
            let keys = keys(&script, cluster.line.transport, cluster.line.mode, &about.name, &[]);
            let Some(key) = keys.last().filter(|key| key.variant.ends_with(&format!(":{STATE}"))) else {
                continue;
            };
            if last_variant != key.variant {
                let _ = writeln!(out, "  ID:\n    {}:", quoted(&key.variant));
                last_variant.clone_from(&key.variant);
            }
            let trigger = key.trigger.map(|trigger| format!("@{trigger}")).unwrap_or_default();
            let _ = writeln!(out, "      {}{trigger}: {}    # {}", key.api, quoted(answer), about.system);
        }
    }
    out
}

fn unexplained(outcome: &Outcome) -> impl Iterator<Item = &Cluster> {
    outcome.clusters.iter().filter(|cluster| !cluster.is_explained())
}

/// Returns the script, whose last answer is published under a state.
fn script(cluster: &Cluster) -> Script {
    let mut script = cluster.line.script.clone();
    if let Some(clause) = script.clauses.get_mut(cluster.difference.clause) {
        clause.state = Some(STATE.into());
    }
    script
}

/// Returns a part of an id.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug: String = name.chars().map(plain).collect();
    if slug.starts_with(|first: char| first.is_ascii_lowercase()) { slug } else { format!("p{slug}") }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
