//! Threads that sleep in a poller, and who of them is woken.

use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::pthread::Pthread;
use nix::unistd::Pid;
use selector::{Event, Selector, Unsupported};

use super::fenced_poller::{FencedPoller, ROOM};
use super::thread_state::{Sample, ThreadState};
use super::worker_pool::WorkDone;
use super::{call_failed, setup_error};
use crate::Stopped;
use crate::verbs::WaitArguments;

/// A thread that answers whenever it is asked to.
pub(super) struct Responder {
    ask: Option<Sender<()>>,
    answer: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    /// How long it is waited for its answer, and for those listener it sees fall asleep.
    patience: Duration,
}

impl Responder {
    pub(super) fn new(patience: Duration) -> Result<Self, Stopped> {
        let (ask, asked) = channel::<()>();
        let (answers, answer) = channel();
        let responder = move || {
            for () in asked {
                if answers.send(()).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("responder".into()).spawn(responder);
        let thread = thread.map_err(|error| call_failed("a thread", error))?;
        Ok(Self { ask: Some(ask), answer, thread: Some(thread), patience })
    }

    /// Wakes it, and is woken by it.
    fn turn(&self) -> Result<(), Stopped> {
        let asked = self.ask.as_ref().is_some_and(|ask| ask.send(()).is_ok());
        let answered = asked && self.answer.recv_timeout(self.patience).is_ok();
        if answered { Ok(()) } else { Err(setup_error("the thread that answers did not")) }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        drop(self.ask.take());
        if let Some(thread) = self.thread.take() {
            // It ends when nobody can ask any more; it holds nothing that a panic of it could break.
            let _ = thread.join();
        }
    }
}

/// What a thread's wait came to.
pub(super) enum Waited {
    /// It ended with these events.
    Said(Vec<Event>),
    /// It ended with none, before its time.
    Early,
    /// It ended with none when its time was over.
    TimedOut,
    /// A wait with an argument as it is, and whether the time left was told.
    Raw(Vec<Event>, Option<bool>),
    Failed(Errno),
    Unsupported(String),
    /// It slept on, until the fence was put up.
    NotWoken,
    /// It has worked, until the fence was put up or the work was done.
    Worked(WorkDone),
}

pub(super) fn wait(selector: &dyn Selector, arguments: WaitArguments) -> Waited {
    match arguments {
        WaitArguments::NoTimeout => selector.wait(ROOM, None).map_or_else(Waited::Failed, Waited::Said),
        WaitArguments::Timeout(timeout) => {
            let begun = Instant::now();
            let waited = selector.wait(ROOM, Some(timeout));
            let over = begun.elapsed() >= timeout;
            match waited {
                Ok(events) if events.is_empty() && over => Waited::TimedOut,
                Ok(events) if events.is_empty() => Waited::Early,
                answered => answered.map_or_else(Waited::Failed, Waited::Said),
            }
        }
        WaitArguments::Raw(argument) => match selector.wait_raw(argument) {
            Ok(Ok(waited)) => Waited::Raw(waited.events, waited.timeout_updated),
            Ok(Err(errno)) => Waited::Failed(errno),
            Err(Unsupported(why)) => Waited::Unsupported(why),
        },
    }
}

impl Waited {
    /// In the notation of the answers.
    pub(super) fn written(&self, poller: &FencedPoller) -> Result<String, Stopped> {
        Ok(match self {
            Self::NotWoken => "not woken".into(),
            Self::Failed(errno) => format!("{errno:?}"),
            Self::TimedOut => "timed out".into(),
            Self::Early => "early".into(),
            Self::Unsupported(why) => return Err(Stopped::Unsupported(why.clone())),
            Self::Said(events) if events.is_empty() => "woken".into(),
            Self::Said(events) => poller.answers(events),
            Self::Worked(_) => {
                return Err(setup_error("this thread works: ask for what all of them have done"));
            }
            Self::Raw(events, timeout_updated) => {
                let answer = if events.is_empty() { "0".into() } else { poller.answers(events) };
                answer
                    + match timeout_updated {
                        None => "",
                        Some(true) => ", the time left is told",
                        Some(false) => ", the timeout is untouched",
                    }
            }
        })
    }
}

/// A thread that sleeps in a poller.
pub(super) struct Waiter {
    pub(super) poller: Arc<FencedPoller>,
    arguments: WaitArguments,
    state: ThreadState,
    /// The program's that it asks.
    program: Option<ThreadState>,
    answer: Receiver<Waited>,
    said: Option<Waited>,
    thread: Option<JoinHandle<()>>,
}

impl Waiter {
    /// Begins to wait. [`settle`] says when it sleeps.
    pub(super) fn new(poller: Arc<FencedPoller>, arguments: WaitArguments) -> Result<Self, Stopped> {
        Self::working(poller, arguments, move |selector| wait(selector, arguments))
    }

    /// Begins to work, which ends when the fence is up.
    pub(super) fn working(
        poller: Arc<FencedPoller>,
        arguments: WaitArguments,
        work: impl FnOnce(&dyn Selector) -> Waited + Send + 'static,
    ) -> Result<Self, Stopped> {
        let (answers, answer) = channel();
        let (begins, begun) = channel();
        let selector: Arc<dyn Selector> = Arc::clone(&poller.selector);
        let sleep = move || {
            if begins.send(ThreadState::own()).is_ok() {
                // Nobody to tell: the line is over.
                let _ = answers.send(work(&*selector));
            }
        };
        let thread = std::thread::Builder::new().name("sleeper".into()).spawn(sleep);
        let thread = thread.map_err(|error| call_failed("a thread", error))?;
        let state = begun.recv_timeout(poller.patience).map_err(|_| setup_error("a thread did not begin"))?;
        let program = poller.selector.process().map(|id| ThreadState::of_program(Pid::from_raw(id)));
        Ok(Self { poller, arguments, state, program, answer, said: None, thread: Some(thread) })
    }

    fn is_awake(&mut self) -> bool {
        if self.said.is_none() {
            self.said = match self.answer.try_recv() {
                Ok(said) => Some(said),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Waited::Failed(Errno::UnknownErrno)),
            };
        }
        self.said.is_some()
    }

    /// For signals.
    pub(super) fn thread(&self) -> Option<Pthread> {
        // The standard library has a number for what some C libraries have a pointer for.
        #[allow(clippy::unnecessary_cast)]
        self.thread.as_ref().map(|thread| thread.as_pthread_t() as Pthread)
    }

    /// Looks once: how many such looks in a row mean that it sleeps.
    fn samples_needed(&mut self) -> usize {
        // The program first: what it answers then wakes the thread.
        let program = self.program.as_mut().map_or(0, |program| program.sample().samples_needed());
        program.max(self.state.sample().samples_needed())
    }

    /// What its wait said, or that it has not come to an end. The last time it is asked, the fence ends it: a sleep
    /// that does not end then was none.
    pub(super) fn said(
        &mut self,
        responder: &Responder,
        ends: bool,
        reports_once: bool,
    ) -> Result<String, Stopped> {
        if let WaitArguments::Timeout(timeout) = self.arguments {
            if !self.is_awake() {
                let said = self.answer.recv_timeout(timeout.saturating_add(self.poller.patience));
                self.said = Some(said.map_err(|_| setup_error("a wait did not end with its timeout"))?);
            }
        } else {
            settle([&mut *self], responder)?;
        }
        if ends && self.said.is_none() {
            self.poller.raise_fence()?;
            self.end(reports_once)?;
            self.poller.lower_fence()?;
        }
        match &self.said {
            None => Ok("not woken".into()),
            Some(waited) => waited.written(&self.poller),
        }
    }

    /// What it has done, once it has. Told once.
    pub(super) fn done(&mut self) -> Option<WorkDone> {
        match &mut self.said {
            Some(Waited::Worked(done)) => Some(std::mem::take(done)),
            _ => None,
        }
    }

    /// Waits for its answer behind the fence. One that slept has not been woken, whatever the fence made it see; but an
    /// edge that it tells of has come before.
    fn end(&mut self, reports_once: bool) -> Result<(), Stopped> {
        // Not what has come meanwhile: the fence is up, and that may be its doing.
        if self.said.is_some() {
            return Ok(());
        }
        let said = match self.answer.recv_timeout(self.poller.patience) {
            Ok(said) => said,
            Err(RecvTimeoutError::Timeout) => return Err(setup_error("a later event did not end a wait")),
            Err(RecvTimeoutError::Disconnected) => return Err(setup_error("a thread that waits has died")),
        };
        self.said = Some(match said {
            Waited::Said(events) if reports_once && !self.poller.is_only_fence(&events) => {
                Waited::Said(events)
            }
            Waited::Said(_) | Waited::Raw(..) => Waited::NotWoken,
            other => other,
        });
        Ok(())
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if !self.is_awake() {
            // A fence that cannot be put up, or ends nothing, leaves the thread asleep. It ends with the process.
            if self.poller.raise_fence().is_err() || self.answer.recv_timeout(self.poller.patience).is_err() {
                return;
            }
            let _ = self.poller.lower_fence();
        }
        let _ = thread.join();
    }
}

/// Waits until somebody else than a sleeper sleeps.
pub(super) fn falls_asleep(state: &mut ThreadState, responder: &Responder) -> Result<(), Stopped> {
    let begun = Instant::now();
    let mut in_a_row = 0;
    while begun.elapsed() < responder.patience {
        responder.turn()?;
        let look = state.sample();
        in_a_row = if look == Sample::Busy { 0 } else { in_a_row + 1 };
        if in_a_row >= look.samples_needed() {
            return Ok(());
        }
    }
    Err(setup_error(format!("the child does not fall asleep within {:?}", responder.patience)))
}

/// Waits until each of these sleeps, or has answered.
pub(super) fn settle<'a>(
    sleepers: impl IntoIterator<Item = &'a mut Waiter>,
    responder: &Responder,
) -> Result<(), Stopped> {
    let mut sleepers: Vec<_> = sleepers.into_iter().collect();
    let begun = Instant::now();
    let mut in_a_row = 0;
    loop {
        responder.turn()?;
        let asleep = sleepers.iter_mut().filter_map(|sleeper| {
            let asleep = !sleeper.is_awake();
            asleep.then(|| sleeper.samples_needed())
        });
        let enough = asleep.max().unwrap_or(0);
        in_a_row = if enough == Sample::Busy.samples_needed() { 0 } else { in_a_row + 1 };
        if in_a_row >= enough {
            return Ok(());
        }
        if begun.elapsed() > responder.patience {
            return Err(setup_error(format!(
                "a thread neither sleeps nor answers for {:?}",
                responder.patience
            )));
        }
    }
}

/// Waits until each of these sleeps or has answered, and then ends them all.
pub(super) fn finish(
    sleepers: &mut [Waiter],
    responder: &Responder,
    reports_once: bool,
) -> Result<(), Stopped> {
    settle(sleepers.iter_mut(), responder)?;
    // Who shares a poller shares its fence.
    let mut pollers: Vec<Arc<FencedPoller>> = Vec::new();
    for sleeper in &*sleepers {
        if !pollers.iter().any(|known| Arc::ptr_eq(known, &sleeper.poller)) {
            pollers.push(Arc::clone(&sleeper.poller));
        }
    }
    pollers.iter().try_for_each(|poller| poller.raise_fence())?;
    sleepers.iter_mut().try_for_each(|sleeper| sleeper.end(reports_once))?;
    pollers.iter().try_for_each(|poller| poller.lower_fence())
}

/// How many of these were woken: `wakes=1/8`. The last time that is asked, they are all ended.
pub(super) fn woken(
    sleepers: &mut [Waiter],
    responder: &Responder,
    ends: bool,
    reports_once: bool,
) -> Result<String, Stopped> {
    match ends {
        true => finish(sleepers, responder, reports_once)?,
        false => settle(sleepers.iter_mut(), responder)?,
    }
    let slept =
        sleepers.iter().filter(|sleeper| matches!(sleeper.said, None | Some(Waited::NotWoken))).count();
    Ok(format!("wakes={}/{}", sleepers.len() - slept, sleepers.len()))
}
