//! Holds threads at a place in order to force an order of steps.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

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
        let end = Instant::now() + patience();
        let mut state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        self.0.1.notify_all();
        while !state.open {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.0.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until `count` threads have arrived. Returns whether they did before patience ended.
    #[must_use]
    pub fn wait_for(&self, count: usize) -> bool {
        let end = Instant::now() + patience();
        let mut state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        while state.arrived < count {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.0.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Returns how many threads have arrived so far.
    pub fn arrived(&self) -> usize {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).arrived
    }

    /// Releases all threads that have arrived, and all that will.
    pub fn open(&self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).open = true;
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
