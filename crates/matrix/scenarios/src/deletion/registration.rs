//! One registration of the random workload, tracked from its insertion to its end.

use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use fastrand::Rng;
use fd_core::error::DeleteError;
use fd_core::{FdHandle, OwnerId};

use crate::mutex::unpoisoned;
use crate::transport::FarEnd;

/// The most bytes that are written to one descriptor: with more, a writer could block on a reader that has
/// disabled its interest.
const MOST_BYTES: u64 = 1000;

/// One registration, kept until the scenario ends.
#[derive(Default)]
pub(super) struct TrackedRegistration {
    pub(super) handle: OnceLock<FdHandle>,
    pub(super) owner: OnceLock<OwnerId>,
    pub(super) shared: bool,
    pub(super) file: Option<u64>,
    /// `None` once the peer has seen the end.
    pub(super) far: Mutex<Option<FarEnd>>,
    pub(super) written: AtomicU64,
    /// Threads that run the handler.
    pub(super) in_handler: AtomicUsize,
    pub(super) ended: AtomicUsize,
    pub(super) dropped: AtomicUsize,
    pub(super) random: Mutex<Rng>,
}

impl TrackedRegistration {
    pub(super) fn handle(&self) -> FdHandle {
        *self.handle.get().expect("a registration is published after its insertion")
    }

    /// Ends the registration by `call`, and counts the call if it succeeds.
    pub(super) fn end(&self, call: impl FnOnce(FdHandle) -> Result<(), DeleteError>) {
        if call(self.handle()).is_ok() {
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns the number of calls that have ended the registration.
    pub(super) fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    /// Returns how often its handler was dropped.
    pub(super) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Returns whether the peer has seen the end, and asks for it if not. If so, closes the peer's end.
    pub(super) fn peer_saw_the_end(&self) -> bool {
        let mut far = unpoisoned(&self.far);
        let ended = self.dropped() > 0 && far.as_ref().is_none_or(FarEnd::ended_if_asked);
        if ended {
            far.take().into_iter().for_each(FarEnd::abandon);
        }
        ended
    }

    pub(super) fn write(&self) {
        if let Some(far) = &mut *unpoisoned(&self.far)
            && self.written.fetch_add(1, Ordering::Relaxed) < MOST_BYTES
        {
            let _ = far.write(b"x");
        }
    }
}
