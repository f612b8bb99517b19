//! Bugs that can be switched on by name in a build with the feature `faults`, so that a scenario can be seen
//! to catch them. Without the feature, [`on`] is the constant `false` and nothing is left of them.

macro_rules! faults {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $origin:literal;)*) => {
        /// A mistake that this core or its history could have made.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Fault {
            $($(#[$doc])* $variant,)*
        }

        impl Fault {
            /// Every fault.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name it is switched on by.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Where the mistake was made, or could be.
            pub const fn origin(self) -> &'static str {
                match self { $(Self::$variant => $origin,)* }
            }
        }
    };
}

faults! {
    /// All threads share one kernel poller, so every thread wakes for every descriptor.
    OnePollerPerProcess = "one-poller-per-process", "HAProxy before d9e7e36c6; bugs 9 and 10";
    /// Deleting waits until nobody runs the handler.
    WaitOnDelete = "wait-on-delete", "HAProxy before 2c3f9818e; bug 45";
    /// An update of a shared descriptor goes to the caller's private list only.
    PrivateUpdateForShared = "private-update-for-shared", "HAProxy before 6b96f7289; bug 20";
    /// A report does not look at the group of the descriptor.
    NoGroupCheck = "no-group-check", "HAProxy before 9464bb1f0";
    /// A report does not look at the generation.
    NoGenerationCheck = "no-generation-check", "HAProxy before 8235a2478; bug 75, suspect 18";
    /// Takeover does not look whether somebody runs the handler.
    TakeoverIgnoresRunning = "takeover-ignores-running", "rule S3";
    /// Takeover stops receiving even when it fails.
    TakeoverStopsOnFailure = "takeover-stops-on-failure", "HAProxy 8d7b51782; bug 41";
    /// Takeover does not compare the owner.
    TakeoverIgnoresOwner = "takeover-ignores-owner", "seed f69fea64e, first check";
    /// Operations do not compare the handle's generation.
    StaleHandleAccepted = "stale-handle-accepted", "design 4.1 (i)";
    /// Takeover leaves the thread mask alone.
    TakeoverKeepsThreadMask = "takeover-keeps-thread-mask", "rule S3";
    /// The exit of a report reads the thread mask before it gives up its running bit.
    ThreadMaskReadBeforeExit = "thread-mask-read-before-exit", "suspect 1";
    /// An orphan is not closed by its last user.
    LastUserDoesNotClose = "last-user-does-not-close", "rule L4";
    /// Deleting closes at once, even under a running handler.
    DeleteClosesAtOnce = "delete-closes-at-once", "rule S5";
    /// The old thread's poller is not told that it lost a descriptor.
    MigratedNotForgotten = "migrated-not-forgotten", "HAProxy 79e90b961; bug 52";
    /// A descriptor moved to another group stays in the old group's pollers and masks.
    GroupChangeKeepsPolled = "group-change-keeps-polled", "HAProxy before 752c5cba5; bug 77";
    /// After a takeover an edge that the old thread consumed is not replayed.
    NoRearmAfterTakeover = "no-rearm-after-takeover", "suspect 10";
    /// migrate_on does not stop the activity.
    MigrateKeepsActive = "migrate-keeps-active", "HAProxy 2.5 of the protocol";
    /// Cloned descriptors are closed without telling the pollers.
    ClonedNotForgotten = "cloned-not-forgotten", "HAProxy 041751c13; bugs 1 and 76";
    /// Disowned descriptors are closed.
    DisownCloses = "disown-closes", "HAProxy before 7d392a592; bug 55";
    /// Disowned descriptors stay in the kernel pollers.
    DisownKeepsPolled = "disown-keeps-polled", "HAProxy c22580c2c; bug 34";
    /// An orphan's update bit survives it.
    OrphanKeepsUpdateBit = "orphan-keeps-update-bit", "HAProxy 237e6a0d6; bugs 22 and 65";
    /// An orphan's polled masks survive it.
    OrphanKeepsPolled = "orphan-keeps-polled", "HAProxy c22580c2c; bug 34";
    /// An orphan stays linked in the shared list.
    OrphanStaysListed = "orphan-stays-listed", "HAProxy 2f36d902a; bug 22";
    /// The private list has room for a fixed number of updates and drops the rest.
    PrivateListBounded = "private-list-bounded", "HAProxy 8ef1a6b0d; bug 18, suspect 6";
    /// Threads outside the mask publish an update without waking anybody.
    NoWakeForUpdate = "no-wake-for-update", "HAProxy before f01588744; suspect 19";
    /// SLEEPING is cleared before the wait.
    SleepingClearedEarly = "sleeping-cleared-early", "HAProxy c37ccd70b; bug 50";
    /// A report on an inactive direction programs no removal.
    InactiveStaysPolled = "inactive-stays-polled", "rule L6";
    /// The handler is called although nothing is active.
    InactiveRuns = "inactive-runs", "rule S18";
    /// One descriptor is closed twice.
    DoubleClose = "double-close", "HAProxy 64920538f; bug 43";
    /// A descriptor is not closed at all.
    LeakOnClose = "leak-on-close", "HAProxy 13b007d58; bug 11";
    /// The first thread to see a shared update consumes it for all, whatever the backend.
    SharedUpdateOnce = "shared-update-once", "HAProxy before 6b96f7289; bug 20";
    /// Stopping forgets to wake the sleeping threads.
    StopWithoutWake = "stop-without-wake", "HAProxy d7a6b2f74; rule L8";
    /// A thread that starts does not register what is already in the table.
    NoReregistration = "no-reregistration", "HAProxy reregister_all";
    /// epoll: a registration left over under this number is taken for the new one.
    EpollIgnoresEexist = "epoll-ignores-eexist", "HAProxy before 752c5cba5; bug 77";
    /// A forced change is compared like any other instead of replacing the registration.
    ForcedChangeSkipped = "forced-change-skipped", "suspects 5 and 10; rule L6";
    /// A descriptor that the kernel refuses to poll is never reported.
    AlwaysReadyIgnored = "always-ready-ignored", "prior art, section 5, epoll (iii)";
    /// A timeout below the poller's unit becomes zero.
    TimeoutRoundedDown = "timeout-rounded-down", "mio selector/epoll.rs";
    /// kqueue: the changes behind the first one that fails are dropped.
    KqueueStopsAtFirstError = "kqueue-stops-at-first-error", "prior art, section 5, kqueue (iii)";
    /// kqueue: the call that submits changes may also take events, which are lost.
    KqueueChangesTakeEvents = "kqueue-changes-take-events", "prior art, section 5, kqueue (iv)";
    /// kqueue: a read event without data is taken for nothing to read.
    KqueueEmptyReadIgnored = "kqueue-empty-read-ignored", "HAProxy before eaefc3c50";
    /// kqueue: a child closes the number that was its parent's kqueue.
    KqueueClosesInherited = "kqueue-closes-inherited", "HAProxy before ba8e8c351";
    /// poll, select: the interest in a descriptor survives its registration.
    InterestSurvives = "interest-survives", "suspect 11";
    /// poll: an invalid descriptor is neither reported nor left out.
    PollNvalSpins = "poll-nval-spins", "prior art, section 5, poll";
    /// select: one bad descriptor and no event is reported to anybody.
    SelectBadfFatal = "select-badf-fatal", "suspect 11; prior art, section 5, select";
    /// poll, select: threads that sleep go on waiting for a descriptor that they have lost.
    SleepersKeepFiles = "sleepers-keep-files", "this core, found by deletion/foreign-group-idle";
    /// epoll: a descriptor that another thread polls is closed without removing it first.
    EpollCloseLeavesItem = "epoll-close-leaves-item", "this core, found by deletion/other-thread-in-handler";
    /// A report that set its running bit too late runs the handler all the same.
    LateReportRuns = "late-report-runs", "HAProxy before cd8914bc5; bug 66, rule S6";
    /// A late report waits for the other late ones before it looks whether it is still allowed.
    LateReportsWait = "late-reports-wait", "HAProxy before f98a8c317; bug 67";
    /// A second delete of one life is accepted and sets a second token.
    DeleteTwice = "delete-twice", "design 4.1 (iii)";
    /// An update that every allowed thread owes already is neither listed nor announced again.
    NoWakeIfOwed = "no-wake-if-owed", "suspect 19";
}

#[cfg(feature = "faults")]
mod switch {
    use std::sync::atomic::{AtomicU64, Ordering};

    // A plain std atomic also under loom: a switch is set before the model starts.
    static ON: AtomicU64 = AtomicU64::new(0);
    const _: () = assert!(super::Fault::ALL.len() <= u64::BITS as usize);

    /// Whether `fault` is switched on.
    #[inline]
    pub fn on(fault: super::Fault) -> bool {
        // Relaxed: the switches are set before any thread of the runtime starts.
        ON.load(Ordering::Relaxed) & (1 << fault as u8) != 0
    }

    /// Whether some fault is switched on: then assertions leave the catching to the scenarios.
    #[inline]
    pub fn any() -> bool {
        ON.load(Ordering::Relaxed) != 0
    }

    /// Switches `fault` on for the rest of this process.
    pub fn enable(fault: super::Fault) {
        ON.fetch_or(1 << fault as u8, Ordering::Relaxed);
    }
}

#[cfg(feature = "faults")]
pub use switch::{any, enable, on};

/// Whether `fault` is switched on: never, in a build without the feature `faults`.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub const fn on(_: Fault) -> bool {
    false
}

/// Whether some fault is switched on: never, in a build without the feature `faults`.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub const fn any() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_own_name() {
        let mut names: Vec<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Fault::ALL.len());
    }
}
