//! A handler that reads what there is and remembers who did.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fd_core::ids::ThreadId;
use fd_core::poller::Events;
use fd_core::{Handler, OwnerId, ReadyGuard};

use crate::gate::Gate;
use crate::hold::Held;
use crate::transport;

/// Reads everything at each report and remembers it.
#[derive(Default)]
pub struct Recorder {
    seen: Mutex<Vec<Seen>>,
    next: Mutex<Option<Gate>>,
    leaves: AtomicBool,
}

/// One report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The thread that handled it.
    pub thread: ThreadId,
    /// What the poller said.
    pub events: Events,
    /// What could be read.
    pub bytes: Vec<u8>,
    /// Whether the end of the stream was read.
    pub end: bool,
}

impl Recorder {
    /// One that has seen nothing.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Its identity as an owner.
    pub fn id(self: &Arc<Self>) -> OwnerId {
        OwnerId::of(self)
    }

    /// Everything so far, in order.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many reports there were.
    pub fn reports(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// How many reports `thread` handled.
    pub fn reports_on(&self, thread: ThreadId) -> usize {
        self.seen().iter().filter(|seen| seen.thread == thread).count()
    }

    /// All bytes so far, in order.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen().into_iter().flat_map(|seen| seen.bytes).collect()
    }

    /// Holds the thread that handles the next report inside the handler, before it reads.
    pub fn hold_next(&self) -> Held {
        let gate = Gate::new();
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(gate.clone());
        Held::at(gate, "a thread in the handler")
    }

    /// Whether reports are remembered without reading anything: receiving is stopped instead.
    pub fn leave_unread(&self, leave: bool) {
        self.leaves.store(leave, Ordering::SeqCst);
    }

    /// What [`Handler::ready`] does, for handlers that do more.
    pub fn record(&self, ready: &ReadyGuard<'_>) {
        let gate = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(gate) = gate {
            gate.pass();
        }
        let mut bytes = Vec::new();
        if self.leaves.load(Ordering::SeqCst) {
            let _ = ready.registration().stop_recv();
            self.remember(Seen { thread: ready.context().id(), events: ready.events(), bytes, end: false });
            return;
        }
        // A reset connection has ended, too.
        let end = transport::read_all(ready, &mut bytes).unwrap_or(true);
        if end {
            // Level-triggered, the end would be reported for ever.
            let _ = ready.registration().stop_recv();
        } else {
            let _ = ready.registration().cant_recv();
        }
        self.remember(Seen { thread: ready.context().id(), events: ready.events(), bytes, end });
    }

    fn remember(&self, seen: Seen) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

impl Handler for Recorder {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.record(ready);
    }
}
