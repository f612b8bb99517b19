//! Threads that wait for the end of others, or of registrations.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::poller::owner_process::OwnerProcess;

pub(crate) struct Waiters {
    lock: Mutex<()>,
    changed: Condvar,
    /// A forked child has no thread that waits, and the lock may belong to a thread that does not exist
    /// there.
    process: OwnerProcess,
}

/// A notification costs its caller no fence, so a thread that is about to wait can miss one. It looks again
/// after this time.
const LOOK: Duration = Duration::from_millis(10);

impl Waiters {
    pub(crate) fn new() -> Self {
        Self { lock: Mutex::default(), changed: Condvar::default(), process: OwnerProcess::this() }
    }

    /// Waits until `holds` returns true, at most `timeout`. Returns whether it does. Whoever changes what it
    /// reads calls [`Waiters::notify`] afterwards.
    pub(crate) fn wait(&self, timeout: Option<Duration>, holds: impl Fn() -> bool) -> bool {
        if !self.process.is_this() {
            return holds();
        }
        // An end that no clock can represent is none.
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !holds() {
            let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(guard, left.min(LOOK));
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Makes the waiting threads look again.
    pub(crate) fn notify(&self) {
        if self.process.is_this() {
            // A thread that has looked, and does not wait yet, holds the lock.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.changed.notify_all();
        }
    }
}
