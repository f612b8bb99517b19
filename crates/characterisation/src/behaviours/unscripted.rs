//! What is no scenario, and why.

/// A row of the catalogue, or a published answer to one, that no line asks for.
#[derive(Clone, Copy, Debug)]
pub struct Unscripted {
    /// The row (`F08`), or answers to it: `V30 * kqueue@level`. `*` stands for anything.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
    /// The contract scenarios that ask for it: it is about a core over the poller.
    pub contract: &'static [&'static str],
}

const fn none(what: &'static str, why: &'static str) -> Unscripted {
    Unscripted { what, why, contract: &[] }
}

const fn of_the_core(what: &'static str, why: &'static str, contract: &'static [&'static str]) -> Unscripted {
    Unscripted { what, why, contract }
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

pub(super) const UNSCRIPTED: &[Unscripted] = &[
    none("V05 *:W-data *", SIZE),
    none("V14 tcp connect*", TAKEN_APART),
    none("V14 tcp read", TAKEN_APART),
    none("V14 tcp:R-only *", TAKEN_APART),
    none("V14 tcp:W-only *", TAKEN_APART),
    none("V14 tcp:after-SO_ERROR connect-again", OTHER_NAME),
    none("V14 unix#* connect", TAKEN_APART),
    none("V15 unix send(MSG_OOB)", OTHER_NAME),
    none("V16 *:NOTE_LOWAT10-*", KQUEUE_ONLY),
    none("V20 *:blocked-when-peer-closes *", TAKEN_APART),
    none("V22 * send(0)", OTHER_NAME),
    none("V24 * send(0)", OTHER_NAME),
    none("V26 *:writer-closed-two-waits *", TAKEN_APART),
    none(
        "V27 *:full,blocked-then-reader-closes *",
        "the row registration/blocked-writer asks for it, under A22",
    ),
    none("V27 *:reader-closed-then-EV_DELETE kqueue", KQUEUE_ONLY),
    none("V27 *:reader-closed-then-re-add kqueue@level", OTHER_NAME),
    none("V27 *:reader-closed-then-re-add epoll@level", OTHER_NAME),
    none("V27 *:reader-closed-two-waits *", TAKEN_APART),
    none("V28 * capacity", SIZE),
    none("V29 * capacity", SIZE),
    none("V30 * kqueue@level", SIZE),
    none("V30 * epoll@level", SIZE),
    none("V32 *:SHUT_RDWR-blocked-waiter *", OTHER_NAME),
    none("F01 regular-file:NOTE_FILE_POLL-at-EOF *", KQUEUE_ONLY),
    none("F01 regular-file:offset-0 kqueue@level", TAKEN_APART),
    none("F03", "a terminal of its own needs a session of its own: V31 looks at the terminal itself"),
    none("F05 * kqueue-add * end@level", OTHER_NAME),
    none("F05 * epoll-add * end@level", OTHER_NAME),
    none("F06 kqueue-fd *", OTHER_NAME),
    none("F06 memfd *", "a file of the same file system as shared memory, which is asked"),
    none("F07", "needs an interface whose queue can be filled: loopback has none"),
    none("F08", "needs a device that can only be polled"),
    none("F09 bpf:BIOCSETIF-lo0 ioctl", "packets of other programs are no answers to expect"),
    none("F09 bpf:bound *", "packets of other programs are no answers to expect"),
    none("F09 bpf:packet-seen *", "packets of other programs are no answers to expect"),
    none("F09 bpf:unbound kqueue@level", TAKEN_APART),
    none("E01 * kqueue@edge", TAKEN_APART),
    none("E01 * epoll@edge", TAKEN_APART),
    none("E02 *:partial-read *", TAKEN_APART),
    none("E03 *:two-writes-one-wait *", TAKEN_APART),
    none("E04 *:EV_*", OTHER_NAME),
    none("E04 *:re-EV_ADD-same *", OTHER_NAME),
    none("E05 EVFILT_USER:* *", "a user event has no descriptor: what it is for is a poller's `wake`"),
    none("E06 *", TAKEN_APART),
    none("E10 *:EV_*", KQUEUE_ONLY),
    none("E10 *:R+W *", TAKEN_APART),
    none("E10 *:W-fires-first *", TAKEN_APART),
    none("E10 *:after-that *", KQUEUE_ONLY),
    none("E12 * kqueue@level", TAKEN_APART),
    none("E12 * epoll@level", TAKEN_APART),
    none("E12 *:one-slot-three-waits *", TAKEN_APART),
    none("E13 *:event-pending-then-EV_DISABLE *", KQUEUE_ONLY),
    none("E13 *:then-EV_ENABLE *", KQUEUE_ONLY),
    none("E14 *:consumed-in-A-added-to-B *", TAKEN_APART),
    none("E15 * *", TAKEN_APART),
    none("E16 *:peer-closed-filter-disabled *", TAKEN_APART),
    none("E16 *:peer-closed-events-0 *", TAKEN_APART),
    none("A01 * kqueue-add-twice@level", OTHER_NAME),
    none("A01 * epoll-add-twice@level", OTHER_NAME),
    none("A01 *:after-add-twice *", TAKEN_APART),
    none("A01 unix:edge-then-add-level kqueue@level", TAKEN_APART),
    none("A01 unix:edge-then-add-level epoll@level", TAKEN_APART),
    none("A01 unix:level-then-add-edge kqueue@edge", TAKEN_APART),
    none("A01 unix:level-then-add-edge epoll@edge", TAKEN_APART),
    none("A02 *", TAKEN_APART),
    none("A03 * kqueue-EV_DELETE-absent", OTHER_NAME),
    none("A03 * epoll-*-absent", OTHER_NAME),
    none("A03 * kqueue-EV_DELETE-other-filter", KQUEUE_ONLY),
    none("A03 * kqueue-EV_DELETE-twice", TAKEN_APART),
    none("A03 * epoll-DEL-twice", TAKEN_APART),
    none("A03 * kqueue-EV_DISABLE-absent", KQUEUE_ONLY),
    none("A03 * kqueue-EV_ENABLE-absent", KQUEUE_ONLY),
    none("A03 * kqueue-filter-*", KQUEUE_ONLY),
    none("A04 * kqueue-EV_*", OTHER_NAME),
    none("A04 * epoll-*", OTHER_NAME),
    none("A05 *:peer-write write", OTHER_NAME),
    none("A06 * kqueue-delete-*", OTHER_NAME),
    none("A06 * epoll-delete-*", OTHER_NAME),
    none("A06 *:closed-number *", OTHER_NAME),
    none("A06 *:dup-closed-too *", OTHER_NAME),
    none("A06 * kqueue@level", OTHER_NAME),
    none("A06 * epoll@level", OTHER_NAME),
    none("A07 * kqueue@level", TAKEN_APART),
    none("A07 * epoll@level", TAKEN_APART),
    none("A08 * kqueue@level", TAKEN_APART),
    none("A08 * epoll@level", TAKEN_APART),
    none("A09 * kqueue@level", TAKEN_APART),
    none("A09 * epoll@level", TAKEN_APART),
    none("A10 *:EV_*", KQUEUE_ONLY),
    none("A10 *:del-then-add *", OTHER_NAME),
    none("A10 *:modify-while-ready *", OTHER_NAME),
    none("A11 * kqueue@level", TAKEN_APART),
    none("A11 * epoll@level", TAKEN_APART),
    none("A12 *", TAKEN_APART),
    none("A13 *", TAKEN_APART),
    none("A14 unix#*", TAKEN_APART),
    none(
        "A14 unix:3-waiters *",
        "silence until a timeout: the line's thread sleeps on instead, and is counted",
    ),
    none(
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
    none("A18", "needs a program to be executed"),
    none("A19 unix poll@level", OTHER_NAME),
    none("A20 unix poll@level", TAKEN_APART),
    none("A21 *", OTHER_NAME),
    none("A22 * kqueue-nothing-armed@level", OTHER_NAME),
    none("A22 *:blocked-then-peer-*", TAKEN_APART),
    none("A23 nesting *-on-itself", OTHER_NAME),
    none("A23 nesting:W-on-* *", OTHER_NAME),
    none("A23 nesting:chain* *", OTHER_NAME),
    none("A23 nesting:cycle-* *", OTHER_NAME),
    none("A23 nesting:inner-source-drained inner-itself@level", "the same as any other poller's silence"),
    none("A23 nesting:inner-waited-then *", TAKEN_APART),
    none("A23 nesting:*-nested* kqueue", "a kernel that panics is no answer to ask for again"),
    none("A24 unix:IN+* poll@level", TAKEN_APART),
    none("A15 * *@level", TAKEN_APART),
    none("A17 *:child-F_GETFD *", CHILD),
    none("A17 *:child-next-open *", CHILD),
    none("A17 *:child-delete *", OTHER_NAME),
    none("C01 tcp connect", OTHER_NAME),
    none("C01 tcp poll-at-once@level", "how far a handshake is right after the call is the scheduler's"),
    none("C01 tcp:connect-pending(accept-queue-full) connect*", TAKEN_APART),
    none("C09 tcp:*,* *", "who accepts how many is the scheduler's: the row's lines count all of them"),
    none("C10 tcp epoll-ADD-EXCLUSIVE-of-epoll-fd", "pollers do not give away their descriptors"),
    none("C10 tcp epoll-ADD-EXCLUSIVE|ONESHOT", "a registration has one mode"),
    none("C10 tcp epoll-*", OTHER_NAME),
    none("C12 tcp:limit-raised accept", TAKEN_APART),
    of_the_core(
        "C13",
        "whose pollers a change of a shared listener reaches is up to the core over them",
        &["shared-listener/stop-start-converge", "shared-listener/pause-resume-flap"],
    ),
    none("C14 tcp:* accept", OTHER_NAME),
    none("T01 - *", OTHER_NAME),
    none("T02 -:* *", OTHER_NAME),
    none("T03 -:* *", OTHER_NAME),
    none("T04 -:* *", OTHER_NAME),
    none("T05 - select", OTHER_NAME),
    none("T05 -:* select", OTHER_NAME),
    none("T06 -:* *", OTHER_NAME),
    none("T07 -:* *", OTHER_NAME),
    none("T08 -:* *", OTHER_NAME),
    none("T09", "what a loop does that waits again: its own arithmetic"),
    none("T10 - *", OTHER_NAME),
    none("T10 -:* *", OTHER_NAME),
    none("T11 -:* *", OTHER_NAME),
    none("T12 - *", OTHER_NAME),
    none("T12 -:* *", OTHER_NAME),
    none("T13 - *-create", OTHER_NAME),
    none("T14", "the limit is the whole system's, and only the superuser can lower it"),
    none("W01 * *@edge", OTHER_NAME),
    none("W02 * *@edge", OTHER_NAME),
    none("W03 *:4-waiters *", WAKE_UP),
    none("W04 * *@edge", TAKEN_APART),
    of_the_core(
        "W05",
        "in which order a thread looks for work and goes to sleep is up to the core over the poller",
        &["regression/work-before-the-wait", "regression/signal-before-the-wait"],
    ),
    none("W06", "the number of EVFILT_USER is the poller's own, and no descriptor's"),
    none("W07", "what is odd about EVFILT_USER on macOS is hidden by the poller's `wake`"),
    none("W08 *:*,* *@level", TAKEN_APART),
    none("W08 *-order *@level", OTHER_NAME),
    none("W09 unix:* *", OTHER_NAME),
    none("W10 ???? *@level", TAKEN_APART),
    none("W11 unix *", TAKEN_APART),
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
    none("W14", CHANGE_LIST),
    none("W15", CHANGE_LIST),
    none("W16", CHANGE_LIST),
    none("W17", "a constant: the filters of kqueue are numbers and not bits"),
];
