//! Answers that are wrong in every reading: whatever an interface promises, it does not promise them. They
//! are failures without an expectation.
//!
//! - `Early`: `early`, of a wait with a timeout.
//! - `DataNotReported`: no event, or `not woken`, of a wait while a descriptor that is registered
//!   for reading has data. In a mode other than level: data that came after the last wait. An exclusive
//!   registration may be silent.
//! - `EndedRegistration`: an event of a wait after the registration was removed, or its last
//!   descriptor was closed; `stale-token:IN`. An error such as `NVAL` of the closed descriptor is right.
//! - `Spins`: `spins`.
//! - `ProgramEnded`: `aborts(SIGNAL)`, `exits(CODE)`.
//!
//! What a wait must answer follows from the clauses before it. The rules are stricter than the state: after a
//! clause whose effect an interface could read differently, such as a copy of a descriptor, nothing is
//! expected.

use std::collections::{BTreeMap, BTreeSet};

use metadata::{Answer, Column, Defect, Interest, Meaning, Mode, Outcome, STALE_TOKEN, Said, Transport};

use crate::keys::{Key, Naming};
use crate::verbs::{
    Action, Call, Change, ChangeKind, Clause, DescriptorKind, Name, Process, Script, WaitArguments,
};

/// What the waits of a script must answer, by the keys of their answers, and the words of the poller.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Promises(BTreeMap<Key, Promise>, Column);

/// What a wait must answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Promise {
    /// An event.
    event: bool,
    /// No event of these registrations: they were removed.
    removed: BTreeSet<Name>,
    /// No event of these registrations but an error: their descriptors were closed.
    closed: BTreeSet<Name>,
    /// The poller has or had more registrations than one, so the answers name them.
    has_names: bool,
}

impl Promises {
    /// Returns what the waits of this script must answer, with the poller of this name and these words.
    pub fn of(script: &Script, transport: Transport, mode: Mode, poller: &str, column: Column) -> Self {
        let mut naming = Naming::new(transport);
        let mut state = State::new(mode, transport);
        let mut promises: BTreeMap<Key, Promise> = BTreeMap::new();
        for clause in &script.clauses {
            naming.advance(clause);
            let promise = state.advance(clause);
            // Of several answers under one key, none can be told from the others: what is expected of all
            // counts.
            for key in naming.keys(clause, mode, poller, &[]) {
                let promise = promise.clone().unwrap_or_default();
                let all = promises.entry(key).or_insert_with(|| promise.clone());
                all.event &= promise.event;
                all.removed.retain(|name| promise.removed.contains(name));
                all.closed.retain(|name| promise.closed.contains(name));
                all.has_names |= promise.has_names;
            }
        }
        Self(promises, column)
    }

    /// Returns what is wrong with an answer to a question of the script in every reading, if something is.
    /// The question is the state, the interface and the trigger of its key.
    pub fn defect(&self, question: (&str, &str, Option<&str>), answer: &str) -> Option<Defect> {
        let is_it = |key: &Key| (key.variant.as_str(), key.api.as_str(), key.trigger) == question;
        let promise = self.0.iter().find_map(|(key, promise)| is_it(key).then(|| promise.clone()));
        let promise = promise.unwrap_or_default();
        let answer = Answer::of(answer, question.2, &self.1);
        let outcomes = answer.rounds().flat_map(|round| round.iter().enumerate());
        outcomes.into_iter().find_map(|(index, outcome)| defect_of(&promise, &self.1, index == 0, outcome))
    }
}

/// The list at the head of this module.
fn defect_of(promise: &Promise, column: &Column, is_first: bool, outcome: &Outcome) -> Option<Defect> {
    let is_stale = outcome.events().any(|(of, _)| of == Some(STALE_TOKEN));
    match outcome {
        Outcome::Early => return Some(Defect::Early),
        Outcome::Spins => return Some(Defect::Spins),
        Outcome::Aborted(_) | Outcome::Exited(_) => return Some(Defect::ProgramEnded),
        _ if is_stale => return Some(Defect::EndedRegistration),
        _ => {}
    }
    let has_words = |(_, record): (_, &str)| !column.split(record).is_empty();
    let is_silent = outcome.report(column).is_some() && !outcome.events().any(has_words);
    if promise.event && is_first && (is_silent || *outcome == Outcome::NotWoken) {
        return Some(Defect::DataNotReported);
    }
    let is_of_ended = |(of, record): (Option<&str>, &str)| {
        // Without a name, it is the only registration that the poller has had.
        let only = || promise.removed.iter().chain(&promise.closed).next().map_or("", String::as_str);
        let name = of.unwrap_or_else(|| if promise.has_names { record } else { only() });
        let is_error = || column.report([record], Interest::ALL)[Meaning::Error as usize] == Said::Yes;
        promise.removed.contains(name) || (promise.closed.contains(name) && !is_error())
    };
    outcome.events().any(is_of_ended).then_some(Defect::EndedRegistration)
}

/// A registration that the script has made, whatever the poller.
#[derive(Clone, Debug)]
struct Registration {
    /// Its name in the answers.
    label: Name,
    reads: bool,
    mode: Mode,
    /// Data have come since it was made, and no wait has passed since.
    is_fresh: bool,
}

/// What is certain after some clauses.
#[derive(Debug)]
struct State {
    mode: Mode,
    /// Data can be read only after the end of a line.
    has_lines: bool,
    /// The other end of each descriptor of a connection.
    ends: BTreeMap<Name, Name>,
    /// The descriptors with data.
    unread: BTreeSet<Name>,
    /// By poller and descriptor.
    registrations: BTreeMap<(Name, Name), Registration>,
    /// The registrations that were removed, by poller: their names in the answers.
    removed: BTreeSet<(Name, Name)>,
    /// Those whose last descriptor was closed.
    closed: BTreeSet<(Name, Name)>,
    /// Every name that answers of a poller can have.
    labels: BTreeSet<(Name, Name)>,
    /// The thread that waits, its poller, and whether its wait has seen only what is modelled here.
    waiting: Option<(Name, Name, bool)>,
    /// Something happened that is not modelled here.
    is_lost: bool,
}

impl State {
    fn new(mode: Mode, transport: Transport) -> Self {
        let (ends, unread, registrations, labels) = Default::default();
        let (removed, closed) = Default::default();
        let has_lines = transport == Transport::Pty;
        Self {
            mode,
            has_lines,
            ends,
            unread,
            registrations,
            removed,
            closed,
            labels,
            waiting: None,
            is_lost: false,
        }
    }

    /// Advances to the next clause. Returns what its answer must be, if it is a wait.
    fn advance(&mut self, clause: &Clause) -> Option<Promise> {
        if clause.process != Process::Own {
            self.is_lost = true;
        }
        if self.is_lost {
            return None;
        }
        match &clause.action {
            Action::Times(_) | Action::Title(_) => {}
            Action::Connect(one, other) => {
                self.ends.insert(one.clone(), other.clone());
                self.ends.insert(other.clone(), one.clone());
            }
            Action::Make(name, kind) => {
                if let DescriptorKind::Copy(of) = kind {
                    self.forget(of);
                }
                self.forget(name);
            }
            Action::Call(name, call) => self.call(name, call, clause.is_question),
            Action::Change(change) => self.change(change, clause.is_question),
            Action::Wait { room, poller, .. } => {
                let promise = self.promise(poller);
                self.pass_wait();
                return Some(promise).filter(|_| *room != Some(0));
            }
            Action::ThreadWaits { thread, arguments, poller } => {
                let is_modelled = *arguments == WaitArguments::NoTimeout && self.waiting.is_none();
                self.waiting = Some((thread.clone(), poller.clone(), is_modelled));
            }
            Action::ThreadAnswers(thread) => {
                let (waiting, poller, is_modelled) = self.waiting.clone()?;
                let promise = self.promise(&poller);
                self.pass_wait();
                self.waiting = Some((waiting.clone(), poller, false));
                return Some(promise).filter(|_| is_modelled && waiting == *thread);
            }
            // The looks of edge-triggered registrations are waits.
            Action::Look { .. } => self.pass_wait(),
            _ => self.is_lost = true,
        }
        None
    }

    /// Returns what a wait in a poller must answer now.
    fn promise(&self, poller: &str) -> Promise {
        let must_report = |((of, name), registration): (&(Name, Name), &Registration)| {
            let has_data = match registration.mode {
                Mode::Level => self.unread.contains(name),
                // At least one of several pollers reports it.
                Mode::Exclusive | Mode::ExclusiveEdge => false,
                _ => registration.is_fresh,
            };
            of == poller && registration.reads && has_data && !self.has_lines
        };
        let of_poller = |names: &BTreeSet<(Name, Name)>| -> BTreeSet<Name> {
            names.iter().filter(|(of, _)| of == poller).map(|(_, name)| name.clone()).collect()
        };
        Promise {
            event: self.registrations.iter().any(must_report),
            removed: of_poller(&self.removed),
            closed: of_poller(&self.closed),
            has_names: of_poller(&self.labels).len() > 1,
        }
    }

    fn pass_wait(&mut self) {
        for registration in self.registrations.values_mut() {
            registration.is_fresh = false;
            // It may have fired, and then it reports nothing until it is modified.
            registration.reads &=
                !matches!(registration.mode, Mode::OneShot | Mode::Dispatch | Mode::EdgeOneShot);
        }
    }

    fn call(&mut self, name: &str, call: &Call, is_question: bool) {
        let other = self.ends.get(name).cloned();
        match call {
            Call::Sends(1..) if !is_question => {
                let Some(receiver) = other else { return };
                self.unread.insert(receiver.clone());
                for ((_, of), registration) in &mut self.registrations {
                    registration.is_fresh |= *of == receiver;
                }
            }
            Call::Reads(_) | Call::Drains | Call::ReceivesUrgent => {
                self.unread.remove(name);
                self.pass_wait();
                self.doubt_wait();
            }
            Call::Closes if !is_question && self.ends.contains_key(name) => {
                let of: Vec<_> = self.registrations.keys().filter(|(_, of)| of == name).cloned().collect();
                for key in of {
                    let registration = self.registrations.remove(&key).expect("the key was just listed");
                    self.closed.insert((key.0, registration.label));
                }
                self.forget(name);
                if let Some(other) = other {
                    self.forget(&other);
                }
                self.doubt_wait();
            }
            Call::Sends(_) | Call::AsksError(_) => {}
            Call::TakesNumberOf(of) | Call::Replaces(of) => {
                self.is_lost = true;
                self.forget(of);
            }
            _ => {
                self.forget(name);
                if let Some(other) = other {
                    self.forget(&other);
                }
                self.doubt_wait();
            }
        }
    }

    fn change(&mut self, change: &Change, is_question: bool) {
        let Change { kind, descriptor, interest, mode, poller, label } = change;
        let key = (poller.clone(), descriptor.clone());
        let label = label.clone().unwrap_or_else(|| descriptor.clone());
        self.labels.insert((poller.clone(), label.clone()));
        self.doubt_wait();
        let known = self.registrations.remove(&key);
        let named = (poller.clone(), label);
        self.removed.remove(&named);
        self.closed.remove(&named);
        if is_question {
            // It can have failed.
            return;
        }
        match kind {
            ChangeKind::Watch | ChangeKind::Add => {
                let registration = Registration {
                    label: named.1,
                    reads: interest.is_none_or(|interest| interest.read),
                    mode: mode.unwrap_or(self.mode),
                    is_fresh: false,
                };
                if self.ends.contains_key(descriptor) {
                    self.registrations.insert(key, registration);
                }
            }
            ChangeKind::Modify => {
                let reads = interest.is_none_or(|interest| interest.read);
                let changed = known.map(|known| Registration {
                    reads,
                    mode: mode.unwrap_or(known.mode),
                    is_fresh: false,
                    ..known
                });
                if let Some(changed) = changed {
                    self.registrations.insert(key, changed);
                }
            }
            // Nothing is certain until it is added again.
            ChangeKind::Disable | ChangeKind::Enable => {}
            ChangeKind::Remove => {
                if let Some(known) = known {
                    self.removed.insert((poller.clone(), known.label));
                }
            }
        }
    }

    /// Forgets what is certain of a descriptor, except that its registrations have ended.
    fn forget(&mut self, name: &str) {
        self.ends.remove(name);
        self.unread.remove(name);
        self.registrations.retain(|(_, of), _| of != name);
    }

    /// The wait of a thread, which goes on, may see this or not.
    fn doubt_wait(&mut self) {
        if let Some((.., is_modelled)) = &mut self.waiting {
            *is_modelled = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the defect of an answer to the last wait of a script.
    fn defect(mode: Mode, script: &str, answer: &str) -> Option<Defect> {
        let script = script.parse().unwrap_or_else(|error| panic!("{script}: {error}"));
        let promises = Promises::of(&script, Transport::Unix, mode, "libuv", words());
        let key = crate::keys(&script, Transport::Unix, mode, "libuv", &[]).pop().expect("the script waits");
        promises.defect(question(&key), answer)
    }

    /// The words of several pollers.
    fn words() -> Column {
        let others = [
            ("r", "readable"),
            ("w", "writable"),
            ("READ", "readable"),
            ("WRITE", "writable"),
            ("ERROR", "error"),
            ("ErrNotPollable", "error"),
            ("readable", "readable"),
            ("writable", "writable"),
        ];
        let mut all = Column::of(metadata::Interface::Poll);
        all.words.extend(Column::new(None, &others).words);
        all
    }

    fn question(key: &Key) -> (&str, &str, Option<&str>) {
        (&key.variant, &key.api, key.trigger)
    }

    const CONNECTED: &str = "own and peer are connected, ";

    #[test]
    fn an_early_wait_a_spin_and_an_end_are_defects_in_any_place() {
        for (answer, expected) in [
            ("early", Some(Defect::Early)),
            ("timed out x3, early x17", Some(Defect::Early)),
            ("early x*, timed out x*", Some(Defect::Early)),
            ("timed out x20", None),
            ("early 0/20", None),
            ("EINTR after interrupted early", None),
            ("spins", Some(Defect::Spins)),
            ("IN then spins", Some(Defect::Spins)),
            ("aborts(SIGABRT)", Some(Defect::ProgramEnded)),
            ("exits(0)", Some(Defect::ProgramEnded)),
            ("own:IN stale-token:IN", Some(Defect::EndedRegistration)),
            ("IN", None),
            ("woken", None),
        ] {
            assert_eq!(
                defect(Mode::Level, &format!("{CONNECTED}add own, wait"), answer),
                expected,
                "{answer}"
            );
        }
    }

    #[test]
    fn data_of_a_registered_descriptor_must_be_reported() {
        let all = [Mode::Level, Mode::Edge, Mode::OneShot];
        for (script, modes) in [
            ("add own, t waits, peer sends 1, t answers", &all[..]),
            ("add own for reading, t waits, peer sends 3, peer sends 1, t answers", &all),
            ("add own, peer sends 1, wait", &all),
            ("peer sends 1, add own, wait", &all[..1]),
            ("add own, peer sends 1, wait as before, wait as after", &all[..1]),
            ("other and far are connected, add own, add other, far sends 1, wait", &all),
            ("add own, peer sends 1, wait as before, modify own, peer sends 1, wait as after", &all),
        ] {
            for mode in modes {
                for answer in ["silent", "not woken", "silent then IN", "not woken x20"] {
                    let found = defect(*mode, &format!("{CONNECTED}{script}"), answer);
                    assert_eq!(found, Some(Defect::DataNotReported), "{mode} {script}: {answer}");
                }
                for answer in ["IN", "readable", "woken", "own:IN", "IN then silent", "EBADF"] {
                    assert_eq!(
                        defect(*mode, &format!("{CONNECTED}{script}"), answer),
                        None,
                        "{mode} {script}"
                    );
                }
            }
        }
    }

    #[test]
    fn where_an_interface_can_be_silent_nothing_is_expected() {
        for (mode, script) in [
            (Mode::Level, "add own, t waits, t answers"),
            (Mode::Level, "add own for writing, peer sends 1, wait"),
            (Mode::Level, "add own for nothing, peer sends 1, wait"),
            (Mode::Level, "t waits, add own, peer sends 1, t answers"),
            (Mode::Level, "add own, t waits, remove own, peer sends 1, t answers"),
            (Mode::Level, "add own, t waits at most 5 ms, peer sends 1, t answers"),
            (Mode::Level, "add own?, peer sends 1, wait"),
            (Mode::Level, "add own, peer sends 1?, wait"),
            (Mode::Level, "add own, peer sends 1, own reads, wait"),
            (Mode::Level, "add own, peer sends 1, own drains, wait"),
            (Mode::Level, "add own, peer sends 1, wait room 0"),
            (Mode::Level, "add own, own sets SO_RCVLOWAT 4, peer sends 1, wait"),
            (Mode::Level, "add own, own shuts read, peer sends 1?, wait"),
            (Mode::Level, "copy is a copy of own, add own, peer sends 1, wait"),
            (Mode::Level, "add own, peer sends 1, wake, wait"),
            (Mode::Edge, "add own, peer sends 1, wait as before, wait as after"),
            (Mode::Edge, "peer sends 1, watch own, wait"),
            (Mode::OneShot, "add own, peer sends 1, modify own, wait"),
            (Mode::OneShot, "add own, peer sends 1, wait as before, peer sends 1, wait as after"),
            (Mode::Dispatch, "add own, peer sends 1, wait as before, t waits, peer sends 1, t answers"),
            (Mode::Exclusive, "add own, peer sends 1, wait"),
        ] {
            for answer in ["silent", "not woken"] {
                assert_eq!(defect(mode, &format!("{CONNECTED}{script}"), answer), None, "{mode} {script}");
            }
        }
        let script = "own and peer are connected, add own, peer sends 1, wait".parse().unwrap();
        let key = crate::keys(&script, Transport::Pty, Mode::Level, "libuv", &[]).pop().unwrap();
        let promises = Promises::of(&script, Transport::Pty, Mode::Level, "libuv", words());
        assert_eq!(promises.defect(question(&key), "silent"), None, "a terminal waits for the end of a line");
    }

    #[test]
    fn an_ended_registration_has_no_event() {
        for (script, answer) in [
            ("add own, peer sends 1, remove own, wait", "IN"),
            ("add own, peer sends 1, wait as before, remove own, wait as after", "readable|writable"),
            ("add own, peer sends 1, own closes, wait", "IN|HUP"),
            ("add own, remove own, wait", "ERR"),
            ("other and far are connected, add own, add other, remove own, wait", "own:IN other:OUT"),
            ("add own, add own in second, remove own, wait", "IN"),
        ] {
            let found = defect(Mode::Level, &format!("{CONNECTED}{script}"), answer);
            assert_eq!(found, Some(Defect::EndedRegistration), "{script}");
        }
        for (script, answer) in [
            ("add own, remove own, wait", "silent"),
            ("add own, own closes, wait", "NVAL"),
            ("add own, own closes, wait", "EBADF"),
            ("add own, own closes, wait", "READ|WRITE|ERROR"),
            ("add own, own closes, wait", "r|w|ErrNotPollable"),
            ("other and far are connected, add own, add other, remove own, wait", "other:OUT"),
            ("add own, remove own, add own, peer sends 1, wait", "IN"),
            ("add own, remove own?, peer sends 1, wait", "IN"),
            ("copy is a copy of own, add own, own closes, peer sends 1, wait", "IN"),
            ("add own, own closes, other and far are connected, other takes the number of own, wait", "IN"),
        ] {
            let found = defect(Mode::Level, &format!("{CONNECTED}{script}"), answer);
            assert_eq!(found, None, "{script}: {answer}");
        }
    }
}
