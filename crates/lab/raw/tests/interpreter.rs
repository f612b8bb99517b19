//! Tests that the interpreter runs scripts as written, and reports why it cannot run one.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metadata::{Mode, Transport};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use pollmatrix_raw::{PATIENCE, Setting, Stopped, Transcript, run};
use selector::{
    Capabilities, Changed, Event, Filter, Interest, MakeSelector, Refusal, Selector, Token, Unsupported, View,
};

/// Makes `a queue` of a script.
#[cfg(target_os = "linux")]
const QUEUE: Option<MakeSelector> = Some(&poller_epoll::selector);

/// Only the Linux tests use queues.
#[cfg(not(target_os = "linux"))]
const QUEUE: Option<MakeSelector> = None;

/// Descriptor numbers belong to the process: one script at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run_with(
    make: MakeSelector,
    transport: Transport,
    mode: Mode,
    script: &str,
) -> (Transcript, Result<(), Stopped>) {
    run(script, Setting { transport, mode, make, queue: QUEUE, seed: 1, patience: PATIENCE })
}

fn run_over(transport: Transport, script: &str) -> (Transcript, Result<(), Stopped>) {
    run_with(&poller_poll::selector, transport, Mode::Level, script)
}

/// Returns the observations as `VARIANT API@TRIGGER: ANSWER`.
fn seen(transport: Transport, script: &str) -> Vec<String> {
    let (transcript, ended) = run_over(transport, script);
    assert_eq!(ended, Ok(()), "{:#?}", transcript.trace);
    transcript.observations.iter().map(|seen| format!("{} {seen}", seen.variant)).collect()
}

fn broken(transport: Transport, script: &str) -> String {
    match run_over(transport, script) {
        (_, Err(Stopped::Broken(why))) => why,
        other => panic!("{script}: {other:?}"),
    }
}

fn unsupported(transport: Transport, script: &str) -> String {
    match run_over(transport, script) {
        (_, Err(Stopped::Unsupported(why))) => why,
        other => panic!("{script}: {other:?}"),
    }
}

fn open_numbers() -> Vec<i32> {
    // SAFETY: F_GETFD on a number that is not open answers EBADF and does nothing else.
    (0..400).filter(|&fd| fcntl(unsafe { BorrowedFd::borrow_raw(fd) }, FcntlArg::F_GETFD).is_ok()).collect()
}

/// poll(2) with registrations that keep the file open after a close, and the process that they are in.
struct Keeping {
    poll: Box<dyn Selector>,
    kept: Mutex<Vec<OwnedFd>>,
    process: Option<i32>,
}

impl Selector for Keeping {
    selector::forward!(poll {
        fn column(&self) -> selector::Column;
        fn capabilities(&self) -> Capabilities;
        fn views(&self, mode: Mode) -> &'static [View];
        fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;
        fn remove(&self, fd: RawFd) -> Changed;
        fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno>;
        fn wake(&self) -> Result<(), Unsupported>;
        fn close(&self) -> Result<Result<(), Errno>, Unsupported>;
    });

    fn name(&self) -> &str {
        "keeping"
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        // SAFETY: the script has the descriptor open while it adds it.
        let copy = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned().unwrap();
        let added = self.poll.add(copy.as_raw_fd(), token, interest, mode);
        self.kept.lock().unwrap().push(copy);
        added
    }

    fn process(&self) -> Option<i32> {
        self.process
    }
}

/// Such an end is a state to ask about, and no reason to give up. In this process it would be a mistake.
#[test]
fn a_poller_in_another_process_may_keep_a_file_open() {
    fn make(process: Option<i32>) -> std::io::Result<Box<dyn Selector>> {
        Ok(Box::new(Keeping { poll: poller_poll::selector()?, kept: Mutex::default(), process }))
    }
    let _alone = alone();
    let script = "own and peer are connected, add own for reading, own closes, peer sends 1?, wait";
    let run_in = |make| {
        let patience = Duration::from_millis(50);
        let setting =
            Setting { transport: Transport::Tcp, mode: Mode::Level, make, queue: QUEUE, seed: 1, patience };
        let (transcript, ended) = run(script, setting);
        let seen: Vec<_> = transcript.observations.iter().map(|seen| seen.answer.to_string()).collect();
        (seen, ended)
    };
    let (seen, ended) = run_in(&|| make(Some(1)));
    assert_eq!((seen, ended), (vec!["1".into(), "IN".into()], Ok(())));
    let why = "the end of the connection did not arrive within 50ms";
    assert_eq!(run_in(&|| make(None)), (vec![], Err(Stopped::Broken(why.into()))));
}

/// Some systems drop a connect to a socket that was shut down in silence. So does Linux at a full queue.
#[test]
fn a_connect_that_is_dropped_in_silence_is_an_answer() {
    let _alone = alone();
    let listens = "own listens backlog 0, own shuts write? as shut";
    let reaches = format!("{listens}, one reaches own, two reaches own? as dropped, two asks SO_ERROR?");
    assert_eq!(
        seen(Transport::Tcp, &reaches)[1..],
        ["tcp:dropped two-connect: EINPROGRESS", "tcp:dropped two-SO_ERROR: 0"]
    );
    let connects = format!("{listens}, one connects to own, two connects to own? as dropped, look at two");
    assert_eq!(seen(Transport::Tcp, &connects)[1], "tcp:dropped two-connect: EINPROGRESS");
    let why = broken(Transport::Tcp, &reaches.replace('?', ""));
    assert_eq!(why, "two reaches own -> EINPROGRESS: a clause without a question mark must succeed");
}

/// poll(2) that refuses some filters, as OpenBSD's kqueue refuses W on a FIFO's reading end.
struct Refusing {
    poll: Box<dyn Selector>,
    refused: &'static [Filter],
}

impl Selector for Refusing {
    selector::forward!(poll {
        fn column(&self) -> selector::Column;
        fn capabilities(&self) -> Capabilities;
        fn views(&self, mode: Mode) -> &'static [View];
        fn remove(&self, fd: RawFd) -> Changed;
        fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno>;
        fn wake(&self) -> Result<(), Unsupported>;
        fn close(&self) -> Result<Result<(), Errno>, Unsupported>;
    });

    fn name(&self) -> &str {
        "refusing"
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let (added, changed) = self.taken(interest);
        if added != Interest::NONE {
            assert_eq!(self.poll.add(fd, token, added, mode), Changed::Done);
        }
        changed
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let (kept, changed) = self.taken(interest);
        assert_eq!(self.poll.modify(fd, token, kept, mode), Changed::Done);
        changed
    }
}

impl Refusing {
    /// Returns the part of an interest that it takes, and the answer.
    fn taken(&self, interest: Interest) -> (Interest, Changed) {
        let is_refused = |filter| self.refused.contains(&filter);
        let (read, write) = (interest.read, interest.write);
        let taken = Interest {
            read: read && !is_refused(Filter::Read),
            write: write && !is_refused(Filter::Write),
            ..Interest::NONE
        };
        let wanted = [(read, Filter::Read), (write, Filter::Write)];
        let refused = wanted.into_iter().filter(|(wanted, filter)| *wanted && is_refused(*filter));
        let refusal = |(_, filter)| Refusal { filter: Some(filter), errno: Errno::EINVAL };
        let refusals: Vec<_> = refused.map(refusal).collect();
        (taken, if refusals.is_empty() { Changed::Done } else { Changed::Refused(refusals) })
    }
}

/// The scripts with `add own for both` ask pipes and FIFOs, too. A system may have no filter for writing
/// there: that is its answer, and the rest of the script is asked.
#[test]
fn a_registration_that_holds_in_part_is_an_answer_and_no_broken_cell() {
    fn make(refused: &'static [Filter]) -> std::io::Result<Box<dyn Selector>> {
        Ok(Box::new(Refusing { poll: poller_poll::selector()?, refused }))
    }
    let _alone = alone();
    let answers = |make: MakeSelector, script: &str| {
        let (transcript, ended) = run_with(make, Transport::Fifo, Mode::Level, script);
        let seen: Vec<_> = transcript.observations.iter().map(|seen| seen.answer.to_string()).collect();
        (seen, ended)
    };
    let no_writing: MakeSelector = &|| make(&[Filter::Write]);
    let pair = "own and peer are connected, peer sends 1";
    let modified =
        format!("{pair}, add own for reading, modify own for both, wait, modify own for reading, wait");
    let seen = answers(no_writing, &modified);
    assert_eq!(seen, (vec!["IN [W add:EINVAL]".into(), "IN".into()], Ok(())));
    let added = format!("{pair}, add own for both, wait, own drains, wait, remove own, wait");
    let (seen, ended) = answers(no_writing, &added);
    assert_eq!((seen.join(", "), ended), ("IN [W add:EINVAL], silent [W add:EINVAL], silent".into(), Ok(())));
    let asked = answers(no_writing, &format!("{pair}, add own for both?, wait"));
    assert_eq!(asked, (vec!["W:EINVAL".into(), "IN".into()], Ok(())), "the question has the answer");
    for script in ["add own for writing", "add own for both"] {
        let nothing: MakeSelector = &|| make(&[Filter::Read, Filter::Write]);
        let (_, ended) = answers(nothing, &format!("{pair}, {script}, wait"));
        assert!(matches!(ended, Err(Stopped::Broken(_))), "{script}: {ended:?}");
    }
}

/// The end is behind data that the other end has no room for.
#[test]
fn a_full_connection_can_be_closed() {
    let _alone = alone();
    for ends in ["closes", "shuts write"] {
        let script = format!(
            "own and peer are connected, own fills, own {ends}, peer reads 1? as full, peer drains, look at peer as end"
        );
        let seen = seen(Transport::Tcp, &script);
        assert_eq!(seen[0], "tcp:full peer-read(1): 1");
        // No data are left: what can be read is the end.
        assert!(seen[1].starts_with("tcp:end poll@level: IN|"), "{seen:?}");
    }
}

#[test]
fn a_failed_fact_breaks_the_cell() {
    let _alone = alone();
    for transport in [Transport::Tcp, Transport::Unix, Transport::Pipe] {
        let why = broken(transport, "own and peer are connected, own reads 3, look at own");
        assert_eq!(why, "own reads 3 -> EAGAIN: a clause without a question mark must succeed");
        let why = broken(transport, "own and peer are connected, peer sends 2, own reads 3, look at own");
        assert_eq!(why, "own reads 3 -> 2: a clause without a question mark must succeed");
    }
}

#[test]
fn a_question_accepts_any_answer() {
    let _alone = alone();
    let script =
        "own and peer are connected, own reads?, peer sends 3, own reads 2? as half, own drains, own reads?";
    assert_eq!(
        seen(Transport::Unix, script),
        ["unix read: EAGAIN", "unix:half read(2): 2", "unix:half read: EAGAIN"]
    );
}

#[test]
fn a_call_on_another_descriptor_is_recorded_with_its_name() {
    let _alone = alone();
    let script = "own listens, client reaches own, own accepts conn?, client sends 1?, conn sends 2?, new reaches own?";
    let expected = ["tcp accept: ok", "tcp client-write: 1", "tcp write: 2", "tcp new-connect: 0"];
    assert_eq!(seen(Transport::Tcp, script), expected);
}

#[test]
fn clauses_about_a_descriptor_that_a_question_did_not_make_are_left_out() {
    let _alone = alone();
    let (transcript, ended) =
        run_over(Transport::Unix, "own listens, own accepts conn?, look at conn, conn sends 1?");
    assert_eq!(ended, Ok(()));
    assert_eq!(transcript.observations.len(), 1);
    assert_eq!(transcript.trace[2], "look at conn -> left out: there is no 'conn'");
    assert!(transcript.is_partial());
}

#[test]
fn a_syntax_error_is_reported_with_its_column() {
    let _alone = alone();
    let (transcript, ended) = run_over(Transport::Unix, "own is frsh");
    let Err(Stopped::Script(why)) = ended else { panic!("{ended:?}") };
    assert!(why.starts_with("own is frsh\ncolumn 8: ") && why.ends_with("did you mean 'fresh'?"), "{why}");
    assert!(transcript.trace.is_empty());
}

#[test]
fn missing_features_of_a_transport_or_a_poller_are_unsupported() {
    let _alone = alone();
    assert_eq!(unsupported(Transport::Pipe, "own is fresh"), "pipe is not a socket");
    assert_eq!(unsupported(Transport::Pipe, "own listens"), "pipe is not a socket");
    assert_eq!(unsupported(Transport::Tcp, "own opens for reading"), "tcp is not a FIFO");
    assert_eq!(
        unsupported(Transport::None, "own is /dev/no-such-device"),
        "this system has no /dev/no-such-device"
    );
    unsupported(Transport::None, "own and peer are connected");
    let (_, ended) =
        run_with(&poller_poll::selector, Transport::Unix, Mode::Edge, "own is fresh, look at own");
    assert_eq!(ended, Err(Stopped::Unsupported("poll has no mode edge".into())));
}

#[test]
fn the_number_of_a_closed_descriptor_stays_closed() {
    let _alone = alone();
    let script = "own and peer are connected, own closes, a and b are connected, look at own as closed";
    assert_eq!(
        seen(Transport::Unix, script),
        ["unix:closed poll@level: NVAL", "unix:closed poll-events0@level: NVAL"]
    );
    let script = "own and peer are connected, own closes, a and b are connected, a takes the number of own, b sends 1, \
                look at own as taken";
    let expected = ["unix:taken poll@level: IN|OUT", "unix:taken poll-events0@level: -"];
    assert_eq!(seen(Transport::Unix, script), expected);
    let script = "own and peer are connected, peer takes the number of own";
    assert_eq!(broken(Transport::Unix, script), "'own' is open: its number is not free");
}

#[test]
fn the_first_end_of_a_fifo_reads() {
    let _alone = alone();
    for transport in [Transport::Pipe, Transport::Fifo] {
        let script = "own and peer are connected, peer sends 3, own reads?, own sends 1?";
        let name = transport.name();
        // On the BSDs, both ends of a pipe are writable.
        assert!(seen(transport, script).contains(&format!("{name} read: 3")), "{name}");
    }
}

#[test]
fn a_filled_buffer_has_no_room_for_a_byte() {
    let _alone = alone();
    for transport in [Transport::Tcp, Transport::Unix, Transport::Pipe, Transport::Fifo] {
        let script =
            "peer and own are connected, own fills, own sends 1?, peer drains, peer reads?, own sends 1?";
        let name = transport.name();
        let expected = [
            format!("{name} write: EAGAIN"),
            format!("{name} peer-read: EAGAIN"),
            format!("{name} write: 1"),
        ];
        assert_eq!(seen(transport, script), expected);
    }
}

#[test]
fn a_sleeping_thread_is_distinguished_from_a_woken_one() {
    let _alone = alone();
    let script = "own and peer are connected, add own for reading, t waits, t answers as before, peer sends 1, \
                t answers as after";
    assert_eq!(
        seen(Transport::Unix, script),
        ["unix:before poll@level: not woken", "unix:after poll@level: IN"]
    );
    let script = "own and peer are connected, add own for reading, 3 threads wait, threads answer as before, \
                peer sends 1, threads answer as after";
    assert_eq!(
        seen(Transport::Unix, script),
        ["unix:before poll@level: wakes=0/3", "unix:after poll@level: wakes=3/3"]
    );
    let script = "t waits, wake, t answers as woken";
    assert_eq!(seen(Transport::None, script), ["none:woken poll@level: woken"]);
}

/// epoll whose waits sleep through the script's events, and report them when something else ends the sleep.
#[cfg(target_os = "linux")]
struct Drowsy {
    /// Registrations of the script, whose tokens are small.
    own: Box<dyn Selector>,
    others: Box<dyn Selector>,
}

#[cfg(target_os = "linux")]
impl Selector for Drowsy {
    selector::forward!(others {
        fn wake(&self) -> Result<(), Unsupported>;
        fn close(&self) -> Result<Result<(), Errno>, Unsupported>;
    });

    selector::forward!(own {
        fn column(&self) -> selector::Column;
        fn capabilities(&self) -> Capabilities;
        fn views(&self, mode: Mode) -> &'static [View];
        fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;
        fn remove(&self, fd: RawFd) -> Changed;
    });

    fn name(&self) -> &str {
        "drowsy"
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        let of = if token < 100 { &self.own } else { &self.others };
        of.add(fd, token, interest, mode)
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let mut events = self.own.wait(room, Some(Duration::ZERO))?;
        if events.is_empty() {
            events = self.others.wait(room, timeout)?;
            events.extend(self.own.wait(room, Some(Duration::ZERO))?);
        }
        Ok(events)
    }
}

/// The fence that ends the sleep must not make the event appear: the thread would sleep through it for ever.
#[test]
#[cfg(target_os = "linux")]
fn an_event_that_did_not_wake_a_thread_is_not_its_answer() {
    let _alone = alone();
    let make: MakeSelector =
        &|| Ok(Box::new(Drowsy { own: poller_epoll::selector()?, others: poller_epoll::selector()? }));
    for mode in [Mode::Level, Mode::Edge, Mode::OneShot] {
        for (script, answer) in [
            (
                "own and peer are connected, add own for reading, t waits, peer sends 1, t answers",
                "not woken",
            ),
            (
                "own and peer are connected, add own for reading, 2 threads wait, peer sends 1, threads answer",
                "wakes=0/2",
            ),
        ] {
            let (transcript, ended) = run_with(make, Transport::Unix, mode, script);
            assert_eq!(ended, Ok(()), "{:#?}", transcript.trace);
            assert_eq!(transcript.observations[0].answer.to_string(), answer, "{mode:?}");
        }
    }
}

#[test]
fn a_script_closes_all_its_descriptors() {
    let _alone = alone();
    let before = open_numbers();
    for &transport in Transport::ALL {
        let _ = run_over(
            transport,
            "own and peer are connected, add own, t waits, 2 threads wait alone, look at peer",
        );
        let _ = run_over(
            transport,
            "own listens, client reaches own, own accepts conn, look at conn, own reads 5",
        );
    }
    for script in [
        "p is a process, own is a thread of p, first is the first thread of p, own exits, wait",
        "own is a wall-clock timer, own ticks, own ticks, directory is a watched directory, directory gets a file",
        "own is SIGUSR2 and SIGCHLD, p is a process, p exits, own reads 128",
        "own is a netlink socket, other is the hostname, own changes, other changes",
    ] {
        let _ = run_over(Transport::None, script);
    }
    assert_eq!(open_numbers(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn an_event_of_another_descriptor_is_not_lost_unnoticed() {
    let _alone = alone();
    for mode in [Mode::Edge, Mode::OneShot] {
        let script =
            "own and peer are connected, watch own, watch peer, own sends 1, peer sends 1, look at own";
        let (_, ended) = run_with(&poller_epoll::selector, Transport::Unix, mode, script);
        let why = "looking at 'own' has consumed an event of another descriptor: watch that one `in second`";
        assert_eq!(ended, Err(Stopped::Broken(why.into())), "{mode:?}");
    }
    let script = "own and peer are connected, near and far are connected, watch own, peer sends 1, watch near, look at own";
    let (_, ended) = run_with(&poller_epoll::selector, Transport::Unix, Mode::Edge, script);
    let why = "watching 'near' has consumed an event of another descriptor: watch that one `in second`";
    assert_eq!(ended, Err(Stopped::Broken(why.into())));
}

#[test]
#[cfg(target_os = "linux")]
fn a_timer_has_the_expirations_that_a_script_says() {
    let _alone = alone();
    for timer in ["a timer", "a wall-clock timer"] {
        let script = format!(
            "own is {timer}, own is overdue 3 times, own reads a count?, own reads a count? as read, \
             own is overdue, own reads a count? as once, own ticks, own stops, own reads a count? as stopped"
        );
        let answers = ["none read(count): 3", "none:read read(count): EAGAIN", "none:once read(count): 1"];
        assert_eq!(seen(Transport::None, &script)[..3], answers, "{timer}");
        assert_eq!(seen(Transport::None, &script)[3], "none:stopped read(count): EAGAIN", "{timer}");
    }
    // Each tick is one more, whether the one before was read or not.
    let script =
        "own is a timer, own ticks, own ticks, own ticks, own reads a count?, own ticks, own reads a count?";
    let counts = seen(Transport::None, script);
    let counts = counts.iter().map(|seen| seen.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap());
    let counts: Vec<_> = counts.collect();
    assert!(counts[0] >= 3 && counts[1] >= 1, "{counts:?}");
    assert_eq!(
        broken(Transport::None, "own is a timer, own is overdue 0 times"),
        "not 1 to 1000 expirations"
    );
}

/// Otherwise a script would ask about the end of the process.
#[test]
#[cfg(target_os = "linux")]
fn a_thread_ends_alone_and_a_program_replaces_all_threads() {
    let _alone = alone();
    let answers =
        |script: &str| seen(Transport::None, &format!("p is a process, add p for reading, {script}"));
    let thread = "own is a thread of p, add own for reading in second";
    assert_eq!(
        answers(&format!("{thread}, own exits, own exits?, wait as process, wait in second as thread")),
        ["none kill: ESRCH", "none:process poll@level: -", "none:thread poll@level: IN|HUP"]
    );
    assert_eq!(
        answers(&format!("{thread}, own executes, wait as process, wait in second as thread, p exits, wait")),
        ["none:process poll@level: -", "none:thread poll@level: IN|HUP", "none:thread poll@level: IN",]
    );
    let first = "first is the first thread of p, own is a thread of p, first exits";
    assert_eq!(
        answers(&format!("{first}, wait as first, own exits, wait as last")),
        ["none:first poll@level: -", "none:last poll@level: IN"]
    );
    for (script, why) in [
        ("p executes, p executes", "the first thread of the process, which executes, is no more"),
        (
            "p executes, own is a thread of p",
            "the first thread of the process, which starts a second one, is no more",
        ),
        ("own is a thread of p, own executes, own executes", "there is no second thread"),
    ] {
        assert_eq!(broken(Transport::None, &format!("p is a process, {script}")), why, "{script}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_happens_to_a_source_is_what_it_can_report() {
    let _alone = alone();
    for (script, why) in [
        ("own is a timer, own changes", "'own' is nothing that changes"),
        ("own is a timer, own gets a packet", "'own' is nothing that gets a packet"),
        ("own is a watched directory, own loses a file", "'own' has no file"),
        ("own is SIGKILL, own is raised", "SIGKILL would end this process"),
        ("own is a timer, own executes", "'own' is neither a process nor a thread"),
    ] {
        assert_eq!(broken(Transport::None, script), why, "{script}");
    }
}

/// They are in namespaces of their own, which a system can refuse.
#[test]
#[cfg(target_os = "linux")]
fn a_script_gets_packets_and_changes_names_without_rights() {
    let _alone = alone();
    let name = || std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let before = name();
    let script = "own is the hostname, packet is a packet socket, other is a packet socket of another protocol, \
                  own changes, packet gets a packet, other gets a packet, packet reads twice?, packet reads? as third, \
                  other reads?";
    let (transcript, ended) = run_over(Transport::None, script);
    assert_eq!(name(), before);
    if let Err(Stopped::Unsupported(why)) = ended {
        assert!(why.starts_with("needs namespaces of its own, and gets "), "{why}");
        return;
    }
    assert_eq!(ended, Ok(()), "{:#?}", transcript.trace);
    let seen: Vec<_> = transcript.observations.iter().map(ToString::to_string).collect();
    assert_eq!(seen, ["packet-read: 36 then 36", "packet-read: EAGAIN", "other-read: EAGAIN"]);
}

/// What a child has closed or replaced stays so in its later clauses, and the script does not notice.
#[test]
fn a_child_keeps_what_it_changes() {
    let _alone = alone();
    let script = "own and peer are connected, own is sent to the child?";
    assert!(broken(Transport::Unix, script).contains("no child"));
    let script = "own and peer are connected, other and pal are connected, a child is forked, pal sends 1, \
                  in the child other replaces own, in the child own reads? as replaced, \
                  own reads? as not-replaced, own is sent to the child? as sent, peer sends 1, \
                  in the child own reads? as sent";
    let answers = [
        "unix:replaced read: 1",
        "unix:not-replaced read: EAGAIN",
        "unix:sent sendmsg: 0",
        "unix:sent read: 1",
    ];
    assert_eq!(seen(Transport::Unix, script), answers);
}

/// The queues of a chain stay registered in each other, and the refusal names the depth that holds.
#[test]
#[cfg(target_os = "linux")]
fn a_chain_ends_where_the_system_refuses_more() {
    let _alone = alone();
    for from in ["", " from the outside"] {
        for (count, answer) in [(4, "0"), (20, "ELOOP beyond 5 queues")] {
            let script = format!(
                "own and peer are connected, {count} queues are chained over own{from} called top? as chain, \
                 peer sends 1, wait in top as data"
            );
            let (transcript, ended) =
                run_with(&poller_epoll::selector, Transport::Pipe, Mode::Level, &script);
            assert_eq!(ended, Ok(()), "{:#?}", transcript.trace);
            let answers: Vec<_> =
                transcript.observations.iter().map(|seen| seen.answer.to_string()).collect();
            assert_eq!(answers, [answer, "IN"], "{script}");
        }
    }
}
