//! The owner of a listener: accepts, greets, and remembers which thread did.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fd_core::ids::ThreadId;
use fd_core::{Handler, ReadyGuard};

use crate::gate::{Gate, GateGuard};
use crate::transport;

/// Greets each client with a number of its own and hangs up.
#[derive(Default)]
pub(super) struct Acceptor {
    greeted: AtomicU64,
    tallies: Mutex<BTreeMap<ThreadId, Tally>>,
    hold: Mutex<Option<Hold>>,
}

/// Where runs stop, but for those of one thread.
#[derive(Clone)]
struct Hold {
    gate: Gate,
    exempt: Option<ThreadId>,
}

/// What one thread did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    /// Runs of the handler.
    pub(super) runs: u64,
    /// Connections accepted.
    pub(super) accepted: u64,
    /// Runs that accepted none: another thread had been faster.
    pub(super) in_vain: u64,
}

/// Accepts what there is, at most one connection if the listener is level-triggered: whoever leaves some behind
/// is called again, or another thread is. Says how many there were.
///
/// # Errors
/// What `accept` or `serve` answers.
pub(super) fn accept_some(
    ready: &ReadyGuard<'_>,
    mut serve: impl FnMut(OwnedFd) -> io::Result<()>,
) -> io::Result<u64> {
    let edge = ready.state().contains(fd_core::State::EDGE);
    let mut count = 0;
    while let Some(connection) = transport::accept(ready)? {
        serve(connection)?;
        count += 1;
        if !edge {
            break;
        }
    }
    Ok(count)
}

/// Writes a client's number. It fits into any socket buffer.
pub(super) fn greet(connection: &OwnedFd, number: u64) -> io::Result<()> {
    match nix::unistd::write(connection, &number.to_be_bytes()) {
        Ok(8) => Ok(()),
        Ok(count) => Err(io::Error::other(format!("greeted with {count} of 8 bytes"))),
        // The client is gone, and does not miss it.
        Err(nix::Error::EPIPE | nix::Error::ECONNRESET) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Acceptor {
    pub(super) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// From now on each run stops at the gate that is returned, before it accepts, until the guard goes.
    pub(super) fn hold(&self) -> (Gate, GateGuard) {
        self.hold_all_but(None)
    }

    /// As [`Acceptor::hold`], for every thread but one.
    pub(super) fn hold_all_but(&self, exempt: Option<ThreadId>) -> (Gate, GateGuard) {
        let gate = Gate::new();
        *lock(&self.hold) = Some(Hold { gate: gate.clone(), exempt });
        let guard = gate.guard();
        (gate, guard)
    }

    /// How many clients were greeted.
    pub(super) fn greeted(&self) -> u64 {
        self.greeted.load(Ordering::SeqCst)
    }

    /// What each thread that ran the handler did.
    pub(super) fn tallies(&self) -> BTreeMap<ThreadId, Tally> {
        lock(&self.tallies).clone()
    }

    /// What one thread did.
    pub(super) fn tally(&self, thread: ThreadId) -> Tally {
        self.tallies().get(&thread).copied().unwrap_or_default()
    }

    /// Runs of the handler on all threads.
    pub(super) fn runs(&self) -> u64 {
        lock(&self.tallies).values().map(|tally| tally.runs).sum()
    }
}

impl Handler for Acceptor {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let thread = ready.context().id();
        lock(&self.tallies).entry(thread).or_default().runs += 1;
        let hold = lock(&self.hold).clone();
        if let Some(hold) = hold.filter(|hold| hold.exempt != Some(thread)) {
            hold.gate.pass();
        }
        let accepted = accept_some(ready, |connection| {
            let number = self.greeted.fetch_add(1, Ordering::SeqCst);
            lock(&self.tallies).entry(thread).or_default().accepted += 1;
            greet(&connection, number)
        });
        match accepted {
            Ok(0) => lock(&self.tallies).entry(thread).or_default().in_vain += 1,
            Ok(_) => {}
            // Ends the runtime, which the scenario then reports.
            Err(error) => panic!("accepting: {error}"),
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
