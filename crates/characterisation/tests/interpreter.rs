//! That the stage does what a line says, and says so where it cannot.

use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use characterisation::{PATIENCE, Setting, Stopped, Transcript, run};
use metadata::{Mode, Transport};
use nix::fcntl::{FcntlArg, fcntl};
use selector::MakeSelector;

/// What a line calls `a queue`.
#[cfg(target_os = "linux")]
const QUEUE: Option<MakeSelector> = Some(&poller_epoll::selector);

/// The tests of queues are Linux's.
#[cfg(not(target_os = "linux"))]
const QUEUE: Option<MakeSelector> = None;

/// Descriptor numbers are the process's: one line at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn play_with(
    make: MakeSelector,
    transport: Transport,
    mode: Mode,
    line: &str,
) -> (Transcript, Result<(), Stopped>) {
    run(line, Setting { transport, mode, make, queue: QUEUE, seed: 1, patience: PATIENCE })
}

fn play(transport: Transport, line: &str) -> (Transcript, Result<(), Stopped>) {
    play_with(&poller_poll::selector, transport, Mode::Level, line)
}

/// What was observed, as `VARIANT API@TRIGGER: ANSWER`.
fn seen(transport: Transport, line: &str) -> Vec<String> {
    let (transcript, ended) = play(transport, line);
    assert_eq!(ended, Ok(()), "{:#?}", transcript.trace);
    transcript.observations.iter().map(|seen| format!("{} {seen}", seen.variant)).collect()
}

fn broken(transport: Transport, line: &str) -> String {
    match play(transport, line) {
        (_, Err(Stopped::SetUp(why))) => why,
        other => panic!("{line}: {other:?}"),
    }
}

fn unsupported(transport: Transport, line: &str) -> String {
    match play(transport, line) {
        (_, Err(Stopped::Unsupported(why))) => why,
        other => panic!("{line}: {other:?}"),
    }
}

fn open_numbers() -> Vec<i32> {
    // SAFETY: F_GETFD on a number that is not open answers EBADF and does nothing else.
    (0..400).filter(|&fd| fcntl(unsafe { BorrowedFd::borrow_raw(fd) }, FcntlArg::F_GETFD).is_ok()).collect()
}

#[test]
fn a_fact_that_does_not_come_about_breaks_the_line() {
    let _alone = alone();
    for transport in [Transport::Tcp, Transport::Unix, Transport::Pipe] {
        let why = broken(transport, "own and peer are connected, own reads 3, look at own");
        assert_eq!(why, "own reads 3 -> EAGAIN: it must succeed, or be asked");
        let why = broken(transport, "own and peer are connected, peer sends 2, own reads 3, look at own");
        assert_eq!(why, "own reads 3 -> 2: it must succeed, or be asked");
    }
}

#[test]
fn a_question_may_be_answered_by_anything() {
    let _alone = alone();
    let line =
        "own and peer are connected, own reads?, peer sends 3, own reads 2? as half, own drains, own reads?";
    assert_eq!(
        seen(Transport::Unix, line),
        ["unix read: EAGAIN", "unix:half read(2): 2", "unix:half read: EAGAIN"]
    );
}

#[test]
fn a_call_of_another_end_is_recorded_with_its_name() {
    let _alone = alone();
    let line = "own listens, client reaches own, own accepts conn?, client sends 1?, conn sends 2?, new reaches own?";
    let expected = ["tcp accept: ok", "tcp client-write: 1", "tcp write: 2", "tcp new-connect: 0"];
    assert_eq!(seen(Transport::Tcp, line), expected);
}

#[test]
fn what_a_question_failed_to_make_is_left_out() {
    let _alone = alone();
    let (transcript, ended) =
        play(Transport::Unix, "own listens, own accepts conn?, look at conn, conn sends 1?");
    assert_eq!(ended, Ok(()));
    assert_eq!(transcript.observations.len(), 1);
    assert_eq!(transcript.trace[2], "look at conn -> left out: there is no 'conn'");
    assert!(transcript.is_partial());
}

#[test]
fn a_line_that_is_not_understood_is_shown_with_the_place() {
    let _alone = alone();
    let (transcript, ended) = play(Transport::Unix, "own is frsh");
    let Err(Stopped::Script(why)) = ended else { panic!("{ended:?}") };
    assert!(why.starts_with("own is frsh\ncolumn 8: ") && why.ends_with("did you mean 'fresh'?"), "{why}");
    assert!(transcript.trace.is_empty());
}

#[test]
fn what_a_transport_or_a_poller_has_not_is_unsupported() {
    let _alone = alone();
    assert_eq!(unsupported(Transport::Pipe, "own is fresh"), "pipe is no socket");
    assert_eq!(unsupported(Transport::Pipe, "own listens"), "pipe is no socket");
    assert_eq!(unsupported(Transport::Tcp, "own opens for reading"), "tcp is no FIFO to open");
    assert_eq!(
        unsupported(Transport::None, "own is /dev/no-such-device"),
        "this system has no /dev/no-such-device"
    );
    unsupported(Transport::None, "own and peer are connected");
    let (_, ended) =
        play_with(&poller_poll::selector, Transport::Unix, Mode::Edge, "own is fresh, look at own");
    assert_eq!(ended, Err(Stopped::Unsupported("poll has no mode edge".into())));
}

#[test]
fn a_closed_number_stays_closed() {
    let _alone = alone();
    let line = "own and peer are connected, own closes, a and b are connected, look at own as closed";
    assert_eq!(
        seen(Transport::Unix, line),
        ["unix:closed poll@level: NVAL", "unix:closed poll-events0@level: NVAL"]
    );
    let line = "own and peer are connected, own closes, a and b are connected, a takes the number of own, b sends 1, \
                look at own as taken";
    let expected = ["unix:taken poll@level: IN|OUT", "unix:taken poll-events0@level: -"];
    assert_eq!(seen(Transport::Unix, line), expected);
    let line = "own and peer are connected, peer takes the number of own";
    assert_eq!(broken(Transport::Unix, line), "'own' is open: its number is not free");
}

#[test]
fn a_fifo_reads_from_its_first_end() {
    let _alone = alone();
    for transport in [Transport::Pipe, Transport::Fifo] {
        let line = "own and peer are connected, peer sends 3, own reads?, own sends 1?";
        let name = transport.name();
        // The BSDs' pipes can be written at both ends.
        assert!(seen(transport, line).contains(&format!("{name} read: 3")), "{name}");
    }
}

#[test]
fn what_is_full_has_no_room_for_a_byte() {
    let _alone = alone();
    for transport in [Transport::Tcp, Transport::Unix, Transport::Pipe, Transport::Fifo] {
        let line =
            "peer and own are connected, own fills, own sends 1?, peer drains, peer reads?, own sends 1?";
        let name = transport.name();
        let expected = [
            format!("{name} write: EAGAIN"),
            format!("{name} peer-read: EAGAIN"),
            format!("{name} write: 1"),
        ];
        assert_eq!(seen(transport, line), expected);
    }
}

#[test]
fn a_thread_that_sleeps_on_is_told_from_one_that_wakes() {
    let _alone = alone();
    let line = "own and peer are connected, add own for reading, t waits, t answers as before, peer sends 1, \
                t answers as after";
    assert_eq!(
        seen(Transport::Unix, line),
        ["unix:before poll@level: not woken", "unix:after poll@level: IN"]
    );
    let line = "own and peer are connected, add own for reading, 3 threads wait, threads answer as before, \
                peer sends 1, threads answer as after";
    assert_eq!(
        seen(Transport::Unix, line),
        ["unix:before poll@level: wakes=0/3", "unix:after poll@level: wakes=3/3"]
    );
    let line = "t waits, wake, t answers as woken";
    assert_eq!(seen(Transport::None, line), ["none:woken poll@level: woken"]);
}

#[test]
fn nothing_is_left_open() {
    let _alone = alone();
    let before = open_numbers();
    for &transport in Transport::ALL {
        let _ = play(
            transport,
            "own and peer are connected, add own, t waits, 2 threads wait alone, look at peer",
        );
        let _ =
            play(transport, "own listens, client reaches own, own accepts conn, look at conn, own reads 5");
    }
    assert_eq!(open_numbers(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn news_of_another_descriptor_are_not_lost_in_silence() {
    let _alone = alone();
    let line = "own and peer are connected, watch own, watch peer, own sends 1, peer sends 1, look at own";
    let (_, ended) = play_with(&poller_epoll::selector, Transport::Unix, Mode::Edge, line);
    let Err(Stopped::SetUp(why)) = ended else { panic!("{ended:?}") };
    assert!(why.ends_with("watch that one `in second`"), "{why}");
}
