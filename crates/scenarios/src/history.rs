//! The history of defects, and the scenarios, models or tests that detect each: the bugs of HAProxy's FD core
//! since 2012, suspicious places of its present version, and the defects that were found in this core. One
//! entry per defect.

/// A defect of the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Defect {
    /// Whether it is a bug, a suspect, or a defect of this core.
    pub kind: Kind,
    /// Its number, which starts at 1 in each kind.
    pub number: u8,
    /// The commits that fixed it in HAProxy. Empty for a suspect and for a defect of this core.
    pub commits: &'static [&'static str],
    /// The defect, in one sentence without a full stop.
    pub description: &'static str,
    /// The scenarios, models or tests that detect it here.
    pub coverage: Coverage,
}

/// The kind of a defect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A defect that HAProxy had.
    Bug,
    /// A place of HAProxy that looks wrong to a reader.
    Suspect,
    /// A defect that this core had.
    Core,
}

/// The scenarios, models or tests that detect a defect if this core or a backend has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// These scenarios.
    Scenario(&'static [&'static str]),
    /// These exhaustive models, and the reason why there is no scenario.
    Model(&'static [&'static str], &'static str),
    /// These unit tests, and the reason why there is no scenario.
    UnitTest(&'static [&'static str], &'static str),
    /// Nothing, because this project has no such code, for this reason.
    NotApplicable(&'static str),
}

impl Defect {
    /// Returns the name by which scenarios cite it: `bug 66`, `suspect 20`, `core 5`.
    pub fn name(&self) -> String {
        let kind = match self.kind {
            Kind::Bug => "bug",
            Kind::Suspect => "suspect",
            Kind::Core => "core",
        };
        format!("{kind} {}", self.number)
    }
}

impl Coverage {
    /// Returns the kind as text: `scenario`, `model`, `unit-test` or `not-ours`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scenario(_) => "scenario",
            Self::Model(..) => "model",
            Self::UnitTest(..) => "unit-test",
            Self::NotApplicable(_) => "not-ours",
        }
    }

    /// Returns the names of the scenarios, models or tests.
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            Self::Scenario(names) | Self::Model(names, _) | Self::UnitTest(names, _) => names,
            Self::NotApplicable(_) => &[],
        }
    }

    /// Returns the reason why there is no scenario, if there is none.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Scenario(_) => None,
            Self::Model(_, why) | Self::UnitTest(_, why) | Self::NotApplicable(why) => Some(why),
        }
    }
}

const fn bug(
    number: u8,
    commits: &'static [&'static str],
    description: &'static str,
    coverage: Coverage,
) -> Defect {
    Defect { kind: Kind::Bug, number, commits, description, coverage }
}

const fn suspect(number: u8, description: &'static str, coverage: Coverage) -> Defect {
    Defect { kind: Kind::Suspect, number, commits: &[], description, coverage }
}

const fn core(number: u8, description: &'static str, coverage: Coverage) -> Defect {
    Defect { kind: Kind::Core, number, commits: &[], description, coverage }
}

/// Returns every defect: bugs, then suspects, then defects of this core, in the order of their numbers.
pub fn history() -> &'static [Defect] {
    use Coverage::{Model, NotApplicable, Scenario, UnitTest};

    const HISTORY: &[Defect] = &[
        bug(
            1,
            &["041751c13"],
            "epoll continued to report a listener that the process had closed and a child had inherited",
            Scenario(&["deletion/cloned-dup", "deletion/cloned-fork"]),
        ),
        bug(
            2,
            &["3fa87b1db"],
            "a number beyond FD_SETSIZE was written outside select's sets",
            Scenario(&["regression/number-beyond-fd-setsize"]),
        ),
        bug(
            3,
            &["cf181c9d4"],
            "epoll_wait was called for zero events, failed, and was called again",
            Scenario(&["regression/short-timeout-spins"]),
        ),
        bug(
            4,
            &["9fab7bedf"],
            "a hang-up that was reported together with data was forgotten at the next report",
            Scenario(&["regression/hangup-forgotten"]),
        ),
        bug(
            5,
            &["ba8e8c351"],
            "a child closed the number of a kqueue that it had not inherited",
            Scenario(&["regression/child-closes-foreign-number"]),
        ),
        bug(
            6,
            &["1605c7ae6"],
            "every thread closed the same end of a pipe when it started, and so closed an unrelated new descriptor",
            Scenario(&["regression/closed-number-is-somebody-elses"]),
        ),
        bug(
            7,
            &["32467fef9"],
            "work of one thread kept the other threads from sleeping",
            Scenario(&["regression/busy-thread-keeps-others-awake"]),
        ),
        bug(
            8,
            &["ebc78d78a"],
            "one bit stated that an update was in the list of some thread, and another thread took it for its own",
            Scenario(&["regression/both-threads-owe-one-update"]),
        ),
        bug(
            9,
            &["d9e7e36c6"],
            "one epoll descriptor for all threads woke each of them for every event",
            Scenario(&["shared-listener/bound-to-one-thread"]),
        ),
        bug(
            10,
            &["7a2364d47"],
            "one kqueue for all threads woke each of them for every event",
            Scenario(&["shared-listener/bound-to-one-thread"]),
        ),
        bug(
            11,
            &["13b007d58"],
            "a thread that ended left its kqueue open",
            Scenario(&["regression/poller-leaked"]),
        ),
        bug(
            12,
            &["c20d73733"],
            "the wake pipe was missing from the descriptors that poll and select checked",
            Scenario(&["regression/highest-number-unpolled"]),
        ),
        bug(
            13,
            &["497959290"],
            "the close of a cloned descriptor was announced to threads that never polled it",
            Scenario(&["regression/former-owner-polls-copy"]),
        ),
        bug(
            14,
            &["cc35923c3"],
            "a bit set was as large in bytes as it should have been in bits",
            Scenario(&["regression/highest-number-unpolled"]),
        ),
        bug(
            15,
            &["abeaff2d5"],
            "a loop that retried a compare-and-swap compared with a copy that it never read again",
            Model(
                &["m8_list_grid"],
                "two threads must meet inside one compare-and-swap; every retry here is a fetch_update",
            ),
        ),
        bug(
            16,
            &["1ff910411"],
            "the only entry of the list removed itself while another was appended behind it, and the appended entry was lost",
            Model(&["m8_list_grid"], "the list has no checkpoints: only a model reaches every step of it"),
        ),
        bug(
            17,
            &["26fb5d844"],
            "work was published after its thread had been notified, or not at all",
            Scenario(&["regression/work-before-the-wait"]),
        ),
        bug(
            18,
            &["8ef1a6b0d"],
            "a number that was closed and used again in one iteration was listed twice, beyond the end of the list",
            Scenario(&["deletion/delete-reinsert-burst"]),
        ),
        bug(
            19,
            &["ebaba7542"],
            "a change that kqueue refused prevented the changes behind it",
            Scenario(&["regression/changes-lost-in-one-pass", "regression/event-taken-by-change"]),
        ),
        bug(
            20,
            &["6b96f7289"],
            "an update of a shared descriptor reached the poller of one thread only",
            Scenario(&["shared-listener/stop-start-converge"]),
        ),
        bug(
            21,
            &["c55b88ece"],
            "each descriptor's changes for kqueue overwrote those of the descriptor before it",
            Scenario(&["regression/changes-lost-in-one-pass"]),
        ),
        bug(
            22,
            &["d0e60d852"],
            "a deleted entry stayed in the shared list, or was added to it twice",
            Scenario(&["regression/deleted-while-listed"]),
        ),
        bug(
            23,
            &["5ab33944c"],
            "a descriptor without changes made kqueue's change list lose the changes of other descriptors",
            Scenario(&["regression/changes-lost-in-one-pass"]),
        ),
        bug(
            24,
            &["808e1b7c4"],
            "the deinitialisation of a poller that was never initialised closed the descriptors 0 and −1",
            Scenario(&["regression/deinit-without-init"]),
        ),
        bug(
            25,
            &["ca1b15743"],
            "a dump of the table stopped all threads once for every descriptor",
            Scenario(&["regression/dump-stops-users"]),
        ),
        bug(
            26,
            &["bc9d9844d"],
            "the need for a lock was evaluated twice, with a change of the mask in between",
            Scenario(&["regression/reference-left-behind"]),
        ),
        bug(
            27,
            &["b8e602cb1", "64d20fc9e"],
            "a function that closes all numbers from one on took poll's result for a bound, and a full batch for an empty one",
            NotApplicable("nothing here closes numbers that it does not own"),
        ),
        bug(
            28,
            &["2c58b41c9"],
            "the descriptors of pollers and pipes were not counted in the limit",
            Scenario(&["regression/last-number-refused"]),
        ),
        bug(
            29,
            &["a51885621"],
            "a listener that was stopped late published an update to a thread's freed list",
            Scenario(&["regression/called-while-it-stops"]),
        ),
        bug(
            30,
            &["1b3279032", "bba1a263c"],
            "marked work was taken for a thread that had been woken, and the sleeping thread did not check again",
            Scenario(&["regression/work-before-the-wait"]),
        ),
        bug(
            31,
            &["082b62828", "710928257"],
            "threads polled while other threads were still setting up shared data",
            Scenario(&["regression/polled-before-all-are-ready"]),
        ),
        bug(
            32,
            &["1dad3843d"],
            "a lock around every event starved a thread that only tried to take it",
            NotApplicable("events are handled without a lock"),
        ),
        bug(
            33,
            &["f2cb16948"],
            "a thread that must not touch a listener resumed it, without a lock",
            Scenario(&["shared-listener/pause-resume-flap", "shared-listener/stop-start-converge"]),
        ),
        bug(
            34,
            &["c22580c2c"],
            "a descriptor that was returned to its owner left its polled bits to the next descriptor of its number",
            Scenario(&["deletion/disown"]),
        ),
        bug(
            35,
            &["a3a8ea2fb"],
            "the removal of a descriptor cleared the polled bit of one direction twice and of the other never",
            Scenario(&["regression/send-bit-survives"]),
        ),
        bug(
            36,
            &["2aaeee34d"],
            "the peer's hang-up after a local shutdown of sending was taken for an error",
            Scenario(&["regression/hangup-after-own-shutdown"]),
        ),
        bug(
            37,
            &["eaefc3c50"],
            "a report without data was not passed on, so that an error on a datagram socket was never read",
            Scenario(&["regression/udp-error-spins"]),
        ),
        bug(
            38,
            &["7cdeb6170", "4c044e274", "92079934a"],
            "a pause and a resume at the same time left a listener paused and polled, or ready and not polled",
            Scenario(&["shared-listener/pause-resume-flap"]),
        ),
        bug(
            39,
            &["d7f76a0a5"],
            "a handler that served one direction per report never reached the other one",
            Scenario(&["regression/one-direction-served"]),
        ),
        bug(
            40,
            &["fc51f0f58"],
            "an entry that was being removed was taken for one that was being added, and its update was lost",
            Model(
                &["m8_list_grid", "m7_want_and_iteration"],
                "the list has no checkpoints: only a model reaches every step of it",
            ),
        ),
        bug(
            41,
            &["8d7b51782", "ddc874c46"],
            "a failed takeover disabled receiving, or a successful one did not",
            Scenario(&["migration/takeover-refused-in-handler", "migration/idle-takeover"]),
        ),
        bug(
            42,
            &["1662cdb0c", "a74bb7e26"],
            "a task of the old thread was freed or run by the new one",
            NotApplicable(
                "tasks are posted to a thread and stay there; connections and their tasklets are the upper layer's",
            ),
        ),
        bug(
            43,
            &["64920538f", "82cd028d7", "267221557", "308c6881c", "eb8235869"],
            "a number was closed without the table, or a second time after the table had closed it",
            Scenario(&["deletion/raw-close-diagnosed", "deletion/close-once"]),
        ),
        bug(
            44,
            &["5926e384e"],
            "a failed compare-and-swap was retried with the value that it had found instead of the expected one",
            Model(
                &["m8_list_grid", "m1_report_and_takeover"],
                "two threads must meet inside one compare-and-swap; every retry here is a fetch_update",
            ),
        ),
        bug(
            45,
            &["2c3f9818e"],
            "delete waited for handlers while its caller held the lock that they were waiting for",
            Scenario(&["shared-listener/delete-holding-handler-lock", "deletion/other-thread-in-handler"]),
        ),
        bug(
            46,
            &["c23b33764"],
            "clearing the thread mask and reading the running mask were not ordered",
            Model(&["m2_report_and_delete"], "a memory ordering: no machine violates it on demand"),
        ),
        bug(
            47,
            &["1197459e0"],
            "stopping both directions truncated the state word to its low byte",
            Scenario(&["regression/flag-lost-in-a-report"]),
        ),
        bug(
            48,
            &["5a9c637bf", "b4734c2bd", "726243318"],
            "a failed connect was reported by a hang-up, by an error, or not at all, and only one of these was checked",
            Scenario(&["regression/failure-without-readiness"]),
        ),
        bug(
            49,
            &["6ed242ece"],
            "the end of an idle connection was handled by a thread from which another thread had just taken it",
            Scenario(&["regression/end-reported-to-the-old-owner"]),
        ),
        bug(
            50,
            &["c37ccd70b"],
            "a thread was marked as awake again before it began to wait",
            Scenario(&["regression/work-before-the-wait"]),
        ),
        bug(
            51,
            &["fcc528151", "177119bb1"],
            "select reported the neighbours of a ready descriptor, and poll counted skips that had not happened",
            Scenario(&["regression/neighbours-counted"]),
        ),
        bug(
            52,
            &["79e90b961"],
            "the old thread of a migrated descriptor received its events endlessly",
            Scenario(&["migration/old-thread-forgets"]),
        ),
        bug(
            53,
            &["d5402b8df"],
            "a report changed the state before it had checked that it still owned the descriptor",
            Scenario(&["regression/late-report-changes-the-state"]),
        ),
        bug(
            54,
            &["97ea9c49f", "b9915a745"],
            "the table did not begin at a cache line, and later took twice the memory",
            UnitTest(
                &[
                    "the_entry_is_one_cache_line_and_a_number_outside_the_table_has_none",
                    "unused_slots_cost_no_memory",
                ],
                "a size and an alignment",
            ),
        ),
        bug(
            55,
            &["7d392a592"],
            "a descriptor that other code closes could not be unregistered without closing it",
            Scenario(&["deletion/disown"]),
        ),
        bug(
            56,
            &["7e94b40a2"],
            "the flags that a descriptor starts with were computed and not stored",
            Scenario(&["regression/insert-flags-lost"]),
        ),
        bug(
            57,
            &["698342635"],
            "a reference was not released when the mask did not match, and a thread that waited for the last reference never continued",
            Scenario(&["regression/reference-left-behind"]),
        ),
        bug(
            58,
            &["c1640f79f", "ad9011033"],
            "the thread to wake was chosen by the wrong group's mask and count",
            Scenario(&["regression/wrong-thread-woken"]),
        ),
        bug(
            59,
            &["b98314583"],
            "a delete during the end of a thread read that thread's freed list",
            Scenario(&["regression/called-while-it-stops"]),
        ),
        bug(
            60,
            &["e6ca435c0"],
            "wake pipes were closed and stayed registered, which blocked the next descriptors of their numbers",
            Scenario(&["regression/closed-number-is-somebody-elses"]),
        ),
        bug(
            61,
            &["2c30de3b9"],
            "enabling interest after an error reported the error once more",
            Scenario(&["regression/hangup-without-wants-spins"]),
        ),
        bug(
            62,
            &["43c891dda", "eea152ee6", "4a9e3e102"],
            "a signal before the wait was seen only after the wait, and later kept every thread from waiting",
            Scenario(&["regression/signal-before-the-wait"]),
        ),
        bug(
            63,
            &["e51891a01"],
            "the list's loops lost their volatile reads in a clean-up, and never ended",
            Model(&["m8_list_grid"], "by construction: every field of a link is one atomic word"),
        ),
        bug(
            64,
            &["c0f6f5755", "061754b24", "753aa4441"],
            "a delete from another group used the wrong list and the wrong masks, and later stopped the whole process",
            Scenario(&["deletion/foreign-group-idle", "deletion/foreign-group-running"]),
        ),
        bug(
            65,
            &["237e6a0d6"],
            "a late report left its update bit in an entry that was being closed, and the bit stayed set in the next registration",
            Scenario(&["deletion/late-report-then-reuse"]),
        ),
        bug(
            66,
            &["cd8914bc5"],
            "a takeover between a report's check and its compare-and-swap made two owners, and both closed",
            Scenario(&["migration/late-report-of-old-owner", "deletion/two-late-wakers"]),
        ),
        bug(
            67,
            &["f98a8c317"],
            "two late threads of a deleted descriptor waited for each other's running bit",
            Scenario(&["deletion/two-late-wakers"]),
        ),
        bug(
            68,
            &["b2f38c13d"],
            "a loop waited for threads that had ended, because it read the set of threads only once",
            UnitTest(
                &["a_thread_that_has_ended_keeps_no_entry_listed"],
                "threads end when their runtime stops, and in a forked child",
            ),
        ),
        bug(
            69,
            &["145b17fd2"],
            "one inherited number was registered twice",
            Scenario(&["regression/inserted-twice"]),
        ),
        bug(
            70,
            &["fed93d367", "314e6ec82", "2dedbe76c", "5b31989a3"],
            "the table was read at −1",
            UnitTest(
                &["the_entry_is_one_cache_line_and_a_number_outside_the_table_has_none"],
                "by construction: only an OwnedFd can be registered",
            ),
        ),
        bug(
            71,
            &["36d92dcd9"],
            "a signal during the wait made event ports forget what they had returned",
            NotApplicable("there is no backend for event ports"),
        ),
        bug(
            72,
            &["e6662bf70", "e362b076b"],
            "event ports lost events when asked for more than one",
            NotApplicable("there is no backend for event ports"),
        ),
        bug(
            73,
            &["ad98edd00"],
            "busy polling reported a wait to the clock that it had not made",
            NotApplicable("there is no busy polling"),
        ),
        bug(
            74,
            &["8b16b7254"],
            "the pollers were created again for a fork that did not happen",
            NotApplicable("a child creates its poller again only on request"),
        ),
        bug(
            75,
            &["8235a2478", "d155924ef", "5012b6c6d"],
            "an event of a batch reached the new descriptor of a number that was used again before the dispatch",
            Scenario(&["deletion/reuse-in-batch"]),
        ),
        bug(
            76,
            &["561319bd1"],
            "a process that had passed a listener to another process was woken for every connection",
            Scenario(&["deletion/cloned-scm-rights"]),
        ),
        bug(
            77,
            &["752c5cba5"],
            "a registration from before a round trip between groups was taken for the new one",
            Scenario(&["migration/group-round-trip", "migration/registration-left-behind"]),
        ),
        bug(
            78,
            &["6993981cd"],
            "an insert for another group kept only threads that exist in the caller's own group",
            Scenario(&["regression/insert-asks-the-wrong-group"]),
        ),
        bug(
            79,
            &["55744154b"],
            "every wait was a millisecond too long",
            UnitTest(&["only_a_zero_timeout_rounds_to_zero"], "a measured time proves no upper bound"),
        ),
        bug(
            80,
            &["e088b0d8e"],
            "a local port was returned to its range with its bytes swapped",
            NotApplicable("there are no port ranges"),
        ),
        bug(
            81,
            &["cc0c18d82", "c71f45a0a"],
            "a build without threads had no wake pipe",
            Scenario(&["regression/highest-number-unpolled"]),
        ),
        bug(
            82,
            &["510c0d67e", "bbd09b930"],
            "stopping a listener took the lock that its caller already held",
            Scenario(&["deletion/own-handler", "shared-listener/delete-holding-handler-lock"]),
        ),
        bug(
            83,
            &["4f02e3da6", "95fd2d680", "d069825c5", "821a04377"],
            "a takeover failed after the descriptor had moved, or took a descriptor that still waited for a buffer",
            Scenario(&[
                "migration/takeover-refused-in-handler",
                "migration/takeover-refused-wrong-owner",
                "migration/takeover-refused-reinserted",
                "migration/takeover-refused-shared",
            ]),
        ),
        bug(
            84,
            &["5405c9cdf"],
            "the watchdog read its own thread's flags instead of the suspected thread's",
            NotApplicable("there is no watchdog in the core"),
        ),
        bug(
            85,
            &["39ebef82a", "26d7cfce3"],
            "one report called the handler twice, and an error without interest was reported endlessly",
            Scenario(&["regression/hangup-without-wants-spins", "deletion/raw-close-diagnosed"]),
        ),
        suspect(
            1,
            "the last user of a deleted entry does not detect that it is the last, and no thread closes",
            Scenario(&["regression/last-user-does-not-know", "deletion/two-late-wakers"]),
        ),
        suspect(
            2,
            "a store and a load of a foreign delete are reordered, and it closes under a handler",
            Model(
                &["m2_report_and_delete", "m3_two_reports_and_delete"],
                "a memory ordering: no machine violates it on demand",
            ),
        ),
        suspect(
            3,
            "a plain store of the state loses a flag that another thread has just set",
            Scenario(&["regression/flag-lost-in-a-report"]),
        ),
        suspect(
            4,
            "the thread mask is older than the running mask that it is compared with",
            Model(&["m1_report_and_takeover"], "a memory ordering: no machine violates it on demand"),
        ),
        suspect(
            5,
            "a change that waits for its submission reaches the next file of its number",
            Scenario(&["regression/update-after-the-close"]),
        ),
        suspect(
            6,
            "the private list overflows with entries for one number",
            Scenario(&["deletion/delete-reinsert-burst"]),
        ),
        suspect(
            7,
            "a thread of the new group takes the old group's polled bits for its own",
            Scenario(&["regression/moved-under-a-report"]),
        ),
        suspect(
            8,
            "the lock bit is taken for a part of the group's number, and a report is dropped permanently",
            Scenario(&["regression/moved-under-a-report"]),
        ),
        suspect(
            9,
            "a walk of the shared list misses entries, and no thread checks again before it sleeps",
            Scenario(&["regression/walk-led-astray"]),
        ),
        suspect(
            10,
            "an edge that the old owner has consumed is not reported to the thread that takes the descriptor back",
            Scenario(&["migration/takeover-unread-data"]),
        ),
        suspect(
            11,
            "select's shared set gets a number after its close, and every call of every thread fails",
            Scenario(&["regression/update-after-the-close"]),
        ),
        suspect(
            12,
            "a waker writes to a wake descriptor that has been closed, and so to an unrelated one",
            UnitTest(
                &["a_stop_wakes_every_sleeper_and_closes_everything"],
                "by construction: a waker keeps its descriptor open",
            ),
        ),
        suspect(
            13,
            "the close of a cloned descriptor uses the epoll number of a thread that has ended",
            UnitTest(
                &["forgetting_an_absent_registration_or_group_does_nothing"],
                "by construction: the pollers' descriptors live as long as the backend",
            ),
        ),
        suspect(
            14,
            "the scan at the start of a thread ends one number before the highest",
            Scenario(&["regression/scan-ends-too-early"]),
        ),
        suspect(
            15,
            "a takeover ignores the token, and a migration ignores the running mask",
            Scenario(&["migration/takeover-during-delete", "migration/migrate-on"]),
        ),
        suspect(
            16,
            "an entry that changes groups while it is listed corrupts its old list",
            Scenario(&["regression/deleted-while-listed"]),
        ),
        suspect(
            17,
            "a copy inside the process keeps a kernel registration that no thread can remove",
            Scenario(&["deletion/cloned-dup", "deletion/undeclared-copy", "deletion/slow-close"]),
        ),
        suspect(
            18,
            "an event of an ended registration is delivered from a batch, on backends other than epoll",
            Scenario(&["deletion/reuse-in-batch"]),
        ),
        suspect(
            19,
            "an update that is already pending is not announced again, and all threads sleep",
            Scenario(&["shared-listener/two-outsiders-start"]),
        ),
        suspect(
            20,
            "a late report of the old owner wins the token of the new owner's delete, and closes under it",
            Scenario(&["migration/late-report-of-old-owner"]),
        ),
        core(
            1,
            "the orderings of an update were SeqCst only in the comment and under loom: an enabled interest was lost on ARM and POWER",
            Model(
                &["m7_want_and_iteration"],
                "x86 does not reorder them, and other processors do not do so on demand",
            ),
        ),
        core(
            2,
            "a close during the start of a child was taken for an undeclared copy, and the whole epoll descriptor was replaced",
            Scenario(&["deletion/closes-beside-children", "deletion/undeclared-copy"]),
        ),
        core(
            3,
            "a poller that could not be replaced at the limit of descriptors ended its thread, and so the runtime",
            Scenario(&["polling/rebuild-at-the-limit"]),
        ),
        core(
            4,
            "a timeout was computed from the time at which its iteration began, and timers fired late by the duration of the work",
            Scenario(&["polling/timer-after-work"]),
        ),
        core(
            5,
            "an update that a takeover had overtaken made the former owner the polling thread again",
            Scenario(&["migration/update-overtaken"]),
        ),
        core(
            6,
            "tasks that had not run stayed in a runtime that had stopped, and kept it alive",
            Scenario(&["lifecycle/tasks-at-stop", "lifecycle/start-stop-often"]),
        ),
        core(
            7,
            "the panic of a handler that had deleted its own descriptor was lost",
            Scenario(&["lifecycle/panics"]),
        ),
        core(
            8,
            "an insertion that did not see the stop took its slot during the stop, and outlived it",
            Scenario(&["lifecycle/insert-beside-stop"]),
        ),
        core(
            9,
            "poll refuses more entries than the limit of descriptors, and a lowered limit ended the thread",
            Scenario(&["polling/lowered-limit"]),
        ),
        core(
            10,
            "a stale call took its reference before it compared the generation, and delayed the next insertion",
            Scenario(&["deletion/stale-call-beside-insert"]),
        ),
        core(
            11,
            "registrations that another thread was using or moving at a fork could not end in the child",
            Scenario(&["lifecycle/fork-goes-on", "lifecycle/fork-drops-runtime"]),
        ),
        core(
            12,
            "a dump exposed handles of the wake descriptors, and safe code could delete them",
            Scenario(&["lifecycle/internal-handles"]),
        ),
        core(
            13,
            "a delay that no clock can represent, and a signal that cannot be caught, caused panics",
            Scenario(&["polling/timer-after-work", "lifecycle/impossible-builds"]),
        ),
        core(
            14,
            "a runtime that was dropped on its own thread waited for that thread",
            Scenario(&["lifecycle/stopped-from-inside"]),
        ),
        core(
            15,
            "a handle carried no table: a stale handle of one runtime deleted a registered descriptor of another",
            Scenario(&["lifecycle/two-runtimes"]),
        ),
        core(
            16,
            "a forked child shared its wake descriptor with its parent, and each consumed the other's wake-ups",
            Scenario(&["lifecycle/fork-goes-on"]),
        ),
        core(
            17,
            "a handler that panicked in released() and then in its drop ended the process",
            Scenario(&["lifecycle/panics"]),
        ),
        core(
            18,
            "the owner was woken before the last write of its interest, and slept without the descriptor",
            Scenario(&["migration/update-overtaken"]),
        ),
        core(
            19,
            "an event whose handler deleted its own registration counted as stale, and paused its thread",
            Scenario(&["deletion/own-handler"]),
        ),
        core(
            20,
            "a fork in progress, whose child no system call showed yet, was taken for no child, and the poller was replaced",
            Scenario(&["deletion/undeclared-copy"]),
        ),
        core(
            21,
            "an update of a shared descriptor woke one of the threads that must apply it, or none: a listener that was started while all slept was served by one thread",
            Scenario(&[
                "shared-listener/sleeping-sharers",
                "shared-listener/busy-sharers",
                "shared-listener/stop-start-converge",
            ]),
        ),
        core(
            22,
            "all tasks that were posted ran before the next look at the poller, and before a stop",
            Scenario(&["polling/work-beside-events"]),
        ),
        core(
            23,
            "all timers that were due ran before the next look at the poller, those too that were set meanwhile",
            Scenario(&["polling/work-beside-events"]),
        ),
        core(
            24,
            "a child that the C library had not made counted as the owner, and removed its parent's registrations",
            Scenario(&["lifecycle/bare-fork"]),
        ),
        core(
            25,
            "a child that was forked on another thread than the first one handled no signal",
            Scenario(&["lifecycle/signals-in-a-child"]),
        ),
        core(
            26,
            "a descriptor that epoll refuses was tried again for ever, and no handler was called",
            Scenario(&["polling/refused-for-ever"]),
        ),
    ];
    HISTORY
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue::{catalogue, find};

    #[test]
    fn every_defect_is_listed_once_and_in_order() {
        let numbers: Vec<_> = history().iter().map(|defect| (defect.kind, defect.number)).collect();
        let of_core = numbers.iter().filter(|(kind, _)| *kind == Kind::Core).count() as u8;
        let expected: Vec<_> = (1..=85)
            .map(|number| (Kind::Bug, number))
            .chain((1..=20).map(|number| (Kind::Suspect, number)))
            .chain((1..=of_core).map(|number| (Kind::Core, number)))
            .collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn every_defect_has_a_description_its_commits_and_its_coverage() {
        for defect in history() {
            let name = defect.name();
            assert!(
                !defect.description.is_empty() && !defect.description.ends_with('.'),
                "{name}: the description is a sentence without its full stop"
            );
            assert_eq!(defect.commits.is_empty(), defect.kind != Kind::Bug, "{name}: only a bug has commits");
            assert_eq!(
                defect.coverage.names().is_empty(),
                matches!(defect.coverage, Coverage::NotApplicable(_)),
                "{name}: a defect without coverage names nothing"
            );
            assert!(
                defect.coverage.reason().is_none_or(|why| !why.is_empty()),
                "{name}: the reason why there is no scenario is empty"
            );
        }
    }

    #[test]
    fn every_scenario_that_a_defect_names_is_in_the_catalogue() {
        for defect in history() {
            if let Coverage::Scenario(ids) = defect.coverage {
                for id in ids {
                    assert!(find(id).is_some(), "{}: no scenario {id}", defect.name());
                }
            }
        }
    }

    #[test]
    fn every_regression_scenario_is_named_by_a_defect() {
        let named: BTreeSet<_> = history()
            .iter()
            .filter_map(|defect| match defect.coverage {
                Coverage::Scenario(ids) => Some(ids),
                _ => None,
            })
            .flatten()
            .collect();
        for scenario in catalogue().filter(|scenario| scenario.id.starts_with("regression/")) {
            assert!(named.contains(&scenario.id), "no defect of the history names {}", scenario.id);
        }
    }
}
