//! The output of an exploration.

use std::collections::BTreeSet;
use std::fmt::Write;

use explore::compare::{Comparison, Contrast};
use explore::{Accepted, Cluster, Group, Outcome, Progress, Question};
use matrix::backends;
use matrix::command::quoted;
use metadata::{Interface, Seed, one_line};
use report::counted;
use serde_json::{Value, json};

use crate::sequence::sequence;
use crate::triage::{WIDTH, hanging, wrapped};

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

    /// Returns the parts of the command that performs a line on both sides.
    fn command(&self, cluster: &Cluster) -> Vec<String> {
        let line = &cluster.line;
        let script = format!("pollmatrix probe {}", quoted(&[line.script.to_string()]));
        let setting = format!("--transport {} --mode {}", line.transport, line.mode);
        let options = self.options.iter().map(|option| option.trim_start().to_owned());
        let all = [script, setting].into_iter().chain(options).chain(["--trace".to_owned()]);
        all.filter(|part| !part.is_empty()).collect()
    }

    /// Returns the command in one line.
    fn reproducer(&self, cluster: &Cluster) -> String {
        self.command(cluster).join(" ")
    }

    /// Returns the interface that the right side is built over, if the left side is another poller.
    fn nearer_left(&self) -> Option<Interface> {
        let (left, right) = (&self.comparison.left, &self.comparison.right);
        let over = right.column.over.filter(|_| backends::find(&right.name).is_none())?;
        let is_here = backends::here().any(|backend| backend.name == over.name());
        (is_here && left.column.over != Some(over)).then_some(over)
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
    let groups = explore::groups(unexplained.iter().copied());
    for (number, group) in groups.iter().enumerate() {
        out += &hanging("", "   ", &format!("{}. {}", number + 1, headline(&names, group)));
        out.push('\n');
        out += &body(head, &names, group.first);
        if !group.more.is_empty() {
            let _ = writeln!(out, "   {} more like this", group.more.len());
        }
        out.push('\n');
    }
    if !known.is_empty() {
        out += "In the catalogue:\n\n";
        for cluster in &known {
            let ids = names_of(&cluster.known);
            out += &hanging("  ", "  ", &ids);
            out += &hanging("    ", "      ", &contrast(&names, cluster));
            out += &hanging("    ", "      ", &cluster.line.script.to_string());
        }
        out.push('\n');
    }
    if !accepted.is_empty() {
        out += "Accepted before:\n\n";
        for cluster in &accepted {
            let places: Vec<_> = cluster.accepted.iter().map(|index| head.place(*index)).collect();
            out += &hanging("  ", "  ", &places.join(", "));
            out += &hanging("    ", "      ", &contrast(&names, cluster));
            out += &hanging("    ", "      ", &cluster.line.script.to_string());
        }
        out.push('\n');
    }
    for (what, of) in [("seen", &outcome.not_seen), ("performed", &outcome.not_performed)] {
        if !of.is_empty() {
            let _ = writeln!(out, "Accepted before, and not {what}:\n");
            let entry = |index: &usize| head.known.as_ref().and_then(|(_, known)| known.get(*index));
            for (index, accepted) in of.iter().filter_map(|index| Some((index, entry(index)?))) {
                out += &hanging("  ", "    ", &format!("{}: {accepted}", head.place(*index)));
            }
            out.push('\n');
        }
    }
    if !outcome.unsteady.is_empty() {
        out += "Not confirmed, because most repetitions in new processes did not show it:\n\n";
        for cluster in &outcome.unsteady {
            let (shown, of) = (cluster.confirmed.shown, cluster.confirmed.of);
            out += &hanging("  ", "    ", &format!("{shown} of {of}: {}", contrast(&names, cluster)));
            out += &hanging("    ", "      ", &cluster.line.to_string());
        }
        out.push('\n');
    }
    out += proposal;
    let end = ending(head, outcome, [known.len(), accepted.len(), unexplained.len(), groups.len()]);
    out + &end.iter().map(|line| wrapped(line)).collect::<String>()
}

/// Returns the last lines: what is said once for all entries, and the numbers.
fn ending(
    head: &Head<'_>,
    outcome: &Outcome,
    [known, accepted, unexplained, groups]: [usize; 4],
) -> Vec<String> {
    let (progress, [left, right], mut lines) = (&outcome.progress, head.names(), Vec::new());
    let all = || outcome.clusters.iter().filter(|cluster| !cluster.is_explained());
    if let Some(first) = all().next().filter(|first| all().all(|one| one.confirmed == first.confirmed)) {
        let (shown, of) = (first.confirmed.shown, first.confirmed.of);
        lines.push(format!("each was shown {shown} of {of} times in new processes"));
    }
    if groups < unexplained {
        lines.push("--propose and --format json have those that are like others".to_owned());
    }
    if let Some(over) = head.nearer_left().filter(|_| unexplained > 0) {
        lines.push(format!("{right} is built over {over}: `--left {over}` shows what {right} itself adds"));
    }
    if progress.every > 0 {
        let every = progress.every;
        lines.push(format!(
            "every line of at most {every} clauses was performed: no difference of at most {every} clauses has a shorter line"
        ));
    }
    lines.push(format!(
        "{left} and {right}: {} lines performed, {} replayed, in {:.0} s, seed {}",
        progress.lines,
        progress.replayed,
        progress.elapsed.as_secs_f64(),
        head.seed,
    ));
    lines.extend(
        head.corpus.as_ref().map(|corpus| format!("the next exploration begins with the lines in {corpus}")),
    );
    let of_known = head.known.as_ref().map_or_else(String::new, |_| format!(", {accepted} accepted"));
    lines.push(format!(
        "{} disagreements: {known} in the catalogue{of_known}, {unexplained} unexplained{}",
        outcome.clusters.len(),
        match groups {
            few if few == unexplained => String::new(),
            few => format!(" in {}", counted(few, "group")),
        }
    ));
    if progress.missing > 0 {
        let (missing, of) = (progress.missing, progress.lines);
        lines.push(format!("no agreement: the recording lacks answers to {missing} of {of} lines"));
    }
    lines.extend(no_verdict(outcome).map(|why| format!("no verdict: {why}")));
    let unasked = all().filter(|cluster| !cluster.unasked.is_empty()).count();
    if unasked > 0 {
        lines.push(format!(
            "{unasked} of them could not be looked up in the catalogue for lack of time: give a longer --duration"
        ));
    }
    lines
}

/// Returns a command for a shell. Where the parts do not fit into a line, the next line continues it.
fn continued(parts: &[String]) -> String {
    let (mut out, mut line) = (String::new(), String::from("  "));
    for part in parts {
        if line.trim().is_empty() || line.chars().count() + 1 + part.chars().count() <= WIDTH - 2 {
            line = format!("{line} {part}");
        } else {
            let _ = writeln!(out, "{line} \\");
            line = format!("     {part}");
        }
    }
    out + &line + "\n"
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

/// `asio adds error when peer closes`
fn headline([left, right]: &[String; 2], group: &Group<'_>) -> String {
    let Contrast { left: of_left, right: of_right } = &group.first.difference.what;
    let words = |words: &BTreeSet<String>| words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let what = match (of_left.is_empty(), of_right.is_empty()) {
        (true, _) => format!("{right} adds {}", words(of_right)),
        (false, true) => format!("{right} hides {}", words(of_left)),
        (false, false) => format!("{left}: {}; {right}: {}", words(of_left), words(of_right)),
    };
    if group.facts.is_empty() { what } else { format!("{what} when {}", group.facts.join(", ")) }
}

/// Returns the line with its answers, and how to repeat it.
fn body(head: &Head<'_>, names: &[String; 2], cluster: &Cluster) -> String {
    let mut out = String::new();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    out += &hanging("   ", "     ", &cluster.line.script.to_string());
    for (name, answer) in names.iter().zip([&cluster.difference.left, &cluster.difference.right]) {
        out += &hanging("   ", "     ", &format!("{name:width$}  {}", one_line(answer)));
    }
    out += &diagram(cluster);
    let settings: Vec<_> = cluster.settings.keys().map(String::as_str).collect();
    let clause = cluster.line.clauses().get(cluster.difference.clause);
    if let Some(clause) = clause.filter(|_| cluster.difference.clause + 1 < cluster.line.clauses().len()) {
        out += &hanging("   ", "     ", &format!("at '{clause}'"));
    }
    let (shown, of) = (cluster.confirmed.shown, cluster.confirmed.of);
    let times = if shown < of { format!("; shown {shown} of {of} times") } else { String::new() };
    out += &hanging("   ", "     ", &(settings.join(", ") + &times));
    out += &continued(&head.command(cluster));
    if !cluster.undercut.is_empty() {
        let places: Vec<_> = cluster.undercut.iter().map(|index| head.place(*index)).collect();
        out += &hanging("   ", "     ", &format!("a longer line of it was accepted: {}", places.join(", ")));
    }
    if !cluster.unasked.is_empty() {
        let ids = names_of(&cluster.unasked);
        out += &hanging("   ", "     ", &format!("in the catalogue, perhaps: no time was left to ask {ids}"));
    }
    out
}

/// Returns the script as a sequence diagram, which marks where the answers differ.
fn diagram(cluster: &Cluster) -> String {
    const INDENT: &str = "     ";
    let mut drawn = sequence(&cluster.line.script, |_| None);
    if let Some(step) = drawn.steps.get_mut(cluster.difference.clause) {
        step.answer = Some("^ here they differ".to_owned());
    }
    drawn.text(WIDTH - INDENT.len()).lines().map(|line| format!("{INDENT}{line}\n")).collect()
}

/// Returns the outcome as JSON.
pub fn json(head: &Head<'_>, outcome: &Outcome, interrupted: bool) -> String {
    let groups = explore::groups(outcome.clusters.iter().filter(|cluster| !cluster.is_explained()));
    let group = |cluster: &Cluster| {
        let is_in = |group: &Group<'_>| {
            std::iter::once(&group.first).chain(&group.more).any(|of| of.cause == cluster.cause)
        };
        groups.iter().position(is_in).map(|index| index + 1)
    };
    let cluster = |cluster: &Cluster| -> Value {
        json!({
            "group": group(cluster),
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
