//! Threads that wait in a poller, and the detection of those that are woken.

use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use metadata::{Answer, Outcome};
use nix::errno::Errno;
use nix::sys::pthread::Pthread;
use nix::unistd::Pid;
use selector::{Event, Selector, Unsupported};

use super::fenced_poller::{FencedPoller, ROOM};
use super::thread_state::{Sample, ThreadState};
use super::worker_pool::WorkDone;
use super::{broken, call_failed, failed, signals};
use crate::Stopped;
use crate::verbs::WaitArguments;

/// A thread that replies to every request. A round trip to it lets the scheduler run other threads.
pub(super) struct Responder {
    requests: Option<Sender<()>>,
    replies: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    /// The longest wait for a reply, and for other threads to fall asleep.
    patience: Duration,
}

impl Responder {
    pub(super) fn new(patience: Duration) -> Result<Self, Stopped> {
        let (requests, incoming) = channel::<()>();
        let (outgoing, replies) = channel();
        let responder = move || {
            for () in incoming {
                if outgoing.send(()).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("responder".into()).spawn(responder);
        let thread = thread.map_err(|error| call_failed("a thread", error))?;
        Ok(Self { requests: Some(requests), replies, thread: Some(thread), patience })
    }

    /// Wakes the responder and waits for its reply.
    fn round_trip(&self) -> Result<(), Stopped> {
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(()).is_ok());
        let replied = sent && self.replies.recv_timeout(self.patience).is_ok();
        if replied { Ok(()) } else { Err(broken("the responder thread did not reply")) }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            // Without senders the thread ends. It holds no state that a panic could corrupt.
            let _ = thread.join();
        }
    }
}

/// The result of a thread's wait.
pub(super) enum Waited {
    /// The wait returned these events.
    Events(Vec<Event>),
    /// The wait returned no event before its timeout.
    Early,
    /// The wait returned no event after its timeout.
    TimedOut,
    /// The result of a wait with a raw argument, and whether the system call updated the timeout.
    Raw(Vec<Event>, Option<bool>),
    /// The result of a wait with a signal mask.
    Masked {
        waited: Box<Waited>,
        /// The handler of the signal has run.
        handled: bool,
        /// The thread has its own mask again.
        restored: bool,
    },
    Failed(Errno),
    Unsupported(String),
    /// The thread slept until the fence was raised.
    NotWoken,
    /// The thread worked until the fence was raised or the work was done.
    Worked(WorkDone),
}

pub(super) fn wait(selector: &dyn Selector, arguments: WaitArguments) -> Waited {
    match arguments {
        WaitArguments::NoTimeout => selector.wait(ROOM, None).map_or_else(Waited::Failed, Waited::Events),
        WaitArguments::Room(room) => selector.wait(room, None).map_or_else(Waited::Failed, Waited::Events),
        WaitArguments::Timeout(timeout) => {
            let begun = Instant::now();
            Waited::of(selector.wait(ROOM, Some(timeout)), Some(timeout), begun)
        }
        WaitArguments::Masked(mask, timeout) => signals::wait_masked(selector, mask, timeout),
        WaitArguments::Raw(argument) => match selector.wait_raw(argument) {
            Ok(Ok(waited)) => Waited::Raw(waited.events, waited.timeout_updated),
            Ok(Err(errno)) => Waited::Failed(errno),
            Err(Unsupported(why)) => Waited::Unsupported(why),
        },
    }
}

impl Waited {
    /// The result of a wait that has just returned.
    pub(super) fn of(waited: Result<Vec<Event>, Errno>, timeout: Option<Duration>, begun: Instant) -> Self {
        match (waited, timeout) {
            (Ok(events), Some(timeout)) if events.is_empty() => {
                if begun.elapsed() >= timeout {
                    Self::TimedOut
                } else {
                    Self::Early
                }
            }
            (answered, _) => answered.map_or_else(Self::Failed, Self::Events),
        }
    }

    /// Returns the result as an answer.
    pub(super) fn answer(&self, poller: &FencedPoller) -> Result<Answer, Stopped> {
        let remark = |remark: &str| Outcome::Other(remark.into());
        match self {
            Self::Raw(events, Some(timeout_updated)) => {
                let told =
                    if *timeout_updated { "the time left is told" } else { "the timeout is untouched" };
                Ok(Answer::of_rounds([Self::raw_outcome(events, poller), remark(told)]))
            }
            Self::Masked { waited, handled, restored } => {
                let handler = if *handled { "the handler has run" } else { "the handler has not run" };
                let mask = if *restored { "the mask is restored" } else { "the mask is not restored" };
                Ok(Answer::of_rounds([waited.outcome(poller)?, remark(handler), remark(mask)]))
            }
            _ => self.outcome(poller).map(Answer::from),
        }
    }

    fn raw_outcome(events: &[Event], poller: &FencedPoller) -> Outcome {
        if events.is_empty() { Outcome::Done } else { poller.outcome(events) }
    }

    fn outcome(&self, poller: &FencedPoller) -> Result<Outcome, Stopped> {
        Ok(match self {
            Self::NotWoken => Outcome::NotWoken,
            Self::Failed(errno) => failed(*errno),
            Self::TimedOut => Outcome::TimedOut,
            Self::Early => Outcome::Early,
            Self::Unsupported(why) => return Err(Stopped::Unsupported(why.clone())),
            Self::Events(events) if events.is_empty() => Outcome::Woken,
            Self::Events(events) => poller.outcome(events),
            Self::Worked(_) => return Err(broken("this thread works: use `threads answer`")),
            Self::Raw(events, _) => Self::raw_outcome(events, poller),
            Self::Masked { waited, .. } => waited.outcome(poller)?,
        })
    }
}

/// A thread that waits in a poller.
pub(super) struct Waiter {
    pub(super) poller: Arc<FencedPoller>,
    pub(super) arguments: WaitArguments,
    state: ThreadState,
    /// The state of the adapter's process, if the poller lives in one.
    program: Option<ThreadState>,
    outcomes: Receiver<Waited>,
    outcome: Option<Waited>,
    thread: Option<JoinHandle<()>>,
}

impl Waiter {
    /// Starts a thread that waits. [`wait_until_idle`] returns when it sleeps.
    pub(super) fn new(poller: Arc<FencedPoller>, arguments: WaitArguments) -> Result<Self, Stopped> {
        Self::with_work(poller, arguments, move |selector| wait(selector, arguments))
    }

    /// Starts a thread that works until the fence is raised.
    pub(super) fn with_work(
        poller: Arc<FencedPoller>,
        arguments: WaitArguments,
        work: impl FnOnce(&dyn Selector) -> Waited + Send + 'static,
    ) -> Result<Self, Stopped> {
        let (results, outcomes) = channel();
        let (begins, begun) = channel();
        let selector: Arc<dyn Selector> = Arc::clone(&poller.selector);
        let sleep = move || {
            if begins.send(ThreadState::own()).is_ok() {
                // The send fails if the script has ended.
                let _ = results.send(work(&*selector));
            }
        };
        let thread = std::thread::Builder::new().name("waiter".into()).spawn(sleep);
        let thread = thread.map_err(|error| call_failed("a thread", error))?;
        let state = begun.recv_timeout(poller.patience).map_err(|_| broken("a thread did not begin"))?;
        let program = poller.selector.process().map(|id| ThreadState::of_program(Pid::from_raw(id)));
        Ok(Self { poller, arguments, state, program, outcomes, outcome: None, thread: Some(thread) })
    }

    /// Returns whether its wait has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.outcome.is_none() {
            self.outcome = match self.outcomes.try_recv() {
                Ok(outcome) => Some(outcome),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Waited::Failed(Errno::UnknownErrno)),
            };
        }
        self.outcome.is_some()
    }

    /// Returns the thread's id, for signals.
    pub(super) fn thread(&self) -> Option<Pthread> {
        // The standard library has a number for what some C libraries have a pointer for.
        #[allow(clippy::unnecessary_cast)]
        self.thread.as_ref().map(|thread| thread.as_pthread_t() as Pthread)
    }

    /// Takes one sample. Returns how many consecutive samples of this kind mean that the thread sleeps.
    fn take_sample(&mut self) -> usize {
        // Sample the program first: its answer wakes the thread.
        let program = self.program.as_mut().map_or(0, |program| program.sample().samples_needed());
        program.max(self.state.sample().samples_needed())
    }

    /// Returns the result of its wait, or that it still sleeps; every thread [is idle](wait_until_idle). With
    /// `ends`, the fence ends a wait that still sleeps; a wait that the fence does not end is an error.
    pub(super) fn answer(&mut self, ends: bool) -> Result<Answer, Stopped> {
        if let Some(timeout) = self.arguments.timeout()
            && !self.has_ended()
        {
            let outcome = self.outcomes.recv_timeout(timeout.saturating_add(self.poller.patience));
            self.outcome = Some(outcome.map_err(|_| broken("a wait did not end with its timeout"))?);
        }
        if ends && self.outcome.is_none() {
            self.poller.raise_fence()?;
            self.end()?;
            self.poller.lower_fence()?;
        }
        match &self.outcome {
            None => Ok(Outcome::NotWoken.into()),
            Some(waited) => waited.answer(&self.poller),
        }
    }

    /// Checks that the poller has the arguments of the wait.
    pub(super) fn require_support(&self) -> Result<(), Stopped> {
        match &self.outcome {
            Some(Waited::Unsupported(why)) => Err(Stopped::Unsupported(why.clone())),
            _ => Ok(()),
        }
    }

    /// Takes the result of its work, if it has ended.
    pub(super) fn take_work(&mut self) -> Option<WorkDone> {
        match &mut self.outcome {
            Some(Waited::Worked(done)) => Some(std::mem::take(done)),
            _ => None,
        }
    }

    /// Waits until the raised fence ends the wait. A thread that slept until then was not woken, whatever
    /// events the fence made it see, in any mode: it would have slept through them.
    fn end(&mut self) -> Result<(), Stopped> {
        // Use only a result that was received before the fence was raised: the fence can cause a later one.
        if self.outcome.is_some() {
            return Ok(());
        }
        let outcome = match self.outcomes.recv_timeout(self.poller.patience) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => return Err(broken("a later event did not end a wait")),
            Err(RecvTimeoutError::Disconnected) => return Err(broken("a thread that waits has died")),
        };
        self.outcome = Some(match outcome {
            Waited::Events(_) | Waited::Raw(..) | Waited::Masked { .. } => Waited::NotWoken,
            other => other,
        });
        Ok(())
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if !self.has_ended() {
            // If the fence cannot be raised or does not end the wait, the thread sleeps until the process
            // exits.
            if self.poller.raise_fence().is_err() || self.outcomes.recv_timeout(self.poller.patience).is_err()
            {
                return;
            }
            let _ = self.poller.lower_fence();
        }
        let _ = thread.join();
    }
}

/// Waits until a thread that is not a [`Waiter`] sleeps.
pub(super) fn wait_until_asleep(state: &mut ThreadState, responder: &Responder) -> Result<(), Stopped> {
    let begun = Instant::now();
    let mut in_a_row = 0;
    while begun.elapsed() < responder.patience {
        responder.round_trip()?;
        let sample = state.sample();
        in_a_row = if sample == Sample::Busy { 0 } else { in_a_row + 1 };
        if in_a_row >= sample.samples_needed() {
            return Ok(());
        }
    }
    Err(broken(format!("the child does not fall asleep within {:?}", responder.patience)))
}

/// Waits until each of these threads sleeps or has ended its wait.
pub(super) fn wait_until_idle<'a>(
    waiters: impl IntoIterator<Item = &'a mut Waiter>,
    responder: &Responder,
) -> Result<(), Stopped> {
    let mut waiters: Vec<_> = waiters.into_iter().collect();
    let begun = Instant::now();
    let mut in_a_row = 0;
    loop {
        responder.round_trip()?;
        let asleep = waiters.iter_mut().filter_map(|waiter| {
            let asleep = !waiter.has_ended();
            asleep.then(|| waiter.take_sample())
        });
        let needed = asleep.max().unwrap_or(0);
        in_a_row = if needed == Sample::Busy.samples_needed() { 0 } else { in_a_row + 1 };
        if in_a_row >= needed {
            return Ok(());
        }
        if begun.elapsed() > responder.patience {
            return Err(broken(format!("a thread neither sleeps nor answers for {:?}", responder.patience)));
        }
    }
}

/// Waits until each of these threads sleeps or has ended its wait, and then ends all waits with the fence.
pub(super) fn end_all(waiters: &mut [Waiter], responder: &Responder) -> Result<(), Stopped> {
    wait_until_idle(waiters.iter_mut(), responder)?;
    // Threads that share a poller share its fence.
    let mut pollers: Vec<Arc<FencedPoller>> = Vec::new();
    for waiter in &*waiters {
        if !pollers.iter().any(|known| Arc::ptr_eq(known, &waiter.poller)) {
            pollers.push(Arc::clone(&waiter.poller));
        }
    }
    pollers.iter().try_for_each(|poller| poller.raise_fence())?;
    waiters.iter_mut().try_for_each(Waiter::end)?;
    pollers.iter().try_for_each(|poller| poller.lower_fence())
}

/// Counts the threads that were woken: `wakes=1/8`. With `ends`, ends all of them.
pub(super) fn count_woken(
    waiters: &mut [Waiter],
    responder: &Responder,
    ends: bool,
) -> Result<String, Stopped> {
    match ends {
        true => end_all(waiters, responder)?,
        false => wait_until_idle(waiters.iter_mut(), responder)?,
    }
    let slept =
        waiters.iter().filter(|waiter| matches!(waiter.outcome, None | Some(Waited::NotWoken))).count();
    Ok(format!("wakes={}/{}", waiters.len() - slept, waiters.len()))
}
