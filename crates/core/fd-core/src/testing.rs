//! Helpers of the unit tests of core, context and worker: a thread without a loop, and a backend without a
//! kernel.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::poller::{Backend, Capabilities, DeregisterReason, Poller};
use crate::shared::FdCore;
use crate::shared::clock::Clock;
use crate::shared::context::Context;
use crate::shared::handler::Handler;
use crate::shared::options::InsertOptions;
use crate::shared::ready::ReadyGuard;
use crate::table::{FdHandle, FdTable};
use crate::words::ids::{GroupId, ThreadId, ThreadMask};

/// The arguments of a call of `Backend::forget`: group, both polled masks, and reason.
pub(crate) type Forgotten = (GroupId, u64, u64, DeregisterReason);

/// A backend that creates no poller and records its `forget` calls.
pub(crate) struct Fake {
    pub(crate) capabilities: Capabilities,
    pub(crate) forgotten: Arc<Mutex<Vec<Forgotten>>>,
}

impl Backend for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn poller(&self, _: ThreadId) -> io::Result<Box<dyn Poller>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn forget(&self, _: RawFd, group: GroupId, recv: ThreadMask, send: ThreadMask, reason: DeregisterReason) {
        self.forgotten.lock().unwrap().push((group, recv.bits(), send.bits(), reason));
    }
}

/// A clock that a test sets.
#[derive(Clone)]
pub(crate) struct Time {
    start: Instant,
    milliseconds: Arc<AtomicU32>,
}

impl Time {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), milliseconds: Arc::default() }
    }

    pub(crate) fn pass(&self, milliseconds: u32) {
        self.milliseconds.fetch_add(milliseconds, Ordering::SeqCst);
    }

    pub(crate) fn since_start(&self) -> u32 {
        self.milliseconds.load(Ordering::SeqCst)
    }
}

pub(crate) fn group(number: usize) -> GroupId {
    GroupId::new(number).unwrap()
}

pub(crate) fn thread(group_number: usize, index: usize) -> ThreadId {
    ThreadId::new(group(group_number), index).unwrap()
}

/// Creates a core of two groups of two threads each, over a fake backend. Returns it with the backend's
/// record of `forget` calls.
pub(crate) fn core(capabilities: Capabilities, clock: Clock) -> (Arc<FdCore>, Arc<Mutex<Vec<Forgotten>>>) {
    core_of(FdTable::new(64, &[2, 2]).unwrap(), capabilities, clock)
}

/// Creates a core with this table, as [`core`].
pub(crate) fn core_of(
    table: FdTable,
    capabilities: Capabilities,
    clock: Clock,
) -> (Arc<FdCore>, Arc<Mutex<Vec<Forgotten>>>) {
    let forgotten = Arc::default();
    let backend = Fake { capabilities, forgotten: Arc::clone(&forgotten) };
    (Arc::new(FdCore::new(table, Box::new(backend), clock)), forgotten)
}

/// The context of the first thread of such a core, whose backend has all features and whose time stands
/// still.
pub(crate) fn one_thread() -> Context {
    context(Capabilities::ALL, &Time::new())
}

/// The context of the first thread of such a core, with `time` as its clock.
pub(crate) fn context(capabilities: Capabilities, time: &Time) -> Context {
    let time = time.clone();
    let now = move || time.start + Duration::from_millis(time.since_start().into());
    Context::new(core(capabilities, Clock::Given(Arc::new(now))).0, thread(1, 0))
}

pub(crate) fn handler() -> Arc<dyn Handler> {
    Arc::new(|_: &ReadyGuard<'_>| {})
}

pub(crate) fn open() -> OwnedFd {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).custom_flags(nix::libc::O_NONBLOCK).open("/dev/null").unwrap().into()
}

/// Opens a descriptor with this number, which no other test uses: the numbers that the system chooses are
/// lower.
pub(crate) fn open_at(number: RawFd) -> OwnedFd {
    // SAFETY: the number is below the limit, no other code owns it, and the copy is made here.
    unsafe {
        assert_eq!(nix::libc::dup2(open().as_raw_fd(), number), number);
        OwnedFd::from_raw_fd(number)
    }
}

/// Inserts a registration for these threads.
pub(crate) fn insert_for(core: &FdCore, group: GroupId, threads: ThreadMask) -> FdHandle {
    core.insert(open(), handler(), group, threads, InsertOptions::default()).unwrap()
}

/// Inserts a registration that only the thread of `context` may use.
pub(crate) fn insert(context: &Context) -> FdHandle {
    insert_with(context, handler())
}

/// As [`insert`], with a handler.
pub(crate) fn insert_with(context: &Context, handler: impl Handler) -> FdHandle {
    let id = context.id();
    context.core().insert(open(), handler, id.group(), id.mask(), InsertOptions::default()).unwrap()
}
