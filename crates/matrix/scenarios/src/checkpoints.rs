//! Holds threads at the core's checkpoints in order to force one interleaving.

use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};

use fd_core::hooks::checkpoint::{self, Point};
use fd_core::ids::ThreadId;
use metadata::Act;

use crate::failure::{Failure, Result};
use crate::gate::Gate;
use crate::mutex::unpoisoned;
use crate::timeline;

type Hook = Arc<dyn Fn(Point, RawFd) + Send + Sync>;

/// The hooks of all [`Checkpoints`], oldest first. The core has one, which calls these.
static HOOKS: Mutex<Vec<Hook>> = Mutex::new(Vec::new());

/// A hook at the core's checkpoints, for as long as this value exists. If there are several, a thread calls
/// the oldest first.
///
/// Declare it after the `Harness`: then it is dropped first, and the threads can end.
pub struct Checkpoints {
    holds: Arc<Mutex<Vec<Hold>>>,
    hook: Hook,
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
        let hook: Hook = Arc::new(move |point, fd| {
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
                timeline::at(Act::Held, point, fd);
                gate.pass();
                timeline::at(Act::Released, point, fd);
            }
        });
        change_hooks(|hooks| hooks.push(Arc::clone(&hook)));
        Self { holds, hook }
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

    /// Holds `thread` after its next wait, before it dispatches the batch. A thread that is awake is held
    /// after whichever wait comes first: if it must sleep, use
    /// `Sleepers::hold_batch`.
    pub fn hold_batch(&self, thread: ThreadId) -> HeldThread {
        self.hold(thread, Point::AfterWait, -1)
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        change_hooks(|hooks| hooks.retain(|hook| !Arc::ptr_eq(hook, &self.hook)));
    }
}

/// Changes the list of hooks, and installs what it has now.
fn change_hooks(change: impl FnOnce(&mut Vec<Hook>)) {
    let mut hooks = unpoisoned(&HOOKS);
    change(&mut hooks);
    if hooks.is_empty() {
        return checkpoint::remove();
    }
    let now = hooks.clone();
    checkpoint::install(move |point, fd| now.iter().for_each(|hook| hook(point, fd)));
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
    pub fn reached(&self) -> Result {
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
