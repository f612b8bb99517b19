//! The handler of a listener: it accepts, greets, and counts per thread.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use fd_core::ids::ThreadId;
use fd_core::{Handler, ReadyGuard, State};

use crate::gate::{Gate, GateGuard};
use crate::mutex::unpoisoned;
use crate::transport;

/// The number of connections that a call of the handler accepts. Clients may call faster than it accepts:
/// without a limit, an edge-triggered thread would do nothing else.
const BURST: u64 = 64;

/// Greets each client with a distinct number and closes the connection.
#[derive(Default)]
pub(super) struct Acceptor {
    me: Weak<Self>,
    greeted: AtomicU64,
    tallies: Mutex<BTreeMap<ThreadId, Tally>>,
    hold: Mutex<Option<Hold>>,
}

/// Where handler calls stop, except those of one thread.
#[derive(Clone)]
struct Hold {
    gate: Gate,
    exempt: Option<ThreadId>,
}

/// The counts of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    /// Calls of the handler.
    pub(super) runs: u64,
    /// Connections accepted.
    pub(super) accepted: u64,
    /// Calls that accepted no connection: another thread was faster.
    pub(super) empty: u64,
}

/// Accepts the waiting connections, at most `limit`, and at most one if the listener is level-triggered: the
/// rest are reported again, to this thread or another one. Returns the number of connections.
///
/// The errors of `accept` and of `serve`.
pub(super) fn accept_some(
    ready: &ReadyGuard<'_>,
    limit: u64,
    mut serve: impl FnMut(OwnedFd) -> io::Result<()>,
) -> io::Result<u64> {
    let limit = if is_edge(ready) { limit } else { 1 };
    let mut count = 0;
    while count < limit
        && let Some(connection) = transport::accept(ready)?
    {
        serve(connection)?;
        count += 1;
    }
    Ok(count)
}

fn is_edge(ready: &ReadyGuard<'_>) -> bool {
    ready.state().contains(State::EDGE)
}

/// Writes a client's number, which fits into any socket buffer.
pub(super) fn greet(connection: &OwnedFd, number: u64) -> io::Result<()> {
    match nix::unistd::write(connection, &number.to_be_bytes()) {
        Ok(8) => Ok(()),
        Ok(count) => Err(io::Error::other(format!("greeted with {count} of 8 bytes"))),
        // The client has closed and does not need the greeting. ENOTCONN: FreeBSD unlinks the two ends of a
        // UNIX connection before it marks this one as shut (uipc_usrreq.c, unp_disconnect; seen on 12.3).
        Err(nix::Error::EPIPE | nix::Error::ECONNRESET | nix::Error::ENOTCONN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Acceptor {
    pub(super) fn new() -> Arc<Self> {
        Arc::new_cyclic(|me| Self { me: Weak::clone(me), ..Self::default() })
    }

    /// Makes each later handler call stop at the returned gate, before it accepts, until the guard is
    /// dropped.
    pub(super) fn hold(&self) -> (Gate, GateGuard) {
        self.hold_all_but(None)
    }

    /// As [`Acceptor::hold`], except for one thread.
    pub(super) fn hold_all_but(&self, exempt: Option<ThreadId>) -> (Gate, GateGuard) {
        let gate = Gate::new();
        *unpoisoned(&self.hold) = Some(Hold { gate: gate.clone(), exempt });
        let guard = gate.guard();
        (gate, guard)
    }

    /// Returns the number of clients that were greeted.
    pub(super) fn greeted(&self) -> u64 {
        self.greeted.load(Ordering::SeqCst)
    }

    /// Returns the counts of each thread that ran the handler.
    pub(super) fn tallies(&self) -> BTreeMap<ThreadId, Tally> {
        unpoisoned(&self.tallies).clone()
    }

    /// Returns the counts of one thread.
    pub(super) fn tally(&self, thread: ThreadId) -> Tally {
        self.tallies().get(&thread).copied().unwrap_or_default()
    }

    /// Returns the number of handler calls on all threads.
    pub(super) fn runs(&self) -> u64 {
        unpoisoned(&self.tallies).values().map(|tally| tally.runs).sum()
    }

    /// Accepts the rest after the other work of this thread: the edge is consumed, and does not come again.
    fn go_on_later(&self, ready: &ReadyGuard<'_>) {
        let (me, handle, context) = (Weak::clone(&self.me), ready.handle(), ready.context());
        // It is refused if the runtime stops, and does nothing if the listener was deleted.
        let _ = context.core().post(context.id(), move |context| {
            if let Some(me) = me.upgrade() {
                let _ = context.enter(handle, |ready| me.ready(ready));
            }
        });
    }
}

impl Handler for Acceptor {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let thread = ready.context().id();
        unpoisoned(&self.tallies).entry(thread).or_default().runs += 1;
        let hold = unpoisoned(&self.hold).clone();
        if let Some(hold) = hold.filter(|hold| hold.exempt != Some(thread)) {
            hold.gate.pass();
        }
        let accepted = accept_some(ready, BURST, |connection| {
            let number = self.greeted.fetch_add(1, Ordering::SeqCst);
            unpoisoned(&self.tallies).entry(thread).or_default().accepted += 1;
            greet(&connection, number)
        });
        match accepted {
            Ok(0) => unpoisoned(&self.tallies).entry(thread).or_default().empty += 1,
            Ok(BURST) if is_edge(ready) => self.go_on_later(ready),
            Ok(_) => {}
            // The panic ends the runtime, which the scenario then reports.
            Err(error) => panic!("accepting: {error}"),
        }
    }
}
