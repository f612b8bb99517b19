//! What is no scenario, and why.

/// A row of the catalogue, or a published answer to one, that no line asks for.
#[derive(Clone, Copy, Debug)]
pub struct Omission {
    /// The row (`F08`), or answers to it: `V30 * kqueue@level`. `*` stands for anything.
    pub pattern: &'static str,
    /// Why.
    pub reason: &'static str,
    /// The contract scenarios that ask for it: it is about a core over the poller.
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

/// Several answers in one sentence: the line of the row looks at one thing at a time, and each has a key of its own.
const TAKEN_APART: &str =
    "several answers in one: the row's lines ask for each of them under a key of its own";

/// Something of kqueue's that no other poller has.
const KQUEUE_ONLY: &str = "a flag or a filter of kqueue's own, for which the pollers' interface has no word";

/// A count of bytes.
const SIZE: &str =
    "how many bytes fit depends on the system's settings: the row's lines ask whether it is writable";

/// What goes before or beside the wait of a child.
const CHILD: &str = "that a child has no poller is what its wait answers";

/// Modes of a wake-up.
const WAKE_UP: &str =
    "a poller's wake-up ends one wait, as an edge does: E11 asks how many threads other modes wake";

/// kqueue's list of changes.
const CHANGE_LIST: &str =
    "a list of changes is kqueue's own: the pollers' interface makes one change at a time";

/// The same question under the name that the interface has for it.
const OTHER_NAME: &str = "asked under the name that the verbs have for it, the same for every poller";

pub(super) const OMISSIONS: &[Omission] = &[
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
        "the row registration/blocked-writer asks for it, under A22",
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
    not_asked("F03", "a terminal of its own needs a session of its own: V31 looks at the terminal itself"),
    not_asked("F05 * kqueue-add * end@level", OTHER_NAME),
    not_asked("F05 * epoll-add * end@level", OTHER_NAME),
    not_asked("F06 kqueue-fd *", OTHER_NAME),
    not_asked("F06 memfd *", "a file of the same file system as shared memory, which is asked"),
    not_asked("F07", "needs an interface whose queue can be filled: loopback has none"),
    not_asked("F08", "needs a device that can only be polled"),
    not_asked("F09 bpf:BIOCSETIF-lo0 ioctl", "packets of other programs are no answers to expect"),
    not_asked("F09 bpf:bound *", "packets of other programs are no answers to expect"),
    not_asked("F09 bpf:packet-seen *", "packets of other programs are no answers to expect"),
    not_asked("F09 bpf:unbound kqueue@level", TAKEN_APART),
    not_asked("E01 * kqueue@edge", TAKEN_APART),
    not_asked("E01 * epoll@edge", TAKEN_APART),
    not_asked("E02 *:partial-read *", TAKEN_APART),
    not_asked("E03 *:two-writes-one-wait *", TAKEN_APART),
    not_asked("E04 *:EV_*", OTHER_NAME),
    not_asked("E04 *:re-EV_ADD-same *", OTHER_NAME),
    not_asked("E05 EVFILT_USER:* *", "a user event has no descriptor: what it is for is a poller's `wake`"),
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
        "silence until a timeout: the line's thread sleeps on instead, and is counted",
    ),
    not_asked(
        "A14 unix:number-reused-while-waiter-parked *",
        "pollers do not give away the numbers of their descriptors",
    ),
    of_the_core(
        "A16",
        "whether a deletion is deferred while somebody uses the descriptor is up to the core over the poller",
        &[
            "deletion/other-thread-in-handler",
            "deletion/late-report-then-reuse",
            "deletion/delete-reinsert-burst",
        ],
    ),
    not_asked("A18", "needs a program to be executed"),
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
        "the same as any other poller's silence",
    ),
    not_asked("A23 nesting:inner-waited-then *", TAKEN_APART),
    not_asked("A23 nesting:*-nested* kqueue", "a kernel that panics is no answer to ask for again"),
    not_asked("A24 unix:IN+* poll@level", TAKEN_APART),
    not_asked("A15 * *@level", TAKEN_APART),
    not_asked("A17 *:child-F_GETFD *", CHILD),
    not_asked("A17 *:child-next-open *", CHILD),
    not_asked("A17 *:child-delete *", OTHER_NAME),
    not_asked("C01 tcp connect", OTHER_NAME),
    not_asked("C01 tcp poll-at-once@level", "how far a handshake is right after the call is the scheduler's"),
    not_asked("C01 tcp:connect-pending(accept-queue-full) connect*", TAKEN_APART),
    not_asked("C09 tcp:*,* *", "who accepts how many is the scheduler's: the row's lines count all of them"),
    not_asked("C10 tcp epoll-ADD-EXCLUSIVE-of-epoll-fd", "pollers do not give away their descriptors"),
    not_asked("C10 tcp epoll-ADD-EXCLUSIVE|ONESHOT", "a registration has one mode"),
    not_asked("C10 tcp epoll-*", OTHER_NAME),
    not_asked("C12 tcp:limit-raised accept", TAKEN_APART),
    of_the_core(
        "C13",
        "whose pollers a change of a shared listener reaches is up to the core over them",
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
    not_asked("T09", "what a loop does that waits again: its own arithmetic"),
    not_asked("T10 - *", OTHER_NAME),
    not_asked("T10 -:* *", OTHER_NAME),
    not_asked("T11 -:* *", OTHER_NAME),
    not_asked("T12 - *", OTHER_NAME),
    not_asked("T12 -:* *", OTHER_NAME),
    not_asked("T13 - *-create", OTHER_NAME),
    not_asked("T14", "the limit is the whole system's, and only the superuser can lower it"),
    not_asked("W01 * *@edge", OTHER_NAME),
    not_asked("W02 * *@edge", OTHER_NAME),
    not_asked("W03 *:4-waiters *", WAKE_UP),
    not_asked("W04 * *@edge", TAKEN_APART),
    of_the_core(
        "W05",
        "in which order a thread looks for work and goes to sleep is up to the core over the poller",
        &["regression/work-before-the-wait", "regression/signal-before-the-wait"],
    ),
    not_asked("W06", "the number of EVFILT_USER is the poller's own, and no descriptor's"),
    not_asked("W07", "what is odd about EVFILT_USER on macOS is hidden by the poller's `wake`"),
    not_asked("W08 *:*,* *@level", TAKEN_APART),
    not_asked("W08 *-order *@level", OTHER_NAME),
    not_asked("W09 unix:* *", OTHER_NAME),
    not_asked("W10 ???? *@level", TAKEN_APART),
    not_asked("W11 unix *", TAKEN_APART),
    of_the_core(
        "W12",
        "the pollers' interface makes one change at a time; what a core's lists of changes lose is asked there",
        &["regression/changes-lost-in-one-pass", "regression/event-taken-by-change"],
    ),
    of_the_core(
        "W13",
        "what a core's lists of changes lose is asked there",
        &["regression/changes-lost-in-one-pass"],
    ),
    not_asked("W14", CHANGE_LIST),
    not_asked("W15", CHANGE_LIST),
    not_asked("W16", CHANGE_LIST),
    not_asked("W17", "a constant: the filters of kqueue are numbers and not bits"),
];
