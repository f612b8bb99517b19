//! Named points in the protocol at which a test can hold a thread, to force one interleaving. Without the
//! feature `checkpoints`, nothing is left of them.

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

            /// The point's name, as scripts write it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

points! {
    /// A thread has registered what is its own, and waits for the others to have done so.
    ThreadRegistered,
    /// A report has pinned the entry and seen itself allowed; its running bit is not set yet.
    ReportBeforeRunning,
    /// A report has set its running bit and not looked at the masks again.
    ReportRunningSet,
    /// A report is sure that it may run the handler, and has not changed the state.
    ReportEntered,
    /// A handler has returned; its running bit is still set.
    ReportHandlerDone,
    /// A thread is about to give up its running bit, whatever it has seen of the thread mask before.
    ExitBegun,
    /// A thread has given up its running bit and not looked at the thread mask.
    ExitRunningCleared,
    /// A takeover has set its running bit and not changed the thread mask.
    TakeoverRunningSet,
    /// A takeover has changed the thread mask and not given up its running bit.
    TakeoverMaskSet,
    /// A change of group, or a push, has locked the entry and changed nothing.
    MoveLocked,
    /// A change of group, or a push, has changed everything and is about to unlock the entry.
    MoveDone,
    /// An insertion has found the table open and is about to take its slot.
    InsertBeforeClaim,
    /// An insertion has taken its slot, and has not published the registration.
    InsertClaimed,
    /// Somebody wants to look at an entry that is locked, and is about to wait.
    PinWaits,
    /// A call has found that its registration is not the one that it wants, and is about to give up.
    PinRefused,
    /// A delete has set its token and not cleared the thread mask.
    DeleteTokenSet,
    /// A delete has cleared the thread mask and not looked who is running.
    DeleteMaskCleared,
    /// The registration is over, the number still open.
    RetiredBeforeClose,
    /// The number has just been closed.
    Closed,
    /// An update has set its bits and is not listed yet.
    UpdateBitsSet,
    /// A walk of the shared list stands on this entry, and knows the next one.
    WalkAt,
    /// A pass has seen the mark that a change of owner left, and not taken it.
    RearmSeen,
    /// A pass has pinned an entry, and told its poller nothing of it yet.
    ApplyBegun,
    /// A worker has run what there was to run, and not announced its sleep.
    WorkDone,
    /// A worker has set SLEEPING and not looked at its work again.
    SleepAnnounced,
    /// A worker is about to enter its poller's wait.
    BeforeWait,
    /// A worker has received events and dispatched none.
    AfterWait,
}

impl Point {
    /// The point of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|point| point.name() == name)
    }

    /// Whether it is about a descriptor, and not about its thread alone.
    pub const fn concerns_descriptor(self) -> bool {
        !matches!(
            self,
            Self::ThreadRegistered
                | Self::WorkDone
                | Self::SleepAnnounced
                | Self::BeforeWait
                | Self::AfterWait
        )
    }
}

#[cfg(feature = "checkpoints")]
mod hook {
    use super::{Point, RawFd};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, RwLock};

    type Hook = Arc<dyn Fn(Point, RawFd) + Send + Sync>;
    static HOOK: RwLock<Option<Hook>> = RwLock::new(None);
    /// Whether there is one: all that a point costs while nobody watches.
    static WATCHED: AtomicBool = AtomicBool::new(false);

    /// Calls `hook` at every point from now on, on the thread that reaches it. It may block. It must not call
    /// into the table. The descriptor is −1 at points that concern none.
    pub fn install(hook: impl Fn(Point, RawFd) + Send + Sync + 'static) {
        *HOOK.write().unwrap() = Some(Arc::new(hook));
        // Pairs with the Acquire in `hit`; what else the watcher does before a thread comes there is ordered by that.
        WATCHED.store(true, Ordering::Release);
    }

    /// Calls nobody any more.
    pub fn remove() {
        WATCHED.store(false, Ordering::Release);
        *HOOK.write().unwrap() = None;
    }

    pub(crate) fn hit(point: Point, fd: RawFd) {
        if !WATCHED.load(Ordering::Acquire) {
            return;
        }
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
pub(crate) fn hit(_: Point, _: RawFd) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_found_by_its_name() {
        for point in Point::ALL {
            assert_eq!(Point::named(point.name()), Some(*point));
        }
        assert_eq!(Point::named("Nowhere"), None);
    }
}
