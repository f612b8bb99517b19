//! Faults: mistakes that can be switched on by name in a build with the feature `faults`, to show that a
//! scenario fails with them. Without the feature, [`Fault::is_on`] is the constant `false`, and the compiler
//! removes them.

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $origin:literal;)*) => {
        /// A mistake that this core or its history could contain.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Fault {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl Fault {
            /// Every fault.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name that switches it on.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The source of the mistake: a commit, a bug, or a rule.
            pub const fn origin(self) -> &'static str {
                match self { $(Self::$variant => $origin,)* }
            }

            /// The mistake as a sentence. It begins with the names of the backends that can contain the
            /// mistake, if not all can: `poll, select: ...`.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii(),)* }
            }
        }
    };
}

impl Fault {
    /// The backends that can contain the mistake. Empty if it is a mistake of the core, with every backend.
    pub fn backends(self) -> impl Iterator<Item = &'static str> {
        let named = |names: &&str| names.split(", ").all(|name| BACKENDS.contains(&name));
        let names = self.summary().split_once(": ").map(|(names, _)| names).filter(named);
        names.into_iter().flat_map(|names| names.split(", "))
    }
}

/// The backends that summaries may name.
const BACKENDS: [&str; 4] = ["epoll", "kqueue", "poll", "select"];

faults! {
    /// All threads share one kernel poller, so every thread wakes for every descriptor.
    OnePollerPerProcess = "one-poller-per-process", "HAProxy before d9e7e36c6; bugs 9 and 10";
    /// A delete waits until no thread runs the handler.
    WaitOnDelete = "wait-on-delete", "HAProxy before 2c3f9818e; bug 45";
    /// An update of a shared descriptor goes to the caller's private list only.
    PrivateUpdateForShared = "private-update-for-shared", "HAProxy before 6b96f7289; bug 20";
    /// A report does not check the group of the descriptor.
    NoGroupCheck = "no-group-check", "HAProxy before 9464bb1f0";
    /// A report does not check the generation.
    NoGenerationCheck = "no-generation-check", "HAProxy before 8235a2478; bug 75, suspect 18";
    /// A takeover does not check whether a thread runs the handler.
    TakeoverIgnoresRunning = "takeover-ignores-running", "rule S3";
    /// A takeover deactivates both directions even if it fails.
    TakeoverStopsOnFailure = "takeover-stops-on-failure", "HAProxy 8d7b51782; bug 41";
    /// A takeover does not compare the owner.
    TakeoverIgnoresOwner = "takeover-ignores-owner", "HAProxy f69fea64e; protocol 8.1";
    /// Operations do not compare the handle's generation.
    StaleHandleAccepted = "stale-handle-accepted", "protocol 2.1";
    /// A takeover does not change the thread mask.
    TakeoverKeepsThreadMask = "takeover-keeps-thread-mask", "rule S3";
    /// The exit of a report reads the thread mask before it clears its running bit.
    ThreadMaskReadBeforeExit = "thread-mask-read-before-exit", "suspect 1";
    /// The last user of a deleted descriptor does not close it.
    LastUserDoesNotClose = "last-user-does-not-close", "rule L4";
    /// A delete closes at once, even under a running handler.
    DeleteClosesAtOnce = "delete-closes-at-once", "rule S5";
    /// The old thread's poller keeps a descriptor that the thread has lost.
    MigratedNotForgotten = "migrated-not-forgotten", "HAProxy 79e90b961; bug 52";
    /// A descriptor that moved to another group stays in the old group's pollers and masks.
    GroupChangeKeepsPolled = "group-change-keeps-polled", "HAProxy before 752c5cba5; bug 77";
    /// After a takeover, an edge that the old thread consumed is not reported again.
    NoRearmAfterTakeover = "no-rearm-after-takeover", "suspect 10";
    /// A thread that applies updates clears the mark of a takeover that came meanwhile, and the new owner's
    /// poller is not refreshed.
    RearmStolen = "rearm-stolen", "this core, found by migration/takeover-unread-data under qemu-user";
    /// migrate_on does not deactivate the directions.
    MigrateKeepsActive = "migrate-keeps-active", "protocol 9.5";
    /// A cloned descriptor is closed without removing it from the pollers.
    ClonedNotForgotten = "cloned-not-forgotten", "HAProxy 041751c13; bugs 1 and 76";
    /// A disowned descriptor is closed.
    DisownCloses = "disown-closes", "HAProxy before 7d392a592; bug 55";
    /// A disowned descriptor stays in the kernel pollers.
    DisownKeepsPolled = "disown-keeps-polled", "HAProxy c22580c2c; bug 34";
    /// The update bit of a registration outlives it.
    OrphanKeepsUpdateBit = "orphan-keeps-update-bit", "HAProxy 237e6a0d6; bugs 22 and 65";
    /// The polled masks of a registration outlive it.
    OrphanKeepsPolled = "orphan-keeps-polled", "HAProxy c22580c2c; bug 34";
    /// A registration stays in the shared list after its end.
    OrphanStaysListed = "orphan-stays-listed", "HAProxy 2f36d902a; bug 22";
    /// The private list has room for a fixed number of updates and drops the rest.
    PrivateListBounded = "private-list-bounded", "HAProxy 8ef1a6b0d; bug 18, suspect 6";
    /// A thread outside the thread mask publishes an update without waking a thread.
    NoWakeForUpdate = "no-wake-for-update", "HAProxy before f01588744; suspect 19";
    /// The sleep ends before the wait.
    SleepingClearedEarly = "sleeping-cleared-early", "HAProxy c37ccd70b; bug 50";
    /// A report on an inactive direction does not lead to its removal from the poller.
    InactiveStaysPolled = "inactive-stays-polled", "rule L6";
    /// The handler is called although no direction is active.
    InactiveRuns = "inactive-runs", "rule S18";
    /// A descriptor is closed twice.
    DoubleClose = "double-close", "HAProxy 64920538f; bug 43";
    /// A descriptor is not closed at all.
    LeakOnClose = "leak-on-close", "HAProxy 13b007d58; bug 11";
    /// The first thread that applies a shared update clears it for all threads, whatever the backend.
    SharedUpdateOnce = "shared-update-once", "HAProxy before 6b96f7289; bug 20";
    /// A stop does not wake the sleeping threads.
    StopWithoutWake = "stop-without-wake", "HAProxy d7a6b2f74; rule L8";
    /// A thread that starts does not register the descriptors that are already in the table.
    NoReregistration = "no-reregistration", "HAProxy reregister_all";
    /// epoll: a registration that remains under this number is taken for the new one.
    EpollIgnoresEexist = "epoll-ignores-eexist", "HAProxy before 752c5cba5; bug 77";
    /// A forced change is compared like any other instead of replacing the registration.
    ForcedChangeSkipped = "forced-change-skipped", "suspects 5 and 10; rule L6";
    /// A descriptor that the kernel refuses to poll is never reported.
    AlwaysReadyIgnored = "always-ready-ignored", "epoll_ctl(2) EPERM";
    /// A timeout below the poller's unit becomes zero.
    TimeoutRoundedDown = "timeout-rounded-down", "mio selector/epoll.rs";
    /// kqueue: the changes after the first one that fails are dropped.
    KqueueStopsAtFirstError = "kqueue-stops-at-first-error", "kevent(2) EV_ERROR";
    /// kqueue: the call that submits changes can also return events, which are lost.
    KqueueChangesTakeEvents = "kqueue-changes-take-events", "kevent(2) EV_RECEIPT";
    /// kqueue: a read event without data is treated as nothing to read.
    KqueueEmptyReadIgnored = "kqueue-empty-read-ignored", "HAProxy before eaefc3c50";
    /// kqueue: a child closes the number that was its parent's kqueue.
    KqueueClosesInherited = "kqueue-closes-inherited", "HAProxy before ba8e8c351";
    /// poll, select: the interest in a descriptor outlives its registration.
    InterestSurvives = "interest-survives", "suspect 11";
    /// poll: an invalid descriptor is neither reported nor left out.
    PollNvalSpins = "poll-nval-spins", "poll(2) POLLNVAL";
    /// poll: if there are more descriptors than a lowered limit allows, every wait fails.
    PollLimitFatal = "poll-limit-fatal", "this core; poll(2), EINVAL";
    /// select: a closed descriptor stops the delivery of all events.
    SelectBadfFatal = "select-badf-fatal", "suspect 11; select(2) EBADF";
    /// poll, select: sleeping threads continue to wait for a descriptor that they have lost.
    SleepersKeepFiles = "sleepers-keep-files", "this core, found by deletion/foreign-group-idle";
    /// epoll: a descriptor that another thread polls is closed without removing it first.
    EpollCloseLeavesItem = "epoll-close-leaves-item", "this core, found by deletion/other-thread-in-handler";
    /// A report that set its running bit too late runs the handler nevertheless.
    LateReportRuns = "late-report-runs", "HAProxy before cd8914bc5; bug 66, rule S6";
    /// A late report waits for other late reports before it checks whether its thread is still allowed.
    LateReportsWait = "late-reports-wait", "HAProxy before f98a8c317; bug 67";
    /// A second delete of a registration is accepted and sets a second token.
    DeleteTwice = "delete-twice", "protocol 6.1";
    /// Of several threads that must apply an update, one is woken, whether it sleeps or not; none if the
    /// caller is one of them.
    OneSharerWoken = "one-sharer-woken", "this core: a shared listener that one thread served";
    /// An update that is already pending for every allowed thread is neither listed nor announced again.
    NoWakeIfOwed = "no-wake-if-owed", "suspect 19";

    // The pollers' history.
    /// select: a table with numbers that no fd_set can hold is accepted.
    SelectCapacityUnchecked = "select-capacity-unchecked", "HAProxy before 3fa87b1db; bug 2";
    /// epoll: without registrations the wait asks for zero events, and fails.
    EpollAsksForNothing = "epoll-asks-for-nothing", "HAProxy before cf181c9d4; bug 3";
    /// A report clears the hang-ups and errors of earlier reports.
    ReportForgetsHangup = "report-forgets-hangup", "HAProxy before 9fab7bedf; bug 4";
    /// A forked child continues with its parent's poller.
    ForkKeepsPoller = "fork-keeps-poller", "HAProxy before fb8983f21; protocol 16.4";
    /// The kernel objects of a runtime's pollers outlive it.
    PollersLeak = "pollers-leak", "HAProxy before 13b007d58; bug 11";
    /// poll, select: the highest number in the shared interest is not scanned.
    HighestNumberUnscanned = "highest-number-unscanned", "HAProxy before c20d73733; bug 12";
    /// The polled masks are treated as the threads that may use the descriptor.
    PolledFollowsOwner = "polled-follows-owner", "HAProxy before 497959290; bug 13";
    /// poll, select: the map of the shared interest has as many bits as it should have bytes.
    InterestMapTooSmall = "interest-map-too-small", "HAProxy before cc35923c3; bug 14";
    /// A wait that a signal interrupts is an error.
    InterruptedWaitFails = "interrupted-wait-fails", "signal(7): EINTR; T05";
    /// kqueue: an event that the kernel reports once, as it removes the filter, is not reported again.
    KqueueSaidOnce = "kqueue-said-once", "FreeBSD's EV_ONESHOT of a dead pipe (measured); V28";
    /// kqueue: a registration that has ended and whose close is still to come is treated as stale.
    KqueueClosingIsGhost = "kqueue-closing-is-ghost", "this core, until a slow close was tried";
    /// kqueue: the changes of a descriptor overwrite those of the descriptors before it.
    KqueueChangesOverwritten = "kqueue-changes-overwritten", "HAProxy before c55b88ece; bug 21";
    /// kqueue: a descriptor without a change drops the changes before it.
    KqueueNoopDropsChanges = "kqueue-noop-drops-changes", "HAProxy before 5ab33944c; bug 23";
    /// A poller that was never opened is closed as number 0.
    DeinitClosesZero = "deinit-closes-zero", "HAProxy before 808e1b7c4; bug 24";
    /// A dump waits for each entry until no thread uses it.
    DumpWaitsForUsers = "dump-waits-for-users", "HAProxy before ca1b15743; bug 25";
    /// The capacity of the table does not include the descriptors of the runtime itself.
    CapacityIgnoresOwn = "capacity-ignores-own", "HAProxy before 2c58b41c9; bug 28";
    /// After its removal from a poller, a descriptor stays polled for sending according to the masks.
    SendBitStays = "send-bit-stays", "HAProxy before a3a8ea2fb; bug 35";
    /// A hang-up is an error even for an owner that no longer wants to send.
    HangupIsError = "hangup-is-error", "HAProxy before 2aaeee34d; bug 36";
    /// A failure is reported only together with readiness in an active direction.
    FailureNeedsReadiness = "failure-needs-readiness", "HAProxy before 5a9c637bf; bug 48";
    /// An insertion computes the flags and does not store them.
    InsertDropsFlags = "insert-drops-flags", "HAProxy before 7e94b40a2; bug 56";
    /// A number that is in use can be inserted again, and keeps its first registration.
    InsertOverLife = "insert-over-life", "HAProxy before 145b17fd2; bug 69";
    /// A runtime of one thread has no waker.
    NoWakerForOneThread = "no-waker-for-one-thread", "HAProxy before c71f45a0a; bug 81";
    /// A report of both directions runs the handler once for each direction.
    HandlerCalledTwice = "handler-called-twice", "HAProxy before 39ebef82a; bug 85";
    // The regressions of the core in crates/matrix/scenarios/src/regression kill these.
    /// A thread does not sleep while any thread has work.
    WorkIsEverybodys = "work-is-everybodys", "HAProxy before 32467fef9; bugs 7 and 62";
    /// A thread that has announced its sleep does not look for work again.
    NoLookBeforeSleep = "no-look-before-sleep", "HAProxy before bba1a263c; bugs 17 and 30";
    /// The mark of a wake-up is kept after its iteration, and suppresses the next wake-up.
    NotifiedSticks = "notified-sticks", "HAProxy before 1b3279032; bug 30";
    /// A thread polls before the other threads have registered their descriptors.
    ThreadsStartAlone = "threads-start-alone", "HAProxy before 710928257; bug 31";
    /// A report that lost its race changes the state.
    LostReportChangesState = "lost-report-changes-state", "HAProxy before d5402b8df; bug 53";
    /// A report that is refused keeps its reference.
    RefusedKeepsReference = "refused-keeps-reference", "HAProxy before 698342635; bug 57";
    /// The thread to wake is chosen among those of the first group.
    WakeAsksFirstGroup = "wake-asks-first-group", "HAProxy before c1640f79f; bug 58";
    /// An insertion keeps only threads that the first group has.
    InsertAsksFirstGroup = "insert-asks-first-group", "HAProxy before 6993981cd; bug 78";
    /// A report stores the state instead of changing it.
    StatePlainStore = "state-plain-store", "suspect 3; bug 47";
    /// A report of two directions delivers only one.
    OneDirectionPerReport = "one-direction-per-report", "HAProxy before d7f76a0a5; bug 39";
    /// A report of an entry that is changing groups is dropped.
    LockPassesForGroup = "lock-passes-for-group", "suspect 8";
    /// A walk of the shared list is not repeated after an addition during the walk.
    WalkOnce = "walk-once", "suspect 9";
    /// A thread that applies an update unpins the entry before it changes its poller.
    UpdateUnpinned = "update-unpinned", "suspects 5 and 11";
    /// The scan at the start of a thread ends one number too early.
    BootScanShort = "boot-scan-short", "suspect 14";

    // The edges of the runtime.
    /// epoll: the second report of a closed registration replaces its poller at once, whether there are
    /// children or not.
    StaleAtSecondReport = "stale-at-second-report", "this core; deletion/closes-beside-children";
    /// epoll: a registration that was reported while a child had a copy replaces its poller if the child has
    /// ended a moment later.
    ChildlessAfterBatch = "childless-after-batch", "this core, found by deletion/closes-beside-children";
    /// poll, select: a thread that applies an update for the owner does not wake it after its last write.
    OwnerNotWoken = "owner-not-woken", "this core, found with injected errors";
    /// epoll: the event of a handler that ends its own registration counts as stale, and its thread pauses.
    OwnEndIsStale = "own-end-is-stale", "this core";
    /// epoll, kqueue: a poller that cannot be replaced ends its thread.
    RebuildFailureFatal = "rebuild-failure-fatal", "this core";
    /// A wait that fails ends its thread.
    FailedWaitFatal = "failed-wait-fatal", "this core";
    /// The timeout is computed from the time at which the iteration began.
    StaleClock = "stale-clock", "this core";
    /// poll, select: an update that a takeover overtakes records the former owner as the thread that polls.
    AppliedForFormerOwner = "applied-for-former-owner", "this core";
    /// Tasks that were not run, or are posted later, stay in a runtime that has stopped.
    TasksOutliveStop = "tasks-outlive-stop", "this core";
    /// The panic of a handler that has ended its own registration is lost.
    PanicLostWithRegistration = "panic-lost-with-registration", "this core";
    /// An insertion checks for a stop before it takes its slot, and not after.
    InsertOutlivesStop = "insert-outlives-stop", "this core";
    /// A stale call takes its reference before its handle is validated.
    StaleCallTakesReference = "stale-call-takes-reference", "this core; HAProxy's fd_grab_tgid";
    /// A forked child keeps the running bits of its parent's other threads.
    ForkKeepsUsers = "fork-keeps-users", "this core";
    /// epoll, poll, select: a forked child continues with its parent's wake descriptor, and takes its
    /// wake-ups.
    ForkSharesWaker = "fork-shares-waker", "this core, found by lifecycle/fork-goes-on";
    /// epoll, poll, select: the handle of a wake descriptor can be used like any other.
    WakePipeExposed = "wake-pipe-exposed", "this core";
    /// A signal that cannot be caught is accepted.
    ForbiddenSignalTaken = "forbidden-signal-taken", "signal-hook's FORBIDDEN";
    /// A timer's delay is added to the time without an overflow check.
    DelayOverflows = "delay-overflows", "std's Instant";
    /// A runtime that is stopped on one of its own threads waits for that thread.
    RuntimeJoinsItself = "runtime-joins-itself", "this core";
    /// A handle is accepted by any table.
    HandleFitsAnyTable = "handle-fits-any-table", "this core";

    /// All tasks that have been taken from the queue run before the next wait.
    TasksUnbounded = "tasks-unbounded", "this core: posters delayed an echo by seconds";
    /// All due timers run before the next wait, also those that are set meanwhile.
    TimersUnbounded = "timers-unbounded", "this core: timers of one moment delayed an echo";
    /// Tasks and timers that have not begun run although the runtime stops.
    WorkIgnoresStop = "work-ignores-stop", "this core: a stop waited for the tasks";
    /// A registration that is taken over or moved leaves its timeout behind.
    TimeoutStaysBehind = "timeout-stays-behind", "this core";
    /// A timeout is reported when its thread looks at it, although it was moved, cleared, or belonged to the
    /// registration before.
    TimeoutNotMoved = "timeout-not-moved", "this core";

    /// A child that the C library has not made, by `_Fork()` or clone(2), counts as the owner of what it has
    /// inherited.
    BareForkOwns = "bare-fork-owns", "this core: such a child removed its parent's registrations";
    /// In a forked child, signals stay with the thread that handled them in the parent.
    SignalsStayBehind = "signals-stay-behind", "this core: a child of another thread ignored SIGTERM";
    /// A change that the kernel refuses is repeated without end, and no handler is called.
    RefusedForEver = "refused-for-ever", "this core: O_PATH on epoll";

    // The upstream commits.
    /// A takeover stores the thread mask whatever it is, even that of a deleted descriptor.
    TakeoverStoresMask = "takeover-stores-mask", "HAProxy 9836dba82; protocol 8.3";
}

#[cfg(feature = "faults")]
mod switch {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Fault;

    const WORDS: usize = Fault::ALL.len().div_ceil(u64::BITS as usize);

    // Plain std atomics also under loom: a switch is set before the model starts.
    static ON: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

    /// The place of a fault's switch: the word, and the bit in it.
    const fn place(fault: Fault) -> (usize, u64) {
        (fault as usize / u64::BITS as usize, 1 << (fault as u32 % u64::BITS))
    }

    impl Fault {
        /// Whether the fault is switched on.
        #[inline]
        pub fn is_on(self) -> bool {
            // Relaxed: the switches are set before any thread of the runtime starts.
            let (word, bit) = place(self);
            ON[word].load(Ordering::Relaxed) & bit != 0
        }
    }

    /// Whether a fault is switched on. A debug build then leaves the detection to the scenarios.
    #[inline]
    pub fn any() -> bool {
        ON.iter().any(|word| word.load(Ordering::Relaxed) != 0)
    }

    /// Switches `fault` on for the rest of this process.
    ///
    /// # Safety
    /// A fault breaks the guarantees of this crate's safe interface: descriptors may be closed twice, or
    /// closed while they are borrowed, and handlers may run after they are dropped. Only a process that
    /// exists to show this may call it, before it starts a runtime.
    pub unsafe fn enable(fault: Fault) {
        let (word, bit) = place(fault);
        ON[word].fetch_or(bit, Ordering::Relaxed);
    }
}

#[cfg(feature = "faults")]
pub use switch::{any, enable};

#[cfg(not(feature = "faults"))]
impl Fault {
    /// Whether the fault is switched on: never, in a build without the feature `faults`.
    #[inline(always)]
    pub const fn is_on(self) -> bool {
        false
    }
}

/// Whether a fault is switched on: never, in a build without the feature `faults`.
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

    #[test]
    fn a_fault_of_some_backends_names_them_and_any_other_names_none() {
        let backends = |fault: Fault| fault.backends().collect::<Vec<_>>();
        assert_eq!(backends(Fault::EpollIgnoresEexist), ["epoll"]);
        assert_eq!(backends(Fault::InterestSurvives), ["poll", "select"]);
        assert_eq!(backends(Fault::DoubleClose), [""; 0]);
        for fault in Fault::ALL {
            let named = BACKENDS.iter().any(|name| fault.name().starts_with(&format!("{name}-")));
            assert!(!named || backends(*fault).len() == 1, "{}: its summary names no backend", fault.name());
        }
    }
}
