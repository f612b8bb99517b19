//! Tests answers about threads exactly. The expectations leave some of them to the scheduler and do not
//! compare them.

#![cfg(target_os = "linux")]

use std::os::fd::RawFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metadata::{Mode, Transport};
use nix::errno::Errno;
use pollmatrix_raw::{PATIENCE, Setting, Stopped, run};
use selector::{Capabilities, Changed, Event, Interest, MakeSelector, Selector, Token, Unsupported, View};

/// Makes `a queue` of a script.
const QUEUE: Option<MakeSelector> = Some(&poller_epoll::selector);

/// Limits, signals and children belong to the process: one script at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn run_script(script: &str, mode: Mode, make: MakeSelector) -> (Vec<String>, Result<(), Stopped>) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let setting =
        Setting { transport: Transport::Unix, mode, make, queue: QUEUE, seed: 1, patience: PATIENCE };
    let (transcript, ended) = run(script, setting);
    (transcript.observations.into_iter().map(|seen| seen.answer.to_string()).collect(), ended)
}

#[track_caller]
fn answers(script: &str, mode: Mode, make: MakeSelector) -> Vec<String> {
    let (answers, ended) = run_script(script, mode, make);
    assert_eq!(ended, Ok(()), "{script}");
    answers
}

const EPOLL: MakeSelector = &poller_epoll::selector;

/// The numbers of woken threads differ by mode.
#[test]
fn a_waiter_is_counted_once_and_only_if_it_was_woken() {
    let herd = |waiting: &str, mode| {
        let script = format!(
            "20 times, own listens, add own for reading, {waiting}, client reaches own, threads answer"
        );
        answers(&script, mode, EPOLL).concat()
    };
    for (mode, alone, shared) in [
        (Mode::Level, "8/8", Some("8/8")),
        (Mode::Edge, "8/8", Some("1/8")),
        (Mode::OneShot, "8/8", Some("1/8")),
        (Mode::Exclusive, "1/8", None),
        (Mode::ExclusiveEdge, "1/8", None),
    ] {
        assert_eq!(herd("8 threads wait alone", mode), format!("wakes={alone} x20"), "{mode:?}, alone");
        if let Some(shared) = shared {
            assert_eq!(herd("8 threads wait", mode), format!("wakes={shared} x20"), "{mode:?}, shared");
        }
    }
}

#[test]
fn a_thread_counts_as_woken_only_after_an_event() {
    let script = "own and peer are connected, add own for reading, t waits, t answers as before, peer sends 1, \
        t answers as after, \
                 t waits, t answers as again";
    for make in [EPOLL, &poller_poll::selector, &poller_select::selector] {
        let seen = answers(script, Mode::Level, make);
        assert_eq!(seen[0], "not woken");
        assert!(seen[1] == "IN" || seen[1] == "r--", "{seen:?}");
        assert_eq!(seen[1], seen[2]);
    }
    assert_eq!(answers(script, Mode::Edge, EPOLL), ["not woken", "IN", "not woken"]);
}

/// A fence that ended one wait affects neither the next wait nor another poller.
#[test]
fn a_fence_is_lowered_after_use() {
    let script = "own and peer are connected, add own for reading, t waits, t answers, wait, t waits, t answers, \
        4 threads wait, \
                 threads answer, wait, 4 threads wait alone, threads answer, wait";
    let silent = ["not woken", "silent", "not woken", "wakes=0/4", "silent", "wakes=0/4", "silent"];
    assert_eq!(answers(script, Mode::Level, EPOLL), silent);
}

/// A timeout is a lower bound; a wait that ends before it is early.
#[test]
fn a_wait_that_ends_before_its_timeout_is_early() {
    let script = "t waits at most 50 ms, t answers as 50ms, t waits at most 3600 s, wake, t answers as woken";
    assert_eq!(answers(script, Mode::Level, EPOLL), ["timed out", "early"]);
}

#[test]
fn a_signal_ends_the_current_wait_and_its_handlers_wake_up_ends_the_next_one() {
    let script = "t waits, t is signalled, t answers, t waits, t is signalled restarting and wakes, t answers, \
        t waits, t answers, \
                 t waits, t answers";
    assert_eq!(answers(script, Mode::Level, EPOLL), ["EINTR", "EINTR", "woken", "not woken"]);
}

#[test]
fn the_descriptor_limit_is_restored_at_the_end_of_a_script() {
    let script = "descriptors run out, a poller is made? as none-left";
    assert_eq!(answers(script, Mode::Level, EPOLL), ["EMFILE"]);
    assert_eq!(answers("a poller is made?", Mode::Level, EPOLL), ["ok"]);
}

#[test]
fn a_child_has_its_own_answers_and_shares_the_poller() {
    let script = "own and peer are connected, add own for reading, in a child wait as nothing, peer sends 1, \
        in a child wait as \
                 something, in a child own reads?, wait as read-in-child, in a child remove own?, peer sends 1, \
                 wait as removed";
    assert_eq!(answers(script, Mode::Level, EPOLL), ["silent", "IN", "1", "silent", "0", "silent"]);
}

#[test]
fn a_child_is_not_forked_while_threads_wait() {
    let (_, ended) = run_script("t waits, a child is forked", Mode::Level, EPOLL);
    assert!(matches!(&ended, Err(Stopped::Broken(why)) if why.contains("threads wait")), "{ended:?}");
}

#[test]
fn shared_work_is_complete_and_missing_work_is_counted() {
    let accept = "own listens backlog 128, add own for reading, 4 threads accept from own, \
        30 clients reach own, threads answer";
    for mode in [Mode::Level, Mode::Edge, Mode::OneShot] {
        assert_eq!(answers(accept, mode, EPOLL), ["accepted=30/30 errors=0"], "{mode:?}");
    }
    let not_registered =
        "own listens backlog 128, 4 threads accept from own, 30 clients reach own, threads answer";
    assert_eq!(answers(not_registered, Mode::Level, EPOLL), ["accepted=0/30 errors=0"]);

    let look = |sends: &str| {
        let script = format!(
            "own and peer are connected, {sends}add own for reading, 2 threads look 50 times, threads answer"
        );
        answers(&script, Mode::Level, EPOLL).concat()
    };
    assert_eq!(look("peer sends 1, "), "missed=0");
    assert_eq!(look(""), "missed=100");

    let collect = "4 threads collect, 10 pairs are added and written, threads answer";
    assert_eq!(answers(collect, Mode::Edge, EPOLL), ["lost=0 twice=0 of 10"]);
    let other_poller =
        "1 threads look 1 times, 10 pairs are added and written, 4 threads collect in other, threads answer";
    assert_eq!(answers(other_poller, Mode::Edge, EPOLL), ["lost=10 twice=0 of 10"]);
}

/// The kernel delivers a signal to any thread that does not block it: one that exists before the script does
/// not. Undelivered at the end of a script, the signal would end this process.
#[test]
fn a_signal_stays_pending_beside_threads_that_did_not_block_it_and_ends_with_the_script() {
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let older = std::thread::Builder::new().spawn(move || ended.recv()).unwrap();
    let script = "own is a signal, add own for reading, wait, own is raised, own is raised, wait";
    for _ in 0..2 {
        assert_eq!(answers(script, Mode::Level, EPOLL), ["silent", "IN"]);
    }
    drop(end);
    older.join().unwrap().unwrap_err();
}

/// A thread that starts while the older ones are told inherits the mask of one that was not told yet.
#[test]
fn a_signal_is_blocked_in_threads_that_start_meanwhile() {
    for _ in 0..40 {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let starts = std::thread::Builder::new().spawn(move || {
            while ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                let younger = std::thread::Builder::new().spawn(std::thread::yield_now).unwrap();
                younger.join().unwrap();
            }
        });
        let script = "own is a signal, add own for reading, own is raised, wait";
        assert_eq!(answers(script, Mode::Level, EPOLL), ["IN"]);
        drop(end);
        starts.unwrap().join().unwrap();
    }
}

#[test]
fn only_a_signal_is_raised() {
    let (_, ended) = run_script("own is an eventfd, own is raised", Mode::Level, EPOLL);
    assert!(matches!(&ended, Err(Stopped::Broken(why)) if why == "'own' is not a signal"), "{ended:?}");
}

const HAS_RUN: &str = "the handler has run, the mask is restored";
const HAS_NOT_RUN: &str = "the handler has not run, the mask is restored";

/// epoll_pwait(2) does not look for signals if its timeout is zero; ppoll(2) and pselect(2) do.
#[test]
fn a_signal_that_only_the_waits_mask_lets_through_ends_it_and_a_blocked_one_comes_after_it() {
    let script = "t waits unmasking, t is signalled, t answers, t waits unmasking a pending signal, t answers, \
                 t waits at most 0 s unmasking a pending signal, t answers, own is an eventfd, \
                 add own for reading, t waits masking, t is signalled, t answers, own sends 8, t answers";
    for (make, ready, at_once) in [
        (EPOLL, "IN", format!("timed out, {HAS_NOT_RUN}")),
        (&poller_poll::selector, "IN", format!("EINTR, {HAS_RUN}")),
        (&poller_select::selector, "r--", format!("EINTR, {HAS_RUN}")),
    ] {
        let interrupted = format!("EINTR, {HAS_RUN}");
        let after = format!("{ready}, {HAS_RUN}");
        let expected = [interrupted.clone(), interrupted, at_once, "not woken".into(), after];
        assert_eq!(answers(script, Mode::Level, make), expected);
    }
}

/// A poller that sets the mask before its wait, and leaves it: a signal can come in between.
struct SetsMaskBefore {
    poll: Box<dyn Selector>,
    /// Otherwise it has no mask, and one thread waits at a time.
    masks: bool,
}

impl Selector for SetsMaskBefore {
    selector::forward!(poll {
        fn column(&self) -> selector::Column;
        fn views(&self, mode: Mode) -> &'static [View];
        fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;
        fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;
        fn remove(&self, fd: RawFd) -> Changed;
        fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno>;
        fn wake(&self) -> Result<(), Unsupported>;
        fn close(&self) -> Result<Result<(), Errno>, Unsupported>;
    });

    fn name(&self) -> &str {
        "sets-mask-before"
    }

    fn capabilities(&self) -> Capabilities {
        let shared_wait = if self.masks { Ok(()) } else { Err("one thread waits at a time") };
        Capabilities { shared_wait, ..self.poll.capabilities() }
    }

    fn wait_masked(
        &self,
        room: usize,
        timeout: Option<Duration>,
        mask: &nix::libc::sigset_t,
    ) -> Result<Result<Vec<Event>, Errno>, Unsupported> {
        if !self.masks {
            return Err(Unsupported("no signal mask".into()));
        }
        // SAFETY: the mask is valid, and the old one is not wanted.
        unsafe { nix::libc::pthread_sigmask(nix::libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
        Ok(self.wait(room, timeout))
    }
}

const WITHOUT_MASK: MakeSelector =
    &|| Ok(Box::new(SetsMaskBefore { poll: poller_poll::selector()?, masks: false }));

#[test]
fn a_thread_whose_timeout_has_passed_is_not_signalled() {
    let script = "t waits at most 0 s masking, t is signalled, t answers";
    let (_, ended) = run_script(script, Mode::Level, &poller_poll::selector);
    assert!(matches!(&ended, Err(Stopped::Broken(why)) if why.contains("has ended its wait")), "{ended:?}");
}

#[test]
fn a_second_named_thread_needs_a_poller_in_which_several_wait() {
    let (_, ended) = run_script("t waits, u waits", Mode::Level, WITHOUT_MASK);
    assert_eq!(ended, Err(Stopped::Unsupported("one thread waits at a time".into())));
    let (_, ended) = run_script("t waits, u waits in second, t waits", Mode::Level, WITHOUT_MASK);
    assert_eq!(ended, Ok(()));
}

#[test]
fn a_poller_without_a_signal_mask_is_unsupported_before_its_thread_is_signalled() {
    let (_, ended) = run_script("t waits unmasking, t is signalled, t answers", Mode::Level, WITHOUT_MASK);
    assert!(matches!(&ended, Err(Stopped::Unsupported(why)) if why.contains("signal mask")), "{ended:?}");
}

#[test]
fn a_wait_that_sets_its_mask_in_another_call_loses_a_signal_and_leaves_the_mask() {
    let make: MakeSelector = &|| Ok(Box::new(SetsMaskBefore { poll: poller_poll::selector()?, masks: true }));
    let script =
        "t waits unmasking, t is signalled, t answers, t waits unmasking a pending signal, t answers";
    let expected = ["EINTR, the handler has run, the mask is not restored", "not woken"];
    assert_eq!(answers(script, Mode::Level, make), expected);
}
