//! What is said of threads, exactly: where the expectations leave an answer to the scheduler, it is not compared.

#![cfg(target_os = "linux")]

use std::sync::{Mutex, PoisonError};

use characterisation::{PATIENCE, Setting, Stopped, run};
use metadata::{Mode, Transport};
use selector::MakeSelector;

/// What a line calls `a queue`.
const QUEUE: Option<MakeSelector> = Some(&poller_epoll::selector);

/// Limits, signals and children are the process's: one line at a time.
static STAGE: Mutex<()> = Mutex::new(());

fn performed(verbs: &str, mode: Mode, make: MakeSelector) -> (Vec<String>, Result<(), Stopped>) {
    let _alone = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let setting =
        Setting { transport: Transport::Unix, mode, make, queue: QUEUE, seed: 1, patience: PATIENCE };
    let (transcript, ended) = run(verbs, setting);
    (transcript.observations.into_iter().map(|seen| seen.answer).collect(), ended)
}

#[track_caller]
fn answers(verbs: &str, mode: Mode, make: MakeSelector) -> Vec<String> {
    let (answers, ended) = performed(verbs, mode, make);
    assert_eq!(ended, Ok(()), "{verbs}");
    answers
}

const EPOLL: MakeSelector = &poller_epoll::selector;

/// The herd, in every mode that has another one.
#[test]
fn a_waiter_is_counted_once_and_only_if_it_was_woken() {
    let herd = |verbs: &str, mode| {
        let line = format!(
            "20 times, own listens, add own for reading, {verbs}, client reaches own, threads answer"
        );
        answers(&line, mode, EPOLL).concat()
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
fn a_thread_that_nothing_wakes_sleeps_on_and_one_that_is_woken_later_is_not_awake_before() {
    let verbs = "own and peer are connected, add own for reading, t waits, t answers as before, peer sends 1, \
        t answers as after, \
                 t waits, t answers as again";
    for make in [EPOLL, &poller_poll::selector, &poller_select::selector] {
        let seen = answers(verbs, Mode::Level, make);
        assert_eq!(seen[0], "not woken");
        assert!(seen[1] == "IN" || seen[1] == "r--", "{seen:?}");
        assert_eq!(seen[1], seen[2]);
    }
    assert_eq!(answers(verbs, Mode::Edge, EPOLL), ["not woken", "IN", "not woken"]);
}

/// What ended one wait is not left over for the next one, nor for another poller.
#[test]
fn a_fence_is_taken_away_again() {
    let verbs = "own and peer are connected, add own for reading, t waits, t answers, wait, t waits, t answers, \
        4 threads wait, \
                 threads answer, wait, 4 threads wait alone, threads answer, wait";
    let silent = ["not woken", "silent", "not woken", "wakes=0/4", "silent", "wakes=0/4", "silent"];
    assert_eq!(answers(verbs, Mode::Level, EPOLL), silent);
}

/// A timeout is a lower bound. What it is measured with would say so if it were not kept.
#[test]
fn a_wait_that_is_cut_short_is_early_and_not_over() {
    let verbs = "t waits at most 50 ms, t answers as 50ms, t waits at most 3600 s, wake, t answers as woken";
    assert_eq!(answers(verbs, Mode::Level, EPOLL), ["timed out", "early"]);
}

#[test]
fn a_signal_ends_the_wait_that_it_comes_into_and_its_handlers_wake_up_is_kept() {
    let verbs = "t waits, t is signalled, t answers, t waits, t is signalled restarting and wakes, t answers, \
        t waits, t answers, \
                 t waits, t answers";
    assert_eq!(answers(verbs, Mode::Level, EPOLL), ["EINTR", "EINTR", "woken", "not woken"]);
}

#[test]
fn descriptors_that_ran_out_are_back_even_if_the_line_does_not_say_so() {
    let verbs = "descriptors run out, a poller is made? as none-left";
    assert_eq!(answers(verbs, Mode::Level, EPOLL), ["EMFILE"]);
    assert_eq!(answers("a poller is made?", Mode::Level, EPOLL), ["ok"]);
}

#[test]
fn a_child_answers_for_itself_and_shares_what_its_system_lets_it() {
    let verbs = "own and peer are connected, add own for reading, in a child wait as nothing, peer sends 1, \
        in a child wait as \
                 something, in a child own reads?, wait as read-in-child, in a child remove own?, peer sends 1, \
                 wait as removed";
    assert_eq!(answers(verbs, Mode::Level, EPOLL), ["silent", "IN", "1", "silent", "0", "silent"]);
}

#[test]
fn a_child_is_not_forked_while_threads_wait() {
    let (_, ended) = performed("t waits, a child is forked", Mode::Level, EPOLL);
    assert!(matches!(&ended, Err(Stopped::SetUp(why)) if why.contains("threads wait")), "{ended:?}");
}

#[test]
fn threads_that_share_work_lose_nothing_of_it_and_what_nobody_does_is_missed() {
    let accept = "own listens backlog 128, add own for reading, 4 threads accept from own, \
        30 clients reach own, threads answer";
    for mode in [Mode::Level, Mode::Edge, Mode::OneShot] {
        assert_eq!(answers(accept, mode, EPOLL), ["accepted=30/30 errors=0"], "{mode:?}");
    }
    let told_nothing =
        "own listens backlog 128, 4 threads accept from own, 30 clients reach own, threads answer";
    assert_eq!(answers(told_nothing, Mode::Level, EPOLL), ["accepted=0/30 errors=0"]);

    let look = |sends: &str| {
        let line = format!(
            "own and peer are connected, {sends}add own for reading, 2 threads look 50 times, threads answer"
        );
        answers(&line, Mode::Level, EPOLL).concat()
    };
    assert_eq!(look("peer sends 1, "), "missed=0");
    assert_eq!(look(""), "missed=100");

    let collect = "4 threads collect, 10 pairs are added and written, threads answer";
    assert_eq!(answers(collect, Mode::Edge, EPOLL), ["lost=0 twice=0 of 10"]);
    let nobody =
        "1 threads look 1 times, 10 pairs are added and written, 4 threads collect in other, threads answer";
    assert_eq!(answers(nobody, Mode::Edge, EPOLL), ["lost=10 twice=0 of 10"]);
}
