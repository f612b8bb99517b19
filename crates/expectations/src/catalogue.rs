//! The catalogue of states and situations that pollers are asked about.

use metadata::did_you_mean;

/// The families of rows: what the ids of each begin with, and what they are about.
pub const FAMILIES: [(&str, &str); 9] = [
    ("V", "readiness of one descriptor"),
    ("2.7", "pipes, sockets and FIFOs, step by step"),
    ("F", "kinds of files"),
    ("E", "edges and one-shots"),
    ("A", "registration and lifetime"),
    ("C", "connecting, accepting, sharing a listener"),
    ("W", "waking, threads, batches"),
    ("T", "time, signals, limits"),
    ("X", "what a multi-threaded core needs to know beyond those"),
];

/// Every row: its id and what it is about. Ids are never re-used.
pub const BEHAVIOURS: &[(&str, &str)] = &[
    ("2.7", "a pipe, a socket pair and a FIFO, step by step through their life"),
    ("A01", "the same descriptor registered twice"),
    ("A02", "a descriptor and its duplicate registered"),
    ("A03", "changing or removing what is not registered"),
    ("A04", "removing a number that was closed"),
    ("A05", "the last reference is closed while registered"),
    ("A06", "the registered number is closed, a duplicate lives on"),
    ("A07", "the number of such a descriptor gets another file"),
    ("A08", "a harvested event whose number was closed and re-used"),
    ("A09", "removed between batch and dispatch"),
    ("A10", "added again after removal, or changed while ready"),
    ("A11", "one descriptor in two pollers"),
    ("A12", "added, changed or removed while another thread waits"),
    ("A13", "closed while a thread waits for it"),
    ("A14", "the poller is closed while threads wait on it"),
    ("A15", "the number waited for is opened again meanwhile"),
    ("A16", "removed while another thread handles it"),
    ("A17", "a poller in a forked child"),
    ("A18", "a poller across exec"),
    ("A19", "poll entries with a negative descriptor; events left as they were"),
    ("A20", "a bad descriptor beside an idle one"),
    ("A21", "events=0 on a bad descriptor"),
    ("A22", "events=0 and a hang-up"),
    ("A23", "pollers that watch pollers"),
    ("A24", "the same descriptor in two poll entries"),
    ("C01", "a connect that succeeds, is pending, or is queued"),
    ("C02", "a connect that is refused: which direction gets the error"),
    ("C03", "registered before connect"),
    ("C04", "SO_ERROR is read once"),
    ("C05", "a reset in the accept queue"),
    ("C06", "a listener in one poller per thread: who wakes"),
    ("C07", "a listener in one poller that threads share: who wakes"),
    ("C08", "a listener in poll and select of several threads: who wakes"),
    ("C09", "a burst of connections: who accepts, and is each accepted once"),
    ("C10", "what EPOLLEXCLUSIVE forbids"),
    ("C11", "how evenly connections are spread over threads"),
    ("C12", "accept at the descriptor limit"),
    ("C13", "a shared listener paused in one thread only"),
    ("C14", "several listeners on one address"),
    ("E01", "edge: added when already ready"),
    ("E02", "edge: a partial read"),
    ("E03", "edge: new data while there is unread data"),
    ("E04", "edge: registered again or changed without a new state"),
    ("E05", "edge: the waker"),
    ("E06", "edge: the write side while it is drained"),
    ("E07", "a FIFO's reader closes and another opens"),
    ("E08", "a FIFO's last writer closes"),
    ("E09", "a FIFO without a writer yet, and a new reader with an end pending"),
    ("E10", "one-shot: what is disarmed and how it is armed again"),
    ("E11", "one-shot shared by threads"),
    ("E12", "ready in both directions, with few slots"),
    ("E13", "disabled or removed with an event pending"),
    ("E14", "edge: consumed in one poller, added to another"),
    ("E15", "the end of a stream, waited for twice"),
    ("E16", "a hang-up that nobody is interested in"),
    ("F01", "regular files"),
    ("F02", "devices such as /dev/null"),
    ("F03", "the terminal"),
    ("F04", "directories"),
    ("F05", "the wrong direction of a pipe or FIFO"),
    ("F06", "poller descriptors and shared memory"),
    ("F07", "UDP sends that fail with ENOBUFS"),
    ("F08", "devices that only poll knows"),
    ("F09", "packet filters"),
    ("T01", "a zero timeout"),
    ("T02", "never early"),
    ("T03", "timeouts below a millisecond"),
    ("T04", "negative timeouts"),
    ("T05", "what select writes back"),
    ("T06", "interrupted by a signal"),
    ("T07", "stopped and continued"),
    ("T08", "huge timeouts"),
    ("T09", "retries after an interruption"),
    ("T10", "descriptors beyond FD_SETSIZE"),
    ("T11", "more entries than descriptors allowed"),
    ("T12", "select and poll on closed descriptors"),
    ("T13", "making a poller at the descriptor limit"),
    ("T14", "limits on what may be watched"),
    ("V01", "fresh or bound TCP and UDP sockets"),
    ("V02", "unconnected UNIX sockets"),
    ("V03", "an idle listener"),
    ("V04", "a listener with connections waiting"),
    ("V05", "connected: idle, with data, partly read, drained"),
    ("V06", "the peer shut its write side down"),
    ("V07", "the own write side is shut down"),
    ("V08", "the own read side is shut down"),
    ("V09", "both sides shut down, or the peer closed"),
    ("V10", "data and then the end"),
    ("V11", "reset without data"),
    ("V12", "reset after data"),
    ("V13", "the peer closed without reading our bytes"),
    ("V14", "a connect that is refused"),
    ("V15", "out-of-band data"),
    ("V16", "fewer bytes than the low-water mark"),
    ("V17", "fewer bytes than the low-water mark, and the end"),
    ("V18", "a UNIX peer closed with its queue empty"),
    ("V19", "a UNIX peer closed without reading our bytes"),
    ("V20", "a UNIX datagram peer closed"),
    ("V21", "a UNIX datagram peer's queue is full"),
    ("V22", "a datagram of no bytes"),
    ("V23", "a UDP peer is unreachable"),
    ("V24", "a seqpacket record of no bytes"),
    ("V25", "a pipe's read end with data, the writer gone"),
    ("V26", "a pipe's read end without data, the writer gone"),
    ("V27", "a pipe's write end with room, the reader gone"),
    ("V28", "a full pipe's write end, the reader gone"),
    ("V29", "full, and less than PIPE_BUF read"),
    ("V30", "full, and PIPE_BUF or more read"),
    ("V31", "a pseudo-terminal and the end of its other side"),
    ("V32", "shutdown of a listener"),
    ("V33", "shutdown of datagram sockets"),
    ("V34", "a connection that ends before it is accepted"),
    ("W01", "many wake-ups before one wait"),
    ("W02", "a wake-up before the wait"),
    ("W03", "one waker, several waiters"),
    ("W04", "a wake-up from a signal handler"),
    ("W05", "a wake-up between the decision to sleep and the sleep"),
    ("W06", "a waker whose number is also a descriptor's"),
    ("W07", "a user event's peculiarities on macOS"),
    ("W08", "fewer slots than ready descriptors: the order"),
    ("W09", "no slots, or a negative number of them"),
    ("W10", "two threads looking at one ready descriptor"),
    ("W11", "each event to exactly one of several waiters"),
    ("W12", "an error in the middle of a list of changes"),
    ("W13", "a pending change that is lost"),
    ("W14", "both directions in one list of changes, with receipts"),
    ("W15", "a receipt for a socket that is full"),
    ("W16", "interrupted after the changes were made"),
    ("W17", "filters combined as if they were flags"),
    ("X01", "closed while it is in several threads' pollers"),
    ("X02", "closed with an event pending, and the number re-used"),
    ("X03", "added to another thread's poller while that one waits"),
    ("X04", "a removal that fails, first or last in a list"),
    ("X05", "storms on user events"),
    ("X06", "pollers across fork, vfork and SCM_RIGHTS"),
    ("X07", "duplicates of descriptors and of pollers"),
    ("X09", "a listener closed while threads wait for it"),
    ("X10", "changes and events in one call"),
    ("X11", "the order of events"),
    ("X12", "a registered descriptor passed to another process"),
    ("X13", "a child that closes or polls its copies"),
];

/// What the row of this id is about.
pub fn title(row: &str) -> Option<&'static str> {
    let place = BEHAVIOURS.binary_search_by(|(id, _)| (*id).cmp(row)).ok()?;
    BEHAVIOURS.get(place).map(|(_, title)| *title)
}

/// What to say about an id that is in no catalogue.
pub(crate) fn help(row: &str) -> String {
    match metadata::nearest(row, BEHAVIOURS.iter().map(|(id, _)| *id)) {
        Some(_) => did_you_mean(row, BEHAVIOURS.iter().map(|(id, _)| *id)),
        None => "ids are 2.7 and a letter with two digits: V01 to V34, A, E, C, W, T, F, X".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_complete_and_sorted() {
        let families = [
            ("A", 1..=24),
            ("C", 1..=14),
            ("E", 1..=16),
            ("F", 1..=9),
            ("T", 1..=14),
            ("V", 1..=34),
            ("W", 1..=17),
            ("X", 1..=13),
        ];
        let numbered = families
            .into_iter()
            .flat_map(|(letter, numbers)| numbers.map(move |n| format!("{letter}{n:02}")));
        // X08 was found to be A10.
        let expected: Vec<_> =
            std::iter::once("2.7".to_owned()).chain(numbered.filter(|id| id != "X08")).collect();
        let ids: Vec<_> = BEHAVIOURS.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn every_row_is_of_one_family() {
        for (id, _) in BEHAVIOURS {
            assert_eq!(FAMILIES.iter().filter(|(prefix, _)| id.starts_with(prefix)).count(), 1, "{id}");
        }
    }

    #[test]
    fn a_row_has_a_title_and_a_wrong_id_a_suggestion() {
        assert_eq!(title("V26"), Some("a pipe's read end without data, the writer gone"));
        assert_eq!(title("V35"), None);
        assert!(help("V0").starts_with("did you mean 'V0"), "{}", help("V0"));
        assert!(help("pipes").starts_with("ids are"), "{}", help("pipes"));
    }
}
