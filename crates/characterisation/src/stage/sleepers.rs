//! Threads that sleep in a poller, and who of them wakes up.
//!
//! No system tells portably whether a thread sleeps, and no clock proves that it will not wake. Both are decided
//! by what others do meanwhile: another thread is woken and answers many times over. A thread that has begun its
//! wait before and is runnable has had its turn by then.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use nix::errno::Errno;
use selector::{Event, Selector};

use super::ears::{Ears, ROOM};
use super::{PATIENCE, broken};
use crate::Stopped;

/// So often somebody else is woken before a thread that has begun to wait counts as asleep.
const TURNS_TO_FALL_ASLEEP: usize = 1_000;

/// So often somebody else is woken before a thread that could wake up counts as sleeping on. It is more than that:
/// it may be in the queue of a processor that others keep busy.
const TURNS_TO_WAKE: usize = 20_000;

/// A thread that answers whenever it is asked to.
pub(super) struct Echo {
    ask: Option<Sender<()>>,
    answer: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    pub(super) fn new() -> Result<Self, Stopped> {
        let (ask, asked) = channel::<()>();
        let (answers, answer) = channel();
        let echo = move || {
            for () in asked {
                if answers.send(()).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("echo".into()).spawn(echo);
        let thread = thread.map_err(|error| broken(format!("a thread: {error}")))?;
        Ok(Self { ask: Some(ask), answer, thread: Some(thread) })
    }

    /// Wakes it, and is woken by it.
    fn turn(&self) -> Result<(), Stopped> {
        let asked = self.ask.as_ref().is_some_and(|ask| ask.send(()).is_ok());
        let answered = asked && self.answer.recv_timeout(PATIENCE).is_ok();
        if answered { Ok(()) } else { Err(broken("the thread that answers did not")) }
    }

    /// Gives others their turns until `done`, or until they have had so many.
    fn turns(&self, count: usize, mut done: impl FnMut() -> bool) -> Result<(), Stopped> {
        for _ in 0..count {
            if done() {
                break;
            }
            self.turn()?;
        }
        Ok(())
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        drop(self.ask.take());
        if let Some(thread) = self.thread.take() {
            // It ends when nobody can ask any more; it holds nothing that a panic of it could break.
            let _ = thread.join();
        }
    }
}

/// A thread that sleeps in a poller.
pub(super) struct Sleeper {
    ears: Arc<Ears>,
    answer: Receiver<Result<Vec<Event>, Errno>>,
    said: Option<Result<Vec<Event>, Errno>>,
    thread: Option<JoinHandle<()>>,
}

impl Sleeper {
    /// Begins to wait, and gives it the time to fall asleep.
    pub(super) fn new(ears: Arc<Ears>, echo: &Echo) -> Result<Self, Stopped> {
        let (answers, answer) = channel();
        let (begins, begun) = channel();
        let selector: Arc<dyn Selector> = Arc::clone(&ears.selector);
        let sleep = move || {
            if begins.send(()).is_ok() {
                // Nobody to tell: the line is over.
                let _ = answers.send(selector.wait(ROOM, None));
            }
        };
        let thread = std::thread::Builder::new().name("sleeper".into()).spawn(sleep);
        let thread = thread.map_err(|error| broken(format!("a thread: {error}")))?;
        begun.recv_timeout(PATIENCE).map_err(|_| broken("a thread did not begin"))?;
        let mut sleeper = Self { ears, answer, said: None, thread: Some(thread) };
        echo.turns(TURNS_TO_FALL_ASLEEP, || sleeper.is_awake())?;
        Ok(sleeper)
    }

    fn is_awake(&mut self) -> bool {
        if self.said.is_none() {
            self.said = match self.answer.try_recv() {
                Ok(said) => Some(said),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Err(Errno::UnknownErrno)),
            };
        }
        self.said.is_some()
    }

    /// What its wait said, or that it has not come to an end.
    pub(super) fn said(&mut self, echo: &Echo) -> Result<String, Stopped> {
        echo.turns(TURNS_TO_WAKE, || self.is_awake())?;
        Ok(match &self.said {
            None => "not woken".into(),
            Some(Err(errno)) => format!("{errno:?}"),
            Some(Ok(events)) if events.is_empty() => "woken".into(),
            Some(Ok(events)) => self.ears.answers(events),
        })
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if !self.is_awake() {
            // Its wait has an end once the fence is up.
            self.ears.end_of_waits();
        }
        let _ = thread.join();
    }
}

/// How many of these are awake: `1/8`. One that wakes up may be what wakes the next one.
pub(super) fn awake(sleepers: &mut [Sleeper], echo: &Echo) -> Result<String, Stopped> {
    let mut awake = 0;
    loop {
        let count = |sleepers: &mut [Sleeper]| {
            sleepers.iter_mut().map(Sleeper::is_awake).filter(|awake| *awake).count()
        };
        echo.turns(TURNS_TO_WAKE, || count(sleepers) > awake)?;
        let now = count(sleepers);
        if now == awake || now == sleepers.len() {
            return Ok(format!("{now}/{}", sleepers.len()));
        }
        awake = now;
    }
}
