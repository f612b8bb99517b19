//! The output of an exploration.

use std::collections::BTreeSet;
use std::fmt::Write;

use explore::compare::Comparison;
use explore::{Accepted, Cluster, Outcome, Progress, Question};
use matrix::command::quoted;
use metadata::{Seed, one_line};
use serde_json::{Value, json};

/// What the output names beside the outcome.
pub struct Head<'a> {
    /// The rules of the comparison, with both sides.
    pub comparison: &'a Comparison,
    /// The seed.
    pub seed: Seed,
    /// The options of `pollmatrix probe` for both sides; empty for a recorded side.
    pub options: [String; 2],
    /// The folder of the corpus, if there is one.
    pub corpus: Option<String>,
    /// The file of `--known`, and its disagreements.
    pub known: Option<(String, &'a [Accepted])>,
}

impl Head<'_> {
    /// Returns the names of both sides. Sides of one name are told apart by their systems.
    pub fn names(&self) -> [String; 2] {
        let (left, right) = (&self.comparison.left, &self.comparison.right);
        match (left.name == right.name, left.system == right.system) {
            (true, false) => {
                [format!("{} on {}", left.name, left.system), format!("{} on {}", right.name, right.system)]
            }
            (true, true) => [format!("{} (left)", left.name), format!("{} (right)", right.name)],
            (false, _) => [left.name.clone(), right.name.clone()],
        }
    }

    /// Returns the place of an accepted disagreement: `known.txt:3`.
    fn place(&self, index: usize) -> String {
        let (file, known) = self.known.as_ref().map_or(("", &[][..]), |(file, known)| (file, *known));
        format!("{file}:{}", known.get(index).map_or(0, |accepted| accepted.number))
    }

    /// Returns the command that performs a line on both sides.
    fn reproducer(&self, cluster: &Cluster) -> String {
        let line = &cluster.line;
        let [left, right] = &self.options;
        format!(
            "pollmatrix probe {} --transport {} --mode {}{left}{right} --trace",
            quoted(&[line.script.to_string()]),
            line.transport,
            line.mode
        )
    }
}

/// Returns the progress in one line.
pub fn progress(progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64().max(0.001);
    format!(
        "{seconds:.0} s: {} lines ({:.0}/s), {} triples, corpus {}, {} disagreements, {} unexplained",
        progress.lines,
        progress.performances as f64 / seconds,
        progress.triples,
        progress.corpus,
        progress.clusters,
        progress.unexplained,
    )
}

/// Returns the outcome as text.
///
/// `proposal` is a part of it.
pub fn text(head: &Head<'_>, outcome: &Outcome, proposal: &str) -> String {
    let mut out = String::new();
    let names = head.names();
    let (explained, unexplained): (Vec<_>, Vec<_>) =
        outcome.clusters.iter().partition(|cluster| cluster.is_explained());
    let (accepted, known): (Vec<_>, Vec<_>) =
        explained.into_iter().partition(|cluster| !cluster.accepted.is_empty());
    for (number, cluster) in unexplained.iter().enumerate() {
        let _ = writeln!(out, "{}. {}\n", number + 1, contrast(&names, cluster));
        out += &body(head, &names, cluster);
        out.push('\n');
    }
    if !known.is_empty() {
        out += "In the catalogue:\n\n";
        for cluster in &known {
            let ids = names_of(&cluster.known);
            let _ = writeln!(out, "  {ids}\n    {}: {}", contrast(&names, cluster), cluster.line.script);
        }
        out.push('\n');
    }
    if !accepted.is_empty() {
        out += "Accepted before:\n\n";
        for cluster in &accepted {
            let places: Vec<_> = cluster.accepted.iter().map(|index| head.place(*index)).collect();
            let (places, what) = (places.join(", "), contrast(&names, cluster));
            let _ = writeln!(out, "  {places}\n    {what}: {}", cluster.line.script);
        }
        out.push('\n');
    }
    for (what, of) in [("seen", &outcome.not_seen), ("performed", &outcome.not_performed)] {
        if !of.is_empty() {
            let _ = writeln!(out, "Accepted before, and not {what}:\n");
            let entry = |index: &usize| head.known.as_ref().and_then(|(_, known)| known.get(*index));
            for (index, accepted) in of.iter().filter_map(|index| Some((index, entry(index)?))) {
                let _ = writeln!(out, "  {}: {accepted}", head.place(*index));
            }
            out.push('\n');
        }
    }
    if !outcome.unsteady.is_empty() {
        out += "Not confirmed, because most repetitions in new processes did not show it:\n\n";
        for cluster in &outcome.unsteady {
            let _ = writeln!(
                out,
                "  {} of {}: {}\n    {}",
                cluster.confirmed.shown,
                cluster.confirmed.of,
                contrast(&names, cluster),
                cluster.line
            );
        }
        out.push('\n');
    }
    out += proposal;
    let progress = &outcome.progress;
    let seconds = progress.elapsed.as_secs_f64().max(0.001);
    if progress.every > 0 {
        let _ = writeln!(
            out,
            "every line of at most {0} clauses was performed: no difference of at most {0} clauses has a shorter line",
            progress.every
        );
    }
    let _ = writeln!(
        out,
        "{} and {}: {} lines performed, {} replayed, seed {}\n\
         {} performances in {seconds:.0} s ({:.0}/s), {} distinct triples of state, verb and answer",
        names[0],
        names[1],
        progress.lines,
        progress.replayed,
        head.seed,
        progress.performances,
        progress.performances as f64 / seconds,
        progress.triples,
    );
    if let Some(corpus) = &head.corpus {
        let _ = writeln!(out, "{} lines are in {corpus}", progress.corpus);
    }
    let of_known = head.known.as_ref().map_or_else(String::new, |_| format!(", {} accepted", accepted.len()));
    let _ = writeln!(
        out,
        "{} disagreements: {} in the catalogue{of_known}, {} unexplained",
        outcome.clusters.len(),
        known.len(),
        unexplained.len()
    );
    if progress.missing > 0 {
        let _ = writeln!(
            out,
            "no agreement: the recording lacks answers to {} of {} lines",
            progress.missing, progress.lines
        );
    }
    if let Some(why) = no_verdict(outcome) {
        let _ = writeln!(out, "no verdict: {why}");
    }
    let unasked = unexplained.iter().filter(|cluster| !cluster.unasked.is_empty()).count();
    if unasked > 0 {
        let _ = writeln!(
            out,
            "{unasked} of them could not be looked up in the catalogue for lack of time: give a longer --duration"
        );
    }
    out
}

/// Returns why an outcome is no verdict about the sides, if it is none.
fn no_verdict(outcome: &Outcome) -> Option<String> {
    let progress = &outcome.progress;
    match outcome.is_verdict() {
        true => None,
        false if outcome.is_stopped => {
            Some("the first round was not finished: give the exploration more time".into())
        }
        false => Some(format!(
            "no line could be compared: of {}, a side could not be asked everything in {}, and {} failed on both",
            progress.lines + progress.replayed,
            progress.unsupported,
            progress.broken
        )),
    }
}

/// Returns the names of the questions that show the same, each once.
fn names_of(questions: &BTreeSet<Question>) -> String {
    let names: BTreeSet<_> = questions.iter().map(ToString::to_string).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// `only epoll: IN`
fn contrast(names: &[String; 2], cluster: &Cluster) -> String {
    let what = cluster.difference.what.to_string();
    let what = what.replace("only left:", &format!("only {}:", names[0]));
    let what = what.replace("only right:", &format!("only {}:", names[1]));
    match what.strip_prefix("left: ").and_then(|what| what.split_once("; right: ")) {
        Some((left, right)) => format!("{}: {left}; {}: {right}", names[0], names[1]),
        None => what,
    }
}

/// Returns the line with its answers, and how to repeat it.
fn body(head: &Head<'_>, names: &[String; 2], cluster: &Cluster) -> String {
    let mut out = String::new();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(out, "   {}", cluster.line.script);
    for (name, answer) in names.iter().zip([&cluster.difference.left, &cluster.difference.right]) {
        let _ = writeln!(out, "   {name:width$}  {}", one_line(answer));
    }
    let settings: Vec<_> = cluster.settings.keys().map(String::as_str).collect();
    let clause = cluster.line.clauses().get(cluster.difference.clause);
    if let Some(clause) = clause.filter(|_| cluster.difference.clause + 1 < cluster.line.clauses().len()) {
        let _ = writeln!(out, "   at '{clause}'");
    }
    let _ = writeln!(
        out,
        "   {}; shown {} of {} times; found after {} lines, shrunk with {} more\n   {}",
        settings.join(", "),
        cluster.confirmed.shown,
        cluster.confirmed.of,
        cluster.found_after,
        cluster.tried,
        head.reproducer(cluster)
    );
    if !cluster.undercut.is_empty() {
        let places: Vec<_> = cluster.undercut.iter().map(|index| head.place(*index)).collect();
        let _ = writeln!(out, "   a longer line of it was accepted: {}", places.join(", "));
    }
    if !cluster.unasked.is_empty() {
        let ids = names_of(&cluster.unasked);
        let _ = writeln!(out, "   in the catalogue, perhaps: no time was left to ask {ids}");
    }
    out
}

/// Returns the outcome as JSON.
pub fn json(head: &Head<'_>, outcome: &Outcome, interrupted: bool) -> String {
    let cluster = |cluster: &Cluster| -> Value {
        json!({
            "line": cluster.line.to_string(),
            "script": cluster.line.script.to_string(),
            "transport": cluster.line.transport.name(),
            "mode": cluster.line.mode.name(),
            "clause": cluster.difference.clause + 1,
            "left": cluster.difference.left,
            "right": cluster.difference.right,
            "only_left": cluster.difference.what.left,
            "only_right": cluster.difference.what.right,
            "settings": cluster.settings.keys().collect::<Vec<_>>(),
            "accepted": cluster.accepted.iter().map(|index| head.place(*index)).collect::<Vec<_>>(),
            "catalogue": cluster.known.iter().map(ToString::to_string).collect::<BTreeSet<_>>(),
            "not_asked": cluster.unasked.iter().map(ToString::to_string).collect::<BTreeSet<_>>(),
            "shown": cluster.confirmed.shown,
            "repeated": cluster.confirmed.of,
            "found_after_lines": cluster.found_after,
            "shrunk_with_lines": cluster.tried,
            "reproducer": head.reproducer(cluster),
        })
    };
    let side = |about: &explore::About| json!({ "name": about.name, "system": about.system });
    let progress = &outcome.progress;
    metadata::json(&json!({
        "left": side(&head.comparison.left),
        "right": side(&head.comparison.right),
        "seed": head.seed,
        "interrupted": interrupted,
        "lines": progress.lines,
        "every": progress.every,
        "replayed": progress.replayed,
        "compared": progress.compared,
        "missing": progress.missing,
        "no_verdict": no_verdict(outcome),
        "rounds": progress.rounds,
        "performances": progress.performances,
        "triples": progress.triples,
        "corpus": progress.corpus,
        "seconds": progress.elapsed.as_secs_f64(),
        "disagreements": outcome.clusters.iter().map(cluster).collect::<Vec<_>>(),
        "not_performed": outcome.not_performed.iter().map(|index| head.place(*index)).collect::<Vec<_>>(),
        "not_seen": outcome.not_seen.iter().map(|index| head.place(*index)).collect::<Vec<_>>(),
        "not_confirmed": outcome.unsteady.iter().map(cluster).collect::<Vec<_>>(),
    }))
}
