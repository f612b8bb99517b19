//! The kernel refuses a wait, for lack of memory or for a reason that the thread does not know. One failure
//! is no reason to end a thread that other threads rely on: it counts the failure, pauses, and waits again.

use std::cell::RefCell;
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use fd_core::FdTable;
use fd_core::ids::{GroupId, ThreadMask};
use fd_core::poller::{
    Backend, BackendError, Capabilities, Change, DeregisterReason, Event, Interest, Limits, MakeBackend,
    Poller, Wake,
};
use nix::errno::Errno;

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/failed-wait",
    title: "A thread whose waits fail for a while counts the failures, and still runs tasks and gets events",
    layer: Layer::Contract,
    clauses: &["L2", "L8", "L10", "core 3", "core 9"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Consecutive failures for each thread, on average: fewer than those after which a poller is considered
/// lost.
const FAILURES: u64 = 5;

/// The error that the waits of all pollers return, a number of times.
#[derive(Default)]
struct Refusal {
    left: AtomicU64,
    errno: AtomicI32,
}

impl Refusal {
    fn begin(&self, errno: Errno, times: u64) {
        self.errno.store(errno as i32, Ordering::SeqCst);
        self.left.store(times, Ordering::SeqCst);
    }

    fn is_over(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    fn take(&self) -> io::Result<()> {
        match self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => Err(io::Error::from_raw_os_error(self.errno.load(Ordering::SeqCst))),
            Err(_) => Ok(()),
        }
    }
}

thread_local! {
    /// The backend under test, and the error for its waits. The thread that starts the runtime creates the
    /// backend.
    static UNDER_TEST: RefCell<Option<(MakeBackend, Arc<Refusal>)>> = const { RefCell::new(None) };
}

/// Creates the backend under test, with waits that can be made to fail.
fn make(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    let under_test = UNDER_TEST.with_borrow(Option::clone);
    let (make, refusal) = under_test.expect("the scenario sets it before it starts a runtime");
    Ok(Box::new(Refusing { real: make(limits)?, refusal }))
}

struct Refusing {
    real: Box<dyn Backend>,
    refusal: Arc<Refusal>,
}

impl Backend for Refusing {
    fn name(&self) -> &'static str {
        self.real.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.real.capabilities()
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(RefusingPoller { real: self.real.poller(thread)?, refusal: Arc::clone(&self.refusal) }))
    }

    fn waker(&self, thread: ThreadId) -> Option<Arc<dyn Wake>> {
        self.real.waker(thread)
    }

    fn forget(
        &self,
        fd: RawFd,
        group: GroupId,
        recv: ThreadMask,
        send: ThreadMask,
        reason: DeregisterReason,
    ) {
        self.real.forget(fd, group, recv, send, reason);
    }
}

struct RefusingPoller {
    real: Box<dyn Poller>,
    refusal: Arc<Refusal>,
}

impl Poller for RefusingPoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        self.real.update(change)
    }

    fn queued(&self) -> usize {
        self.real.queued()
    }

    fn flush(&mut self, settled: &mut dyn FnMut(RawFd, Interest)) {
        self.real.flush(settled);
    }

    fn wait(&mut self, table: &FdTable, timeout: Option<Duration>, batch: &mut Vec<Event>) -> io::Result<()> {
        self.refusal.take()?;
        self.real.wait(table, timeout, batch)
    }

    fn is_degraded(&self) -> bool {
        self.real.is_degraded()
    }

    fn rebuild(&mut self, forked: bool) -> io::Result<()> {
        self.real.rebuild(forked)
    }
}

fn run(test: &mut TestContext) -> Result {
    let refusal = Arc::<Refusal>::default();
    let real = std::mem::replace(&mut test.make, make);
    UNDER_TEST.set(Some((real, Arc::clone(&refusal))));
    let mut harness = Harness::start(test)?;
    harness.expect_errors();
    let mut endpoints = Vec::new();
    for thread in harness.threads() {
        let ends = test.pair()?;
        let monitor = HandlerMonitor::new(&ends.near);
        harness.insert_recv(ends.near, monitor.recording(), thread)?;
        endpoints.push((monitor, ends.far));
    }
    harness.fence_all()?;
    // Transient errors, and errors that mean a lost poller: a thread must believe those only if they persist.
    for errno in [Errno::ENOMEM, Errno::EAGAIN, Errno::EBADF, Errno::EINVAL] {
        let errors = |harness: &Harness| -> u64 {
            harness.threads().into_iter().map(|thread| harness.activity(thread).poll_error).sum()
        };
        let (before, times) = (errors(&harness), FAILURES * endpoints.len() as u64);
        refusal.begin(errno, times);
        // Events alone: the threads wait again by themselves.
        for (_, far) in &mut endpoints {
            let written = far.write_all(format!("{errno:?};").as_bytes());
            written.map_err(|error| Failure::Wrong(format!("the descriptor is gone: {error}")))?;
        }
        let read = |(monitor, _): &(Arc<HandlerMonitor>, _)| monitor.text().ends_with(&format!("{errno:?};"));
        harness.wait_until(&format!("{errno:?}: the data are read, and the failures end"), || {
            refusal.is_over() && endpoints.iter().all(read)
        })?;
        // Tasks alone.
        refusal.begin(errno, times);
        while !refusal.is_over() {
            for thread in harness.threads() {
                harness.on(thread, |_| ())?;
            }
        }
        harness.fence_all()?;
        let what = format!("{errno:?}: waits that failed");
        test.check_cost_eq(what, 2 * times, errors(&harness) - before, "core 3");
    }
    drop(endpoints);
    harness.finish(test, &[])
}
