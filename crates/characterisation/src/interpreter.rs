//! Performs a line: real descriptors, one poller, clause by clause.

mod calls;
mod children;
mod descriptors;
mod fenced_poller;
mod limits;
mod rounds;
mod settle;
mod signals;
mod thread_state;
mod waiters;
mod worker_pool;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use metadata::Mode;
use nix::errno::Errno;
use selector::{Changed, Interest, RawArgument, Registered, Unsupported, View};

use crate::keys::{Key, Naming, applies, is_plain};
use crate::verbs::{Action, Change, ChangeKind, Clause, DescriptorKind, FIRST, Name, Script, WaitArguments};
use crate::{LEFT_OUT, Observation, Setting, Stopped, Transcript};
use calls::CallResult;
use children::Child;
use descriptors::{Address, Scratch};
use fenced_poller::{FencedPoller, ROOM};
use limits::Limits;
use settle::Settle;
use waiters::{Responder, Waiter};
use worker_pool::WorkerPool;

fn setup_error(why: impl Into<String>) -> Stopped {
    Stopped::SetUp(why.into())
}

/// A call of the set-up failed. If that is for want of what a line needs of the system, it is unsupported.
fn call_failed(call: impl Display, error: impl Into<io::Error>) -> Stopped {
    let error = error.into();
    let errno = error.raw_os_error().map(Errno::from_raw);
    let said = errno.map_or_else(|| format!("{call}: {error}"), |errno| format!("{call}: {errno:?}"));
    match errno {
        Some(Errno::EMFILE) => {
            let limit = limits::soft();
            Stopped::Unsupported(format!("needs more than {limit} descriptors (ulimit -n): {said}"))
        }
        Some(Errno::ENFILE) => {
            Stopped::Unsupported(format!("needs more open files than the system has left: {said}"))
        }
        _ => Stopped::SetUp(said),
    }
}

/// A descriptor of the line.
struct Actor {
    /// `None` when it is closed.
    fd: Option<OwnedFd>,
    /// Which open file it is: copies share it.
    file: usize,
    /// The number that it has, or had.
    number: RawFd,
    address: Option<Address>,
    /// Where it is, if it is a regular file.
    path: Option<PathBuf>,
    /// Who has the other end.
    partner: Option<Name>,
    /// Connected to where nobody is.
    no_listener: bool,
    /// Clients whose connections are not accepted yet.
    queue: Vec<Name>,
    /// How many of them there may be.
    backlog: usize,
    sent: usize,
    sent_urgent: bool,
    received: usize,
    /// What it had received when the other end was filled.
    received_before: usize,
}

impl Actor {
    fn new(fd: OwnedFd) -> Self {
        Self { number: fd.as_raw_fd(), fd: Some(fd), ..Self::none() }
    }

    /// The number that no descriptor has.
    fn none() -> Self {
        Self {
            number: -1,
            fd: None,
            file: 0,
            address: None,
            path: None,
            partner: None,
            no_listener: false,
            queue: Vec::new(),
            backlog: usize::MAX,
            sent: 0,
            sent_urgent: false,
            received: 0,
            received_before: 0,
        }
    }
}

/// Everything that a line has made.
struct Interpreter {
    setting: Setting,
    poller: String,
    views: &'static [View],
    /// Threads that wait: they end before the pollers and the descriptors do.
    sleepers: BTreeMap<Name, Waiter>,
    crowd: Vec<Waiter>,
    worker_pool: WorkerPool,
    responder: Option<Rc<Responder>>,
    child: Option<Child>,
    limits: Limits,
    actors: BTreeMap<Name, Actor>,
    pollers: BTreeMap<Name, Arc<FencedPoller>>,
    /// Through which poller a view looks at a descriptor, and what its registration is called there.
    watched: BTreeMap<Name, (Name, Name)>,
    scratch: Scratch,
    settle: Settle,
    naming: Naming,
    next_number: RawFd,
    /// How many files were opened.
    files: usize,
}

/// A line's descriptors have numbers from here on, if there may be as many more: pollers and fences, which come and go under a line, are given the
/// lowest free one, and must not get the number of a descriptor that the line has closed and still asks about.
const NUMBERS: RawFd = 100;

/// Performs a parsed line.
pub(crate) fn run(line: &Script, setting: Setting) -> (Transcript, Result<(), Stopped>) {
    match line.clauses.split_first() {
        Some((Clause { action: Action::Times(times), .. }, clauses)) => rounds::run(*times, clauses, setting),
        _ => run_once(&line.clauses, setting),
    }
}

fn run_once(clauses: &[Clause], setting: Setting) -> (Transcript, Result<(), Stopped>) {
    let mut transcript = Transcript::default();
    let ended = Interpreter::open(setting).and_then(|mut interpreter| {
        clauses.iter().enumerate().try_for_each(|(index, clause)| {
            interpreter.naming.advance(clause);
            let before = transcript.observations.len();
            let rest = &clauses[index + 1..];
            let mut done = match clause.in_child {
                false => interpreter.run_clause(clause, rest, &mut transcript.observations),
                true => interpreter.run_in_child(clause, &mut transcript.observations),
            };
            if let Some(why) = interpreter.failure() {
                // What it has just answered is no answer.
                transcript.observations.truncate(before);
                done = Err(setup_error(why));
            }
            let said = match &done {
                Ok(said) => said.clone(),
                Err(stopped) => stopped.to_string(),
            };
            let child = if clause.in_child { "in a child " } else { "" };
            transcript.trace.push(format!("{child}{} -> {said}", clause.action));
            done.map(drop)
        })
    });
    (transcript, ended)
}

/// Whether a thread's answer is the last one that is asked of this wait.
fn is_last_answer(thread: &str, rest: &[Clause]) -> bool {
    let next = rest.iter().find_map(|clause| match &clause.action {
        Action::ThreadAnswers(other) if other == thread => Some(false),
        Action::ThreadWaits { thread: other, .. } if other == thread => Some(true),
        _ => None,
    });
    next.unwrap_or(true)
}

/// Whether these threads are not counted again.
fn is_last_count(rest: &[Clause]) -> bool {
    let next =
        rest.iter().find(|clause| matches!(clause.action, Action::ThreadsAnswer | Action::Waiters { .. }));
    next.is_none_or(|clause| clause.action != Action::ThreadsAnswer)
}

impl Interpreter {
    fn open(setting: Setting) -> Result<Self, Stopped> {
        let first = FencedPoller::open(setting)?;
        let poller = first.selector.name().to_owned();
        if !first.selector.capabilities().modes.contains(&setting.mode) {
            let mode = setting.mode.published();
            return Err(Stopped::Unsupported(format!("{poller} has no mode {mode}")));
        }
        let mut scratch = Scratch::default();
        Ok(Self {
            setting,
            poller,
            views: first.selector.views(setting.mode),
            sleepers: BTreeMap::new(),
            crowd: Vec::new(),
            worker_pool: WorkerPool::default(),
            responder: None,
            child: None,
            limits: Limits::now()?,
            actors: BTreeMap::new(),
            pollers: BTreeMap::from([(FIRST.to_owned(), Arc::new(first))]),
            watched: BTreeMap::new(),
            settle: Settle::new(setting, &mut scratch)?,
            scratch,
            naming: Naming::new(setting.transport),
            next_number: NUMBERS.min(limits::soft() / 2),
            files: 0,
        })
    }

    /// Why one of the pollers cannot be asked any more.
    fn failure(&self) -> Option<String> {
        self.pollers.values().find_map(|poller| poller.selector.failure())
    }

    /// Does a clause. Returns what it came to, for the trace.
    fn run_clause(
        &mut self,
        clause: &Clause,
        rest: &[Clause],
        observed: &mut Vec<Observation>,
    ) -> Result<String, Stopped> {
        // The parser lets nobody act who was not made before: only a question can have made nobody.
        if let Some(missing) = clause.action.needs().filter(|name| !self.actors.contains_key(*name)) {
            return Ok(format!("{LEFT_OUT}there is no '{missing}'"));
        }
        match &clause.action {
            Action::Times(_) => Err(setup_error("arguments many times is said first")),
            Action::Title(_) => Ok("ok".into()),
            Action::Make(name, thing) => self.make(name, thing),
            Action::Connect(one, other) => {
                let (a, b) = descriptors::pair(self.setting, &mut self.scratch)?;
                self.add_actor(one, a)?.partner = Some(other.clone());
                self.add_actor(other, b)?.partner = Some(one.clone());
                Ok("ok".into())
            }
            Action::Call(name, call) => {
                let CallResult { answer, done } = self.call(name, call)?;
                if clause.is_question {
                    observed.push(observation(self.naming.call(name, call), answer.clone()));
                } else if !done {
                    return Err(setup_error(format!(
                        "{} -> {answer}: it must succeed, or be asked",
                        clause.action
                    )));
                }
                Ok(answer)
            }
            Action::Change(change) => {
                let answer = self.change(change)?;
                let done = answer == Changed::Done;
                if clause.is_question {
                    let key = self.naming.change(&self.poller, change);
                    observed.extend(key.map(|key| observation(key, answer.to_string())));
                } else if !done && change.kind != ChangeKind::Watch {
                    return Err(setup_error(format!(
                        "{} -> {answer}: it must succeed, or be asked",
                        clause.action
                    )));
                }
                Ok(answer.to_string())
            }
            Action::Take(poller) => {
                if self.is_edge_triggered() {
                    self.poller(poller)?.take()?;
                }
                Ok("ok".into())
            }
            Action::Look { at, interest } => {
                let seen = match interest {
                    None => self.look(at)?,
                    Some(interest) if self.setting.mode == Mode::Level => {
                        let key = self.naming.look_for(&self.poller, *interest);
                        vec![observation(key, self.look_now(at, *interest)?)]
                    }
                    // Registrations made now have no past to hide: their answer is the level's.
                    Some(_) => Vec::new(),
                };
                observed.extend(seen.iter().cloned());
                Ok(seen.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
            Action::ThreadWaits { thread, arguments, poller } => {
                self.thread_waits(thread, *arguments, poller)
            }
            Action::Waiters { count, alone, poller } => self.threads_wait(*count, *alone, poller),
            Action::ThreadAnswers(thread) => {
                let reports_once = self.reports_once();
                let responder = self.responder()?;
                let Some(sleeper) = self.sleepers.get_mut(thread) else {
                    return Err(setup_error(format!("'{thread}' does not wait")));
                };
                let answer = sleeper.said(&responder, is_last_answer(thread, rest), reports_once)?;
                observed.push(observation(self.naming.wait(&self.poller, self.setting.mode), answer.clone()));
                Ok(answer)
            }
            Action::WorkerPool { count, work, alone, poller } => {
                self.start_workers(*count, work, *alone, poller)
            }
            Action::Clients { count, listener, one_by_one } => {
                self.connect_clients(*count, listener, *one_by_one)
            }
            Action::Pairs(count) => self.write_pairs(*count),
            Action::ThreadsShare => {
                let answer = self.sharing_summary()?;
                observed.push(observation(self.naming.wait(&self.poller, self.setting.mode), answer.clone()));
                Ok(answer)
            }
            Action::ThreadsAnswer if self.worker_pool.is_at_work() => {
                let answer = self.work_summary()?;
                observed.push(observation(self.naming.wait(&self.poller, self.setting.mode), answer.clone()));
                Ok(answer)
            }
            Action::ThreadsAnswer => {
                let reports_once = self.reports_once();
                let responder = self.responder()?;
                let answer = waiters::woken(&mut self.crowd, &responder, is_last_count(rest), reports_once)?;
                observed.push(observation(self.naming.wait(&self.poller, self.setting.mode), answer.clone()));
                Ok(answer)
            }
            Action::Signal { thread, restarting, wakes } => self.signals(thread, *restarting, *wakes),
            Action::Wake { times, poller } => {
                let poller = self.poller(poller)?;
                for _ in 0..*times {
                    poller.selector.wake().map_err(|Unsupported(why)| Stopped::Unsupported(why))?;
                }
                Ok("ok".into())
            }
            Action::ClosePoller(poller) => match self.poller(poller)?.selector.close() {
                Ok(Ok(())) => Ok("0".into()),
                Ok(Err(errno)) => Err(call_failed("close", errno)),
                Err(Unsupported(why)) => Err(Stopped::Unsupported(why)),
            },
            Action::MakePoller => {
                let answer = limits::try_make(self.setting.make);
                let key = if clause.is_question { self.naming.make_poller(&self.poller) } else { None };
                observed.extend(key.map(|key| observation(key, answer.clone())));
                Ok(answer)
            }
            Action::Limit(limit) => self.limits.set(*limit),
            Action::Fork => self.fork_child(),
            Action::ChildEnds => self.child()?.end(),
            Action::ChildWaits(timeout) => self.child_waits(*timeout),
            Action::ChildIsStopped => {
                let child = self.child.as_ref().ok_or_else(|| setup_error("there is no child"))?;
                child.stop_and_continue()
            }
            Action::ChildAnswers => {
                let answer = self.child()?.answers()?;
                observed.push(observation(self.naming.wait(&self.poller, self.setting.mode), answer.clone()));
                Ok(answer)
            }
            Action::Wait { times, room, poller } => {
                let poller = self.poller(poller)?;
                let mut answers = Vec::new();
                for _ in 0..*times {
                    let heard = match room {
                        // A poller whose interface has no room gives events up by itself, or asks nobody.
                        Some(0) => {
                            let waited = poller.selector.wait_raw(RawArgument::Room(0));
                            let waited = waited.map_err(|Unsupported(why)| Stopped::Unsupported(why))?;
                            waited.map(|waited| waited.events)
                        }
                        room => poller.poll(room.unwrap_or(ROOM))?,
                    };
                    answers.push(match heard {
                        Ok(events) => poller.answers(&events),
                        Err(errno) => format!("{errno:?}"),
                    });
                }
                let answer = answers.join(" then ");
                observed.push(observation(self.naming.wait(&self.poller, self.setting.mode), answer.clone()));
                Ok(answer)
            }
        }
    }

    /// Whether nothing is reported twice: an event that is seen behind the fence has come before it.
    fn reports_once(&self) -> bool {
        !matches!(self.setting.mode, Mode::Level | Mode::Exclusive)
    }

    /// A poller in another process has no part in what happens to this one.
    fn require_same_process(&self, what: &str) -> Result<(), Stopped> {
        let elsewhere = self.pollers.values().any(|poller| poller.selector.process().is_some());
        let why = || Stopped::Unsupported(format!("{} is in another process: {what}", self.poller));
        if elsewhere { Err(why()) } else { Ok(()) }
    }

    fn is_edge_triggered(&self) -> bool {
        matches!(self.setting.mode, Mode::Edge | Mode::ExclusiveEdge)
    }

    /// Brings a descriptor in, under a number that no other one of this line has had.
    fn add_actor(&mut self, name: &str, fd: OwnedFd) -> Result<&mut Actor, Stopped> {
        if self.actors.get(name).is_some_and(|actor| actor.fd.is_some()) {
            return Err(setup_error(format!("there is a '{name}' already, and it is open")));
        }
        let fd = descriptors::copy(&fd, self.next_number)?;
        self.next_number = fd.as_raw_fd() + 1;
        self.files += 1;
        let actor = Actor { file: self.files, ..Actor::new(fd) };
        self.actors.insert(name.to_owned(), actor);
        self.actor(name)
    }

    fn actor(&mut self, name: &str) -> Result<&mut Actor, Stopped> {
        self.actors.get_mut(name).ok_or_else(|| setup_error(format!("there is no '{name}'")))
    }

    fn fd(&self, name: &str) -> Result<&OwnedFd, Stopped> {
        let actor = self.actors.get(name).ok_or_else(|| setup_error(format!("there is no '{name}'")))?;
        actor.fd.as_ref().ok_or_else(|| setup_error(format!("'{name}' is closed")))
    }

    fn number(&self, name: &str) -> Result<RawFd, Stopped> {
        self.actors
            .get(name)
            .map(|actor| actor.number)
            .ok_or_else(|| setup_error(format!("there is no '{name}'")))
    }

    /// The poller of this name, which is made when it is first named.
    fn poller(&mut self, name: &str) -> Result<Arc<FencedPoller>, Stopped> {
        if let Some(poller) = self.pollers.get(name) {
            return Ok(Arc::clone(poller));
        }
        let poller = Arc::new(FencedPoller::open(self.setting)?);
        self.pollers.insert(name.to_owned(), Arc::clone(&poller));
        Ok(poller)
    }

    /// Who answers while others sleep.
    fn responder(&mut self) -> Result<Rc<Responder>, Stopped> {
        if let Some(responder) = &self.responder {
            return Ok(Rc::clone(responder));
        }
        let responder = Rc::new(Responder::new(self.setting.patience)?);
        self.responder = Some(Rc::clone(&responder));
        Ok(responder)
    }

    /// The child, which ends.
    fn child(&mut self) -> Result<Child, Stopped> {
        self.child.take().ok_or_else(|| setup_error("there is no child"))
    }

    /// Whether a thread waits: it may hold a file that the line has closed.
    fn has_waiting_threads(&self) -> bool {
        !self.sleepers.is_empty() || !self.crowd.is_empty() || self.worker_pool.is_at_work()
    }

    fn thread_waits(
        &mut self,
        thread: &str,
        arguments: WaitArguments,
        poller: &str,
    ) -> Result<String, Stopped> {
        let poller = self.poller(poller)?;
        // The one that it replaces ends first.
        self.sleepers.remove(thread);
        let mut sleeper = Waiter::new(poller, arguments)?;
        waiters::settle([&mut sleeper], &*self.responder()?)?;
        self.sleepers.insert(thread.to_owned(), sleeper);
        Ok("ok".into())
    }

    fn threads_wait(&mut self, count: usize, alone: bool, poller: &str) -> Result<String, Stopped> {
        let poller = self.poller(poller)?;
        poller.selector.capabilities().shared_wait.map_err(|why| Stopped::Unsupported(why.into()))?;
        self.crowd.clear();
        for _ in 0..count {
            let own = if alone { Arc::new(poller.duplicate(self.setting)?) } else { Arc::clone(&poller) };
            self.crowd.push(Waiter::new(own, WaitArguments::NoTimeout)?);
        }
        let responder = self.responder()?;
        waiters::settle(&mut self.crowd, &responder)?;
        Ok("ok".into())
    }

    fn make(&mut self, name: &str, thing: &DescriptorKind) -> Result<String, Stopped> {
        let fd = match thing {
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
            DescriptorKind::SharedMemory => descriptors::shared_memory()?,
            DescriptorKind::Queue => self.queue(name)?,
            DescriptorKind::NoDescriptor => {
                // Others hand descriptors to code that relies on their being open.
                if !self.poller(FIRST)?.selector.capabilities().raw_records {
                    let why = format!("{} takes descriptors, and -1 is none", self.poller);
                    return Err(Stopped::Unsupported(why));
                }
                self.actors.insert(name.to_owned(), Actor::none());
                return Ok("ok".into());
            }
        };
        let shared = match thing {
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

    /// The system's queue as a descriptor, and as the poller of this name.
    fn queue(&mut self, name: &str) -> Result<OwnedFd, Stopped> {
        let why = "this system has neither epoll nor kqueue";
        let make = self.setting.queue.ok_or_else(|| Stopped::Unsupported(why.into()))?;
        if self.pollers.contains_key(name) {
            return Err(setup_error(format!("there is a poller '{name}' already")));
        }
        let poller = FencedPoller::open(Setting { make, ..self.setting })?;
        let fd = poller.selector.descriptor().map_err(|Unsupported(why)| Stopped::Unsupported(why))?;
        self.pollers.insert(name.to_owned(), Arc::new(poller));
        Ok(fd)
    }

    fn change(&mut self, change: &Change) -> Result<Changed, Stopped> {
        let number = self.number(&change.descriptor)?;
        let (interest, mode) =
            (change.interest.unwrap_or(Interest::ALL), change.mode.unwrap_or(self.setting.mode));
        let label = change.label.as_ref().unwrap_or(&change.descriptor);
        self.watched.remove(&change.descriptor);
        let only_news = self.is_edge_triggered();
        let poller = self.poller(&change.poller)?;
        let changed = match change.kind {
            ChangeKind::Watch | ChangeKind::Add => poller.add(number, label, interest, mode),
            ChangeKind::Modify => {
                let token = poller.token(label);
                poller.selector.modify(number, token, interest, mode)
            }
            ChangeKind::Remove => poller.selector.remove(number),
        };
        if let Changed::Unsupported(Unsupported(why)) = changed {
            return Err(Stopped::Unsupported(why));
        }
        if change.kind == ChangeKind::Watch {
            if only_news {
                poller.take()?;
            }
            if is_plain(change) {
                self.watched.insert(change.descriptor.clone(), (change.poller.clone(), label.clone()));
            }
        }
        Ok(changed)
    }

    /// What every view says.
    fn look(&mut self, at: &str) -> Result<Vec<Observation>, Stopped> {
        let mut seen = Vec::new();
        for view in self.views {
            if !applies(view, self.naming.is_watched(at)) {
                continue;
            }
            let answer = match view.registered {
                Registered::After => self.look_now(at, view.interest)?,
                Registered::Before => self.look_before(at)?,
            };
            seen.push(observation(self.naming.view(view, self.setting.mode), answer));
        }
        Ok(seen)
    }

    /// Through a registration that is made for it.
    fn look_now(&self, at: &str, interest: Interest) -> Result<String, Stopped> {
        let number = self.number(at)?;
        let poller = FencedPoller::open(self.setting)?;
        if let Changed::Unsupported(Unsupported(why)) = poller.add(number, at, interest, self.setting.mode) {
            return Err(Stopped::Unsupported(why));
        }
        match poller.poll(ROOM)? {
            Ok(events) => {
                let token = poller.token(at);
                Ok(poller.answer(number, &events, token))
            }
            Err(errno) => Ok(format!("{errno:?}")),
        }
    }

    /// Through the registration that `watch` made.
    fn look_before(&mut self, at: &str) -> Result<String, Stopped> {
        let number = self.number(at)?;
        let Some((poller, label)) = self.watched.get(at).cloned() else {
            return Err(setup_error(format!("'{at}' is not watched")));
        };
        let only_news = self.is_edge_triggered();
        let poller = self.poller(&poller)?;
        let events = match poller.poll(ROOM)? {
            Ok(events) => events,
            Err(errno) => return Ok(format!("{errno:?}")),
        };
        let token = poller.token(&label);
        if only_news && events.iter().any(|event| event.token != token) {
            let why =
                format!("looking at '{at}' has taken what is new of another one: watch that one `in second`");
            return Err(setup_error(why));
        }
        Ok(poller.answer(number, &events, token))
    }
}

fn observation(key: Key, answer: String) -> Observation {
    let Key { variant, api, trigger } = key;
    Observation { variant, api, trigger: trigger.map(str::to_owned), answer }
}
