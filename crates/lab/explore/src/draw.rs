//! Draws valid lines: new ones, and changed ones of the corpus.

use fastrand::Rng;
use metadata::{Mode, Transport};
use raw::verbs::{
    Action, Call, Change, ChangeKind, Clause, DescriptorKind, Direction, FIRST, Name, OWN, Process,
    ReadExtent, Script, SocketOption, WaitArguments,
};
use selector::Interest;

use crate::line::Line;
use crate::model::{Kind, Model};
use crate::side::Features;

/// The other end of the first connection.
pub(crate) const PEER: &str = "peer";
/// The second poller.
pub(crate) const SECOND: &str = "second";
/// The thread that waits.
pub(crate) const THREAD: &str = "t";
/// How often a clause is drawn again because it cannot follow.
const TRIES: usize = 40;
/// The greatest number of clauses.
const LONGEST: usize = 16;

/// The transports, each as often as it is to be drawn.
const TRANSPORTS: [Transport; 14] = [
    Transport::Tcp,
    Transport::Tcp,
    Transport::Unix,
    Transport::Unix,
    Transport::Unix,
    Transport::UnixDgram,
    Transport::Seqpacket,
    Transport::Udp,
    Transport::Pipe,
    Transport::Pipe,
    Transport::Pipe,
    Transport::Fifo,
    Transport::Pty,
    Transport::None,
];

/// The interests, each as often as it is to be drawn; equal ones follow each other.
pub(crate) const INTERESTS: [Option<Interest>; 8] = [
    None,
    None,
    Some(Interest::READ),
    Some(Interest::READ),
    Some(Interest::WRITE),
    Some(Interest::READ.or(Interest::WRITE)),
    Some(Interest { urgent: true, ..Interest::NONE }),
    Some(Interest::NONE),
];

/// The descriptors without another end that a line can begin with.
pub(crate) const FILES: [fn() -> DescriptorKind; 9] = [
    || DescriptorKind::File { size: 3, offset: 0 },
    || DescriptorKind::File { size: 0, offset: 0 },
    || DescriptorKind::Directory,
    || DescriptorKind::Eventfd,
    || DescriptorKind::Timer,
    || DescriptorKind::WatchedFile,
    || DescriptorKind::Queue,
    || DescriptorKind::Device("/dev/zero".into()),
    || DescriptorKind::Device("/dev/null".into()),
];

/// The values that are written to an eventfd.
pub(crate) const COUNTS: [u64; 3] = [0, 1, u64::MAX - 1];

/// Returns the calls of a kind of descriptor that only this kind has.
pub(crate) fn calls_of(kind: Option<Kind>) -> Vec<Call> {
    match kind {
        Some(Kind::Counter) => COUNTS.map(Call::Counts).into(),
        Some(Kind::Timer) => vec![Call::Expires, Call::Starts, Call::Stops],
        Some(Kind::Watch) => vec![Call::Grows(1), Call::Shrinks(0), Call::IsRenamed, Call::IsRemoved],
        _ => Vec::new(),
    }
}

/// Returns the transports to draw lines over: those of `wanted`, or all if there is none. Each is there once.
pub(crate) fn transports(wanted: &[Transport]) -> Vec<Transport> {
    let mut all: Vec<_> =
        TRANSPORTS.into_iter().filter(|one| wanted.is_empty() || wanted.contains(one)).collect();
    all.dedup();
    all
}

/// Draws lines that both sides can perform.
pub struct Source<'a> {
    features: &'a Features,
    transports: Vec<Transport>,
}

impl<'a> Source<'a> {
    /// Draws lines for sides with these features, over one of `transports`, or over any if there is none.
    pub fn new(features: &'a Features, transports: &[Transport]) -> Self {
        let wanted = |transport: &Transport| transports.is_empty() || transports.contains(transport);
        Self { features, transports: TRANSPORTS.into_iter().filter(wanted).collect() }
    }

    /// Returns whether there is a line to draw.
    pub fn is_empty(&self) -> bool {
        self.transports.is_empty() || self.features.modes.is_empty()
    }

    /// Draws a line: a new one, or one of `corpus` with changes. The same generator and the same corpus draw
    /// the same line.
    pub fn draw(&self, rng: &mut Rng, corpus: &[Line]) -> Line {
        if corpus.is_empty() || rng.u8(..4) == 0 {
            return self.new_line(rng);
        }
        let line = &corpus[rng.usize(..corpus.len())];
        self.change(rng, line, corpus).unwrap_or_else(|| self.new_line(rng))
    }

    fn new_line(&self, rng: &mut Rng) -> Line {
        let transport = self.transports[rng.usize(..self.transports.len())];
        let mode = self.features.modes[rng.usize(..self.features.modes.len())];
        let mut growing = Growing::new(Model::new(transport, mode, self.features));
        growing.begin(rng, transport);
        let length = rng.usize(4..=LONGEST);
        growing.grow(rng, length);
        growing.finish(transport, mode)
    }

    /// Changes a line: replaces its transport or mode, removes, replaces or inserts clauses, or continues it.
    fn change(&self, rng: &mut Rng, line: &Line, corpus: &[Line]) -> Option<Line> {
        let (mut transport, mut mode) = (line.transport, line.mode);
        let mut clauses = line.clauses().to_vec();
        let at = |rng: &mut Rng, length: usize| rng.usize(..length.max(1));
        let mut insert_at = clauses.len();
        match rng.u8(..10) {
            0 => transport = self.transports[rng.usize(..self.transports.len())],
            1 => mode = self.features.modes[rng.usize(..self.features.modes.len())],
            2 => drop(clauses.remove(at(rng, clauses.len()))),
            3 => {
                // Continues with the second half of another line.
                let other = &corpus[rng.usize(..corpus.len())];
                let half = other.clauses().len() / 2;
                clauses.truncate(1 + at(rng, clauses.len()));
                clauses.extend_from_slice(&other.clauses()[half..]);
                insert_at = clauses.len();
            }
            4 if clauses.len() > 2 => {
                let one = 1 + at(rng, clauses.len() - 2);
                clauses.swap(one, one + 1);
            }
            5 => {
                let one = at(rng, clauses.len());
                let clause = clauses[one].clone();
                clauses.insert(one, clause);
            }
            6..8 => insert_at = 1 + at(rng, clauses.len()),
            _ => {}
        }
        if !self.features.modes.contains(&mode) {
            mode = self.features.modes[rng.usize(..self.features.modes.len())];
        }
        let mut growing = Growing::new(Model::new(transport, mode, self.features));
        let more = 1 + rng.usize(..4);
        for (index, clause) in clauses.into_iter().enumerate() {
            if index == insert_at {
                growing.grow(rng, growing.clauses.len() + more);
            }
            // A clause that cannot follow any more is left out.
            growing.push(clause);
        }
        if insert_at >= growing.clauses.len() {
            growing.grow(rng, growing.clauses.len() + more);
        }
        (!growing.clauses.is_empty()).then(|| growing.finish(transport, mode))
    }
}

/// A line that grows clause by clause.
struct Growing {
    model: Model,
    clauses: Vec<Clause>,
}

impl Growing {
    fn new(model: Model) -> Self {
        Self { model, clauses: Vec::new() }
    }

    /// Adds a clause if it can follow.
    fn push(&mut self, clause: Clause) -> bool {
        let mut next = self.model.clone();
        let follows = self.clauses.len() < LONGEST && next.advance(&clause).is_ok();
        if follows {
            self.model = next;
            self.clauses.push(clause);
        }
        follows
    }

    /// Adds the clauses that make the first descriptors.
    fn begin(&mut self, rng: &mut Rng, transport: Transport) {
        let own = || OWN.to_owned();
        let has_listeners = matches!(transport, Transport::Tcp | Transport::Unix | Transport::Seqpacket);
        if transport == Transport::None {
            let kind = FILES[rng.usize(..FILES.len())];
            self.push(fact(Action::Make(own(), kind())));
        } else if has_listeners && rng.u8(..5) == 0 {
            self.push(fact(Action::Call(own(), Call::Listens { backlog: None, beside: None })));
        } else if rng.u8(..12) == 0 && transport != Transport::Pipe && transport != Transport::Fifo {
            self.push(fact(Action::Make(own(), DescriptorKind::Fresh)));
        } else {
            self.push(fact(Action::Connect(own(), PEER.into())));
        }
    }

    /// Adds clauses up to a length. A line that ends with an action gets a wait.
    fn grow(&mut self, rng: &mut Rng, length: usize) {
        for _ in 0..TRIES {
            if self.clauses.len() + 1 >= length {
                break;
            }
            if let Some(clause) = self.propose(rng) {
                self.push(clause);
            }
        }
        if let Some(thread) = self.model.thread().cloned() {
            self.push(fact(Action::ThreadAnswers(thread)));
        } else if self.model.threads_wait() {
            self.push(fact(Action::ThreadsAnswer));
        } else if !matches!(self.clauses.last(), Some(Clause { action: Action::Wait { .. }, .. })) {
            self.push(wait(FIRST));
        }
    }

    fn finish(self, transport: Transport, mode: Mode) -> Line {
        Line { transport, mode, script: Script { clauses: self.clauses } }
    }

    /// Returns a clause that may follow.
    fn propose(&self, rng: &mut Rng) -> Option<Clause> {
        if self.model.thread().is_some() || self.model.threads_wait() {
            return self.propose_while_waiting(rng);
        }
        let queues = self.model.queues();
        let poller = match (queues.is_empty(), rng.u8(..10)) {
            (false, 0..4) => queues[rng.usize(..queues.len())],
            (_, 9) => SECOND,
            _ => FIRST,
        };
        // Nothing waits in a queue: what it has, the poller above it reports.
        let waits_in = if poller == SECOND { SECOND } else { FIRST };
        Some(match rng.u8(..100) {
            0..20 => self.change(rng, ChangeKind::Add, poller)?,
            20..26 => self.change(rng, ChangeKind::Modify, poller)?,
            26..29 => self.change(rng, ChangeKind::Remove, poller)?,
            29..52 => {
                let times = if rng.u8(..8) == 0 { 2 } else { 1 };
                let room = (rng.u8(..14) == 0).then_some(1);
                fact(Action::Wait { times, room, poller: waits_in.into() })
            }
            52..88 => self.call(rng)?,
            88..93 => self.new_descriptor(rng)?,
            93..97 => {
                let arguments =
                    if rng.u8(..6) == 0 { WaitArguments::Room(1) } else { WaitArguments::NoTimeout };
                fact(Action::ThreadWaits { thread: THREAD.into(), arguments, poller: FIRST.into() })
            }
            97 => {
                let room = (rng.u8(..4) == 0).then_some(1);
                fact(Action::Waiters { count: 2, alone: false, room, poller: FIRST.into() })
            }
            98 => fact(Action::Wake { times: 1, poller: FIRST.into() }),
            _ => {
                fact(Action::Make(self.model.fresh_name("other"), DescriptorKind::Device("/dev/null".into())))
            }
        })
    }

    fn propose_while_waiting(&self, rng: &mut Rng) -> Option<Clause> {
        let answer = || match self.model.thread() {
            Some(thread) => fact(Action::ThreadAnswers(thread.clone())),
            None => fact(Action::ThreadsAnswer),
        };
        Some(match rng.u8(..10) {
            0..4 => self.call(rng)?,
            4 => self.change(rng, ChangeKind::Add, FIRST)?,
            5 => self.change(rng, ChangeKind::Modify, FIRST)?,
            6 => fact(Action::Wake { times: 1, poller: FIRST.into() }),
            _ => answer(),
        })
    }

    fn pick(rng: &mut Rng, names: &[&Name]) -> Option<Name> {
        (!names.is_empty()).then(|| names[rng.usize(..names.len())].clone())
    }

    fn change(&self, rng: &mut Rng, kind: ChangeKind, poller: &str) -> Option<Clause> {
        // A closed descriptor is asked about, too, but less often.
        let names = if rng.u8(..12) == 0 { self.model.all() } else { self.model.open() };
        let descriptor = Self::pick(rng, &names)?;
        // Most additions are of descriptors that are not registered, most other changes of those that are.
        let is_registered = self.model.is_registered(poller, &descriptor);
        if (kind == ChangeKind::Add) == is_registered && rng.u8(..6) > 0 {
            return None;
        }
        let is_removal = kind == ChangeKind::Remove;
        let interest = if is_removal { None } else { INTERESTS[rng.usize(..INTERESTS.len())] };
        let modes: Vec<_> = self.model.other_modes().collect();
        let has_mode = !is_removal && !modes.is_empty() && rng.u8(..8) == 0;
        let mode = has_mode.then(|| modes[rng.usize(..modes.len())]);
        let change = Change { kind, descriptor, interest, mode, poller: poller.to_owned(), label: None };
        Some(question(Action::Change(change)))
    }

    fn new_descriptor(&self, rng: &mut Rng) -> Option<Clause> {
        let open = self.model.open();
        Some(match rng.u8(..8) {
            0..3 => {
                let of = Self::pick(rng, &open)?;
                fact(Action::Make(self.model.fresh_name("copy"), DescriptorKind::Copy(of)))
            }
            3 => fact(Action::Connect(self.model.fresh_name("near"), self.model.fresh_name("far"))),
            4 => fact(Action::Make(self.model.fresh_name("bare"), DescriptorKind::Fresh)),
            5 => fact(Action::Make(self.model.fresh_name("inner"), DescriptorKind::Queue)),
            6 => fact(Action::Make(self.model.fresh_name("timer"), DescriptorKind::Timer)),
            _ => {
                let size = rng.usize(..2) * 3;
                fact(Action::Make(self.model.fresh_name("file"), DescriptorKind::File { size, offset: 0 }))
            }
        })
    }

    fn call(&self, rng: &mut Rng) -> Option<Clause> {
        let name = Self::pick(rng, &self.model.open())?;
        if self.model.kind(&name) == Some(Kind::Listener) {
            return Some(match rng.u8(..5) {
                0..3 => {
                    let client = self.model.fresh_name("client");
                    question(Action::Call(client, Call::Reaches(name)))
                }
                3 => question(Action::Call(name, Call::Accepts(self.model.fresh_name("conn")))),
                _ => fact(Action::Call(name, Call::Closes)),
            });
        }
        if self.model.kind(&name) == Some(Kind::Fresh) && rng.bool() {
            return Some(match rng.bool() {
                true => question(Action::Call(name, Call::Connects(None))),
                false => fact(Action::Call(name, Call::Listens { backlog: None, beside: None })),
            });
        }
        let special = calls_of(self.model.kind(&name));
        if !special.is_empty() && rng.u8(..3) > 0 {
            let call = special[rng.usize(..special.len())].clone();
            return Some(question(Action::Call(name, call)));
        }
        let direction =
            [Direction::Read, Direction::Write, Direction::Write, Direction::Both][rng.usize(..4)];
        let call = match rng.u8(..42) {
            0..12 => Call::Sends([1, 1, 3][rng.usize(..3)]),
            12 => Call::SendsNothing,
            13..18 => Call::Reads(ReadExtent::Calls(1)),
            18..20 => Call::Reads(ReadExtent::Bytes(1)),
            20..22 => Call::Drains,
            22..24 => Call::Fills(None),
            24..28 => Call::Shuts(direction),
            28..32 => Call::Closes,
            32 => Call::Resets,
            33..35 => Call::SendsUrgent,
            35 => Call::ReceivesUrgent,
            36 => Call::AsksError(1),
            37 => {
                let closed = Self::pick(rng, &self.model.closed())?;
                Call::TakesNumberOf(closed)
            }
            38 => Call::Sets(SocketOption::RcvLowat(2)),
            39 => Call::Peeks(None),
            40 => {
                let other = Self::pick(rng, &self.model.open())?;
                Call::Replaces(other)
            }
            _ => Call::Sets(SocketOption::OobInline),
        };
        let is_fact = call == Call::Closes;
        let action = Action::Call(name, call);
        Some(if is_fact { fact(action) } else { question(action) })
    }
}

/// Returns a clause without a question mark.
pub(crate) fn fact(action: Action) -> Clause {
    Clause { action, is_question: false, state: None, process: Process::Own }
}

/// Returns a clause with a question mark.
pub(crate) fn question(action: Action) -> Clause {
    Clause { action, is_question: true, state: None, process: Process::Own }
}

/// Returns `wait in POLLER`.
pub(crate) fn wait(poller: &str) -> Clause {
    fact(Action::Wait { times: 1, room: None, poller: poller.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn features() -> Features {
        Features::every(&[Mode::Level, Mode::Edge, Mode::OneShot])
    }

    fn drawn(count: usize) -> Vec<Line> {
        let features = features();
        let source = Source::new(&features, &[]);
        let mut corpus = Vec::new();
        for seed in 0..count {
            let line = source.draw(&mut Rng::with_seed(seed as u64), &corpus);
            corpus.push(line);
        }
        corpus
    }

    #[test]
    fn every_line_is_allowed_and_printed_as_it_is_parsed() {
        for line in drawn(2000) {
            assert!(Model::allows(&line, &features()), "{line}");
            let text = line.to_string();
            assert_eq!(text.parse::<Line>().unwrap_or_else(|error| panic!("{text}\n{error}")), line);
        }
    }

    /// Compares the verbs of the lines with those of the model.
    #[test]
    fn every_modelled_verb_is_drawn() {
        let text = drawn(6000).iter().map(|line| line.script.to_string() + ", ").collect::<String>();
        let verbs = "connected|is fresh|a copy of|a file of|/dev/null|eventfd|directory|listens|reaches|accepts|\
             connects to nobody|sends 1|sends nothing|sends urgent|fills|reads?|reads 1|drains|\
             receives urgent|shuts read|shuts write|shuts both|resets|closes|takes the number of|\
             sets SO_RCVLOWAT|asks SO_ERROR|add |modify |remove |wait,|wait 2 times|room 1|in second|\
             is a timer|is a watched file|is a queue|expires|starts|stops|counts 1?|grows|shrinks|is renamed|\
             is removed|peeks|replaces|in inner|t waits room|threads wait room|for reading level|\
             t waits|t answers|threads wait|threads answer|wake";
        let missing: BTreeSet<_> = verbs.split('|').filter(|verb| !text.contains(*verb)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn transports_can_be_chosen() {
        let features = features();
        let source = Source::new(&features, &[Transport::Pipe]);
        let mut rng = Rng::with_seed(1);
        assert!((0..50).all(|_| source.draw(&mut rng, &[]).transport == Transport::Pipe));
        assert!(Source::new(&Features::default(), &[]).is_empty());
    }
}
