//! A handler that reads everything and records which thread handled each report.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use fd_core::ids::ThreadId;
use fd_core::poller::Events;
use fd_core::{Handler, OwnerId, ReadyGuard};

use crate::checkpoints::HeldThread;
use crate::gate::{Gate, GateGuard};
use crate::mutex::unpoisoned;
use crate::transport;

/// A handler that reads everything at each report and records it.
#[derive(Default)]
pub struct Recorder {
    seen: Mutex<Vec<Report>>,
    next_gate: Mutex<Option<Gate>>,
    gate_of_all: Mutex<Option<Gate>>,
    leaves_unread: AtomicBool,
}

/// One call of the handler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The thread that handled it.
    pub thread: ThreadId,
    /// The events that the poller reported.
    pub events: Events,
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    /// Whether the end of the stream was read.
    pub end: bool,
}

impl Recorder {
    /// Creates a recorder without reports.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns its identity as an owner.
    pub fn id(self: &Arc<Self>) -> OwnerId {
        OwnerId::of(self)
    }

    /// Returns all reports so far, in order.
    pub fn seen(&self) -> Vec<Report> {
        unpoisoned(&self.seen).clone()
    }

    /// Returns how many reports there were.
    pub fn reports(&self) -> usize {
        unpoisoned(&self.seen).len()
    }

    /// Returns how many reports `thread` handled.
    pub fn reports_on(&self, thread: ThreadId) -> usize {
        self.seen().iter().filter(|report| report.thread == thread).count()
    }

    /// Returns all bytes so far, in order.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen().into_iter().flat_map(|report| report.bytes).collect()
    }

    /// Returns which thread read which data, as text: `1/0:data`.
    pub fn reads(&self) -> String {
        let format_read = |seen: Report| format!("{}:{}", seen.thread, String::from_utf8_lossy(&seen.bytes));
        self.seen().into_iter().map(format_read).collect::<Vec<_>>().join(" ")
    }

    /// Holds the thread that handles the next report inside the handler, before it reads.
    pub fn hold_next(&self) -> HeldThread {
        let gate = Gate::new();
        *unpoisoned(&self.next_gate) = Some(gate.clone());
        HeldThread::at(gate, "a thread in the handler")
    }

    /// Holds every thread that handles a report from now on at the returned gate, before it reads, until the
    /// guard is dropped.
    pub(crate) fn hold_all(&self) -> (Gate, GateGuard) {
        let gate = Gate::new();
        *unpoisoned(&self.gate_of_all) = Some(gate.clone());
        let guard = gate.guard();
        (gate, guard)
    }

    /// Sets whether reports are recorded without reading. Receiving is stopped instead.
    pub fn leave_unread(&self, leave: bool) {
        self.leaves_unread.store(leave, Ordering::SeqCst);
    }

    /// Records a report, as [`Handler::ready`] does: for handlers that do more than that.
    pub fn record(&self, ready: &ReadyGuard<'_>) {
        let next = unpoisoned(&self.next_gate).take();
        let all = unpoisoned(&self.gate_of_all).clone();
        next.into_iter().chain(all).for_each(|gate| gate.pass());
        let mut bytes = Vec::new();
        if self.leaves_unread.load(Ordering::SeqCst) {
            let _ = ready.registration().stop_recv();
            self.push(Report { thread: ready.context().id(), events: ready.events(), bytes, end: false });
            return;
        }
        // A reset connection has ended, too.
        let end = transport::read_all(ready, &mut bytes).unwrap_or(true);
        if end {
            // In level mode the end would be reported again and again.
            let _ = ready.registration().stop_recv();
        } else {
            let _ = ready.registration().cant_recv();
        }
        self.push(Report { thread: ready.context().id(), events: ready.events(), bytes, end });
    }

    fn push(&self, report: Report) {
        unpoisoned(&self.seen).push(report);
    }
}

impl Handler for Recorder {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.record(ready);
    }
}
