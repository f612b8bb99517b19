//! Disagreements by their cause: the verbs and answers that are left after shrinking.

use std::collections::{BTreeMap, BTreeSet};

use raw::verbs::{Action, Call, Change, Clause};
use serde::Serialize;

use crate::catalogue::Question;
use crate::compare::{Difference, without_numbers};
use crate::line::Line;

/// The cause of disagreements.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cause {
    /// The verbs, without transport, interest and numbers.
    pub verbs: String,
    /// The part of the answers that differs.
    pub what: String,
}

impl Cause {
    /// Returns the cause of a difference that a shrunk line shows.
    pub fn of(line: &Line, difference: &Difference) -> Self {
        Self::shown_by(line, difference.what.to_string())
    }

    /// Returns the cause of a shrunk line and the part of the answers that differs.
    pub fn shown_by(line: &Line, what: String) -> Self {
        let verbs: Vec<_> = line.clauses().iter().map(verb).collect();
        Self { verbs: verbs.join(", "), what }
    }
}

/// Returns a clause without what does not distinguish causes.
fn verb(clause: &Clause) -> String {
    match &clause.action {
        Action::Change(change) => {
            Action::Change(Change { interest: None, mode: None, ..change.clone() }).to_string()
        }
        action => without_numbers(&action.to_string()),
    }
}

/// How often a disagreement was shown in fresh processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Confirmed {
    /// The number of times that it was shown.
    pub shown: u32,
    /// The number of times that the line was performed.
    pub of: u32,
}

/// Disagreements of one cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// The cause.
    pub cause: Cause,
    /// The simplest line that shows it.
    pub line: Line,
    /// The difference that this line shows.
    pub difference: Difference,
    /// The transports and modes over which it was shown, each with the simplest line and its difference.
    pub settings: BTreeMap<String, (Line, Difference)>,
    /// The number of drawn lines that show it, as far as they were shrunk.
    pub lines: u64,
    /// The number of drawn lines until it was found first.
    pub found_after: u64,
    /// The number of lines that were performed to shrink the first one.
    pub tried: usize,
    /// How often it was shown in fresh processes.
    pub confirmed: Confirmed,
    /// The questions of the catalogue that show it, too. Their expected answers tell whether they explain it.
    pub known: BTreeSet<Question>,
    /// The accepted disagreements that are this one, by their index.
    pub accepted: BTreeSet<usize>,
    /// The accepted disagreements whose lines show it, although it has a simpler one, by their index.
    pub undercut: BTreeSet<usize>,
    /// The questions of the catalogue that could explain it, but were not asked for lack of time.
    pub unasked: BTreeSet<Question>,
}

impl Cluster {
    /// Returns whether it is in the catalogue, or was accepted before.
    pub fn is_explained(&self) -> bool {
        !self.known.is_empty() || !self.accepted.is_empty()
    }

    /// Adds a line with the same cause.
    pub fn add(&mut self, line: Line, difference: Difference) {
        self.lines += 1;
        let before = self.settings.get(&setting(&line));
        if before.is_some_and(|(before, _)| !line.is_simpler_than(before)) {
            return;
        }
        self.settings.insert(setting(&line), (line.clone(), difference.clone()));
        if line.is_simpler_than(&self.line) {
            self.line = line;
            self.difference = difference;
        }
    }
}

/// Disagreements that a reader would call one: the same side says more or less, in states that the same calls
/// bring about.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The simplest of them.
    pub first: &'a Cluster,
    /// The calls of its line that bring the state about: `peer closes`.
    pub facts: Vec<String>,
    /// The others: each has these calls, and a similar difference.
    pub more: Vec<&'a Cluster>,
}

/// Groups disagreements, the simplest first.
pub fn groups<'a>(clusters: impl IntoIterator<Item = &'a Cluster>) -> Vec<Group<'a>> {
    let mut sorted: Vec<_> = clusters.into_iter().collect();
    sorted.sort_by_key(|cluster| cluster.line.rank());
    let mut groups: Vec<Group<'a>> = Vec::new();
    for cluster in sorted {
        let facts = facts(&cluster.line);
        let joins = |group: &&mut Group<'a>| {
            cluster.difference.what.is_like(&group.first.difference.what)
                && group.facts.iter().all(|fact| facts.contains(fact))
        };
        match groups.iter_mut().find(joins) {
            Some(group) => group.more.push(cluster),
            None => groups.push(Group { first: cluster, facts, more: Vec::new() }),
        }
    }
    groups
}

/// Returns the calls of a line that change the state of its descriptors, without numbers. Reading is not
/// among them: it consumes what they brought about.
fn facts(line: &Line) -> Vec<String> {
    let is_fact = |clause: &&Clause| match &clause.action {
        Action::Call(_, call) => !matches!(call, Call::Reads(_) | Call::Drains | Call::AsksError(_)),
        _ => false,
    };
    line.clauses().iter().filter(is_fact).map(verb).collect()
}

/// Returns the transport and the mode of a line: `unix level`.
pub fn setting(line: &Line) -> String {
    format!("{} {}", line.transport.name(), line.mode.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Contrast;

    fn cause(line: &str, what: &str) -> Cause {
        let difference = Difference {
            clause: 0,
            left: String::new(),
            right: String::new(),
            what: Contrast { left: [what.to_owned()].into(), ..Contrast::default() },
            is_end: false,
        };
        Cause::of(&line.parse().unwrap(), &difference)
    }

    fn cluster(line: &str, left: &[&str], right: &[&str]) -> Cluster {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let what = Contrast { left: words(left), right: words(right) };
        let difference =
            Difference { clause: 0, left: String::new(), right: String::new(), what, is_end: false };
        let line: Line = line.parse().unwrap();
        Cluster {
            cause: Cause::of(&line, &difference),
            line,
            difference,
            settings: BTreeMap::new(),
            lines: 1,
            found_after: 1,
            tried: 1,
            confirmed: Confirmed::default(),
            known: BTreeSet::new(),
            accepted: BTreeSet::new(),
            undercut: BTreeSet::new(),
            unasked: BTreeSet::new(),
        }
    }

    /// What a maintainer would correct at one place is one entry.
    #[test]
    fn disagreements_with_one_difference_in_one_state_are_a_group() {
        let begin = "unix level: own and peer are connected, add own?";
        let line = |rest: &str| format!("{begin}, {rest}, wait");
        let clusters = [
            cluster(&line("modify own?, peer sends 3?, peer closes"), &[], &["error"]),
            cluster(&line("peer closes"), &[], &["error"]),
            // Another state, and another difference in the same state.
            cluster(&line("peer shuts write?"), &[], &["error"]),
            cluster(&line("peer closes"), &["error"], &[]),
            cluster(&line("own reads?, peer closes"), &[], &["end", "error"]),
        ];
        let groups = groups(&clusters);
        let shown: Vec<_> = groups.iter().map(|group| (group.facts.join(", "), group.more.len())).collect();
        let one = |facts: &str, more| (facts.to_owned(), more);
        assert_eq!(shown, [one("peer closes", 2), one("peer closes", 0), one("peer shuts write", 0)]);
        assert_eq!(groups[0].first.line, clusters[1].line);
    }

    #[test]
    fn transport_interest_and_numbers_are_no_cause() {
        let one = cause("unix level: own and peer are connected, add own?, peer sends 1?, wait", "HUP");
        let other =
            cause("tcp edge: own and peer are connected, add own for reading?, peer sends 3?, wait", "HUP");
        assert_eq!(one, other);
        let more = cause("unix level: own and peer are connected, add own?, peer closes, wait", "HUP");
        assert_ne!(one, more);
        assert_ne!(one, Cause { what: "ERR".into(), ..one.clone() });
    }
}
