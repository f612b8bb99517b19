//! A handler whose registration is watched from outside, and answers that a worker thread gathers.

use std::fmt::Debug;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use fd_core::error::DeleteError;
use fd_core::ids::ThreadId;
use fd_core::{FdHandle, Handler, ReadyGuard};

use crate::descriptors;
use crate::harness::Harness;
use crate::recorder::Recorder;
use crate::test_context::Failure;
use crate::test_context::TestContext;
use crate::threads::spawn;

/// What is known of one registration and its handler.
pub(crate) struct HandlerMonitor {
    number: RawFd,
    entered: AtomicUsize,
    dropped: AtomicUsize,
    open_when_dropped: AtomicUsize,
    released: Mutex<Vec<OwnedFd>>,
    /// What [`HandlerMonitor::recording`] has read.
    pub(crate) recorder: Recorder,
}

impl HandlerMonitor {
    /// For the registration of `fd` to come.
    pub(crate) fn new(fd: &OwnedFd) -> Arc<Self> {
        Self::at(fd.as_raw_fd())
    }

    /// For the registration to come of whatever has `number` then.
    pub(crate) fn at(number: RawFd) -> Arc<Self> {
        Arc::new(Self {
            number,
            entered: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            open_when_dropped: AtomicUsize::new(0),
            released: Mutex::default(),
            recorder: Recorder::default(),
        })
    }

    /// The handler that does `action`. Give it away: it is dropped when nobody holds it any more.
    pub(crate) fn doing(
        self: &Arc<Self>,
        action: impl Fn(&ReadyGuard<'_>) + Send + Sync + 'static,
    ) -> Arc<dyn Handler> {
        Arc::new(MonitoredHandler { monitor: Arc::clone(self), action })
    }

    /// The handler that reads everything at each report.
    pub(crate) fn recording(self: &Arc<Self>) -> Arc<dyn Handler> {
        let monitor = Arc::clone(self);
        self.doing(move |ready| monitor.recorder.record(ready))
    }

    /// The descriptor's number.
    pub(crate) fn number(&self) -> RawFd {
        self.number
    }

    /// How often the handler was called.
    pub(crate) fn calls(&self) -> usize {
        self.entered.load(Ordering::SeqCst)
    }

    /// How often the handler was dropped.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// In how many of those cases the number was still open.
    pub(crate) fn open_when_dropped(&self) -> usize {
        self.open_when_dropped.load(Ordering::SeqCst)
    }

    /// The descriptors that came back.
    pub(crate) fn take_released(&self) -> Vec<OwnedFd> {
        std::mem::take(&mut *self.released.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was read, as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.recorder.bytes()).into_owned()
    }
}

struct MonitoredHandler<F> {
    monitor: Arc<HandlerMonitor>,
    action: F,
}

impl<F: Fn(&ReadyGuard<'_>) + Send + Sync + 'static> Handler for MonitoredHandler<F> {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.monitor.entered.fetch_add(1, Ordering::SeqCst);
        (self.action)(ready);
    }

    fn released(&self, fd: OwnedFd) {
        self.monitor.released.lock().unwrap_or_else(PoisonError::into_inner).push(fd);
    }
}

impl<F> Drop for MonitoredHandler<F> {
    fn drop(&mut self) {
        let open = descriptors::is_open(self.monitor.number);
        self.monitor.open_when_dropped.fetch_add(usize::from(open), Ordering::SeqCst);
        self.monitor.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Deletes on `thread`, or on a thread of no group, and goes on: the answer comes when the delete has returned.
pub(crate) fn delete_on(
    harness: &Harness,
    thread: Option<ThreadId>,
    handle: FdHandle,
) -> Result<Receiver<Result<(), DeleteError>>, Failure> {
    let (tell, told) = channel();
    if let Some(thread) = thread {
        let _ = harness.core().post(thread, move |context| {
            let _ = tell.send(context.registration(handle).delete());
        });
    } else {
        let core = Arc::clone(harness.core());
        spawn(move || {
            let deleted = core.registration(handle).delete();
            // Before the answer: the lab's end looks for what the core has open.
            drop(core);
            let _ = tell.send(deleted);
        })?;
    }
    Ok(told)
}

/// Checks made on a worker thread, for the scenario's own thread to record.
#[derive(Default)]
pub(crate) struct Answers(Vec<Answer>);

struct Answer {
    what: &'static str,
    expected: String,
    observed: String,
    source: &'static str,
}

impl Answers {
    /// `observed` was seen where `expected` is right, because of `source`.
    pub(crate) fn eq<T: Debug>(
        &mut self,
        what: &'static str,
        expected: T,
        observed: T,
        source: &'static str,
    ) {
        let (expected, observed) = (format!("{expected:?}"), format!("{observed:?}"));
        self.0.push(Answer { what, expected, observed, source });
    }

    /// Records all of them.
    pub(crate) fn record(self, test: &mut TestContext) {
        for Answer { what, expected, observed, source } in self.0 {
            test.check_eq(what, expected, observed, source);
        }
    }
}
