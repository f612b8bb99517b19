//! The catalogue of states and situations that pollers are asked about.

use metadata::did_you_mean;

/// The families of behaviours: the prefix of their ids, and a title.
pub const FAMILIES: [(&str, &str); 9] = [
    ("V", "readiness of one descriptor"),
    ("2.7", "pipes, sockets and FIFOs, step by step"),
    ("F", "kinds of files"),
    ("E", "edges and one-shots"),
    ("A", "registration and lifetime"),
    ("C", "connecting, accepting, sharing a listener"),
    ("W", "waking, threads, batches"),
    ("T", "time, signals, limits"),
    ("X", "further questions of a multi-threaded core"),
];

/// All behaviours: id and title. Ids are never re-used.
pub const BEHAVIOURS: &[(&str, &str)] = &[
    ("2.7", "a pipe, a socket pair and a FIFO, step by step through their states"),
    ("A01", "the same descriptor registered twice"),
    ("A02", "a descriptor and its duplicate registered"),
    ("A03", "changing or removing a descriptor that is not registered"),
    ("A04", "removing a number that was closed"),
    ("A05", "the last descriptor of a file is closed while registered"),
    ("A06", "the registered number is closed while a duplicate stays open"),
    ("A07", "another file gets the number of a closed, registered descriptor"),
    ("A08", "an event in a batch whose number was closed and re-used"),
    ("A09", "removed between the batch and its dispatch"),
    ("A10", "added again after removal, or changed while ready"),
    ("A11", "one descriptor in two pollers"),
    ("A12", "added, changed or removed while another thread waits"),
    ("A13", "closed while a thread waits for it"),
    ("A14", "the poller is closed while threads wait on it"),
    ("A15", "the number that a thread waits for is opened again"),
    ("A16", "removed while another thread handles its event"),
    ("A17", "a poller in a forked child"),
    ("A18", "a poller across exec"),
    ("A19", "poll entries with a negative descriptor; poll leaves `events` unchanged"),
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
    ("C06", "a listener in one poller per thread: the threads that one connection wakes"),
    ("C07", "a listener in a poller that threads share: the threads that one connection wakes"),
    ("C08", "a listener in poll and select of several threads: the threads that one connection wakes"),
    ("C09", "a burst of connections: each accepted once"),
    ("C10", "restrictions of EPOLLEXCLUSIVE"),
    ("C11", "how evenly connections are spread over threads"),
    ("C12", "accept at the descriptor limit"),
    ("C13", "a shared listener paused in one thread only"),
    ("C14", "several listeners on one address"),
    ("E01", "edge: added when already ready"),
    ("E02", "edge: a partial read"),
    ("E03", "edge: new data while there is unread data"),
    ("E04", "edge: registered again or changed without a new state"),
    ("E05", "edge: an eventfd as waker"),
    ("E06", "edge: the write side while it is drained"),
    ("E07", "a FIFO's reader closes and another opens"),
    ("E08", "a FIFO's last writer closes"),
    ("E09", "a FIFO that never had a writer, and a reader that opens after the last writer closed"),
    ("E10", "one-shot: the disabled direction, and how it is enabled again"),
    ("E11", "one-shot shared by threads"),
    ("E12", "ready in both directions, with room for few events"),
    ("E13", "disabled or removed with an event pending"),
    ("E14", "edge: consumed in one poller, added to another"),
    ("E15", "the end of a stream, waited for twice"),
    ("E16", "a hang-up without interest"),
    ("F01", "regular files"),
    ("F02", "devices such as /dev/null"),
    ("F03", "the terminal"),
    ("F04", "directories"),
    ("F05", "the wrong direction of a pipe or FIFO"),
    ("F06", "poller descriptors and shared memory"),
    ("F07", "UDP sends that fail with ENOBUFS"),
    ("F08", "devices that only poll(2) supports"),
    ("F09", "packet filters"),
    ("T01", "a zero timeout"),
    ("T02", "no return before the timeout"),
    ("T03", "timeouts below a millisecond"),
    ("T04", "negative timeouts"),
    ("T05", "values that select(2) writes back"),
    ("T06", "interrupted by a signal"),
    ("T07", "stopped and continued"),
    ("T08", "huge timeouts"),
    ("T09", "retries after an interruption"),
    ("T10", "descriptors beyond FD_SETSIZE"),
    ("T11", "more entries than the descriptor limit"),
    ("T12", "select and poll on closed descriptors"),
    ("T13", "making a poller at the descriptor limit"),
    ("T14", "limits on the number of registrations"),
    ("V01", "fresh or bound TCP and UDP sockets"),
    ("V02", "unconnected UNIX sockets"),
    ("V03", "an idle listener"),
    ("V04", "a listener with connections waiting"),
    ("V05", "connected: idle, with data, partly read, drained"),
    ("V06", "the peer shut down its write side"),
    ("V07", "this end shut down its write side"),
    ("V08", "this end shut down its read side"),
    ("V09", "both sides shut down, or the peer closed"),
    ("V10", "data and then the end of the stream"),
    ("V11", "reset without data"),
    ("V12", "reset after data"),
    ("V13", "the peer closed without reading this end's data"),
    ("V14", "a connect that is refused"),
    ("V15", "out-of-band data"),
    ("V16", "fewer bytes than the low-water mark"),
    ("V17", "fewer bytes than the low-water mark, and the end of the stream"),
    ("V18", "a UNIX peer closed with its queue empty"),
    ("V19", "a UNIX peer closed without reading this end's data"),
    ("V20", "a UNIX datagram peer closed"),
    ("V21", "a UNIX datagram peer's queue is full"),
    ("V22", "an empty datagram"),
    ("V23", "a UDP peer is unreachable"),
    ("V24", "an empty sequenced packet"),
    ("V25", "a pipe's read end with data, the writer gone"),
    ("V26", "a pipe's read end without data, the writer gone"),
    ("V27", "a pipe's write end with room, the reader gone"),
    ("V28", "a full pipe's write end, the reader gone"),
    ("V29", "a full channel after less than PIPE_BUF was read"),
    ("V30", "a full channel after PIPE_BUF or more was read"),
    ("V31", "a pseudo-terminal and the end of its other side"),
    ("V32", "shutdown of a listener"),
    ("V33", "shutdown of datagram sockets"),
    ("V34", "a connection that ends before it is accepted"),
    ("W01", "many wake-ups before one wait"),
    ("W02", "a wake-up before the wait"),
    ("W03", "one waker, several waiters"),
    ("W04", "a wake-up from a signal handler"),
    ("W05", "a wake-up between the decision to sleep and the sleep"),
    ("W06", "a waker whose identifier equals a descriptor's number"),
    ("W07", "peculiarities of user events on macOS"),
    ("W08", "fewer slots than ready descriptors: the order of events"),
    ("W09", "no slots, or a negative number of them"),
    ("W10", "two threads that poll one ready descriptor"),
    ("W11", "each event goes to exactly one of several waiting threads"),
    ("W12", "an error in the middle of a list of changes"),
    ("W13", "a pending change that is lost"),
    ("W14", "both directions in one list of changes, with receipts"),
    ("W15", "a receipt for a socket that is full"),
    ("W16", "interrupted after the changes were made"),
    ("W17", "filters combined like flags"),
    ("X01", "closed while it is in several threads' pollers"),
    ("X02", "closed with an event pending, and the number re-used"),
    ("X03", "added to another thread's poller while that thread waits"),
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

/// Returns the title of the behaviour with this id.
pub fn title(id: &str) -> Option<&'static str> {
    let index = BEHAVIOURS.binary_search_by(|(known, _)| (*known).cmp(id)).ok()?;
    BEHAVIOURS.get(index).map(|(_, title)| *title)
}

/// Returns a suggestion for an unknown id.
pub fn suggestion(typed: &str) -> String {
    match metadata::nearest(typed, BEHAVIOURS.iter().map(|(id, _)| *id)) {
        Some(_) => did_you_mean(typed, BEHAVIOURS.iter().map(|(id, _)| *id)),
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
        // X08 turned out to be the same as A10.
        let expected: Vec<_> =
            std::iter::once("2.7".to_owned()).chain(numbered.filter(|id| id != "X08")).collect();
        let ids: Vec<_> = BEHAVIOURS.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn every_behaviour_belongs_to_one_family() {
        for (id, _) in BEHAVIOURS {
            assert_eq!(FAMILIES.iter().filter(|(prefix, _)| id.starts_with(prefix)).count(), 1, "{id}");
        }
    }

    #[test]
    fn a_behaviour_has_a_title_and_an_unknown_id_gets_a_suggestion() {
        assert_eq!(title("V26"), Some("a pipe's read end without data, the writer gone"));
        assert_eq!(title("V35"), None);
        assert!(suggestion("V0").starts_with("did you mean 'V0"), "{}", suggestion("V0"));
        assert!(suggestion("pipes").starts_with("ids are"), "{}", suggestion("pipes"));
    }
}
