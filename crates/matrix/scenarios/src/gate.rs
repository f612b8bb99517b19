//! Holds threads at a place in order to force an order of steps.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::mutex::unpoisoned;
use crate::patience::patience;

/// A place where threads stop until the gate is opened. Clones are the same gate.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    arrived: usize,
    open: bool,
}

impl Gate {
    /// Creates a closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Blocks the calling thread until the gate is open. Returns when patience ends even if the gate was
    /// never opened, so that a scenario that failed ends with its own explanation.
    pub fn pass(&self) {
        unpoisoned(&self.0.0).arrived += 1;
        self.0.1.notify_all();
        self.wait_while(|state| !state.open);
    }

    /// Waits until `count` threads have arrived. Returns whether they did before patience ended.
    #[must_use]
    pub fn wait_for(&self, count: usize) -> bool {
        self.wait_while(|state| state.arrived < count)
    }

    /// Waits as long as `holds`, or until patience ends. Returns whether it ended first.
    fn wait_while(&self, holds: impl Fn(&State) -> bool) -> bool {
        let state = unpoisoned(&self.0.0);
        let waited = self.0.1.wait_timeout_while(state, patience(), |state| holds(state));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Returns how many threads have arrived so far.
    pub fn arrived(&self) -> usize {
        unpoisoned(&self.0.0).arrived
    }

    /// Releases all threads that have arrived, and all that will.
    pub fn open(&self) {
        unpoisoned(&self.0.0).open = true;
        self.0.1.notify_all();
    }

    /// Returns a guard that opens the gate when it is dropped, so that a scenario that ends early leaves no
    /// thread behind.
    #[must_use]
    pub fn guard(&self) -> GateGuard {
        GateGuard(self.clone())
    }
}

/// Opens its gate when it is dropped; see [`Gate::guard`].
pub struct GateGuard(Gate);

impl Drop for GateGuard {
    fn drop(&mut self) {
        self.0.open();
    }
}
