//! A handler whose calls, drops and returned descriptors are counted, and checks that a worker thread
//! collects.

use std::fmt::Debug;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

use fd_core::error::DeleteError;

use crate::prelude::*;
use crate::threads::spawn;

/// Counts the calls and drops of one registration's handler, and keeps the descriptors that were returned to
/// it.
#[derive(Default)]
pub(crate) struct HandlerMonitor {
    number: RawFd,
    entered: AtomicUsize,
    dropped: AtomicUsize,
    open_when_dropped: AtomicUsize,
    released: Mutex<Vec<OwnedFd>>,
    /// The data that [`HandlerMonitor::recording`] has read.
    pub(crate) recorder: Recorder,
}

impl HandlerMonitor {
    /// Creates a monitor for a coming registration of `fd`.
    pub(crate) fn new(fd: &OwnedFd) -> Arc<Self> {
        Self::at(fd.as_raw_fd())
    }

    /// Creates a monitor for a coming registration of `number`.
    pub(crate) fn at(number: RawFd) -> Arc<Self> {
        Arc::new(Self { number, ..Self::default() })
    }

    /// Returns a handler that performs `action`. Pass it on without keeping a copy: it is dropped with its
    /// last reference.
    pub(crate) fn doing(
        self: &Arc<Self>,
        action: impl Fn(&Self, &ReadyGuard<'_>) + Send + Sync + 'static,
    ) -> Arc<dyn Handler> {
        Arc::new(MonitoredHandler { monitor: Arc::clone(self), action })
    }

    /// Returns a handler that reads everything at each report.
    pub(crate) fn recording(self: &Arc<Self>) -> Arc<dyn Handler> {
        self.doing(|monitor, ready| monitor.recorder.record(ready))
    }

    /// Returns the descriptor's number.
    pub(crate) fn number(&self) -> RawFd {
        self.number
    }

    /// Returns how often the handler was called.
    pub(crate) fn calls(&self) -> usize {
        self.entered.load(Ordering::SeqCst)
    }

    /// Returns how often the handler was dropped.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Returns in how many of these drops the number was still open.
    pub(crate) fn open_when_dropped(&self) -> usize {
        self.open_when_dropped.load(Ordering::SeqCst)
    }

    /// Takes the descriptors that were returned by a disown.
    pub(crate) fn take_released(&self) -> Vec<OwnedFd> {
        std::mem::take(&mut *unpoisoned(&self.released))
    }

    /// Returns the data that was read, as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.recorder.bytes()).into_owned()
    }
}

struct MonitoredHandler<F> {
    monitor: Arc<HandlerMonitor>,
    action: F,
}

impl<F: Fn(&HandlerMonitor, &ReadyGuard<'_>) + Send + Sync + 'static> Handler for MonitoredHandler<F> {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.monitor.entered.fetch_add(1, Ordering::SeqCst);
        (self.action)(&self.monitor, ready);
    }

    fn released(&self, fd: OwnedFd) {
        unpoisoned(&self.monitor.released).push(fd);
    }
}

impl<F> Drop for MonitoredHandler<F> {
    fn drop(&mut self) {
        let open = descriptors::is_open(self.monitor.number);
        self.monitor.open_when_dropped.fetch_add(usize::from(open), Ordering::SeqCst);
        self.monitor.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Deletes the registration on `thread`, or on a thread outside the runtime, without waiting. The result
/// arrives when the delete has returned.
pub(crate) fn delete_on(
    harness: &Harness,
    thread: Option<ThreadId>,
    handle: FdHandle,
) -> Result<Receiver<Result<(), DeleteError>>> {
    let (sender, result) = channel();
    if let Some(thread) = thread {
        let _ = harness.core().post(thread, move |context| {
            let _ = sender.send(context.registration(handle).delete());
        });
    } else {
        let core = Arc::clone(harness.core());
        spawn(move || {
            let deleted = core.registration(handle).delete();
            // Before the result: the end of the harness checks which descriptors the core has open.
            drop(core);
            let _ = sender.send(deleted);
        })?;
    }
    Ok(result)
}

/// Checks that a worker thread makes, and that the scenario's own thread records.
#[derive(Default)]
pub(crate) struct CollectedChecks(Vec<[String; 4]>);

impl CollectedChecks {
    /// Adds a check that `observed` equals `expected`. `source` states why `expected` is right.
    pub(crate) fn eq<T: Debug>(&mut self, label: &str, expected: T, observed: T, source: &str) {
        let (expected, observed) = (format!("{expected:?}"), format!("{observed:?}"));
        self.0.push([label.into(), expected, observed, source.into()]);
    }

    /// Records all checks.
    pub(crate) fn record(self, test: &mut TestContext) {
        for [label, expected, observed, source] in self.0 {
            test.check_eq(label, expected, observed, &source);
        }
    }
}
