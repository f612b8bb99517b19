//! Checkpoints: named points of the protocol at which a test can hold a thread, to force one interleaving.
//! Without the feature `checkpoints`, the compiler removes them.

use std::os::fd::RawFd;

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A point in the protocol.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Point {
            $($(#[$doc])* $name,)*
        }

        impl Point {
            /// Every point.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name, as interleavings write it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

points! {
    /// A thread has registered its own descriptors, and waits until the other threads have registered theirs.
    ThreadRegistered,
    /// A report has pinned the entry, and its thread is allowed. It has not set its running bit.
    ReportBeforeRunning,
    /// A report has set its running bit. It has not read the masks again.
    ReportRunningSet,
    /// A report may run the handler. It has not changed the state.
    ReportEntered,
    /// A handler has returned. The running bit is still set.
    ReportHandlerDone,
    /// A thread is about to clear its running bit.
    ExitBegun,
    /// A thread has cleared its running bit. It has not read the thread mask.
    ExitRunningCleared,
    /// A takeover has set its running bit. It has not changed the thread mask.
    TakeoverRunningSet,
    /// A takeover has changed the thread mask. It has not cleared its running bit.
    TakeoverMaskSet,
    /// A relocation has locked the entry. It has not changed it.
    MoveLocked,
    /// A relocation has changed everything, and is about to unlock the entry.
    MoveDone,
    /// An insertion is about to claim its slot.
    InsertBeforeClaim,
    /// An insertion has claimed its slot. It has not published the registration.
    InsertClaimed,
    /// A pin has found a locked entry, and is about to wait.
    PinWaits,
    /// A pin, or a change of a state without one, has found another registration than the requested one, and
    /// is about to fail.
    PinRefused,
    /// A delete has marked the registration as deleted. It has not cleared the thread mask.
    DeleteMarked,
    /// A delete has cleared the thread mask. It has not read the running mask.
    DeleteMaskCleared,
    /// A delete has found a thread running, and has set the close token. It has not read the running mask
    /// again.
    DeleteTokenSet,
    /// The registration has ended. The number is still open.
    RetiredBeforeClose,
    /// The number has just been closed.
    Closed,
    /// A call has enabled a direction. It has not scheduled the update.
    InterestSet,
    /// An update has set its bits. The entry is not listed.
    UpdateBitsSet,
    /// A walk of the shared list has reached this entry, and has read the next one.
    WalkAt,
    /// A thread that applies an update has read the mark of a change of owner. It has not cleared the mark.
    RearmSeen,
    /// A thread that applies an update has pinned the entry. It has not changed its poller.
    ApplyBegun,
    /// A worker has run its tasks and timers. It has not announced its sleep.
    WorkDone,
    /// A worker has announced its sleep. It has not looked for work again.
    SleepAnnounced,
    /// A worker is about to enter its poller's wait.
    BeforeWait,
    /// A worker has received events. It has not dispatched them.
    AfterWait,
    /// A thread is about to wake another one, whose number stands in place of a descriptor. It is only
    /// observed: a signal handler may wake threads, and must not wait.
    WakeBegun,
}

impl Point {
    /// Returns the point with this name at which a test can hold a thread.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|point| point.name() == name && point.holds())
    }

    /// Whether a test can hold a thread here.
    pub const fn holds(self) -> bool {
        !matches!(self, Self::WakeBegun)
    }

    /// Whether the point concerns a descriptor, and not its thread alone.
    pub const fn concerns_descriptor(self) -> bool {
        !matches!(
            self,
            Self::ThreadRegistered
                | Self::WorkDone
                | Self::SleepAnnounced
                | Self::BeforeWait
                | Self::AfterWait
                | Self::WakeBegun
        )
    }
}

#[cfg(feature = "checkpoints")]
mod hook {
    use super::{Point, RawFd};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, OnceLock, RwLock};

    /// Set once, so that its call takes no lock.
    static OBSERVER: OnceLock<fn(Point, RawFd)> = OnceLock::new();

    type Hook = Arc<dyn Fn(Point, RawFd) + Send + Sync>;
    static HOOK: RwLock<Option<Hook>> = RwLock::new(None);
    /// Whether a hook is installed: the only cost of a point without one.
    static INSTALLED: AtomicBool = AtomicBool::new(false);

    /// Installs `hook`, which is called at every point, on the thread that reaches it. It may block. It must
    /// not call into the table. The descriptor is −1 at points that concern none.
    pub fn install(hook: impl Fn(Point, RawFd) + Send + Sync + 'static) {
        *HOOK.write().unwrap() = Some(Arc::new(hook));
        // Release, for the Acquire in `hit`: a thread that finds the hook also sees what the caller wrote
        // before.
        INSTALLED.store(true, Ordering::Release);
    }

    /// Removes the hook.
    pub fn remove() {
        INSTALLED.store(false, Ordering::Release);
        *HOOK.write().unwrap() = None;
    }

    /// Lets `observer` be called at every point before the hook, for the rest of this process. It must not
    /// wait, nor call into the table: a signal handler may call it. A later observer is ignored.
    pub fn observe(observer: fn(Point, RawFd)) {
        let _ = OBSERVER.set(observer);
    }

    pub(crate) fn hit(point: Point, fd: RawFd) {
        if let Some(observer) = OBSERVER.get() {
            observer(point, fd);
        }
        if !point.holds() || !INSTALLED.load(Ordering::Acquire) {
            return;
        }
        // Cloned, so that the lock is free while the hook blocks.
        let hook = HOOK.read().unwrap().clone();
        if let Some(hook) = hook {
            hook(point, fd);
        }
    }
}

#[cfg(feature = "checkpoints")]
pub(crate) use hook::hit;
#[cfg(feature = "checkpoints")]
pub use hook::{install, observe, remove};

#[cfg(not(feature = "checkpoints"))]
pub(crate) fn hit(_: Point, _: RawFd) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_that_can_hold_a_thread_is_found_by_its_name() {
        for point in Point::ALL {
            assert_eq!(Point::named(point.name()), point.holds().then_some(*point));
        }
        assert_eq!((Point::named("Nowhere"), Point::named("WakeBegun")), (None, None));
    }
}
