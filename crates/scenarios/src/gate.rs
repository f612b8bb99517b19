//! Holding threads at a place, to force an order.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::test_context::patience;

/// A place where threads stop until they are let through. Clones are the same gate.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    arrived: usize,
    open: bool,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops here until the gate is open. A gate that is never opened lets through when patience ends, so that a
    /// scenario that went wrong ends with its own explanation.
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

    /// Waits until `count` threads have come here. Returns whether they did before patience ended.
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

    /// How many threads have come here so far.
    pub fn arrived(&self) -> usize {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).arrived
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).open = true;
        self.0.1.notify_all();
    }

    /// Opens the gate when dropped, so that a scenario that ends early leaves nobody behind.
    #[must_use]
    pub fn guard(&self) -> GateGuard {
        GateGuard(self.clone())
    }
}

/// See [`Gate::guard`].
pub struct GateGuard(Gate);

impl Drop for GateGuard {
    fn drop(&mut self) {
        self.0.open();
    }
}
