//! Every line up to a length, the shortest first: what random lines only sample.
//!
//! The clauses are those that [`draw`](crate::draw) draws. Two reductions leave out no difference but those
//! that another line shows, too: a new descriptor gets the next free name, and the second poller is named
//! after the first one.

use std::vec::IntoIter;

use metadata::{Mode, Transport};
use raw::verbs::{
    Action, Call, Change, ChangeKind, Clause, DescriptorKind, Direction, FIRST, Name, OWN, ReadExtent,
    Script, SocketOption, WaitArguments,
};
use selector::Interest;

use crate::draw::{self, INTERESTS, PEER, SECOND, THREAD, fact, question};
use crate::line::Line;
use crate::model::{Kind, Model};
use crate::side::Features;

/// Every line of at most `longest` clauses that both sides can perform, over one of `transports`, or over any
/// if there is none. No line is shorter than one before it.
///
/// The last clause of a line is one with an answer. The sides compare the answers of all clauses, so a line
/// stands for those that it begins with.
pub fn every(
    features: &Features,
    transports: &[Transport],
    longest: usize,
) -> impl Iterator<Item = Line> + use<> {
    let mut heads = Vec::new();
    for transport in draw::transports(transports) {
        heads.extend(features.modes.iter().map(|mode| (transport, *mode)));
    }
    Every {
        features: features.clone(),
        heads,
        longest,
        length: 0,
        next: 0,
        clauses: Vec::new(),
        frames: Vec::new(),
    }
}

/// The iterator of [`every`]. Its memory does not grow with the number of lines.
struct Every {
    features: Features,
    heads: Vec<(Transport, Mode)>,
    longest: usize,
    /// The length of the current lines.
    length: usize,
    /// The head after the current one.
    next: usize,
    /// The clauses that lead to the last frame.
    clauses: Vec<Clause>,
    frames: Vec<Frame>,
}

/// The state after some clauses, and the clauses that are to be tried there.
struct Frame {
    model: Model,
    choices: IntoIter<Clause>,
}

impl Iterator for Every {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                self.begin()?;
                continue;
            };
            let Some(clause) = frame.choices.next() else {
                self.frames.pop();
                self.clauses.pop();
                continue;
            };
            let mut model = frame.model.clone();
            if model.advance(&clause).is_err() {
                continue;
            }
            let is_last = self.clauses.len() + 1 == self.length;
            if !is_last {
                self.clauses.push(clause);
                let choices = following(&model, &self.clauses).into_iter();
                self.frames.push(Frame { model, choices });
            } else if has_answer(&clause) {
                let (transport, mode) = self.heads[self.next - 1];
                let clauses = self.clauses.iter().cloned().chain([clause]).collect();
                return Some(Line { transport, mode, script: Script { clauses } });
            }
        }
    }
}

impl Every {
    /// Begins with the next transport and mode, or with the next length. Returns `None` after the last one.
    fn begin(&mut self) -> Option<()> {
        if self.length == 0 || self.next == self.heads.len() {
            if self.length == self.longest || self.heads.is_empty() {
                return None;
            }
            self.length += 1;
            self.next = 0;
        }
        let (transport, mode) = self.heads[self.next];
        self.next += 1;
        let model = Model::new(transport, mode, &self.features);
        self.frames.push(Frame { model, choices: first(transport).into_iter() });
        Some(())
    }
}

/// Returns whether the sides answer something to the clause.
fn has_answer(clause: &Clause) -> bool {
    let waits =
        matches!(clause.action, Action::Wait { .. } | Action::ThreadAnswers(_) | Action::ThreadsAnswer);
    clause.is_question || waits
}

/// Returns the clauses that a line can begin with.
fn first(transport: Transport) -> Vec<Clause> {
    let make = |kind| fact(Action::Make(OWN.to_owned(), kind));
    if transport == Transport::None {
        return draw::FILES.map(|kind| make(kind())).into();
    }
    let listens = Call::Listens { backlog: None, beside: None };
    // The model refuses those that the transport does not have.
    vec![
        fact(Action::Connect(OWN.to_owned(), PEER.to_owned())),
        fact(Action::Call(OWN.to_owned(), listens)),
        make(DescriptorKind::Fresh),
    ]
}

/// Returns the clauses that may follow. The model has the last word on each.
fn following(model: &Model, clauses: &[Clause]) -> Vec<Clause> {
    let mut all = Vec::new();
    let names_poller = |clause: &Clause| {
        matches!(clause.action, Action::Change(_) | Action::Wait { .. } | Action::Wake { .. })
    };
    let pollers = if clauses.iter().any(names_poller) { &[FIRST, SECOND][..] } else { &[FIRST] };
    for poller in pollers.iter().copied().chain(model.queues().into_iter().map(String::as_str)) {
        for descriptor in model.all() {
            changes(&mut all, model, descriptor, poller);
        }
        if model.has(poller) {
            continue;
        }
        for (times, room) in [(1, None), (2, None), (1, Some(1)), (2, Some(1))] {
            all.push(fact(Action::Wait { times, room, poller: poller.to_owned() }));
        }
    }
    let first = || FIRST.to_owned();
    for arguments in [WaitArguments::NoTimeout, WaitArguments::Room(1)] {
        all.push(fact(Action::ThreadWaits { thread: THREAD.to_owned(), arguments, poller: first() }));
    }
    for room in [None, Some(1)] {
        all.push(fact(Action::Waiters { count: 2, alone: false, room, poller: first() }));
    }
    all.push(fact(Action::Wake { times: 1, poller: first() }));
    all.extend(model.thread().map(|thread| fact(Action::ThreadAnswers(thread.clone()))));
    all.push(fact(Action::ThreadsAnswer));
    for name in model.open() {
        calls(&mut all, model, name);
        all.push(fact(Action::Make(model.fresh_name("copy"), DescriptorKind::Copy(name.clone()))));
    }
    all.push(fact(Action::Connect(model.fresh_name("near"), model.fresh_name("far"))));
    all.push(fact(Action::Make(model.fresh_name("bare"), DescriptorKind::Fresh)));
    for size in [0, 3] {
        all.push(fact(Action::Make(model.fresh_name("file"), DescriptorKind::File { size, offset: 0 })));
    }
    for (name, kind) in [
        ("other", DescriptorKind::Device("/dev/null".into())),
        ("inner", DescriptorKind::Queue),
        ("timer", DescriptorKind::Timer),
    ] {
        all.push(fact(Action::Make(model.fresh_name(name), kind)));
    }
    all
}

fn changes(all: &mut Vec<Clause>, model: &Model, descriptor: &Name, poller: &str) {
    let mut change = |kind, interest: Option<Interest>, mode| {
        let (descriptor, poller) = (descriptor.clone(), poller.to_owned());
        let change = Change { kind, descriptor, interest, mode, poller, label: None };
        all.push(question(Action::Change(change)));
    };
    for kind in [ChangeKind::Add, ChangeKind::Modify] {
        let mut last = None;
        // An interest is in the list as often as it is drawn.
        for interest in INTERESTS.iter().filter(|interest| last.replace(**interest) != Some(**interest)) {
            for mode in [None].into_iter().chain(model.other_modes().map(Some)) {
                change(kind, *interest, mode);
            }
        }
    }
    change(ChangeKind::Remove, None, None);
}

fn calls(all: &mut Vec<Clause>, model: &Model, name: &Name) {
    let call = |call| Action::Call(name.clone(), call);
    let listens = || call(Call::Listens { backlog: None, beside: None });
    all.push(fact(call(Call::Closes)));
    match model.kind(name) {
        Some(Kind::Listener) => {
            let client = model.fresh_name("client");
            all.push(question(Action::Call(client, Call::Reaches(name.clone()))));
            all.push(question(call(Call::Accepts(model.fresh_name("conn")))));
            return;
        }
        Some(Kind::Fresh) => all.extend([question(call(Call::Connects(None))), fact(listens())]),
        _ => {}
    }
    let mut asked = vec![
        Call::Sends(1),
        Call::Sends(3),
        Call::SendsNothing,
        Call::Reads(ReadExtent::Calls(1)),
        Call::Reads(ReadExtent::Bytes(1)),
        Call::Drains,
        Call::Fills(None),
        Call::Shuts(Direction::Read),
        Call::Shuts(Direction::Write),
        Call::Shuts(Direction::Both),
        Call::Resets,
        Call::SendsUrgent,
        Call::ReceivesUrgent,
        Call::AsksError(1),
        Call::Sets(SocketOption::RcvLowat(2)),
        Call::Sets(SocketOption::OobInline),
    ];
    asked.push(Call::Peeks(None));
    asked.extend(draw::calls_of(model.kind(name)));
    asked.extend(model.closed().into_iter().map(|closed| Call::TakesNumberOf(closed.clone())));
    asked.extend(model.open().into_iter().map(|other| Call::Replaces(other.clone())));
    all.extend(asked.into_iter().map(|asked| question(call(asked))));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use fastrand::Rng;

    use super::*;
    use crate::draw::Source;

    fn features() -> Features {
        Features::every(&[Mode::Level, Mode::Edge])
    }

    #[test]
    fn lines_are_distinct_allowed_and_never_shorter_than_one_before() {
        let features = features();
        let (mut seen, mut length, mut count) = (HashSet::new(), 0, 0);
        for line in every(&features, &[Transport::Unix, Transport::Pipe, Transport::None], 3) {
            assert!(Model::allows(&line, &features), "{line}");
            assert!(line.clauses().len() >= length, "{line}");
            length = line.clauses().len();
            count += 1;
            assert!(seen.insert(line.to_string()), "twice: {line}");
            assert_eq!(line.to_string().parse::<Line>().as_ref(), Ok(&line));
        }
        assert_eq!(length, 3);
        assert!(count > 10_000, "{count}");
    }

    #[test]
    fn every_short_line_that_can_be_drawn_is_among_them() {
        let features = features();
        let transports = [Transport::Tcp, Transport::Unix, Transport::Pipe, Transport::None];
        let all: HashSet<_> = every(&features, &transports, 3).map(|line| line.to_string()).collect();
        let source = Source::new(&features, &transports);
        let mut compared = 0;
        for seed in 0..20_000 {
            let line = source.draw(&mut Rng::with_seed(seed), &[]);
            for length in 1..=3 {
                let begin = line.with(line.clauses()[..length].to_vec());
                let is_reduced = begin.to_string().contains(SECOND);
                if begin.clauses().last().is_some_and(has_answer) && !is_reduced {
                    assert!(all.contains(&begin.to_string()), "not enumerated: {begin}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 10_000, "{compared}");
    }

    #[test]
    fn the_second_poller_is_named_after_the_first_one() {
        let lines = || every(&features(), &[Transport::Unix], 3).map(|line| line.to_string());
        assert!(lines().any(|line| line.ends_with("add own?, add own in second?")));
        assert!(!lines().any(|line| line.ends_with("own and peer are connected, add own in second?, wait")));
    }

    #[test]
    fn sides_without_a_mode_have_no_line() {
        assert_eq!(every(&Features::default(), &[], 3).next(), None);
        assert_eq!(every(&features(), &[], 0).next(), None);
    }
}
