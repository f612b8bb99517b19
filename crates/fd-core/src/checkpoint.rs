//! Named points in the protocol at which a test can hold a thread, to force one interleaving. Without the
//! feature `checkpoints`, nothing is left of them.

use std::os::fd::RawFd;

/// A point in the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Point {
    /// A report has pinned the entry and seen itself allowed; its running bit is not set yet.
    ReportBeforeRunning,
    /// A report has set its running bit and not looked at the masks again.
    ReportRunningSet,
    /// A handler has returned; its running bit is still set.
    ReportHandlerDone,
    /// A thread is about to give up its running bit, whatever it has seen of the thread mask before.
    LeaveBegun,
    /// A thread has given up its running bit and not looked at the thread mask.
    LeaveRunningCleared,
    /// A takeover has set its running bit and not changed the thread mask.
    TakeoverRunningSet,
    /// A takeover has changed the thread mask and not given up its running bit.
    TakeoverMaskSet,
    /// A delete has set its token and not cleared the thread mask.
    DeleteTokenSet,
    /// A delete has cleared the thread mask and not looked who is running.
    DeleteMaskCleared,
    /// The life is over, the number still open.
    RetiredBeforeClose,
    /// An update has set its bits and is not listed yet.
    UpdateBitsSet,
    /// A worker has set SLEEPING and not looked at its work again.
    SleepAnnounced,
    /// A worker is about to enter its poller's wait.
    BeforeWait,
    /// A worker has harvested events and dispatched none.
    AfterWait,
}

#[cfg(feature = "checkpoints")]
mod hook {
    use super::{Point, RawFd};
    use std::sync::{Arc, RwLock};

    type Hook = Arc<dyn Fn(Point, RawFd) + Send + Sync>;
    static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

    /// Calls `hook` at every point from now on, on the thread that reaches it. It may block. It must not call
    /// into the table. The descriptor is −1 at points that concern none.
    pub fn install(hook: impl Fn(Point, RawFd) + Send + Sync + 'static) {
        *HOOK.write().unwrap() = Some(Arc::new(hook));
    }

    /// Calls nobody any more.
    pub fn remove() {
        *HOOK.write().unwrap() = None;
    }

    pub(crate) fn hit(point: Point, fd: RawFd) {
        // Cloned out of the lock: the hook may block for long.
        let hook = HOOK.read().unwrap().clone();
        if let Some(hook) = hook {
            hook(point, fd);
        }
    }
}

#[cfg(feature = "checkpoints")]
pub(crate) use hook::hit;
#[cfg(feature = "checkpoints")]
pub use hook::{install, remove};

#[cfg(not(feature = "checkpoints"))]
#[inline(always)]
pub(crate) fn hit(_: Point, _: RawFd) {}
