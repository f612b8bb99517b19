//! What is no scenario, and why.

/// A row of the catalogue, or a published answer to one, that no line asks for.
#[derive(Clone, Copy, Debug)]
pub struct Unscripted {
    /// The row (`F08`), or answers to it: `V30 * kqueue@level`. `*` stands for anything.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
}

const fn none(what: &'static str, why: &'static str) -> Unscripted {
    Unscripted { what, why }
}

/// Several answers in one sentence: the line of the row looks at one thing at a time, and each has a key of its own.
const TAKEN_APART: &str =
    "several answers in one: the row's lines ask for each of them under a key of its own";

/// Something of kqueue's that no other poller has.
const KQUEUE_ONLY: &str = "a flag or a filter of kqueue's own, for which the pollers' interface has no word";

/// A count of bytes.
const SIZE: &str =
    "how many bytes fit depends on the system's settings: the row's lines ask whether it is writable";

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
    none("F06", "an eventfd, anonymous memory and a poller are descriptors of one system each"),
    none("F07", "needs an interface whose queue can be filled: loopback has none"),
    none("F08", "needs a device that can only be polled"),
    none("F09", "BPF needs the superuser, and is the BSDs' own"),
    none("E01 * kqueue@edge", TAKEN_APART),
    none("E01 * epoll@edge", TAKEN_APART),
    none("E02 *:partial-read *", TAKEN_APART),
    none("E03 *:two-writes-one-wait *", TAKEN_APART),
    none("E04 *:EV_*", OTHER_NAME),
    none("E04 *:re-EV_ADD-same *", OTHER_NAME),
    none("E05", "an eventfd and EVFILT_USER are one system's each: what they are for is a poller's `wake`"),
    none("E06 *", TAKEN_APART),
    none("E10 *:EV_*", KQUEUE_ONLY),
    none("E10 *:R+W *", TAKEN_APART),
    none("E10 *:W-fires-first *", TAKEN_APART),
    none("E10 *:after-that *", KQUEUE_ONLY),
    none("E11 *:8-threads-one-poller *", TAKEN_APART),
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
    none(
        "A15",
        "pollers are asked by number: a descriptor replaced under a number is A08's, closed in between",
    ),
    none("A16", "a race of many rounds, in the FD core's own scenarios: deletion/"),
    none("A17", "needs a second process: deletion/cloned-fork in the FD core's own scenarios"),
    none("A18", "needs a program to be executed"),
    none("A19", "the array of poll(2) is its poller's own: an entry that is to be ignored is never in it"),
    none("A20 unix poll@level", TAKEN_APART),
    none("A21 *", OTHER_NAME),
    none("A22 * kqueue-nothing-armed@level", OTHER_NAME),
    none("A22 *:blocked-then-peer-*", TAKEN_APART),
    none("A23", "pollers do not give away their descriptors, so that one cannot be watched by another"),
    none("A24 unix:IN+* poll@level", TAKEN_APART),
    none("C01 tcp *", TAKEN_APART),
    none(
        "C01 tcp:connect-pending(accept-queue-full) *",
        "one system's loopback only: on the other no connect stays pending",
    ),
    none("C01 tcp:connected *", TAKEN_APART),
    none("C01 tcp:loopback connect", "how often of twenty: V14 records what one connect answers"),
    none("C02", "V14 asks for it: readiness/connect-refused-for-reading"),
    none("C03 unix connect", OTHER_NAME),
    none("C03 unix:connected-added-after *", "V05 looks through a registration made after the connect"),
    none("C04", "V11 asks for it: readiness/reset"),
    none("C05", "V34 asks for it: readiness/reset-in-accept-queue"),
    none("C06 *:one-poller-per-thread *", TAKEN_APART),
    none("C07 *:one-shared-poller *", TAKEN_APART),
    none("C08", "the lines of C06 and C07, performed with poll and select"),
    none("C10 tcp *", OTHER_NAME),
    none("W02 * *@edge", TAKEN_APART),
    none("W08 *:4-ready,* *", TAKEN_APART),
    none("W08 *:8-ready,* *", "a count over many waits: the lines ask in which order the first ones come"),
    none("W08 *-order *", OTHER_NAME),
    none("W09 unix:max* *", OTHER_NAME),
    none(
        "W09 unix:n* kqueue",
        "kevent(2)'s negative sizes cannot be said in Rust, and no room is asked as `wait room 0`",
    ),
];
