//! Holds threads at the core's checkpoints in order to force one interleaving.

use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};

use fd_core::hooks::checkpoint::{self, Point};
use fd_core::ids::ThreadId;

use crate::failure::Failure;
use crate::gate::Gate;
use crate::mutex::unpoisoned;

/// The hook at the core's checkpoints, installed for as long as this value exists. A process has one at a
/// time.
///
/// Declare it after the [`Harness`](crate::Harness): then it is dropped first, and the threads can end.
pub struct Checkpoints {
    holds: Arc<Mutex<Vec<Hold>>>,
}

/// A gate at one checkpoint.
struct Hold {
    /// The name of the thread to hold, once. `None` holds every thread, every time.
    thread: Option<String>,
    point: Point,
    fd: RawFd,
    gate: Gate,
}

/// A thread that is held, or will be. Dropping this releases it.
pub struct HeldThread {
    gate: Gate,
    description: String,
}

impl Checkpoints {
    /// Installs the hook.
    pub fn watch() -> Self {
        Self::with_listener(|_, _| {})
    }

    /// Installs the hook, with a `listener` that every thread calls at every checkpoint before it is held.
    /// The descriptor is −1 at checkpoints that concern none.
    pub fn with_listener(listener: impl Fn(Point, RawFd) + Send + Sync + 'static) -> Self {
        let holds: Arc<Mutex<Vec<Hold>>> = Arc::default();
        let list = Arc::clone(&holds);
        checkpoint::install(move |point, fd| {
            listener(point, fd);
            let current = std::thread::current();
            let gate = {
                let mut list = unpoisoned(&list);
                let here = |hold: &Hold| {
                    (hold.point, hold.fd) == (point, fd)
                        && hold.thread.as_deref().is_none_or(|name| Some(name) == current.name())
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
        Self { holds }
    }

    /// Holds `thread` the next time it reaches `point` for `fd`, once.
    pub fn hold(&self, thread: ThreadId, point: Point, fd: RawFd) -> HeldThread {
        self.hold_thread(&format!("worker {thread}"), point, fd)
    }

    /// As [`Checkpoints::hold`], for the thread with this name.
    pub fn hold_thread(&self, name: &str, point: Point, fd: RawFd) -> HeldThread {
        let gate = self.add(Some(name.to_owned()), point, fd);
        HeldThread { gate, description: format!("{name} at {point:?}") }
    }

    /// Returns a closed gate at `point`, for every thread that reaches it for `fd`.
    pub fn gate(&self, point: Point, fd: RawFd) -> Gate {
        self.add(None, point, fd)
    }

    fn add(&self, thread: Option<String>, point: Point, fd: RawFd) -> Gate {
        let gate = Gate::new();
        let hold = Hold { thread, point, fd, gate: gate.clone() };
        unpoisoned(&self.holds).push(hold);
        gate
    }

    /// Holds `thread` after its next wait, before it dispatches the batch. The thread must be asleep, and
    /// only what the caller does next may wake it.
    pub fn hold_batch(&self, thread: ThreadId) -> HeldThread {
        self.hold(thread, Point::AfterWait, -1)
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        checkpoint::remove();
    }
}

impl HeldThread {
    /// Wraps a gate at a place that is no checkpoint; `description` names the thread and the place.
    pub fn at(gate: Gate, description: impl Into<String>) -> Self {
        Self { gate, description: description.into() }
    }

    /// Waits until the thread is held.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if it never arrives.
    pub fn reached(&self) -> Result<(), Failure> {
        if self.gate.wait_for(1) {
            Ok(())
        } else {
            Err(Failure::Wrong(format!("never reached: {}", self.description)))
        }
    }

    /// Releases the thread.
    pub fn release(&self) {
        self.gate.open();
    }
}

impl Drop for HeldThread {
    fn drop(&mut self) {
        self.gate.open();
    }
}
