//! The behaviours and published answers that no script asks for, with the reasons.

/// A behaviour, or a published answer to one, that no script asks for.
#[derive(Clone, Copy, Debug)]
pub struct Omission {
    /// The behaviour (`F08`), or answers to it: `V30 * kqueue@level`. `*` stands for anything.
    pub pattern: &'static str,
    /// The reason.
    pub reason: &'static str,
    /// The contract scenarios that test it instead, if it is a property of a core above the poller.
    pub contract: &'static [&'static str],
}

const fn not_asked(pattern: &'static str, reason: &'static str) -> Omission {
    Omission { pattern, reason, contract: &[] }
}

const fn of_the_core(
    pattern: &'static str,
    reason: &'static str,
    contract: &'static [&'static str],
) -> Omission {
    Omission { pattern, reason, contract }
}

/// Several answers under one key.
const TAKEN_APART: &str = "several answers under one key: the scripts ask for each of them under its own key";

/// A feature that only kqueue has.
const KQUEUE_ONLY: &str = "a flag or filter that only kqueue has; the interface to pollers does not offer it";

/// A count of bytes.
const SIZE: &str =
    "the number of bytes that fit depends on the system's settings: the scripts ask whether it is writable";

/// A call before or beside the wait of a child.
const CHILD: &str = "the answer of a child's wait shows whether the child has the poller";

/// Modes of a wake-up.
const WAKE_UP: &str =
    "a poller's wake-up ends one wait, as an edge does: E11 asks how many threads other modes wake";

/// kqueue's list of changes.
const CHANGE_LIST: &str =
    "only kqueue has a list of changes: the interface to pollers makes one change at a time";

/// The same question under another key.
const OTHER_NAME: &str = "asked under the name of the verb, which is the same for every poller";

/// Returns the behaviours and published answers that no script asks for, with the reasons.
pub fn omissions() -> &'static [Omission] {
    OMISSIONS
}

const OMISSIONS: &[Omission] = &[
    not_asked("V05 *:W-data *", SIZE),
    not_asked("V14 tcp connect*", TAKEN_APART),
    not_asked("V14 tcp read", TAKEN_APART),
    not_asked("V14 tcp:R-only *", TAKEN_APART),
    not_asked("V14 tcp:W-only *", TAKEN_APART),
    not_asked("V14 tcp:after-SO_ERROR connect-again", OTHER_NAME),
    not_asked("V14 unix#* connect", TAKEN_APART),
    not_asked("V15 unix send(MSG_OOB)", OTHER_NAME),
    not_asked("V16 *:NOTE_LOWAT10-*", KQUEUE_ONLY),
    not_asked("V20 *:blocked-when-peer-closes *", TAKEN_APART),
    not_asked("V22 * send(0)", OTHER_NAME),
    not_asked("V24 * send(0)", OTHER_NAME),
    not_asked("V26 *:writer-closed-two-waits *", TAKEN_APART),
    not_asked(
        "V27 *:full,blocked-then-reader-closes *",
        "registration/blocked-writer asks for it, under A22",
    ),
    not_asked("V27 *:reader-closed-then-EV_DELETE kqueue", KQUEUE_ONLY),
    not_asked("V27 *:reader-closed-then-re-add kqueue@level", OTHER_NAME),
    not_asked("V27 *:reader-closed-then-re-add epoll@level", OTHER_NAME),
    not_asked("V27 *:reader-closed-two-waits *", TAKEN_APART),
    not_asked("V28 * capacity", SIZE),
    not_asked("V29 * capacity", SIZE),
    not_asked("V30 * kqueue@level", SIZE),
    not_asked("V30 * epoll@level", SIZE),
    not_asked("V32 *:SHUT_RDWR-blocked-waiter *", OTHER_NAME),
    not_asked("F01 regular-file:NOTE_FILE_POLL-at-EOF *", KQUEUE_ONLY),
    not_asked("F01 regular-file:offset-0 kqueue@level", TAKEN_APART),
    not_asked(
        "F03",
        "/dev/tty needs a session with a controlling terminal: V31 asks about the terminal itself",
    ),
    not_asked("F05 * kqueue-add * end@level", OTHER_NAME),
    not_asked("F05 * epoll-add * end@level", OTHER_NAME),
    not_asked("F06 kqueue-fd *", OTHER_NAME),
    not_asked("F06 memfd *", "a file of the same file system as shared memory, for which a script asks"),
    not_asked("F07", "needs an interface whose queue can be full: loopback has none"),
    not_asked("F08", "needs a device that can only be polled"),
    not_asked("F09 bpf:BIOCSETIF-lo0 ioctl", "packets of other programs make the answers unpredictable"),
    not_asked("F09 bpf:bound *", "packets of other programs make the answers unpredictable"),
    not_asked("F09 bpf:packet-seen *", "packets of other programs make the answers unpredictable"),
    not_asked("F09 bpf:unbound kqueue@level", TAKEN_APART),
    not_asked("E01 * kqueue@edge", TAKEN_APART),
    not_asked("E01 * epoll@edge", TAKEN_APART),
    not_asked("E02 *:partial-read *", TAKEN_APART),
    not_asked("E03 *:two-writes-one-wait *", TAKEN_APART),
    not_asked("E04 *:EV_*", OTHER_NAME),
    not_asked("E04 *:re-EV_ADD-same *", OTHER_NAME),
    not_asked(
        "E05 EVFILT_USER:* *",
        "a user event has no descriptor; scripts use the poller's `wake` instead",
    ),
    not_asked("E06 *", TAKEN_APART),
    not_asked("E10 *:EV_*", KQUEUE_ONLY),
    not_asked("E10 *:R+W *", TAKEN_APART),
    not_asked("E10 *:W-fires-first *", TAKEN_APART),
    not_asked("E10 *:after-that *", KQUEUE_ONLY),
    not_asked("E12 * kqueue@level", TAKEN_APART),
    not_asked("E12 * epoll@level", TAKEN_APART),
    not_asked("E12 *:one-slot-three-waits *", TAKEN_APART),
    not_asked("E13 *:event-pending-then-EV_DISABLE *", KQUEUE_ONLY),
    not_asked("E13 *:then-EV_ENABLE *", KQUEUE_ONLY),
    not_asked("E14 *:consumed-in-A-added-to-B *", TAKEN_APART),
    not_asked("E15 * *", TAKEN_APART),
    not_asked("E16 *:peer-closed-filter-disabled *", TAKEN_APART),
    not_asked("E16 *:peer-closed-events-0 *", TAKEN_APART),
    not_asked("A01 * kqueue-add-twice@level", OTHER_NAME),
    not_asked("A01 * epoll-add-twice@level", OTHER_NAME),
    not_asked("A01 *:after-add-twice *", TAKEN_APART),
    not_asked("A01 unix:edge-then-add-level kqueue@level", TAKEN_APART),
    not_asked("A01 unix:edge-then-add-level epoll@level", TAKEN_APART),
    not_asked("A01 unix:level-then-add-edge kqueue@edge", TAKEN_APART),
    not_asked("A01 unix:level-then-add-edge epoll@edge", TAKEN_APART),
    not_asked("A02 *", TAKEN_APART),
    not_asked("A03 * kqueue-EV_DELETE-absent", OTHER_NAME),
    not_asked("A03 * epoll-*-absent", OTHER_NAME),
    not_asked("A03 * kqueue-EV_DELETE-other-filter", KQUEUE_ONLY),
    not_asked("A03 * kqueue-EV_DELETE-twice", TAKEN_APART),
    not_asked("A03 * epoll-DEL-twice", TAKEN_APART),
    not_asked("A03 * kqueue-EV_DISABLE-absent", KQUEUE_ONLY),
    not_asked("A03 * kqueue-EV_ENABLE-absent", KQUEUE_ONLY),
    not_asked("A03 * kqueue-filter-*", KQUEUE_ONLY),
    not_asked("A04 * kqueue-EV_*", OTHER_NAME),
    not_asked("A04 * epoll-*", OTHER_NAME),
    not_asked("A05 *:peer-write write", OTHER_NAME),
    not_asked("A06 * kqueue-delete-*", OTHER_NAME),
    not_asked("A06 * epoll-delete-*", OTHER_NAME),
    not_asked("A06 *:closed-number *", OTHER_NAME),
    not_asked("A06 *:dup-closed-too *", OTHER_NAME),
    not_asked("A06 * kqueue@level", OTHER_NAME),
    not_asked("A06 * epoll@level", OTHER_NAME),
    not_asked("A07 * kqueue@level", TAKEN_APART),
    not_asked("A07 * epoll@level", TAKEN_APART),
    not_asked("A08 * kqueue@level", TAKEN_APART),
    not_asked("A08 * epoll@level", TAKEN_APART),
    not_asked("A09 * kqueue@level", TAKEN_APART),
    not_asked("A09 * epoll@level", TAKEN_APART),
    not_asked("A10 *:EV_*", KQUEUE_ONLY),
    not_asked("A10 *:del-then-add *", OTHER_NAME),
    not_asked("A10 *:modify-while-ready *", OTHER_NAME),
    not_asked("A11 * kqueue@level", TAKEN_APART),
    not_asked("A11 * epoll@level", TAKEN_APART),
    not_asked("A12 *", TAKEN_APART),
    not_asked("A13 *", TAKEN_APART),
    not_asked("A14 unix#*", TAKEN_APART),
    not_asked(
        "A14 unix:3-waiters *",
        "no event until a timeout: the script's threads wait without one, and the sleeping ones are counted",
    ),
    not_asked(
        "A14 unix:number-reused-while-waiter-parked *",
        "pollers do not expose the numbers of their descriptors",
    ),
    of_the_core(
        "A16",
        "the core above the poller decides whether a deletion is deferred while a thread uses the descriptor",
        &[
            "deletion/other-thread-in-handler",
            "deletion/late-report-then-reuse",
            "deletion/delete-reinsert-burst",
        ],
    ),
    not_asked("A18", "needs a program for exec"),
    not_asked("A19 unix poll@level", OTHER_NAME),
    not_asked("A20 unix poll@level", TAKEN_APART),
    not_asked("A21 *", OTHER_NAME),
    not_asked("A22 * kqueue-nothing-armed@level", OTHER_NAME),
    not_asked("A22 *:blocked-then-peer-*", TAKEN_APART),
    not_asked("A23 nesting *-on-itself", OTHER_NAME),
    not_asked("A23 nesting:W-on-* *", OTHER_NAME),
    not_asked("A23 nesting:chain* *", OTHER_NAME),
    not_asked("A23 nesting:cycle-* *", OTHER_NAME),
    not_asked(
        "A23 nesting:inner-source-drained inner-itself@level",
        "the same as for any other poller without events",
    ),
    not_asked("A23 nesting:inner-waited-then *", TAKEN_APART),
    not_asked("A23 nesting:*-nested* kqueue", "a kernel panic is not an answer to reproduce"),
    not_asked("A24 unix:IN+* poll@level", TAKEN_APART),
    not_asked("A15 * *@level", TAKEN_APART),
    not_asked("A17 *:child-F_GETFD *", CHILD),
    not_asked("A17 *:child-next-open *", CHILD),
    not_asked("A17 *:child-delete *", OTHER_NAME),
    not_asked("C01 tcp connect", OTHER_NAME),
    not_asked(
        "C01 tcp poll-at-once@level",
        "the progress of a handshake right after the call depends on the scheduler",
    ),
    not_asked("C01 tcp:connect-pending(accept-queue-full) connect*", TAKEN_APART),
    not_asked(
        "C09 tcp:*,* *",
        "the number of connections per thread depends on the scheduler: the scripts count all of them",
    ),
    not_asked("C10 tcp epoll-ADD-EXCLUSIVE-of-epoll-fd", "pollers do not expose their descriptors"),
    not_asked("C10 tcp epoll-ADD-EXCLUSIVE|ONESHOT", "a registration has one mode"),
    not_asked("C10 tcp epoll-*", OTHER_NAME),
    not_asked("C12 tcp:limit-raised accept", TAKEN_APART),
    of_the_core(
        "C13",
        "the core above the pollers decides which of them a change of a shared listener reaches",
        &["shared-listener/stop-start-converge", "shared-listener/pause-resume-flap"],
    ),
    not_asked("C14 tcp:* accept", OTHER_NAME),
    not_asked("T01 - *", OTHER_NAME),
    not_asked("T02 -:* *", OTHER_NAME),
    not_asked("T03 -:* *", OTHER_NAME),
    not_asked("T04 -:* *", OTHER_NAME),
    not_asked("T05 - select", OTHER_NAME),
    not_asked("T05 -:* select", OTHER_NAME),
    not_asked("T06 -:* *", OTHER_NAME),
    not_asked("T07 -:* *", OTHER_NAME),
    not_asked("T08 -:* *", OTHER_NAME),
    not_asked("T09", "a retry loop computes its own timeouts: this is not a property of the poller"),
    not_asked("T10 - *", OTHER_NAME),
    not_asked("T10 -:* *", OTHER_NAME),
    not_asked("T11 -:* *", OTHER_NAME),
    not_asked("T12 - *", OTHER_NAME),
    not_asked("T12 -:* *", OTHER_NAME),
    not_asked("T13 - *-create", OTHER_NAME),
    not_asked("T14", "the limit applies to the whole system, and only the superuser can lower it"),
    not_asked("W01 * *@edge", OTHER_NAME),
    not_asked("W02 * *@edge", OTHER_NAME),
    not_asked("W03 *:4-waiters *", WAKE_UP),
    not_asked("W04 * *@edge", TAKEN_APART),
    of_the_core(
        "W05",
        "the core above the poller decides in which order a thread looks for work and goes to sleep",
        &["regression/work-before-the-wait", "regression/signal-before-the-wait"],
    ),
    not_asked("W06", "the identifier of an EVFILT_USER event belongs to the poller and is no descriptor"),
    not_asked("W07", "the poller's `wake` hides the peculiarities of EVFILT_USER on macOS"),
    not_asked("W08 *:*,* *@level", TAKEN_APART),
    not_asked("W08 *-order *@level", OTHER_NAME),
    not_asked("W09 unix:* *", OTHER_NAME),
    not_asked("W10 ???? *@level", TAKEN_APART),
    not_asked("W11 unix *", TAKEN_APART),
    of_the_core(
        "W12",
        "the interface makes one change at a time; contract scenarios test a core's lists of changes",
        &["regression/changes-lost-in-one-pass", "regression/event-taken-by-change"],
    ),
    of_the_core(
        "W13",
        "contract scenarios test a core's lists of changes",
        &["regression/changes-lost-in-one-pass"],
    ),
    not_asked("W14", CHANGE_LIST),
    not_asked("W15", CHANGE_LIST),
    not_asked("W16", CHANGE_LIST),
    not_asked("W17", "a constant: kqueue's filters are numbers, not bits"),
];
