//! Tests answers about threads exactly. The expectations leave some of them to the scheduler and do not
//! compare them.

#![cfg(target_os = "linux")]

use std::sync::{Mutex, PoisonError};

use metadata::{Mode, Transport};
use pollmatrix_raw::{PATIENCE, Setting, Stopped, run};
use selector::MakeSelector;

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
