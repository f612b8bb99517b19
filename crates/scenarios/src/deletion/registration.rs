//! One registration of a storm, watched from its beginning to its end.

use std::io::Write;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use fastrand::Rng;
use fd_core::error::DeleteError;
use fd_core::{FdHandle, OwnerId};
use nix::sys::stat::fstat;

use crate::transport::Far;

/// More bytes than that would make a writer wait for a reader that does not want to read.
const MOST_BYTES: u64 = 1000;

pub(crate) fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which open file it is, as far as fstat(2) tells.
pub(crate) fn identity(fd: &impl AsFd) -> Option<u64> {
    #[allow(clippy::unnecessary_cast, reason = "the width of ino_t differs between systems")]
    fstat(fd).ok().map(|status| status.st_ino as u64)
}

/// One registration, for as long as the scenario lasts.
pub(super) struct Registration {
    pub(super) handle: OnceLock<FdHandle>,
    pub(super) owner: OnceLock<OwnerId>,
    pub(super) shared: bool,
    pub(super) file: Option<u64>,
    /// Until it has seen the end.
    pub(super) far: Mutex<Option<Far>>,
    pub(super) written: AtomicU64,
    /// Threads in the handler.
    pub(super) inside: AtomicUsize,
    pub(super) ended: AtomicUsize,
    pub(super) dropped: AtomicUsize,
    pub(super) random: Mutex<Rng>,
}

impl Registration {
    pub(super) fn handle(&self) -> FdHandle {
        *self.handle.get().expect("a registration is shown to nobody before it is inserted")
    }

    /// Ends it by `call`, unless somebody else has.
    pub(super) fn end(&self, call: impl FnOnce(FdHandle) -> Result<(), DeleteError>) {
        if call(self.handle()).is_ok() {
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// How many calls have ended it.
    pub(super) fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    /// How often its handler was dropped.
    pub(super) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Whether the peer has seen the end. Its own end is closed then.
    pub(super) fn peer_saw_the_end(&self) -> bool {
        let mut far = unpoisoned(&self.far);
        let over = self.dropped() > 0 && far.as_ref().is_none_or(Far::ended);
        if over {
            *far = None;
        }
        over
    }

    pub(super) fn write(&self) {
        if let Some(far) = &mut *unpoisoned(&self.far)
            && self.written.fetch_add(1, Ordering::Relaxed) < MOST_BYTES
        {
            let _ = far.write(b"x");
        }
    }
}
