//! The registry of mistakes. A build with the feature `faults` can switch one on by its name, to show that
//! the scenario or the models that must catch it fail with it. Without the feature, [`Fault::is_on`] is the
//! constant `false`, and the compiler removes the mistakes. A row is
//!
//! ```text
//! /// The mistake as a sentence.
//! Variant = "name", "origin", on Backend …, in file::model: "message", …, within CLAUSES;
//! ```
//!
//! - `origin`: a commit, a bug, or a rule.
//! - `on`: the backends that can contain the mistake, if not all can.
//! - `in`: models that must fail with it, each with the beginning of its message: a rule of
//!   `docs/invariants.md`, or loom's own. The path is below `src/models`.
//! - `within`: the greatest number of clauses of the script that shows the mistake.

/// A backend that can contain a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// epoll(7).
    Epoll,
    /// kqueue(2).
    Kqueue,
    /// poll(2).
    Poll,
    /// select(2).
    Select,
}

impl Backend {
    /// The name, as in `matrix.yml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epoll => "epoll",
            Self::Kqueue => "kqueue",
            Self::Poll => "poll",
            Self::Select => "select",
        }
    }
}

/// What the registry says about a mistake.
struct Row {
    name: &'static str,
    summary: &'static str,
    origin: &'static str,
    backends: &'static [Backend],
    models: &'static [(&'static str, &'static str)],
    clauses: usize,
}

macro_rules! faults {
    ($($(#[doc = $about:literal])+ $section:ident {$(
        $(#[doc = $doc:literal])+
        $variant:ident = $name:literal $(, $origin:literal)? $(, on $($backend:ident)+)?
            $(, in $($file:ident::$model:ident: $message:literal),+)? $(, within $clauses:literal)?;
    )*})*) => {
        /// A mistake that this core, its history, or a poller could contain.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Fault {
            $($($(#[doc = $doc])+ $variant,)*)*
        }

        impl Fault {
            /// Every mistake.
            pub const ALL: &'static [Self] = &[$($(Self::$variant,)*)*];

            $($(#[doc = $about])+ pub const $section: &'static [Self] = &[$(Self::$variant,)*];)*
        }

        /// The rows of the registry, in the order of [`Fault::ALL`].
        static ROWS: [Row; Fault::ALL.len()] = [$($(Row {
            name: $name,
            summary: concat!($($doc),+).trim_ascii(),
            origin: concat!($($origin)?),
            backends: &[$($(Backend::$backend),+)?],
            models: &[$($((concat!(stringify!($file), "::", stringify!($model)), $message)),+)?],
            clauses: 0 $(+ $clauses)?,
        },)*)*];
    };
}

impl Fault {
    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The mistake of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }

    /// The name that switches it on.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The mistake as a sentence.
    pub const fn summary(self) -> &'static str {
        self.row().summary
    }

    /// The source of the mistake: a commit, a bug, or a rule. Empty for a flaw of [`Self::EXPLORE`].
    pub const fn origin(self) -> &'static str {
        self.row().origin
    }

    /// The backends that can contain the mistake. Empty if it is a mistake of the core, with every backend.
    pub const fn backends(self) -> &'static [Backend] {
        self.row().backends
    }

    /// Whether the backend of this name can contain the mistake.
    pub fn concerns(self, backend: &str) -> bool {
        self.backends().is_empty() || self.backends().iter().any(|concerned| concerned.name() == backend)
    }

    /// The models that must fail with the mistake, each with the beginning of its message.
    pub const fn models(self) -> &'static [(&'static str, &'static str)] {
        self.row().models
    }

    /// The greatest number of clauses of the script with which `explore` shows a flaw of [`Self::EXPLORE`].
    pub const fn clauses(self) -> usize {
        self.row().clauses
    }
}

faults! {
    /// The mistakes that a scenario must catch; `crates/matrix/pollmatrix/kills.tsv` records which one does.
    SCENARIOS {
        /// All threads share one kernel poller, so every thread wakes for every descriptor.
        OnePollerPerProcess = "one-poller-per-process", "HAProxy before d9e7e36c6; bugs 9 and 10";
        /// A delete waits until no thread runs the handler.
        WaitOnDelete = "wait-on-delete", "HAProxy before 2c3f9818e; bug 45";
        /// An update of a shared descriptor goes to the caller's private list only.
        PrivateUpdateForShared = "private-update-for-shared", "HAProxy before 6b96f7289; bug 20",
            in updates::m7_member_wants: "L";
        /// A report does not check the group of the descriptor.
        NoGroupCheck = "no-group-check", "HAProxy before 9464bb1f0",
            in groups::m10_takeover_and_late_report_there: "S", groups::m10_takeover_and_report: "S";
        /// A report does not check the generation.
        NoGenerationCheck = "no-generation-check", "HAProxy before 8235a2478; bug 75, suspect 18",
            in registration::m6_stale_calls: "S7";
        /// A takeover does not check whether a thread runs the handler.
        TakeoverIgnoresRunning = "takeover-ignores-running", "rule S3",
            in registration::m1_report_and_takeover: "S";
        /// A takeover deactivates both directions even if it fails.
        TakeoverStopsOnFailure = "takeover-stops-on-failure", "HAProxy 8d7b51782; bug 41";
        /// A takeover does not compare the owner.
        TakeoverIgnoresOwner = "takeover-ignores-owner", "HAProxy f69fea64e; protocol 8.1";
        /// Operations do not compare the handle's generation.
        StaleHandleAccepted = "stale-handle-accepted", "protocol 2.1", in registration::m6_stale_calls: "S7";
        /// A takeover does not change the thread mask.
        TakeoverKeepsThreadMask = "takeover-keeps-thread-mask", "rule S3",
            in registration::m1_report_and_takeover: "S3";
        /// The exit of a report reads the thread mask before it clears its running bit.
        ThreadMaskReadBeforeExit = "thread-mask-read-before-exit", "suspect 1",
            in registration::m2_report_and_delete: "L4",
            registration::m4_two_reports_and_foreign_delete: "L4",
            registration::m5_late_report_takeover_and_delete: "L4";
        /// The last user of a deleted descriptor does not close it.
        LastUserDoesNotClose = "last-user-does-not-close", "rule L4",
            in registration::m3_two_reports_and_delete: "L4", registration::m2_enter_and_delete: "L4";
        /// A delete closes at once, even under a running handler.
        DeleteClosesAtOnce = "delete-closes-at-once", "rule S5",
            in registration::m4_report_and_foreign_delete: "L4";
        /// The old thread's poller keeps a descriptor that the thread has lost.
        MigratedNotForgotten = "migrated-not-forgotten", "HAProxy 79e90b961; bug 52",
            in updates::m7_takeover_and_old_apply: "L5";
        /// A descriptor that moved to another group stays in the old group's pollers and masks.
        GroupChangeKeepsPolled = "group-change-keeps-polled", "HAProxy before 752c5cba5; bug 77",
            in groups::m10_takeover_and_old_apply: "L1", groups::m10_takeover_and_new_apply: "S";
        /// After a takeover, an edge that the old thread consumed is not reported again.
        NoRearmAfterTakeover = "no-rearm-after-takeover", "suspect 10";
        /// A thread that applies updates clears the mark of a takeover that came meanwhile, and the new
        /// owner's poller is not refreshed.
        RearmStolen = "rearm-stolen", "this core, found by migration/takeover-unread-data under qemu-user",
            in updates::m7_apply_and_takeover_back: "L1";
        /// migrate_on does not deactivate the directions.
        MigrateKeepsActive = "migrate-keeps-active", "protocol 9.5", in groups::m10_takeover_and_want: "L";
        /// A cloned descriptor is closed without removing it from the pollers.
        ClonedNotForgotten = "cloned-not-forgotten", "HAProxy 041751c13; bugs 1 and 76";
        /// A disowned descriptor is closed.
        DisownCloses = "disown-closes", "HAProxy before 7d392a592; bug 55";
        /// A disowned descriptor stays in the kernel pollers.
        DisownKeepsPolled = "disown-keeps-polled", "HAProxy c22580c2c; bug 34";
        /// The update bit of a registration outlives it.
        OrphanKeepsUpdateBit = "orphan-keeps-update-bit", "HAProxy 237e6a0d6; bugs 22 and 65",
            in registration::m6_reuse_and_apply: "S";
        /// The polled masks of a registration outlive it.
        OrphanKeepsPolled = "orphan-keeps-polled", "HAProxy c22580c2c; bug 34",
            in registration::m6_reuse_and_apply: "S";
        /// A registration stays in the shared list after its end.
        OrphanStaysListed = "orphan-stays-listed", "HAProxy 2f36d902a; bug 22",
            in registration::m6_reuse_and_apply: "S";
        /// The private list has room for a fixed number of updates and drops the rest.
        PrivateListBounded = "private-list-bounded", "HAProxy 8ef1a6b0d; bug 18, suspect 6";
        /// A thread outside the thread mask publishes an update without waking a thread.
        NoWakeForUpdate = "no-wake-for-update", "HAProxy before f01588744; suspect 19",
            in updates::m7_want_and_iteration: "L1";
        /// The sleep ends before the wait.
        SleepingClearedEarly = "sleeping-cleared-early", "HAProxy c37ccd70b; bug 50",
            in sleep::m9_post_and_iteration: "L2";
        /// A report on an inactive direction does not lead to its removal from the poller.
        InactiveStaysPolled = "inactive-stays-polled", "rule L6",
            in updates::m7_unwanted_report_is_quiet: "L6";
        /// The handler is called although no direction is active.
        InactiveRuns = "inactive-runs", "rule S18";
        /// A descriptor is closed twice.
        DoubleClose = "double-close", "HAProxy 64920538f; bug 43";
        /// A descriptor is not closed at all.
        LeakOnClose = "leak-on-close", "HAProxy 13b007d58; bug 11";
        /// The first thread that applies a shared update clears it for all threads, whatever the backend.
        SharedUpdateOnce = "shared-update-once", "HAProxy before 6b96f7289; bug 20",
            in updates::m7_want_and_two_walks: "L1";
        /// A stop does not wake the sleeping threads.
        StopWithoutWake = "stop-without-wake", "HAProxy d7a6b2f74; rule L8",
            in sleep::m9_stop_and_iteration: "L8";
        /// A thread that starts does not register the descriptors that are already in the table.
        NoReregistration = "no-reregistration", "HAProxy reregister_all",
            in updates::m7_boot_and_takeover: "L1";
        /// A registration that remains under this number is taken for the new one.
        EpollIgnoresEexist = "epoll-ignores-eexist", "HAProxy before 752c5cba5; bug 77", on Epoll;
        /// A forced change is compared like any other instead of replacing the registration.
        ForcedChangeSkipped = "forced-change-skipped", "suspects 5 and 10; rule L6";
        /// A descriptor that the kernel refuses to poll is never reported.
        AlwaysReadyIgnored = "always-ready-ignored", "epoll_ctl(2) EPERM";
        /// A timeout below the poller's unit becomes zero.
        TimeoutRoundedDown = "timeout-rounded-down", "mio selector/epoll.rs";
        /// The changes after the first one that fails are dropped.
        KqueueStopsAtFirstError = "kqueue-stops-at-first-error", "kevent(2) EV_ERROR", on Kqueue;
        /// The call that submits changes can also return events, which are lost.
        KqueueChangesTakeEvents = "kqueue-changes-take-events", "kevent(2) EV_RECEIPT", on Kqueue;
        /// A read event without data is treated as nothing to read.
        KqueueEmptyReadIgnored = "kqueue-empty-read-ignored", "HAProxy before eaefc3c50", on Kqueue;
        /// A child closes the number that was its parent's kqueue.
        KqueueClosesInherited = "kqueue-closes-inherited", "HAProxy before ba8e8c351", on Kqueue;
        /// The interest in a descriptor outlives its registration.
        InterestSurvives = "interest-survives", "suspect 11", on Poll Select;
        /// An invalid descriptor is neither reported nor left out.
        PollNvalSpins = "poll-nval-spins", "poll(2) POLLNVAL", on Poll;
        /// If there are more descriptors than a lowered limit allows, every wait fails.
        PollLimitFatal = "poll-limit-fatal", "this core; poll(2), EINVAL", on Poll;
        /// A closed descriptor stops the delivery of all events.
        SelectBadfFatal = "select-badf-fatal", "suspect 11; select(2) EBADF", on Select;
        /// Sleeping threads continue to wait for a descriptor that they have lost.
        SleepersKeepFiles = "sleepers-keep-files", "this core, found by deletion/foreign-group-idle",
            on Poll Select;
        /// A descriptor that another thread polls is closed without removing it first.
        EpollCloseLeavesItem = "epoll-close-leaves-item",
            "this core, found by deletion/other-thread-in-handler", on Epoll;
        /// A report that set its running bit too late runs the handler nevertheless.
        LateReportRuns = "late-report-runs", "HAProxy before cd8914bc5; bug 66, rule S6",
            in registration::m2_report_and_delete: "Causality";
        /// A late report waits for other late reports before it checks whether its thread is still allowed.
        LateReportsWait = "late-reports-wait", "HAProxy before f98a8c317; bug 67";
        /// A second delete of a registration is accepted and sets a second token.
        DeleteTwice = "delete-twice", "protocol 6.1", in registration::m5_two_deletes_and_takeover: "S";
        /// Of several threads that must apply an update, one is woken, whether it sleeps or not; none if the
        /// caller is one of them.
        OneSharerWoken = "one-sharer-woken", "this core: a shared listener that one thread served",
            in updates::m7_member_wants: "L1", updates::m7_want_and_two_walks: "L1",
            updates::m7_member_wants_shared_interest: "L1";
        /// An update that is already pending for every allowed thread is neither listed nor announced again.
        NoWakeIfOwed = "no-wake-if-owed", "suspect 19", in updates::m7_two_outsiders: "L1";

        // The pollers' history.
        /// A table with numbers that no fd_set can hold is accepted.
        SelectCapacityUnchecked = "select-capacity-unchecked", "HAProxy before 3fa87b1db; bug 2", on Select;
        /// Without registrations the wait asks for zero events, and fails.
        EpollAsksForNothing = "epoll-asks-for-nothing", "HAProxy before cf181c9d4; bug 3", on Epoll;
        /// A report clears the hang-ups and errors of earlier reports.
        ReportForgetsHangup = "report-forgets-hangup", "HAProxy before 9fab7bedf; bug 4";
        /// A forked child continues with its parent's poller.
        ForkKeepsPoller = "fork-keeps-poller", "HAProxy before fb8983f21; protocol 16.4";
        /// The kernel objects of a runtime's pollers outlive it.
        PollersLeak = "pollers-leak", "HAProxy before 13b007d58; bug 11";
        /// The highest number in the shared interest is not scanned.
        HighestNumberUnscanned = "highest-number-unscanned", "HAProxy before c20d73733; bug 12",
            on Poll Select;
        /// The polled masks are treated as the threads that may use the descriptor.
        PolledFollowsOwner = "polled-follows-owner", "HAProxy before 497959290; bug 13";
        /// The map of the shared interest has as many bits as it should have bytes.
        InterestMapTooSmall = "interest-map-too-small", "HAProxy before cc35923c3; bug 14", on Poll Select;
        /// A wait that a signal interrupts is an error.
        InterruptedWaitFails = "interrupted-wait-fails", "signal(7): EINTR; T05";
        /// An event that the kernel reports once, as it removes the filter, is not reported again.
        KqueueSaidOnce = "kqueue-said-once", "FreeBSD's EV_ONESHOT of a dead pipe (measured); V28", on Kqueue;
        /// A registration that has ended and whose close is still to come is treated as stale.
        KqueueClosingIsStale = "kqueue-closing-is-stale", "this core, until a slow close was tried",
            on Kqueue;
        /// The changes of a descriptor overwrite those of the descriptors before it.
        KqueueChangesOverwritten = "kqueue-changes-overwritten", "HAProxy before c55b88ece; bug 21",
            on Kqueue;
        /// A descriptor without a change drops the changes before it.
        KqueueNoopDropsChanges = "kqueue-noop-drops-changes", "HAProxy before 5ab33944c; bug 23", on Kqueue;
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
        NotifiedSticks = "notified-sticks", "HAProxy before 1b3279032; bug 30",
            in sleep::m9_two_wakers_and_a_sleeper: "L2";
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
        WalkOnce = "walk-once", "suspect 9", in updates::m8_walk_led_astray: "L3";
        /// A thread that applies an update unpins the entry before it changes its poller.
        UpdateUnpinned = "update-unpinned", "suspects 5 and 11";
        /// The scan at the start of a thread ends one number too early.
        BootScanShort = "boot-scan-short", "suspect 14";

        // The edges of the runtime.
        /// The second report of a closed registration replaces its poller at once, whether there are children
        /// or not.
        StaleAtSecondReport = "stale-at-second-report", "this core; deletion/closes-beside-children",
            on Epoll;
        /// A registration that was reported while a child had a copy replaces its poller if the child has
        /// ended a moment later.
        ChildlessAfterBatch = "childless-after-batch", "this core, found by deletion/closes-beside-children",
            on Epoll;
        /// A thread that applies an update for the owner does not wake it after its last write.
        OwnerNotWoken = "owner-not-woken", "this core, found with injected errors", on Poll Select,
            in updates::m7_shared_interest_and_sleep: "L1";
        /// The event of a handler that ends its own registration counts as stale, and its thread pauses.
        OwnEndIsStale = "own-end-is-stale", "this core", on Epoll;
        /// A poller that cannot be replaced ends its thread.
        RebuildFailureFatal = "rebuild-failure-fatal", "this core", on Epoll Kqueue;
        /// A wait that fails ends its thread.
        FailedWaitFatal = "failed-wait-fatal", "this core";
        /// The timeout is computed from the time at which the iteration began.
        StaleClock = "stale-clock", "this core";
        /// An update that a takeover overtakes records the former owner as the thread that polls.
        AppliedForFormerOwner = "applied-for-former-owner", "this core", on Poll Select,
            in updates::m7_shared_interest_and_takeover: "L5";
        /// Tasks that were not run, or are posted later, stay in a runtime that has stopped.
        TasksOutliveStop = "tasks-outlive-stop", "this core", in sleep::m9_post_and_end: "L8";
        /// The panic of a handler that has ended its own registration is lost.
        PanicLostWithRegistration = "panic-lost-with-registration", "this core";
        /// An insertion checks for a stop before it takes its slot, and not after.
        InsertOutlivesStop = "insert-outlives-stop", "this core", in registration::m11_insert_and_stop: "L8";
        /// A stale call takes its reference before its handle is validated.
        StaleCallTakesReference = "stale-call-takes-reference", "this core; HAProxy's fd_grab_tgid",
            in registration::m6_stale_calls_leave_no_trace: "L7";
        /// A forked child keeps the running bits of its parent's other threads.
        ForkKeepsUsers = "fork-keeps-users", "this core";
        /// A forked child continues with its parent's wake descriptor, and takes its wake-ups.
        ForkSharesWaker = "fork-shares-waker", "this core, found by lifecycle/fork-goes-on",
            on Epoll Poll Select;
        /// The handle of a wake descriptor can be used like any other.
        WakePipeExposed = "wake-pipe-exposed", "this core", on Epoll Poll Select;
        /// A signal that cannot be caught is accepted.
        ForbiddenSignalTaken = "forbidden-signal-taken", "signal-hook's FORBIDDEN";
        /// A timer's delay is added to the time without an overflow check.
        DelayOverflows = "delay-overflows", "std's Instant";
        /// A runtime that is stopped on one of its own threads waits for that thread.
        RuntimeJoinsItself = "runtime-joins-itself", "this core";
        /// A drain stops the threads while they still have connections.
        DrainDoesNotWait = "drain-does-not-wait", "HAProxy before c128887b8; bug 88";
        /// A handle is accepted by any table.
        HandleFitsAnyTable = "handle-fits-any-table", "this core";

        /// All tasks that have been taken from the queue run before the next wait.
        TasksUnbounded = "tasks-unbounded", "this core: posters delayed an echo by seconds";
        /// All due timers run before the next wait, also those that are set meanwhile.
        TimersUnbounded = "timers-unbounded", "this core: timers of one moment delayed an echo";
        /// Tasks and timers that have not begun run although the runtime stops.
        WorkIgnoresStop = "work-ignores-stop", "this core: a stop waited for the tasks";
        /// A registration that is taken over or moved leaves its timeout behind.
        TimeoutStaysBehind = "timeout-stays-behind", "this core", in updates::m7_timeout_and_takeover: "L12";
        /// A timeout is reported when its thread looks at it, although it was moved, cleared, or belonged to
        /// the registration before.
        TimeoutNotMoved = "timeout-not-moved", "this core", in updates::m7_timeout_reported_and_moved: "L12";

        /// A child that the C library has not made, by `_Fork()` or clone(2), counts as the owner of what it
        /// has inherited.
        BareForkOwns = "bare-fork-owns", "this core: such a child removed its parent's registrations";
        /// In a forked child, signals stay with the thread that handled them in the parent.
        SignalsStayBehind = "signals-stay-behind", "this core: a child of another thread ignored SIGTERM";
        /// A change that the kernel refuses is repeated without end, and no handler is called.
        RefusedForEver = "refused-for-ever", "this core: O_PATH on epoll";

        // The upstream commits.
        /// A takeover stores the thread mask whatever it is, even that of a deleted descriptor.
        TakeoverStoresMask = "takeover-stores-mask", "HAProxy 9836dba82; protocol 8.3",
            in registration::m5_takeover_and_delete: "Causality";
    }

    /// The mistakes that only a model can catch. Each omits, moves or weakens one step.
    MODELS {
        /// A report does not order its running bit before its read of the thread mask.
        EnterFence = "enter-fence", "protocol 4.4",
            in registration::m4_report_and_foreign_delete: "Causality";
        /// A takeover does not order its running bit before its reads of the group word and the thread mask.
        TakeFence = "take-fence", "protocol 8.2", in registration::m5_takeover_and_delete: "Causality",
            groups::m10_takeover_and_migrate: "S9";
        /// An exit does not order its cleared running bit before its read of the thread mask.
        ExitFence = "exit-fence", "protocol 5.1", in registration::m4_report_and_foreign_delete: "L4";
        /// An exit that finds the thread mask zero does not order that read before its read of the running
        /// mask.
        LastFence = "last-fence", "protocol 5.3",
            in registration::m3_exit_and_late_entry_and_delete: "Causality";
        /// A delete does not order the cleared thread mask before its read of the running mask.
        DeleteFence = "delete-fence", "protocol 6.2",
            in registration::m4_report_and_foreign_delete: "Causality";
        /// The bits of an update are not ordered before the check whether the entry is listed.
        ScheduleFence = "schedule-fence", "protocol 11.2", in updates::m7_want_and_iteration: "L";
        /// The removal of an entry from the shared list is not ordered before the read of its update bits.
        UnlistFence = "unlist-fence", "protocol 12.2", in updates::m7_want_and_iteration: "L";

        /// A want does not order its state before its read of the thread mask.
        WantFence = "want-fence", "protocol 10.1", in updates::m7_timeout_and_takeover: "L12",
            updates::m7_want_and_takeover: "L1";
        /// A takeover does not order the thread mask before its read of the state.
        OwnerFence = "owner-fence", "protocol 8.4", in updates::m7_timeout_and_takeover: "L12",
            updates::m7_want_and_takeover: "L1";
        /// A change of group does not order its lock before its read of the running mask.
        MoveFence = "move-fence", "protocol 9.1", in groups::m10_migrate_and_report: "S";
        /// An insertion does not order its claimed slot before the check whether the table is closed.
        InsertFence = "insert-fence", "protocol 3.3", in registration::m11_insert_and_stop: "L8";
        /// Closing the table is not ordered before the read of its slots.
        CloseFence = "close-fence", "protocol 15.4", in registration::m11_insert_and_stop: "L8";
        /// Where interest is shared, the polled masks are replaced relaxed.
        ReplaceRelaxed = "replace-relaxed", "protocol 12.7",
            in updates::m7_shared_interest_and_takeover: "L5";

        /// A pin is relaxed.
        PinRelaxed = "pin-relaxed", "protocol 2.4", in registration::m6_reuse_and_scan: "Causality";
        /// The release of a pin is relaxed.
        UnpinRelaxed = "unpin-relaxed", "protocol 2.4", in registration::m5_delete_and_scan: "Causality";
        /// The end of a registration does not acquire the accesses under the last pin.
        DrainRelaxed = "drain-relaxed", "protocol 7.1", in registration::m5_delete_and_scan: "Causality";
        /// A new registration is published relaxed.
        PublishRelaxed = "publish-relaxed", "protocol 3.4", in registration::m6_insert_and_scan: "Causality";
        /// A link is unlocked relaxed.
        LinkRelaxed = "link-relaxed", "protocol 13.1", in list::m8_list_grid: "S13";
        /// Additions to the shared list are counted relaxed.
        EpochRelaxed = "epoch-relaxed", "protocol 12.4", in updates::m8_walk_led_astray: "L3";
        /// An exit clears its running bit relaxed.
        ExitRelaxed = "exit-relaxed", "protocol 5.1", in registration::m2_report_and_delete: "Causality";
        /// The running mask is read relaxed.
        RunningRelaxed = "running-relaxed", "protocol 4.4", in registration::m1_report_and_takeover: "S";
        /// A delete leaves the close token to the users relaxed.
        TokenRelaxed = "token-relaxed", "protocol 6.3", in registration::m2_report_and_delete: "L4";
        /// Update bits are set relaxed.
        ScheduleRelaxed = "schedule-relaxed", "protocol 11.2", in updates::m7_apply_and_takeover_back: "L1";
        /// Update bits are cleared relaxed.
        ClearRelaxed = "clear-relaxed", "protocol 12.1", in updates::m7_private_and_shared: "L1";
        /// The maps of shared interest are changed relaxed.
        InterestRelaxed = "interest-relaxed", "protocol 12.7", in interest::m7_interest_and_state: "L1";
        /// A write of shared interest is counted before it is made.
        InterestCountedEarly = "interest-counted-early", "protocol 12.7",
            in interest::m7_interest_and_sleep: "L2";
        /// The sleep flags are changed relaxed.
        FlagsRelaxed = "flags-relaxed", "protocol 15.1", in sleep::m9_post_and_iteration: "L2",
            interest::m7_interest_and_sleep: "L2";

        /// A report reads the thread mask before the running mask.
        MaskBeforeRunning = "mask-before-running", "protocol 4.4",
            in registration::m1_report_and_takeover: "S";
        /// An exit reads the running mask before the thread mask.
        RunningBeforeMask = "running-before-mask", "protocol 5.3",
            in registration::m3_two_reports_and_delete: "Causality";
        /// An exit does not check the thread mask.
        NoMaskCheck = "no-mask-check", "protocol 5.3",
            in registration::m3_exit_and_late_entry_and_delete: "Causality";
        /// An exit does not check the running mask.
        NoRunningCheck = "no-running-check", "protocol 5.3",
            in registration::m2_report_and_delete: "Causality";
        /// An exit does not need the close token.
        NoToken = "no-token", "protocol 5.4", in registration::m2_report_and_delete: "S4";
        /// An exit looks whether the close token is there before it takes it.
        TokenReadFirst = "token-read-first", "protocol 5.4", in registration::m2_report_and_delete: "L4";
        /// An exit decides without a pin whether it ends the registration.
        ExitUnpinned = "exit-unpinned", "protocol 5.5", in registration::m6_exit_and_reuse: "Causality";
        /// A report does not look at the group word between its running bit and its read of the thread mask.
        EnterLooksLate = "enter-looks-late", "protocol 4.4", in groups::m10_round_trip_and_report: "S3",
            groups::m10_takeover_and_migrate: "S9";
        /// A report does not look at the group word after its read of the thread mask.
        EnterLooksEarly = "enter-looks-early", "protocol 4.4", in registration::m6_reuse_and_late_report: "S",
            registration::m6_reuse_and_late_takeover: "S";
        /// A report takes the running bit of another group's thread for its own.
        ForeignBitTaken = "foreign-bit-taken", "protocol 4.5",
            in groups::m10_migrate_and_two_reports: "Causality";
        /// A report that came too late clears its running bit without an exit.
        LateThreadLeaves = "late-thread-leaves", "protocol 4.6", in registration::m2_report_and_delete: "L4";
        /// A takeover clears its running bit without an exit.
        TakeoverNoExit = "takeover-no-exit", "protocol 8.5", in registration::m5_takeover_and_delete: "L4";
        /// The end of a registration wipes the masks before the last pin is released.
        WipeBeforeDrain = "wipe-before-drain", "protocol 7.2", in registration::m6_reuse_and_apply: "S10";
        /// A new registration is published before its masks are written.
        PublishEarly = "publish-early", "protocol 3.4", in registration::m6_insert_and_scan: "Causality";
        /// A change of group does not check the running mask.
        MoveIgnoresRunning = "move-ignores-running", "protocol 9.2", in groups::m10_takeover_and_report: "S",
            groups::m10_two_takeovers_and_report: "S3", groups::m10_migrate_and_report: "S3";
        /// A change of group wipes the masks of the old group after the new group can see them.
        WipeAfterUnlock = "wipe-after-unlock", "protocol 9.4", in groups::m10_takeover_and_new_apply: "S";
        /// A change of group leaves the entry in the old group's list.
        MoveKeepsListed = "move-keeps-listed", "protocol 9.4", in groups::m10_takeover_and_want: "S13";
        /// A pin does not wait for a change of group.
        PinIgnoresLock = "pin-ignores-lock", "protocol 2.3", in groups::m10_takeover_and_report: "S3",
            groups::m10_takeover_and_delete: "S4";
        /// A change of the state without a pin ignores the generation.
        StateOfAnyGeneration = "state-of-any-generation", "protocol 2.5",
            in registration::m6_reuse_and_stop: "S7";
        /// A want publishes its update before its state.
        UpdateBeforeState = "update-before-state", "protocol 10.1", in updates::m7_want_and_iteration: "L1",
            updates::m7_boot_and_want: "L1";
        /// A thread applies the state before it clears the update bit.
        ApplyBeforeClear = "apply-before-clear", "protocol 12.1", in updates::m7_want_and_iteration: "L1",
            updates::m7_private_and_shared: "L1", updates::m7_unwanted_report_and_want: "L1";
        /// The update bits of an unlisted entry are not read again.
        NoLookAfterUnlist = "no-look-after-unlist", "protocol 12.2", in updates::m7_want_and_iteration: "L";
        /// A thread with a pending update of an entry that was unlisted and listed again is not woken.
        RelistedNotWoken = "relisted-not-woken", "protocol 12.3",
            in updates::m8_listed_again_and_asleep: "L3";
        /// An addition to the shared list is counted after it is linked.
        CountedLate = "counted-late", "protocol 12.4", in updates::m8_walk_led_astray: "L3";
        /// Where interest is shared, an update is applied without a second read of the state.
        AppliedOnce = "applied-once", "protocol 12.7", in updates::m7_shared_interest: "L1";
        /// An addition does not lock its own link while it is being linked.
        AddUnlocked = "add-unlocked", "protocol 13.1", in list::m8_list_grid: "S13";
        /// A removal does not lock its successor.
        SuccessorUnlocked = "successor-unlocked", "protocol 13.2", in list::m8_list_grid: "S13",
            list::m8_list_of_three_threads: "S13";
        /// All lists have the same tail mark.
        OneTailMark = "one-tail-mark", "protocol 13.1", in list::m8_list_change: "S13";
        /// The announcement of a sleep does not take back the end of the sleep before.
        StaysAwake = "stays-awake", "protocol 15.1", in sleep::m9_two_wakers_and_iterations: "L2";
        /// The end of a sleep clears NOTIFIED by a plain store.
        EndStores = "end-stores", "protocol 15.1", in sleep::m9_two_wakers_and_iterations: "L2";
        /// A thread looks for work before it announces its sleep.
        LookBeforeAnnounce = "look-before-announce", "protocol 15.1", in sleep::m9_post_and_iteration: "L2";
        /// A task is pushed relaxed.
        TaskRelaxed = "task-relaxed", "protocol 15.2", in sleep::m9_post_and_iteration: "L2";
        /// A post wakes the thread before the task is in the queue.
        WakeBeforePost = "wake-before-post", "protocol 15.2", in sleep::m9_post_and_iteration: "L2";
        /// A signal wakes its thread before the signal is recorded.
        WakeBeforeSignal = "wake-before-signal", "protocol 15.2", in sleep::m9_signal_and_iteration: "L2",
            sleep::m9_two_wakers_and_iterations: "L2";
        /// A stop wakes the threads before it is published.
        WakeBeforeStop = "wake-before-stop", "protocol 15.3", in sleep::m9_stop_and_iteration: "L8";
        /// A waker writes to a thread that has been notified already.
        NotifiedIgnored = "notified-ignored", "protocol 15.2", in sleep::m9_two_wakers_and_a_sleeper: "S17";
    }
    /// The mistakes of adapters, emulators and event loops. `explore` must find each between two raw pollers
    /// of one process, one of which has the mistake (`crates/lab/explore/tests/flawed`).
    EXPLORE {
        /// The end of the peer's stream is not reported.
        DropHalfClose = "drop-half-close", on Epoll, within 4;
        /// A hang-up is not reported.
        DropHangUp = "drop-hang-up", on Epoll, within 3;
        /// An error is not reported.
        DropError = "drop-error", on Epoll, within 4;
        /// Urgent data is not reported.
        DropUrgent = "drop-urgent", on Epoll, within 4;
        /// The second bit of an event is lost.
        DropWriteBesideRead = "drop-write-beside-read", on Poll, within 4;
        /// A hang-up is reported as data.
        HangUpIsInput = "hang-up-is-input", on Poll, within 3;
        /// A descriptor without interest reports nothing.
        NothingMeansSilence = "nothing-means-silence", on Poll, within 4;
        /// Bits that were not requested are reported.
        InventWrite = "invent-write", on Epoll, within 3;
        /// The second edge of a registration is lost.
        ForgetSecondEdge = "forget-second-edge", on Epoll, within 5;
        /// Edge-triggered registrations are level-triggered.
        EdgeIsLevel = "edge-is-level", on Epoll, within 4;
        /// Level-triggered registrations are edge-triggered.
        LevelIsEdge = "level-is-edge", on Epoll, within 4;
        /// A one-shot registration stays enabled.
        OneShotStays = "one-shot-stays", on Epoll, within 5;
        /// A modification does not enable a one-shot registration again.
        OneShotIsFinal = "one-shot-is-final", on Epoll, within 5;
        /// A modification keeps the old interest.
        ModifyKeepsInterest = "modify-keeps-interest", on Epoll, within 4;
        /// A modification of an absent registration adds it.
        ModifyAdds = "modify-adds", on Epoll, within 2;
        /// A second addition is accepted.
        AddTwice = "add-twice", on Epoll, within 3;
        /// A removal is forgotten.
        RemoveForgets = "remove-forgets", on Epoll, within 4;
        /// A removal of an absent registration is accepted.
        RemoveAnything = "remove-anything", on Epoll, within 2;
        /// A number that was closed is reported once more.
        ReportClosed = "report-closed", on Epoll, within 5;
        /// Two events become one.
        MergeEvents = "merge-events", on Epoll, within 6;
        /// Each wait returns one event.
        OneEvent = "one-event", on Epoll, within 5;
        /// The events come in another order.
        ReverseOrder = "reverse-order", on Epoll, within 4;
        /// A descriptor that cannot be polled is accepted and never reported.
        AcceptFiles = "accept-files", on Epoll, within 2;
        /// The number of bytes is one too many.
        WrongCount = "wrong-count", on Kqueue, within 4;
        /// The end of file is not reported while there is data.
        EndHidesBehindData = "end-hides-behind-data", on Kqueue, within 5;
        /// A wake-up is lost.
        LoseWake = "lose-wake", on Epoll, within 5;
        /// A thread that waits is woken by one registration only: the first.
        OnlyFirstWakes = "only-first-wakes", on Epoll, within 6;
        /// A timer that has expired is not reported.
        DropTimer = "drop-timer", on Epoll, within 4;
        /// The events of a watched file are not reported.
        DropWatch = "drop-watch", on Epoll, within 4;
        /// A queue with an event is not reported.
        DropQueue = "drop-queue", on Epoll, within 5;
        /// An eventfd that is full is reported as writable.
        FullCounterIsWritable = "full-counter-is-writable", on Epoll, within 4;
        /// A change of a registration takes the mode of an earlier one.
        ModeOfOther = "mode-of-other", on Epoll, within 6;
        /// A number that another file has replaced is reported once more.
        ReportReplaced = "report-replaced", on Epoll, within 5;
    }
}

/// Whether this is a build of the models.
pub const IN_MODELS: bool = cfg!(all(test, any(loom, shuttle)));

#[cfg(feature = "faults")]
mod switch {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{Fault, IN_MODELS};

    const WORDS: usize = Fault::ALL.len().div_ceil(u64::BITS as usize);

    // Plain std atomics also under loom: a switch is set before the model starts.
    static ON: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

    // The scenarios' mistakes have the lowest numbers.
    const SCENARIOS: usize = Fault::SCENARIOS.len();
    const _: () = assert!(Fault::SCENARIOS[SCENARIOS - 1] as usize == SCENARIOS - 1);

    /// The place of a fault's switch: the word, and the bit in it.
    const fn place(fault: Fault) -> (usize, u64) {
        (fault as usize / u64::BITS as usize, 1 << (fault as u32 % u64::BITS))
    }

    impl Fault {
        /// Whether the fault is switched on. A mistake that no scenario catches is the constant `false`
        /// outside the models: the orderings of a build for scenarios are those of a real build.
        #[inline]
        pub fn is_on(self) -> bool {
            if !IN_MODELS && self as usize >= SCENARIOS {
                return false;
            }
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
    fn a_fault_named_after_a_backend_is_of_that_backend_only() {
        assert_eq!(Fault::InterestSurvives.backends(), [Backend::Poll, Backend::Select]);
        assert!(Fault::DoubleClose.concerns("epoll") && !Fault::PollNvalSpins.concerns("epoll"));
        for fault in Fault::ALL {
            let prefix = fault.name().split('-').next().unwrap();
            for backend in [Backend::Epoll, Backend::Kqueue, Backend::Poll, Backend::Select] {
                assert!(backend.name() != prefix || fault.backends() == [backend], "{}", fault.name());
            }
        }
    }

    /// The section of a mistake says who must catch it.
    #[test]
    fn every_fault_says_where_it_came_from_and_who_must_catch_it() {
        for fault in Fault::ALL {
            let (scenarios, models) = (Fault::SCENARIOS.contains(fault), Fault::MODELS.contains(fault));
            assert_eq!(scenarios || models, !fault.origin().is_empty(), "{}", fault.name());
            assert!(scenarios || models != fault.models().is_empty(), "{}", fault.name());
            assert_eq!(scenarios || models, fault.clauses() == 0, "{}", fault.name());
        }
    }
}
