//! Holding threads at the core's checkpoints, to force one interleaving.

use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, PoisonError};

use fd_core::hooks::checkpoint::{self, Point};
use fd_core::ids::ThreadId;

use crate::gate::Gate;
use crate::test_context::Failure;

/// The core's checkpoints, watched for as long as this exists. A process has one at a time.
///
/// Declare it after the [`Harness`](crate::Harness): then it goes first, and the threads can end.
pub struct Checkpoints {
    wanted: Arc<Mutex<Vec<Wanted>>>,
}

struct Wanted {
    /// Whom to hold, once. `None`: whoever comes, every time.
    thread: Option<String>,
    point: Point,
    fd: RawFd,
    gate: Gate,
}

/// A thread that is held, or will be. Dropping this lets it go.
pub struct Held {
    gate: Gate,
    what: String,
}

impl Checkpoints {
    /// Begins to watch.
    pub fn watch() -> Self {
        Self::telling(|_, _| {})
    }

    /// Begins to watch, and calls `listener` at every point, on the thread that comes there, before it is held. The
    /// descriptor is −1 at points that concern none.
    pub fn telling(listener: impl Fn(Point, RawFd) + Send + Sync + 'static) -> Self {
        let wanted: Arc<Mutex<Vec<Wanted>>> = Arc::default();
        let list = Arc::clone(&wanted);
        checkpoint::install(move |point, fd| {
            listener(point, fd);
            let current = std::thread::current();
            let gate = {
                let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
                let here = |wanted: &Wanted| {
                    (wanted.point, wanted.fd) == (point, fd)
                        && wanted.thread.as_deref().is_none_or(|name| Some(name) == current.name())
                };
                list.iter().position(here).map(|index| match list[index].thread {
                    Some(_) => list.remove(index).gate,
                    None => list[index].gate.clone(),
                })
            };
            if let Some(gate) = gate {
                gate.pass();
            }
        });
        Self { wanted }
    }

    /// Holds `thread` the next time it reaches `point` about `fd`, once.
    pub fn hold(&self, thread: ThreadId, point: Point, fd: RawFd) -> Held {
        self.hold_thread(&format!("worker {thread}"), point, fd)
    }

    /// As [`Checkpoints::hold`], for whichever thread has this name.
    pub fn hold_thread(&self, name: &str, point: Point, fd: RawFd) -> Held {
        let gate = self.add(Some(name.to_owned()), point, fd);
        Held { gate, what: format!("{name} at {point:?}") }
    }

    /// A closed gate at `point`, for every thread that comes there about `fd`.
    pub fn gate(&self, point: Point, fd: RawFd) -> Gate {
        self.add(None, point, fd)
    }

    fn add(&self, thread: Option<String>, point: Point, fd: RawFd) -> Gate {
        let gate = Gate::new();
        let wanted = Wanted { thread, point, fd, gate: gate.clone() };
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).push(wanted);
        gate
    }

    /// Holds `thread` when it has received something the next time, before it dispatches it. It must be asleep, with
    /// nothing under way that would wake it but what the caller does next.
    pub fn hold_batch(&self, thread: ThreadId) -> Held {
        self.hold(thread, Point::AfterWait, -1)
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        checkpoint::remove();
    }
}

impl Held {
    /// For threads that stop at a gate of another kind; `what` names thread and place.
    pub fn at(gate: Gate, what: impl Into<String>) -> Self {
        Self { gate, what: what.into() }
    }

    /// Waits until the thread is there.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if it never comes.
    pub fn reached(&self) -> Result<(), Failure> {
        if self.gate.wait_for(1) {
            Ok(())
        } else {
            Err(Failure::Wrong(format!("never reached: {}", self.what)))
        }
    }

    /// Lets the thread go on.
    pub fn release(&self) {
        self.gate.open();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gate.open();
    }
}
