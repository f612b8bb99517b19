//! Disagreements as rows, which `pollmatrix run --rows` asks all pollers, and as expectations.

use std::fmt::Write;

use characterisation::keys;
use characterisation::verbs::Script;
use exploration::{Cluster, Outcome};
use matrix::END;

use super::text::Head;

/// The state under which the answer that differs is published.
const STATE: &str = "differs";

/// Returns a file of rows with the disagreements that the catalogue does not explain, if there are any.
pub fn rows(head: &Head<'_>, outcome: &Outcome) -> Option<String> {
    let sides = [&head.comparison.left.name, &head.comparison.right.name].map(|name| slug(name));
    let mut out = String::from("rows:\n");
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
    unexplained(outcome).next().map(|_| format!("{out}{END}\n"))
}

/// Returns the rows, and the answers as expectations, with headings.
pub fn text(head: &Head<'_>, outcome: &Outcome, rows: &str) -> String {
    format!(
        "Rows for `pollmatrix run --rows FILE` (docs/verbs.md):\n\n{rows}\n\
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
    outcome.clusters.iter().filter(|cluster| cluster.known.is_empty())
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
