//! Shrinks a line to the shortest one that shows the same difference.
//!
//! Delta debugging over the clauses: a smaller line counts only if the model allows it and if it still shows
//! the same difference. Then the clauses that are left become simpler, and their order becomes the usual one,
//! so that one cause ends in one line.

use std::collections::BTreeMap;

use metadata::{Mode, Transport};
use raw::verbs::{
    Action, Call, Change, ChangeKind, Clause, DescriptorKind, Direction, FIRST, Name, ReadExtent, Script,
    WaitArguments,
};
use selector::Interest;

use crate::compare::{Contrast, Difference};
use crate::line::Line;
use crate::model::Model;
use crate::side::Features;

/// The greatest number of lines that are tried to shrink one.
const MOST: usize = 400;

/// Shrinks lines.
pub struct Shrinker<'a> {
    features: &'a Features,
    /// Returns the differences that a line shows.
    differences: &'a mut dyn FnMut(&Line) -> Vec<Difference>,
    /// The part of the difference that must stay.
    what: Contrast,
    /// Whether all words of the difference must stay, and no other one may join them, or one of its words.
    is_exact: bool,
    is_end: bool,
    /// The line uses a verb that the model does not know: only the parser and the sides judge it.
    is_foreign: bool,
    tried: usize,
}

/// A line that cannot be shrunk further.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrunk {
    /// The line.
    pub line: Line,
    /// The difference that it shows.
    pub difference: Difference,
    /// The number of lines that were tried.
    pub tried: usize,
}

/// Shrinks a line that shows a difference. `differences` performs a line on both sides. With `is_exact`, each
/// line must show the same words.
///
/// A line that is the result stays as it is if it is shrunk again, exactly.
pub fn shrink(
    line: &Line,
    difference: &Difference,
    is_exact: bool,
    features: &Features,
    differences: &mut dyn FnMut(&Line) -> Vec<Difference>,
) -> Shrunk {
    let mut shrunk = shrink_once(line, difference, is_exact, features, differences);
    let mut tried = shrunk.tried;
    let mut before = None;
    // It was cut off, and another attempt could get further.
    while shrunk.tried >= MOST && before.as_ref() != Some(&shrunk.line) {
        before = Some(shrunk.line.clone());
        shrunk = shrink_once(&shrunk.line, &shrunk.difference, true, features, differences);
        tried += shrunk.tried;
    }
    Shrunk { tried, ..shrunk }
}

fn shrink_once(
    line: &Line,
    difference: &Difference,
    is_exact: bool,
    features: &Features,
    differences: &mut dyn FnMut(&Line) -> Vec<Difference>,
) -> Shrunk {
    let mut shrinker = Shrinker {
        features,
        differences,
        what: difference.what.clone(),
        is_exact,
        is_end: difference.is_end,
        is_foreign: !Model::allows(line, features),
        tried: 0,
    };
    let mut best = (line.clone(), difference.clone());
    // Nothing after the clause that differs can be part of the cause.
    let last = (difference.clause + 1).min(line.clauses().len());
    shrinker.attempt(&mut best, line.with(line.clauses()[..last].to_vec()));
    loop {
        let before = best.0.clone();
        shrinker.remove(&mut best);
        shrinker.simplify(&mut best);
        shrinker.reorder(&mut best);
        if best.0 == before || shrinker.tried >= MOST {
            break;
        }
    }
    Shrunk { line: best.0, difference: best.1, tried: shrinker.tried }
}

type Best = (Line, Difference);

impl Shrinker<'_> {
    /// Replaces the best line by a candidate if that shows the same difference. Returns whether it does.
    fn attempt(&mut self, best: &mut Best, candidate: Line) -> bool {
        if candidate == best.0 || candidate.clauses().is_empty() || self.tried >= MOST {
            return false;
        }
        let is_valid = match self.is_foreign {
            true => candidate.to_string().parse::<Line>().is_ok(),
            false => Model::allows(&candidate, self.features),
        };
        if !is_valid {
            return false;
        }
        self.tried += 1;
        let found = (self.differences)(&candidate);
        let is_same = |what: &Contrast| match self.is_exact {
            true => *what == self.what,
            false => what.is_like(&self.what),
        };
        let same = found.into_iter().find(|one| one.is_end == self.is_end && is_same(&one.what));
        match same {
            None => false,
            Some(difference) => {
                *best = (candidate, difference);
                true
            }
        }
    }

    /// Attempts the best line with its clauses changed.
    fn attempt_changed(&mut self, best: &mut Best, change: impl FnOnce(&mut Vec<Clause>)) -> bool {
        let mut clauses = best.0.clauses().to_vec();
        change(&mut clauses);
        self.attempt(best, best.0.with(clauses))
    }

    /// Removes clauses: halves, quarters, …, single ones, and pairs that belong together.
    fn remove(&mut self, best: &mut Best) {
        let mut size = (best.0.clauses().len() / 2).max(1);
        loop {
            let mut start = 0;
            while start < best.0.clauses().len() {
                let end = (start + size).min(best.0.clauses().len());
                if !self.attempt_changed(best, |clauses| drop(clauses.drain(start..end))) {
                    start += size;
                }
            }
            if size == 1 {
                break;
            }
            size = size.div_ceil(2);
        }
        let mut one = 0;
        while one < best.0.clauses().len() {
            let length = best.0.clauses().len();
            let is_shorter = (one + 1..length).any(|other| {
                self.attempt_changed(best, |clauses| {
                    clauses.remove(other);
                    clauses.remove(one);
                })
            });
            one += usize::from(!is_shorter);
        }
    }

    /// Replaces clauses by simpler ones.
    fn simplify(&mut self, best: &mut Best) {
        if best.0.mode != Mode::Level {
            self.attempt(best, Line { mode: Mode::Level, ..best.0.clone() });
        }
        self.attempt(best, in_one_poller(&best.0));
        self.attempt_without_threads(best);
        for setting in simpler_settings(&best.0) {
            if self.attempt(best, setting) {
                break;
            }
        }
        for index in 0..best.0.clauses().len() {
            let Some(clause) = best.0.clauses().get(index).cloned() else { break };
            for simpler in simpler(&clause) {
                if self.attempt_changed(best, |clauses| clauses[index] = simpler) {
                    break;
                }
            }
        }
        self.merge_names(best);
        self.attempt(best, with_usual_names(&best.0));
    }

    /// Uses one descriptor in place of two.
    fn merge_names(&mut self, best: &mut Best) {
        let made: Vec<Name> = best.0.clauses().iter().flat_map(names_made).collect();
        for gone in &made {
            for stays in made.iter().filter(|name| *name != gone) {
                if let Some(candidate) = merged(&best.0, gone, stays)
                    && candidate.is_simpler_than(&best.0)
                    && self.attempt(best, candidate)
                {
                    return;
                }
            }
        }
    }

    /// Replaces the answers of threads by a wait. Any difference there counts: a count of threads has other
    /// words than an event.
    fn attempt_without_threads(&mut self, best: &mut Best) {
        let Some(Clause { action: Action::ThreadAnswers(_) | Action::ThreadsAnswer, .. }) =
            best.0.clauses().last()
        else {
            return;
        };
        let begins =
            |clause: &Clause| matches!(clause.action, Action::ThreadWaits { .. } | Action::Waiters { .. });
        let mut clauses: Vec<_> = best.0.clauses().iter().filter(|clause| !begins(clause)).cloned().collect();
        if let Some(last) = clauses.last_mut() {
            *last = crate::draw::wait(FIRST);
        }
        let candidate = best.0.with(clauses);
        if !Model::allows(&candidate, self.features) || self.tried >= MOST {
            return;
        }
        self.tried += 1;
        let found = (self.differences)(&candidate);
        let last = candidate.clauses().len() - 1;
        if let Some(difference) = found.into_iter().find(|one| one.clause == last && !one.is_end) {
            self.what = difference.what.clone();
            *best = (candidate, difference);
        }
    }

    /// Moves the changes of registrations in front of the calls before them, as far as the difference allows.
    fn reorder(&mut self, best: &mut Best) {
        for start in 1..best.0.clauses().len() {
            let mut index = start;
            while index > 0 {
                let (before, own) = (&best.0.clauses()[index - 1], &best.0.clauses()[index]);
                if order(own) >= order(before) {
                    break;
                }
                if !self.attempt_changed(best, |clauses| clauses.swap(index - 1, index)) {
                    break;
                }
                index -= 1;
            }
        }
    }
}

/// Returns the rank of a clause in the usual order of a line.
fn order(clause: &Clause) -> usize {
    match &clause.action {
        Action::Connect(..) => 0,
        Action::Make(_, DescriptorKind::Copy(_)) => 2,
        Action::Make(..) => 1,
        Action::Call(_, Call::Listens { .. }) => 1,
        Action::Change(Change { kind: ChangeKind::Add | ChangeKind::Watch, .. }) => 3,
        _ => 4,
    }
}

/// Returns the line over simpler transports, the simplest first, also with a connection in place of a
/// listener or a fresh socket.
fn simpler_settings(line: &Line) -> Vec<Line> {
    let uses_transport = |clause: &Clause| match &clause.action {
        Action::Connect(..) | Action::Make(_, DescriptorKind::Fresh) => true,
        Action::Call(_, call) => call.makes() || matches!(call, Call::Accepts(_)),
        _ => false,
    };
    let mut lines = Vec::new();
    let order: &[Transport] = match line.clauses().iter().any(uses_transport) {
        false => &[Transport::None],
        true => &[Transport::Unix, Transport::Pipe, Transport::Tcp],
    };
    let current = order.iter().position(|transport| *transport == line.transport).unwrap_or(order.len());
    let connected = match line.clauses() {
        [Clause { action: Action::Connect(..), .. }, ..] | [] => None,
        [first, rest @ ..] if uses_transport(first) => {
            let pair = crate::draw::fact(Action::Connect("own".into(), "peer".into()));
            Some(line.with(std::iter::once(pair).chain(rest.iter().cloned()).collect()))
        }
        _ => None,
    };
    for line in connected.iter().chain([line]) {
        lines.extend(order[..current].iter().map(|transport| Line { transport: *transport, ..line.clone() }));
    }
    lines.extend(connected);
    lines
}

/// Returns simpler clauses, the simplest first.
fn simpler(clause: &Clause) -> Vec<Clause> {
    let with = |action: Action| Clause { action, ..clause.clone() };
    let mut all = Vec::new();
    match &clause.action {
        Action::Change(change) if change.kind.registers() => {
            if change.mode.is_some() {
                all.push(with(Action::Change(Change { mode: None, ..change.clone() })));
            }
            let simple = [None, Some(Interest::READ), Some(Interest::WRITE)];
            let current = simple.iter().position(|interest| *interest == change.interest);
            for interest in &simple[..current.unwrap_or(simple.len())] {
                all.push(with(Action::Change(Change { interest: *interest, ..change.clone() })));
            }
        }
        Action::Wait { times, room, poller } if *times > 1 || room.is_some() => {
            all.push(with(Action::Wait { times: 1, room: None, poller: poller.clone() }));
            all.push(with(Action::Wait { times: 1, room: *room, poller: poller.clone() }));
            all.push(with(Action::Wait { times: *times, room: None, poller: poller.clone() }));
        }
        Action::ThreadWaits { thread, arguments, poller } if *arguments != WaitArguments::NoTimeout => {
            let (thread, poller) = (thread.clone(), poller.clone());
            all.push(with(Action::ThreadWaits { thread, arguments: WaitArguments::NoTimeout, poller }));
        }
        Action::Waiters { count, alone, room: Some(_), poller } => {
            let (count, alone, poller) = (*count, *alone, poller.clone());
            all.push(with(Action::Waiters { count, alone, room: None, poller }));
        }
        Action::Make(name, kind) => {
            let simple = [
                DescriptorKind::Device("/dev/null".into()),
                DescriptorKind::File { size: 0, offset: 0 },
                DescriptorKind::File { size: 3, offset: 0 },
            ];
            let is_plain = matches!(
                kind,
                DescriptorKind::Device(_)
                    | DescriptorKind::File { .. }
                    | DescriptorKind::Directory
                    | DescriptorKind::Eventfd
                    | DescriptorKind::Timer
                    | DescriptorKind::WatchedFile
                    | DescriptorKind::Queue
            );
            if is_plain {
                let current = simple.iter().position(|one| one == kind).unwrap_or(simple.len());
                all.extend(
                    simple[..current].iter().map(|kind| with(Action::Make(name.clone(), kind.clone()))),
                );
            }
        }
        Action::Call(name, call) => {
            let calls: &[Call] = match call {
                Call::Sends(1) => &[],
                Call::Sends(_) | Call::Fills(_) | Call::SendsNothing => &[Call::Sends(1)],
                Call::Counts(value) if *value != 1 => &[Call::Counts(1)],
                Call::Shrinks(_) | Call::IsRenamed | Call::IsRemoved => &[Call::Grows(1)],
                Call::Drains | Call::Reads(ReadExtent::Bytes(_)) => &[Call::Reads(ReadExtent::Calls(1))],
                Call::Shuts(Direction::Both) => {
                    &[Call::Shuts(Direction::Write), Call::Shuts(Direction::Read)]
                }
                _ => &[],
            };
            all.extend(calls.iter().map(|call| with(Action::Call(name.clone(), call.clone()))));
            if *call == Call::Resets {
                let action = Action::Call(name.clone(), Call::Closes);
                all.push(Clause { action, is_question: false, ..clause.clone() });
            }
        }
        _ => {}
    }
    all
}

/// Returns the line with every registration and wait in the first poller.
fn in_one_poller(line: &Line) -> Line {
    let first = || FIRST.to_owned();
    let clauses = line.clauses().iter().map(|clause| {
        let action = match clause.action.clone() {
            Action::Change(change) => Action::Change(Change { poller: first(), ..change }),
            Action::Wait { times, room, .. } => Action::Wait { times, room, poller: first() },
            other => other,
        };
        Clause { action, ..clause.clone() }
    });
    line.with(clauses.collect())
}

/// Returns the names of the descriptors that a clause makes.
fn names_made(clause: &Clause) -> Vec<Name> {
    match &clause.action {
        Action::Make(name, _) => vec![name.clone()],
        Action::Connect(one, other) => vec![one.clone(), other.clone()],
        Action::Call(name, call) if call.makes() => vec![name.clone()],
        Action::Call(_, Call::Accepts(name)) => vec![name.clone()],
        _ => Vec::new(),
    }
}

/// Returns the line with the descriptor `stays` in place of `gone`, without the clauses that make `gone`
/// alone. A listener that nothing uses any more becomes a connection.
fn merged(line: &Line, gone: &str, stays: &str) -> Option<Line> {
    let makes = |clause: &Clause, name: &str| names_made(clause).iter().any(|made| made == name);
    let is_pair = |clause: &Clause| matches!(clause.action, Action::Connect(..));
    let mut clauses: Vec<_> =
        line.clauses().iter().filter(|clause| !makes(clause, gone) || is_pair(clause)).cloned().collect();
    if clauses.len() == line.clauses().len() && !line.clauses().iter().any(|clause| makes(clause, gone)) {
        return None;
    }
    // Pairs keep both names, and come first.
    clauses.sort_by_key(|clause| !is_pair(clause));
    let renamed: BTreeMap<Name, Name> = [(gone.to_owned(), stays.to_owned())].into();
    let mut all = rename(&line.with(clauses), &renamed, is_pair)?.script.clauses;
    if let Some(Clause { action: Action::Call(name, Call::Listens { .. }), .. }) = all.first()
        && name == stays
    {
        all[0] = crate::draw::fact(Action::Connect("own".into(), "peer".into()));
    }
    Some(line.with(all))
}

/// Returns the line with other names, except in the clauses that keep theirs.
fn rename(line: &Line, names: &BTreeMap<Name, Name>, keeps: impl Fn(&Clause) -> bool) -> Option<Line> {
    // The text is renamed word by word: a name is never a word of the language.
    let clause = |clause: &Clause| {
        let text = clause.to_string();
        if keeps(clause) {
            return text;
        }
        let (text, mark) = match text.strip_suffix('?') {
            Some(text) => (text, "?"),
            None => (text.as_str(), ""),
        };
        let words = text.split(' ').map(|word| names.get(word).map_or(word, String::as_str));
        words.collect::<Vec<_>>().join(" ") + mark
    };
    let text = line.clauses().iter().map(clause).collect::<Vec<_>>().join(", ");
    Some(line.with(text.parse::<Script>().ok()?.clauses))
}

/// Returns the line with the usual names: the ends of the first connection are `own` and `peer`, and `own` is
/// the end that is registered.
fn with_usual_names(line: &Line) -> Line {
    let mut names: BTreeMap<Name, Name> = BTreeMap::new();
    let registered = line.clauses().iter().find_map(|clause| match &clause.action {
        Action::Change(change) => Some(change.descriptor.clone()),
        _ => None,
    });
    for clause in line.clauses() {
        match &clause.action {
            Action::Connect(one, other) if names.is_empty() => {
                // Of a pipe, the first end reads: the ends cannot change places.
                let is_one_way = matches!(line.transport, Transport::Pipe | Transport::Fifo | Transport::Pty);
                let swapped = !is_one_way && registered.as_ref() == Some(other);
                let (own, peer) = if swapped { (other, one) } else { (one, other) };
                names.insert(own.clone(), "own".into());
                names.insert(peer.clone(), "peer".into());
            }
            Action::Make(name, DescriptorKind::Copy(_)) => {
                name_as(&mut names, name, "copy");
            }
            Action::Make(name, _) | Action::Call(name, Call::Listens { .. }) => {
                let usual = if names.is_empty() { "own" } else { "other" };
                name_as(&mut names, name, usual);
            }
            Action::Call(name, Call::Reaches(_)) => name_as(&mut names, name, "client"),
            Action::Call(_, Call::Accepts(name)) => name_as(&mut names, name, "conn"),
            Action::Connect(one, other) => {
                name_as(&mut names, one, "near");
                name_as(&mut names, other, "far");
            }
            _ => {}
        }
    }
    let Some(mut renamed) = rename(line, &names, |_| false) else { return line.clone() };
    // `peer and own are connected` is `own and peer are connected`.
    for clause in &mut renamed.script.clauses {
        if let Action::Connect(one, other) = &mut clause.action
            && one == "peer"
            && other == "own"
        {
            std::mem::swap(one, other);
        }
    }
    renamed
}

/// Gives a descriptor the usual name, or that with the next free number.
fn name_as(names: &mut BTreeMap<Name, Name>, name: &str, usual: &str) {
    if names.contains_key(name) {
        return;
    }
    let numbered = (2..).map(|number| format!("{usual}{number}"));
    let free = std::iter::once(usual.to_owned()).chain(numbered);
    let taken: Vec<_> = names.values().cloned().collect();
    if let Some(free) = free.into_iter().find(|one| !taken.contains(one)) {
        names.insert(name.to_owned(), free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features() -> Features {
        Features::every(&[Mode::Level, Mode::Edge])
    }

    /// Shrinks a line that shows a difference at its last clause while it contains these texts in this order.
    fn shrunk(text: &str, needed: &[&str]) -> String {
        let line: Line = text.parse().unwrap();
        let difference = |line: &Line| Difference {
            clause: line.clauses().len() - 1,
            left: "IN".into(),
            right: "OUT".into(),
            what: Contrast { left: ["IN".to_owned()].into(), right: ["OUT".to_owned()].into() },
            is_end: false,
        };
        let mut differences = |line: &Line| {
            let text = line.to_string();
            let mut rest = text.as_str();
            let shows = needed.iter().all(|part| match rest.split_once(part) {
                Some((_, after)) => {
                    rest = after;
                    true
                }
                None => false,
            });
            if shows { vec![difference(line)] } else { Vec::new() }
        };
        shrink(&line, &difference(&line), false, &features(), &mut differences).line.to_string()
    }

    #[test]
    fn only_the_clauses_of_the_cause_are_left() {
        let line = "unix edge: own and peer are connected, copy is a copy of own, add own for reading?, \
                    peer sends 3?, wait, own reads 1?, wait 2 times, peer sends 3?, add copy?, peer closes, \
                    wait, own reads?, wait";
        assert_eq!(
            shrunk(line, &["add own", "peer closes", "wait"]),
            "unix level: own and peer are connected, add own?, peer closes, wait"
        );
        assert_eq!(
            shrunk(line, &["edge", "add own", "peer sends", "wait", "peer sends", "wait"]),
            "unix edge: own and peer are connected, add own?, peer sends 1?, wait, peer sends 1?, wait"
        );
    }

    #[test]
    fn clauses_that_belong_together_are_removed_together() {
        let line =
            "unix level: own and peer are connected, add own?, t waits, peer sends 1?, t answers, wait";
        assert_eq!(
            shrunk(line, &["add own", "peer sends", "wait"]),
            "unix level: own and peer are connected, add own?, peer sends 1?, wait"
        );
    }

    #[test]
    fn one_cause_ends_in_one_line() {
        let expected = "unix level: own and peer are connected, add own?, peer closes, wait";
        for line in [
            "unix level: own and peer are connected, own closes, add peer for reading?, wait",
            "unix level: near and far are connected, far closes, add near?, wait",
            "unix level: own and peer are connected, peer closes, add own?, wait",
            "unix level: own and peer are connected, add own in second?, peer closes, wait in second",
        ] {
            let shows = |line: &Line| {
                let text = line.to_string();
                let is_closed = line.clauses().iter().any(|clause| match &clause.action {
                    Action::Call(name, Call::Closes) => !text.contains(&format!("add {name}")),
                    _ => false,
                });
                let difference = Difference {
                    clause: line.clauses().len().saturating_sub(1),
                    left: "HUP".into(),
                    right: "IN".into(),
                    what: Contrast { left: ["HUP".to_owned()].into(), ..Contrast::default() },
                    is_end: false,
                };
                let is_shown = is_closed && text.contains("add") && text.contains("wait");
                if is_shown { vec![difference] } else { Vec::new() }
            };
            let line: Line = line.parse().unwrap();
            let mut differences = shows;
            let difference = shows(&line).remove(0);
            let shrunk = shrink(&line, &difference, false, &features(), &mut differences);
            assert_eq!(shrunk.line.to_string(), expected, "{line}");
        }
    }

    #[test]
    fn one_descriptor_takes_the_place_of_two() {
        for line in [
            "unix level: own and peer are connected, copy is a copy of peer, add copy?, add copy?, wait",
            "unix level: own listens, client reaches own?, add client?, add client?, wait",
            "unix level: own and peer are connected, near and far are connected, add near?, add near?, wait",
        ] {
            let once = |line: &Line| {
                let adds = line.clauses().iter().filter(|clause| matches!(clause.action, Action::Change(_)));
                let names: Vec<_> = adds.map(ToString::to_string).collect();
                matches!(&names[..], [one, other] if one == other)
            };
            let difference = |line: &Line| Difference {
                clause: line.clauses().len() - 1,
                left: String::new(),
                right: String::new(),
                what: Contrast { left: ["EEXIST".to_owned()].into(), ..Contrast::default() },
                is_end: false,
            };
            let line: Line = line.parse().unwrap();
            let first = difference(&line);
            let mut differences = |line: &Line| if once(line) { vec![difference(line)] } else { Vec::new() };
            let shrunk = shrink(&line, &first, false, &features(), &mut differences);
            assert_eq!(
                shrunk.line.to_string(),
                "unix level: own and peer are connected, add own?, add own?",
                "{line}"
            );
        }
    }

    #[test]
    fn another_difference_does_not_count() {
        let line: Line =
            "unix level: own and peer are connected, add own?, peer sends 1?, wait".parse().unwrap();
        let with = |what: &str, line: &Line| Difference {
            clause: line.clauses().len() - 1,
            left: String::new(),
            right: String::new(),
            what: Contrast { left: [what.to_owned()].into(), ..Contrast::default() },
            is_end: false,
        };
        let mut differences = |line: &Line| {
            let what = if line.to_string().contains("sends") { "one" } else { "another" };
            vec![with(what, line)]
        };
        let shrunk = shrink(&line, &with("one", &line), false, &features(), &mut differences);
        assert!(shrunk.line.to_string().contains("sends"), "{}", shrunk.line);
    }

    /// Its line shows a word more, which a simpler line shares.
    #[test]
    fn a_line_that_was_shrunk_stays_as_it_is_if_it_is_shrunk_again_exactly() {
        let first: Line =
            "unix level: own and peer are connected, add own?, peer sends 1?, peer closes, wait"
                .parse()
                .unwrap();
        let with = |words: &[&str], line: &Line| Difference {
            clause: line.clauses().len() - 1,
            left: String::new(),
            right: String::new(),
            what: Contrast { left: words.iter().map(ToString::to_string).collect(), ..Contrast::default() },
            is_end: false,
        };
        let mut differences = |line: &Line| {
            let has = |text| line.to_string().contains(text);
            match (has("add") && has("wait"), has("peer sends"), has("peer closes")) {
                (true, true, true) => vec![with(&["IN"], line)],
                (true, true, false) => vec![with(&["IN", "OUT"], line)],
                (true, false, false) => vec![with(&["OUT"], line)],
                _ => Vec::new(),
            }
        };
        let difference = with(&["IN"], &first);
        let once = shrink(&first, &difference, false, &features(), &mut differences);
        assert_eq!(
            once.line.to_string(),
            "unix level: own and peer are connected, add own?, peer sends 1?, wait"
        );
        let mut again =
            |is_exact| shrink(&once.line, &once.difference, is_exact, &features(), &mut differences).line;
        assert_eq!(again(true), once.line);
        assert_eq!(again(false).to_string(), "unix level: own and peer are connected, add own?, wait");
    }
}
