//! The interpreter: runs a script clause by clause, with real descriptors and one kind of poller.

mod calls;
mod children;
mod descriptors;
mod fenced_poller;
mod held;
mod limits;
mod namespaces;
mod rounds;
mod settle;
mod signals;
mod sources;
mod thread_state;
mod waiters;
mod worker_pool;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use metadata::{Answer, Column, Mode, Outcome};
use nix::errno::Errno;
use nix::sys::signal::{SaFlags, Signal};
use selector::{
    Act, Changed, Event, Failure, Interest, RawArgument, Registered, Selector, Source, Token, View,
};

use crate::keys::{Key, Naming, applies, is_plain};
use crate::verbs::{
    Action, Change, ChangeKind, Clause, DescriptorKind, FIRST, Name, Private, Process, Script, WaitArguments,
};
use crate::{LEFT_OUT, Observation, Setting, Stopped, Transcript};
use calls::CallResult;
use children::{Child, Which};
use descriptors::{Address, Scratch};
use fenced_poller::{FencedPoller, ROOM};
use held::Held;
use limits::Limits;
#[cfg(any(target_os = "linux", target_os = "android"))]
use namespaces::Namespaces;
use settle::Settle;
use signals::{BlockedSignals, Handler};
use waiters::{Responder, Waiter};
use worker_pool::WorkerPool;

/// Returns the answer of a call that fails.
fn failed(errno: Errno) -> Outcome {
    Outcome::Failed(format!("{errno:?}"))
}

/// Returns the number of an error of the standard library.
fn errno_of(error: io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(0))
}

fn broken(why: impl Into<String>) -> Stopped {
    Stopped::Broken(why.into())
}

/// Returns the reason after a failed call of the set-up. If the system lacks a resource, the script is
/// unsupported.
fn call_failed(call: impl Display, error: impl Into<io::Error>) -> Stopped {
    let error = error.into();
    let errno = error.raw_os_error().map(Errno::from_raw);
    let failure = errno.map_or_else(|| format!("{call}: {error}"), |errno| format!("{call}: {errno:?}"));
    match errno {
        Some(Errno::EMFILE) => {
            let limit = limits::soft();
            Stopped::Unsupported(format!("needs more than {limit} descriptors (ulimit -n): {failure}"))
        }
        Some(Errno::ENFILE) => {
            Stopped::Unsupported(format!("needs more open files than the system has left: {failure}"))
        }
        _ => Stopped::Broken(failure),
    }
}

/// A descriptor of the script.
#[derive(Default)]
struct Actor {
    /// `None` after it is closed.
    fd: Option<OwnedFd>,
    /// Set if the poller's own program has the descriptor. Then `fd` is `None`.
    held: Option<Held>,
    /// The id of the open file. Copies share it.
    file: usize,
    /// The number that it has, or had before it was closed.
    number: RawFd,
    address: Option<Address>,
    /// The path of a regular or watched file, or of a watched directory.
    path: Option<PathBuf>,
    /// The number of files that a watched directory has.
    files: usize,
    /// The other end.
    partner: Option<Name>,
    /// Whether it connected to an address without a listener.
    no_listener: bool,
    /// Clients whose connections are not accepted yet.
    queue: Vec<Name>,
    /// The length of the accept queue of a listener.
    backlog: Option<usize>,
    /// The child that a descriptor of a process names.
    process: Option<children::Process>,
    /// The process and which of its threads a descriptor of a thread names.
    thread: Option<(Name, Which)>,
    /// The signals that it is a descriptor of.
    signals: Vec<Signal>,
    /// Its kind, if a child with namespaces of its own has opened it.
    private: Option<Private>,
    /// What is sent through it can leave an entry in its error queue.
    has_error_queue: bool,
    /// It is a timer of the clock that can be set.
    on_wall_clock: bool,
    /// It is a timer that expires again and again.
    ticks: bool,
    /// It is a filter of the poller, and this is its state.
    source: Option<Source>,
    /// Another open file of a file that was removed.
    other_file: Option<File>,
    /// It was shut down in some direction.
    is_shut: bool,
    sent: usize,
    sent_urgent: bool,
    /// It is closed or shut down, and unread data keep the end from the other end.
    end_held_back: bool,
    received: usize,
    /// The value of `received` when the other end was filled.
    received_before: usize,
}

impl Actor {
    fn new(fd: OwnedFd) -> Self {
        Self { number: fd.as_raw_fd(), fd: Some(fd), ..Self::none() }
    }

    /// The actor of -1, which is no descriptor.
    fn none() -> Self {
        Self { number: -1, ..Self::default() }
    }

    fn is_open(&self) -> bool {
        self.fd.is_some() || self.source.is_some() || self.held.as_ref().is_some_and(|held| held.open)
    }
}

/// The state of a running script.
struct Interpreter {
    setting: Setting,
    poller_name: String,
    column: Column,
    views: &'static [View],
    /// Named threads that wait. Fields drop in this order: threads end before pollers and descriptors.
    threads: BTreeMap<Name, Waiter>,
    /// The threads of `N threads wait`.
    waiters: Vec<Waiter>,
    worker_pool: WorkerPool,
    responder: Option<Rc<Responder>>,
    child: Option<Child>,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    namespaces: Option<Namespaces>,
    limits: Limits,
    actors: BTreeMap<Name, Actor>,
    /// The descriptors that the program of a poller must hold, with that poller. Empty if the poller takes
    /// descriptors.
    holders: BTreeMap<Name, Name>,
    /// The script, which a forked child has, too.
    clauses: Rc<[Clause]>,
    /// The descriptors that the script registers, each with a poller.
    registered: BTreeSet<(Name, Name)>,
    pollers: BTreeMap<Name, Arc<FencedPoller>>,
    /// The queues of chains, except the outermost ones, each with the descriptor that the next one has.
    chained: Vec<(Box<dyn Selector>, OwnedFd)>,
    /// The failure of a poller that exists no more.
    lost: Option<Failure>,
    /// The poller and the registration's label that views use, per descriptor.
    watched: BTreeMap<Name, (Name, Name)>,
    scratch: Scratch,
    settle: Settle,
    naming: Naming,
    next_number: RawFd,
    /// The number of the next source that is a filter without a descriptor.
    next_source: RawFd,
    /// The number of open files so far.
    files: usize,
    /// The handler of signals to threads that wait with a signal mask.
    handler: Option<Handler>,
    /// The signals of `a signal`, if the script has one. It outlives the threads.
    _signals: Option<BlockedSignals>,
}

/// The first number of a script's descriptors, if the limit allows as many more.
///
/// Pollers and fences are opened and closed while a script runs, and get the lowest free number. They must
/// not get the number of a descriptor that the script has closed and still asks about.
const NUMBERS: RawFd = 100;

/// Runs a parsed script.
pub(crate) fn run(script: &Script, setting: Setting) -> (Transcript, Result<(), Stopped>) {
    match script.clauses.split_first() {
        Some((Clause { action: Action::Times(times), .. }, clauses)) => rounds::run(*times, clauses, setting),
        _ => run_once(&script.clauses, setting),
    }
}

fn run_once(clauses: &[Clause], setting: Setting) -> (Transcript, Result<(), Stopped>) {
    let mut transcript = Transcript::default();
    let ended = Interpreter::open(setting, clauses).and_then(|mut interpreter| {
        clauses.iter().enumerate().try_for_each(|(index, clause)| {
            interpreter.naming.advance(clause);
            let before = transcript.observations.len();
            let rest = &clauses[index + 1..];
            let mut result = match clause.process {
                Process::Own => interpreter.run_clause(clause, rest, &mut transcript.observations),
                Process::NewChild => interpreter.run_in_child(clause, &mut transcript.observations),
                Process::Child => interpreter.run_in_the_child(clause, &mut transcript.observations),
            };
            if let Some(failure) = interpreter.failure() {
                // The poller has failed: its last answer does not count.
                transcript.observations.truncate(before);
                result = Err(interpreter.ended(failure, clause, rest, &mut transcript.observations));
            }
            let answer = match &result {
                Ok(answer) => answer.clone(),
                Err(stopped) => stopped.to_string(),
            };
            let child = clause.process.prefix();
            transcript.trace.push(format!("{child}{} -> {answer}", clause.action));
            result.map(drop)
        })
    });
    (transcript, ended)
}

/// Returns the descriptors that the clauses register, each with a poller.
fn registered(clauses: &[Clause]) -> BTreeSet<(Name, Name)> {
    let change = |clause: &Clause| match &clause.action {
        Action::Change(change) => Some((change.descriptor.clone(), change.poller.clone())),
        _ => None,
    };
    clauses.iter().filter_map(change).collect()
}

/// Returns whether no later clause asks for this thread's answer to the same wait.
fn is_last_answer(thread: &str, rest: &[Clause]) -> bool {
    let next = rest.iter().find_map(|clause| match &clause.action {
        Action::ThreadAnswers(other) if other == thread => Some(false),
        Action::ThreadWaits { thread: other, .. } if other == thread => Some(true),
        _ => None,
    });
    next.unwrap_or(true)
}

/// Returns whether no later clause counts these threads again.
fn is_last_count(rest: &[Clause]) -> bool {
    let next =
        rest.iter().find(|clause| matches!(clause.action, Action::ThreadsAnswer | Action::Waiters { .. }));
    next.is_none_or(|clause| clause.action != Action::ThreadsAnswer)
}

impl Interpreter {
    fn open(setting: Setting, clauses: &[Clause]) -> Result<Self, Stopped> {
        let signals_of = |clause: &Clause| match &clause.action {
            Action::Make(_, DescriptorKind::Signal) => Some(vec![signals::SOURCE]),
            Action::Make(_, DescriptorKind::Signals(signals)) => Some(signals.clone()),
            _ => None,
        };
        let of_script: Vec<_> = clauses.iter().filter_map(signals_of).flatten().collect();
        // Before a poller is made: it may have threads, which inherit the mask.
        let signals = (!of_script.is_empty()).then(|| BlockedSignals::new(&of_script)).transpose()?;
        let first = FencedPoller::open(setting)?;
        let poller_name = first.selector.name().to_owned();
        if !first.selector.capabilities().modes.contains(&setting.mode) {
            let mode = setting.mode.published();
            return Err(Stopped::Unsupported(format!("{poller_name} has no mode {mode}")));
        }
        let mut scratch = Scratch::default();
        Ok(Self {
            setting,
            poller_name,
            column: first.selector.column(),
            views: first.selector.views(setting.mode),
            threads: BTreeMap::new(),
            waiters: Vec::new(),
            worker_pool: WorkerPool::default(),
            responder: None,
            child: None,
            #[cfg(any(target_os = "linux", target_os = "android"))]
            namespaces: None,
            limits: Limits::now()?,
            actors: BTreeMap::new(),
            holders: match first.selector.actor() {
                Some(_) => held::holders(clauses),
                None => BTreeMap::new(),
            },
            clauses: clauses.into(),
            registered: registered(clauses),
            pollers: BTreeMap::from([(FIRST.to_owned(), Arc::new(first))]),
            chained: Vec::new(),
            lost: None,
            watched: BTreeMap::new(),
            settle: Settle::new(setting, &mut scratch)?,
            scratch,
            naming: Naming::new(setting.transport),
            next_number: NUMBERS.min(limits::soft() / 2),
            next_source: sources::NUMBERS,
            files: 0,
            handler: None,
            _signals: signals,
        })
    }

    /// Returns the failure of one of the pollers, if one has failed.
    fn failure(&self) -> Option<Failure> {
        let of_threads = self.threads.values().chain(&self.waiters).map(|waiter| &waiter.poller);
        let mut pollers = self.pollers.values().chain(of_threads);
        self.lost.clone().or_else(|| pollers.find_map(|poller| poller.selector.failure()))
    }

    /// Ends the script after the failure of a poller. If that is the poller's answer, it is recorded as the
    /// answer of the clause, or of the next question to the poller: a fact that the poller does not survive
    /// leads to that question.
    fn ended(
        &self,
        failure: Failure,
        clause: &Clause,
        rest: &[Clause],
        observed: &mut Vec<Observation>,
    ) -> Stopped {
        let Failure { reason, answer: Some(answer) } = failure else { return broken(failure.reason) };
        let mut naming = self.naming.clone();
        let key = std::iter::once(clause).chain(rest).find_map(|clause| {
            naming.advance(clause);
            let keys = naming.keys(clause, self.setting.mode, &self.poller_name, self.views);
            keys.into_iter().find(|key| key.is_of(&self.poller_name))
        });
        match key {
            Some(key) => {
                observed.push(observation(key, answer.into()));
                Stopped::Ended(reason)
            }
            None => broken(reason),
        }
    }

    /// Runs a clause. Returns its answer for the trace.
    fn run_clause(
        &mut self,
        clause: &Clause,
        rest: &[Clause],
        observed: &mut Vec<Observation>,
    ) -> Result<String, Stopped> {
        // The parser accepts only names that an earlier clause makes; a question can fail to make its
        // descriptor.
        if let Some(missing) = clause.action.needs().filter(|name| !self.actors.contains_key(*name)) {
            return Ok(format!("{LEFT_OUT}there is no '{missing}'"));
        }
        if self.has_nothing_to_read(&clause.action) {
            return Ok(format!("{LEFT_OUT}a filter has nothing to read"));
        }
        match &clause.action {
            Action::Times(_) => Err(broken("'N times' must be the first clause")),
            Action::Title(_) => Ok("ok".into()),
            Action::Make(name, kind) => self.make(name, kind),
            Action::Connect(one, other) => self.connect(one, other),
            Action::Call(name, call) => {
                let CallResult { answer, done } = self.call(name, call)?;
                self.conclude(clause, answer, done, observed)
            }
            Action::Change(change) => {
                if clause.is_question {
                    self.require_filter(change)?;
                }
                let answer = self.change(change)?;
                let holds_in_part = self.holds_in_part(change, clause.is_question, &answer)?;
                let done = answer == Changed::Done || change.kind == ChangeKind::Watch || holds_in_part;
                self.conclude(clause, answer.outcome().into(), done, observed)
            }
            Action::MakePoller => {
                // Otherwise the answer is that of starting a program, which this process does.
                self.require_same_process("the limits of this process do not reach it")?;
                self.conclude(clause, Answer::of_call(&limits::try_make(self.setting.make)), true, observed)
            }
            Action::Take(poller) => {
                if self.is_edge_triggered() {
                    self.poller(poller)?.drain()?;
                }
                Ok("ok".into())
            }
            Action::Look { at, interest } => {
                let seen = self.look(at, *interest)?;
                observed.extend(seen.iter().cloned());
                Ok(seen.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
            Action::ThreadWaits { thread, arguments, poller } => {
                self.thread_waits(thread, *arguments, poller)
            }
            Action::Waiters { count, alone, room, poller } => {
                self.threads_wait(*count, *alone, *room, poller)
            }
            Action::WorkerPool { count, work, alone, poller } => {
                self.start_workers(*count, work, *alone, poller)
            }
            Action::Clients { count, listener, one_by_one } => {
                self.connect_clients(*count, listener, *one_by_one)
            }
            Action::Pairs(count) => self.write_pairs(*count),
            Action::Chain { count, over, from_outside, outermost } => {
                let answer = self.chain(*count, over, *from_outside, outermost)?;
                let done = matches!(answer, Outcome::Done);
                self.conclude(clause, answer.into(), done, observed)
            }
            Action::Signal { thread, restarting, wakes } => self.signals(thread, *restarting, *wakes),
            Action::Wake { times, poller } => self.wake(*times, poller),
            Action::ClosePoller(poller) => self.close_poller(poller),
            Action::Limit(limit) => {
                self.require_own_descriptors("the limits of this process do not reach them")?;
                self.limits.set(*limit)
            }
            Action::Fork => {
                self.require_own_descriptors("a child does not inherit them")?;
                self.fork_child()
            }
            Action::ChildTakesTerminal(name) => self.child_takes_terminal(name),
            Action::ChildEnds => self.child()?.end(),
            Action::ChildWaits(timeout) => self.child_waits(*timeout),
            Action::ChildIsStopped => {
                let child = self.child.as_ref().ok_or_else(|| broken("there is no child"))?;
                child.stop_and_continue()
            }
            Action::ThreadAnswers(thread) => {
                let answer = self.thread_answer(thread, is_last_answer(thread, rest))?;
                Ok(self.observe_wait(clause, answer, observed))
            }
            Action::ThreadsAnswer => {
                let counted = match self.worker_pool.is_at_work() {
                    true => self.work_summary()?,
                    false => self.count_woken(is_last_count(rest))?,
                };
                Ok(self.observe_wait(clause, Outcome::Other(counted).into(), observed))
            }
            Action::ThreadsShare => {
                let counted = self.sharing_summary()?;
                Ok(self.observe_wait(clause, Outcome::Other(counted).into(), observed))
            }
            Action::ChildAnswers => {
                let text = self.child()?.answers()?;
                Ok(self.observe_wait(clause, Answer::of_wait(&text, &self.column), observed))
            }
            Action::Inspect(poller) => {
                let answer = self.inspect(poller)?;
                Ok(self.observe_wait(clause, answer, observed))
            }
            Action::Wait { times, room, poller } => {
                let answer = self.wait(*times, *room, poller)?;
                Ok(self.observe_wait(clause, answer, observed))
            }
        }
    }

    /// Returns the key of the answer to a clause that asks the poller or makes a call.
    fn key(&self, clause: &Clause) -> Option<Key> {
        self.naming.keys(clause, self.setting.mode, &self.poller_name, &[]).pop()
    }

    /// Records the answer of a question. The answer of a fact must be a success.
    fn conclude(
        &self,
        clause: &Clause,
        answer: Answer,
        done: bool,
        observed: &mut Vec<Observation>,
    ) -> Result<String, Stopped> {
        if !clause.is_question && !done {
            let why = format!("{} -> {answer}: a clause without a question mark must succeed", clause.action);
            return Err(broken(why));
        }
        observed.extend(self.key(clause).map(|key| observation(key, answer.clone())));
        Ok(answer.to_string())
    }

    /// Records the answer of a wait, and returns it.
    fn observe_wait(&self, clause: &Clause, answer: Answer, observed: &mut Vec<Observation>) -> String {
        let text = answer.to_string();
        observed.extend(self.key(clause).map(|key| observation(key, answer)));
        text
    }

    fn connect(&mut self, one: &Name, other: &Name) -> Result<String, Stopped> {
        if self.connect_held(one, other)? {
            return Ok("ok".into());
        }
        let (a, b) = descriptors::pair(self.setting, &mut self.scratch)?;
        self.add_actor(one, a)?.partner = Some(other.clone());
        self.add_actor(other, b)?.partner = Some(one.clone());
        Ok("ok".into())
    }

    fn wake(&mut self, times: usize, poller: &str) -> Result<String, Stopped> {
        let poller = self.poller(poller)?;
        for _ in 0..times {
            poller.selector.wake()?;
        }
        Ok("ok".into())
    }

    fn close_poller(&mut self, poller: &str) -> Result<String, Stopped> {
        let closed = self.poller(poller)?.selector.close()?;
        closed.map(|()| "0".into()).map_err(|errno| call_failed("close", errno))
    }

    /// Waits with a timeout of zero, `times` times.
    fn wait(&mut self, times: usize, room: Option<usize>, poller: &str) -> Result<Answer, Stopped> {
        let poller = self.poller(poller)?;
        if room.is_some_and(|room| room > 0) {
            poller.selector.limits_room()?;
        }
        let mut answers = Vec::new();
        for _ in 0..times {
            let events = match room {
                // With room 0, `wait` may drop the events itself or skip the system call: pass the raw
                // argument.
                Some(0) => poller.selector.wait_raw(RawArgument::Room(0))?.map(|waited| waited.events),
                room => poller.poll(room.unwrap_or(ROOM))?,
            };
            answers.push(events.map_or_else(failed, |events| poller.outcome(&events)));
        }
        Ok(Answer::of_outcomes(answers))
    }

    /// Waits with a timeout of zero. Says what the call has returned, and what has become of the memory that
    /// holds no answer.
    fn inspect(&mut self, poller: &str) -> Result<Answer, Stopped> {
        let poller = self.poller(poller)?;
        let inspected = match poller.selector.wait_inspected()? {
            Ok(inspected) => inspected,
            Err(errno) => return Ok(failed(errno).into()),
        };
        let returned = Outcome::Other(format!("{} returned", inspected.returned));
        let memory = inspected.memory.into_iter().map(|part| Outcome::Other(part.into()));
        Ok(Answer::of_rounds([poller.outcome(&inspected.events), returned].into_iter().chain(memory)))
    }

    fn thread_answer(&mut self, thread: &str, is_last: bool) -> Result<Answer, Stopped> {
        let responder = self.responder()?;
        // A thread that is awake can still wake another one: the kernel wakes those of a poller one by one.
        waiters::wait_until_idle(self.threads.values_mut().chain(&mut self.waiters), &responder)?;
        let Some(waiter) = self.threads.get_mut(thread) else {
            return Err(broken(format!("'{thread}' does not wait")));
        };
        waiter.answer(is_last)
    }

    fn count_woken(&mut self, is_last: bool) -> Result<String, Stopped> {
        let responder = self.responder()?;
        waiters::count_woken(&mut self.waiters, &responder, is_last)
    }

    /// Checks that all pollers live in this process: signals and forks do not affect another one.
    fn require_same_process(&self, reason: &str) -> Result<(), Stopped> {
        let why = || Stopped::Unsupported(format!("{} is in another process: {reason}", self.poller_name));
        if self.is_in_another_process() { Err(why()) } else { Ok(()) }
    }

    fn is_in_another_process(&self) -> bool {
        self.pollers.values().any(|poller| poller.selector.process().is_some())
    }

    fn is_edge_triggered(&self) -> bool {
        matches!(self.setting.mode, Mode::Edge | Mode::ExclusiveEdge)
    }

    /// Adds a descriptor, under a number that no other descriptor of this script has had.
    fn add_actor(&mut self, name: &str, fd: OwnedFd) -> Result<&mut Actor, Stopped> {
        if self.actors.get(name).is_some_and(Actor::is_open) {
            return Err(broken(format!("'{name}' exists already and is open")));
        }
        let fd = descriptors::copy(&fd, self.next_number)?;
        self.next_number = fd.as_raw_fd() + 1;
        self.files += 1;
        let actor = Actor { file: self.files, ..Actor::new(fd) };
        self.actors.insert(name.to_owned(), actor);
        self.pollers.iter().for_each(|(poller, made)| self.hand_over(name, poller, made));
        self.actor(name)
    }

    /// Hands a descriptor to a poller that the script registers it in. A poller that cannot have it now gets
    /// it with its registration, or answers there why it cannot.
    fn hand_over(&self, name: &str, poller: &str, made: &FencedPoller) {
        let is_registered = self.registered.contains(&(name.to_owned(), poller.to_owned()));
        if let Some(fd) = self.actors.get(name).and_then(|actor| actor.fd.as_ref())
            && is_registered
        {
            let _ = made.selector.opened(fd.as_raw_fd());
        }
    }

    fn actor(&mut self, name: &str) -> Result<&mut Actor, Stopped> {
        self.actors.get_mut(name).ok_or_else(|| broken(format!("there is no '{name}'")))
    }

    fn fd(&self, name: &str) -> Result<&OwnedFd, Stopped> {
        let actor = self.actors.get(name).ok_or_else(|| broken(format!("there is no '{name}'")))?;
        if actor.held.as_ref().is_some_and(|held| held.open) {
            let why = format!("{} holds '{name}', and has no command for this", self.poller_name);
            return Err(Stopped::Unsupported(why));
        }
        actor.fd.as_ref().ok_or_else(|| broken(format!("'{name}' is closed")))
    }

    fn number(&self, name: &str) -> Result<RawFd, Stopped> {
        self.actors.get(name).map(|actor| actor.number).ok_or_else(|| broken(format!("there is no '{name}'")))
    }

    /// Returns the poller of this name, and makes it at its first use.
    fn poller(&mut self, name: &str) -> Result<Arc<FencedPoller>, Stopped> {
        if let Some(poller) = self.pollers.get(name) {
            return Ok(Arc::clone(poller));
        }
        let poller = Arc::new(FencedPoller::open(self.setting)?);
        self.pollers.insert(name.to_owned(), Arc::clone(&poller));
        self.actors.keys().for_each(|actor| self.hand_over(actor, name, &poller));
        Ok(poller)
    }

    /// Returns the responder, and starts it at its first use.
    fn responder(&mut self) -> Result<Rc<Responder>, Stopped> {
        if let Some(responder) = &self.responder {
            return Ok(Rc::clone(responder));
        }
        let responder = Rc::new(Responder::new(self.setting.patience)?);
        self.responder = Some(Rc::clone(&responder));
        Ok(responder)
    }

    /// Takes the child out, for its end.
    fn child(&mut self) -> Result<Child, Stopped> {
        self.child.take().ok_or_else(|| broken("there is no child"))
    }

    /// Returns whether a thread waits. Its wait can hold a file open that the script has closed.
    fn has_waiting_threads(&self) -> bool {
        !self.threads.is_empty() || !self.waiters.is_empty() || self.worker_pool.is_at_work()
    }

    fn thread_waits(
        &mut self,
        thread: &str,
        arguments: WaitArguments,
        poller: &str,
    ) -> Result<String, Stopped> {
        let poller = self.poller(poller)?;
        // A previous thread of this name ends first.
        self.threads.remove(thread);
        if self.threads.values().any(|other| Arc::ptr_eq(&other.poller, &poller)) {
            poller.selector.capabilities().shared_wait.map_err(|why| Stopped::Unsupported(why.into()))?;
        }
        if matches!(arguments, WaitArguments::Room(_)) {
            poller.selector.limits_room()?;
        }
        if matches!(arguments, WaitArguments::Masked(..)) {
            self.require_same_process("a signal reaches this process only")?;
            if self.threads.values().any(|waiter| matches!(waiter.arguments, WaitArguments::Masked(..))) {
                return Err(broken("one thread at a time waits with a signal mask"));
            }
            if self.handler.is_none() {
                self.handler = Some(Handler::install(SaFlags::empty())?);
            }
        }
        let mut waiter = Waiter::new(poller, arguments)?;
        waiters::wait_until_idle([&mut waiter], &*self.responder()?)?;
        // A signal would find a thread that does not wait.
        waiter.require_support()?;
        self.threads.insert(thread.to_owned(), waiter);
        Ok("ok".into())
    }

    fn threads_wait(
        &mut self,
        count: usize,
        alone: bool,
        room: Option<usize>,
        poller: &str,
    ) -> Result<String, Stopped> {
        let arguments = room.map_or(WaitArguments::NoTimeout, WaitArguments::Room);
        let poller = self.poller(poller)?;
        poller.selector.capabilities().shared_wait.map_err(|why| Stopped::Unsupported(why.into()))?;
        if room.is_some() {
            poller.selector.limits_room()?;
        }
        self.waiters.clear();
        for _ in 0..count {
            let own = if alone { Arc::new(poller.duplicate(self.setting)?) } else { Arc::clone(&poller) };
            self.waiters.push(Waiter::new(own, arguments)?);
        }
        let responder = self.responder()?;
        waiters::wait_until_idle(&mut self.waiters, &responder)?;
        Ok("ok".into())
    }

    fn make(&mut self, name: &str, kind: &DescriptorKind) -> Result<String, Stopped> {
        if *kind == DescriptorKind::Fresh
            && let Some(poller) = self.holder(name)?
        {
            let opened = self.add_held(name, &poller, &Act::Open(self.setting.transport))?;
            return opened.map(|_| "ok".into()).map_err(|errno| call_failed("socket", errno));
        }
        if self.make_source(name, kind)? {
            return Ok("ok".into());
        }
        let fd = match kind {
            DescriptorKind::Fresh => descriptors::fresh(self.setting.transport)?,
            DescriptorKind::Copy(of) => descriptors::copy(self.fd(of)?, 0)?,
            DescriptorKind::File { size, offset } => {
                let path = self.scratch.path()?;
                let fd = descriptors::file(&path, *size, *offset)?;
                self.add_actor(name, fd)?.path = Some(path);
                return Ok("ok".into());
            }
            DescriptorKind::Directory => descriptors::directory(&mut self.scratch)?,
            DescriptorKind::Device(path) => descriptors::device(path)?,
            DescriptorKind::Eventfd => descriptors::eventfd()?,
            DescriptorKind::Timer => descriptors::timer(false)?,
            DescriptorKind::WallClockTimer => {
                self.add_actor(name, descriptors::timer(true)?)?.on_wall_clock = true;
                return Ok("ok".into());
            }
            DescriptorKind::Process => {
                let (child, fd) = self.process()?;
                self.add_actor(name, fd)?.process = Some(child);
                return Ok("ok".into());
            }
            DescriptorKind::Thread(of) => return self.thread(name, of, Which::Second),
            DescriptorKind::FirstThread(of) => return self.thread(name, of, Which::First),
            DescriptorKind::Signal => return self.signals_as_descriptor(name, &[signals::SOURCE]),
            DescriptorKind::Signals(signals) => return self.signals_as_descriptor(name, signals),
            DescriptorKind::WatchedFile | DescriptorKind::WatchedDirectory => {
                let path = self.scratch.path()?;
                let fd = match kind {
                    DescriptorKind::WatchedFile => descriptors::watched_file(&path)?,
                    _ => descriptors::watched_directory(&path)?,
                };
                self.add_actor(name, fd)?.path = Some(path);
                return Ok("ok".into());
            }
            DescriptorKind::Private(kind) => return self.private(name, *kind),
            DescriptorKind::UserEvent => {
                return Err(Stopped::Unsupported("user events are a filter of kqueue".into()));
            }
            DescriptorKind::Slave(master) => {
                let fd = descriptors::slave(self.fd(master)?)?;
                self.add_actor(name, fd)?.partner = Some(master.clone());
                self.actor(master)?.partner = Some(name.to_owned());
                return Ok("ok".into());
            }
            DescriptorKind::SharedMemory => descriptors::shared_memory()?,
            DescriptorKind::Queue => self.queue(name)?,
            DescriptorKind::NoDescriptor => {
                // Libraries may require open descriptors.
                if !self.poller(FIRST)?.selector.capabilities().raw_records {
                    let why = format!("{} takes descriptors, and -1 is none", self.poller_name);
                    return Err(Stopped::Unsupported(why));
                }
                self.actors.insert(name.to_owned(), Actor::none());
                return Ok("ok".into());
            }
        };
        let shared = match kind {
            DescriptorKind::Copy(of) => {
                let of = self.actor(of)?;
                Some((of.file, of.partner.clone()))
            }
            _ => None,
        };
        let actor = self.add_actor(name, fd)?;
        if let Some((file, partner)) = shared {
            actor.file = file;
            actor.partner = partner;
        }
        Ok("ok".into())
    }

    /// Makes the system's queue: a descriptor, and the poller of this name.
    fn queue(&mut self, name: &str) -> Result<OwnedFd, Stopped> {
        let why = "this system has neither epoll nor kqueue";
        let make = self.setting.queue.ok_or_else(|| Stopped::Unsupported(why.into()))?;
        if self.pollers.contains_key(name) {
            return Err(broken(format!("there is a poller '{name}' already")));
        }
        let poller = FencedPoller::open(Setting { make, ..self.setting })?;
        let fd = poller.selector.descriptor()?;
        self.pollers.insert(name.to_owned(), Arc::new(poller));
        Ok(fd)
    }

    /// Chains queues over a descriptor, as many as the system allows. Returns where it refuses more.
    fn chain(
        &mut self,
        count: usize,
        over: &str,
        from_outside: bool,
        outermost: &str,
    ) -> Result<Outcome, Stopped> {
        let number = self.number(over)?;
        let top = self.queue(outermost)?;
        let poller = self.poller(outermost)?;
        let make = self.setting.queue.ok_or_else(|| broken("there is no queue"))?;
        let register = |fd| added(&poller.add(fd, over, Interest::READ, Mode::Level));
        // From the inside, the list ends with the queue below the outermost one; from the outside, with the
        // innermost one.
        let mut queues: Vec<(Box<dyn Selector>, OwnedFd)> = Vec::new();
        let add = |queue: &dyn Selector, fd| added(&queue.add(fd, 0, Interest::READ, Mode::Level));
        let mut refused = None;
        while refused.is_none() && queues.len() + 1 < count {
            let queue = make().map_err(|error| call_failed("a queue", error))?;
            let descriptor = queue.descriptor()?;
            refused = match (from_outside, queues.last()) {
                (false, None) => add(&*queue, number)?,
                (false, Some((_, inner))) => add(&*queue, inner.as_raw_fd())?,
                (true, None) => register(descriptor.as_raw_fd())?,
                (true, Some((outer, _))) => add(&**outer, descriptor.as_raw_fd())?,
            };
            if refused.is_none() {
                queues.push((queue, descriptor));
            }
        }
        if from_outside {
            let last = match queues.last() {
                None => register(number)?,
                Some((queue, _)) => add(&**queue, number)?,
            };
            refused = refused.or(last);
        } else {
            // The outermost queue counts, too.
            while let Some(errno) = register(queues.last().map_or(number, |(_, inner)| inner.as_raw_fd()))? {
                refused = Some(errno);
                if queues.pop().is_none() {
                    break;
                }
            }
        }
        let depth = queues.len() + 1;
        self.chained.append(&mut queues);
        self.add_actor(outermost, top)?;
        Ok(refused.map_or(Outcome::Done, |errno| Outcome::Other(format!("{errno:?} beyond {depth} queues"))))
    }

    fn change(&mut self, change: &Change) -> Result<Changed, Stopped> {
        let number = self.number(&change.descriptor)?;
        let (interest, mode) =
            (change.interest.unwrap_or(Interest::ALL), change.mode.unwrap_or(self.setting.mode));
        let label = change.label.as_ref().unwrap_or(&change.descriptor);
        self.watched.remove(&change.descriptor);
        let edge_triggered = self.is_edge_triggered();
        let poller = self.poller(&change.poller)?;
        self.require_holder(&change.descriptor, &poller)?;
        poller.require(interest)?;
        self.declare(&change.descriptor, &poller)?;
        let changed = match change.kind {
            ChangeKind::Watch | ChangeKind::Add => poller.add(number, label, interest, mode),
            ChangeKind::Modify => {
                let token = poller.token(label);
                poller.selector.modify(number, token, interest, mode)
            }
            ChangeKind::Remove => poller.selector.remove(number),
            ChangeKind::Disable => poller.selector.enable(number, false),
            ChangeKind::Enable => poller.selector.enable(number, true),
        };
        if let Changed::Unsupported(unsupported) = changed {
            return Err(unsupported.into());
        }
        if let (Changed::Done, Some(held)) = (&changed, &mut self.actor(&change.descriptor)?.held) {
            held.registered = change.kind != ChangeKind::Remove;
        }
        if changed == Changed::Done {
            self.has_triggered(&change.descriptor, &poller)?;
        }
        if change.kind == ChangeKind::Watch {
            if edge_triggered {
                let token = poller.token(label);
                refuse_others(&format!("watching '{label}'"), token, &poller.drain()?)?;
            }
            if is_plain(change) {
                self.watched.insert(change.descriptor.clone(), (change.poller.clone(), label.clone()));
            }
        }
        Ok(changed)
    }

    /// Returns whether a registration that a script requires holds in part: a system can lack a filter for
    /// this kind of file. Later answers name the refused filters, unless a question has this one.
    fn holds_in_part(
        &mut self,
        change: &Change,
        is_question: bool,
        answer: &Changed,
    ) -> Result<bool, Stopped> {
        let number = self.number(&change.descriptor)?;
        let required = match change.kind {
            ChangeKind::Add | ChangeKind::Modify if !is_question => change.interest.unwrap_or(Interest::ALL),
            _ => Interest::NONE,
        };
        Ok(self.poller(&change.poller)?.holds_in_part(number, required, answer))
    }

    /// Asks every view, or, with an interest, a registration made now.
    fn look(&mut self, at: &str, interest: Option<Interest>) -> Result<Vec<Observation>, Stopped> {
        match interest {
            None => self.look_through_views(at),
            Some(interest) if self.setting.mode == Mode::Level => {
                let key = self.naming.look_for(&self.poller_name, interest);
                Ok(vec![observation(key, self.look_now(at, interest)?.into())])
            }
            // A registration made now answers as in level mode.
            Some(_) => Ok(Vec::new()),
        }
    }

    fn look_through_views(&mut self, at: &str) -> Result<Vec<Observation>, Stopped> {
        let mut seen = Vec::new();
        for view in self.views {
            if !applies(view, self.naming.is_watched(at)) {
                continue;
            }
            let answer = match view.registered {
                Registered::After => self.look_now(at, view.interest)?,
                Registered::Before => self.look_before(at)?,
            };
            seen.push(observation(self.naming.view(view, self.setting.mode), answer.into()));
        }
        Ok(seen)
    }

    /// Asks through a registration made now, in a new poller.
    fn look_now(&mut self, at: &str, interest: Interest) -> Result<Outcome, Stopped> {
        if self.held(at).is_some() {
            return self.look_now_held(at, interest);
        }
        let number = self.number(at)?;
        let poller = FencedPoller::open(self.setting)?;
        self.declare(at, &poller)?;
        let answer = poller.look(number, at, interest, self.setting.mode);
        self.lost = self.lost.take().or_else(|| poller.selector.failure());
        answer
    }

    /// Asks through the registration that `watch` made.
    fn look_before(&mut self, at: &str) -> Result<Outcome, Stopped> {
        let number = self.number(at)?;
        let Some((poller, label)) = self.watched.get(at).cloned() else {
            return Err(broken(format!("'{at}' is not watched")));
        };
        let poller = self.poller(&poller)?;
        let events = match poller.poll(ROOM)? {
            Ok(events) => events,
            Err(errno) => return Ok(failed(errno)),
        };
        let token = poller.token(&label);
        // Level-triggered registrations report again.
        if !matches!(self.setting.mode, Mode::Level | Mode::Exclusive) {
            refuse_others(&format!("looking at '{at}'"), token, &events)?;
        }
        Ok(poller.outcome_of(number, &events, token))
    }
}

/// Returns the error of a refused addition.
fn added(changed: &Changed) -> Result<Option<Errno>, Stopped> {
    match changed {
        Changed::Done => Ok(None),
        Changed::Refused(refusals) => Ok(refusals.first().map(|refusal| refusal.errno)),
        Changed::Unsupported(unsupported) => Err(unsupported.clone().into()),
    }
}

/// Checks that all events have this token: they are consumed, and no later answer would have the others.
fn refuse_others(looking: &str, token: Token, events: &[Event]) -> Result<(), Stopped> {
    match events.iter().all(|event| event.token == token) {
        true => Ok(()),
        false => {
            let lost = "has consumed an event of another descriptor: watch that one `in second`";
            Err(broken(format!("{looking} {lost}")))
        }
    }
}

fn observation(key: Key, answer: Answer) -> Observation {
    let Key { variant, api, trigger } = key;
    Observation { variant, api, trigger: trigger.map(str::to_owned), answer }
}
