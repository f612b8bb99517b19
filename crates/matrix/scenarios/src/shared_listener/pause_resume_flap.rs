//! Many threads pause and resume a listener at once, while clients connect.
//!
//! In HAProxy, a resume from a thread outside the mask changed the listener's state without a lock (bug 33);
//! its flags were cleared non-atomically, and a resume that coincided with an `EAGAIN` left the listener
//! paused but polled, or ready but not polled (bug 38); and it took its locks in two orders (bug 90). Only
//! the last call counts: whatever came before, the pollers reach the state that it requests.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::scope;
use std::time::Duration;

use fd_core::RegistrationRef;

use super::acceptor::Acceptor;
use super::calls::{Answer, call, check_greeted, greeting, numbers};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;
use crate::threads::spawn_in;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/pause-resume-flap",
    title: "A listener that is paused and resumed rapidly ends in the state of the last call",
    layer: Layer::Contract,
    clauses: &["S11", "S18", "L1", "L6", "bug 33", "bug 38", "bug 90"],
    axes: Axes { threads: &[2, 4], ..super::AXES },
    run,
};

const ROUNDS: u64 = 6;
/// Calls of each thread in each round.
const FLAPS: u64 = 150;
const CLIENTS: usize = 3;
/// Connections of each client in each round, at most. More connections test nothing more, and thousands fill
/// the system's tables of closed connections (TIME_WAIT, connection tracking) until it drops a SYN, whose
/// repetition takes seconds.
const CALLS: usize = 12;

fn run(test: &mut TestContext) -> Result {
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::shared(test, acceptor.clone())?;
    let mut answers = vec![report_while_paused(test, &mut fixture)?];

    let (rounds, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let address = fixture.address.clone();
    let client_answers = scope(|scope| {
        let client = || -> Result<_> {
            let mut answers = Vec::new();
            while !stop.load(Ordering::SeqCst) {
                if answers.len() < CALLS * rounds.load(Ordering::SeqCst) {
                    answers.push(call(&address)?);
                } else {
                    // Waits for the next round.
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
            Ok(answers)
        };
        let clients = (0..CLIENTS).map(|_| spawn_in(scope, client)).collect::<Result<Vec<_>, _>>();
        let clients = clients.inspect_err(|_| stop.store(true, Ordering::SeqCst))?;
        let ended = (0..ROUNDS).try_for_each(|round| {
            rounds.fetch_add(1, Ordering::SeqCst);
            flap(test, &fixture, round)?;
            if round % 2 == 0 {
                stays_paused(test, &mut fixture, &acceptor)
            } else {
                resumes(test, &mut fixture, &acceptor)
            }
        });
        stop.store(true, Ordering::SeqCst);
        // A client that waits for a greeting must get one.
        let _ = fixture.call(Caller::Outside, Action::Start);
        let answers: Vec<_> =
            clients.into_iter().map(|client| client.join().expect("a client never panics")).collect();
        ended.map(|()| answers)
    })?;
    for client in client_answers {
        answers.extend(client?);
    }
    // The connections that the rounds made were accepted, too, and closed before.
    let calls = answers.len() as u64 + ROUNDS;
    fixture.harness.wait_until("every client is accepted", || acceptor.greeted() >= calls)?;
    fixture.harness.fence_all()?;
    let mut numbers = numbers(&answers);
    test.check_eq("clients greeted", answers.len(), numbers.len(), "L1: no client is lost");
    numbers.dedup();
    test.check_eq("distinct greetings", answers.len(), numbers.len(), "accept(2): each connection once");
    test.check_eq("connections accepted", calls, acceptor.greeted(), "accept(2): each connection once");
    test.record_counter("clients", calls);
    fixture.harness.finish(test, &[])
}

/// Lets a connection be reported while the listener is paused, and resumes the listener before the threads
/// that dropped the report remove it from their pollers. Edge-triggered, the kernel does not report the
/// connection again by itself.
fn report_while_paused(test: &mut TestContext, fixture: &mut ListenerFixture) -> Result<Answer> {
    fixture.call(Caller::Outside, Action::Start)?;
    fixture.check_converged(test, "at first")?;
    fixture.call(Caller::Outside, Action::Stop)?;
    let checkpoints = Checkpoints::watch();
    let dropping = checkpoints.gate(Point::ReportHandlerDone, fixture.handle.number());
    let guard = dropping.guard();
    let client = fixture.address.connect()?;
    fixture.harness.wait_until("every sharing thread drops the report of the paused listener", || {
        dropping.arrived() == fixture.sharers.len()
    })?;
    fixture.call(Caller::Outside, Action::Start)?;
    drop(checkpoints);
    drop(guard);
    let answer = greeting(client)?;
    check_greeted(test, "the client that connected during the pause", answer, "L1, suspect 10");
    fixture.check_converged(test, "resumed before the removal of the listener")?;
    Ok(answer)
}

/// Pauses and resumes at random: on two threads outside the runtime, and on every kind of worker in tasks.
fn flap(test: &TestContext, fixture: &ListenerFixture, round: u64) -> Result {
    let (core, handle) = (fixture.harness.core(), fixture.handle);
    let (sender, results) = std::sync::mpsc::channel();
    let seed = |index: u64| test.seed.wrapping_add(round << 32 | index);
    let mut workers = 0;
    for caller in fixture.callers() {
        let Caller::Worker(thread) = caller else { continue };
        workers += 1;
        let (seed, sender) = (seed(workers), sender.clone());
        let _ = core.post(thread, move |context| {
            let _ = sender.send(flaps(&context.registration(handle), seed));
        });
    }
    scope(|scope| {
        for index in [100, 101] {
            let (seed, sender) = (seed(index), sender.clone());
            spawn_in(scope, move || sender.send(flaps(&core.registration(handle), seed)))?;
        }
        Ok::<_, Failure>(())
    })?;
    for _ in 0..workers + 2 {
        let result = results.recv_timeout(patience());
        let result = result.map_err(|_| Failure::Wrong("a thread hangs in a pause or a resume".into()))?;
        result.map_err(|stale| Failure::Wrong(stale.to_string()))?;
    }
    Ok(())
}

fn flaps(fd: &RegistrationRef<'_>, seed: u64) -> Result<(), fd_core::error::Stale> {
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..FLAPS {
        if random.bool() {
            fd.want_recv()?
        } else {
            fd.stop_recv()?
        }
        if random.u8(..) < 32 {
            std::thread::yield_now();
        }
    }
    Ok(())
}

/// Ends with a pause: the pollers remove the listener, and no thread accepts.
fn stays_paused(test: &mut TestContext, fixture: &mut ListenerFixture, acceptor: &Acceptor) -> Result {
    fixture.call(Caller::Outside, Action::Stop)?;
    let is_applied = || fixture.entry().is_ok_and(|entry| entry.update_mask.is_empty());
    fixture.harness.wait_until("the threads apply every update", is_applied)?;
    // A running handler continues to accept: it would take the connection that the pollers must report.
    fixture.harness.fence_all()?;
    // A connection waits, so that a poller that still has the listener reports it.
    drop(fixture.address.connect()?);
    fixture.wait_until_dropped("paused at the end")?;
    fixture.harness.fence_all()?;
    let runs = acceptor.runs();
    let threads = fixture.harness.threads();
    fixture.check_quiet(test, &threads, "paused at the end")?;
    test.check_eq("handler runs while paused", runs, acceptor.runs(), "S18, bug 38");
    fixture.call(Caller::Outside, Action::Start)
}

/// Ends with a resume: the pollers have the listener, and every sharing thread reports a client.
fn resumes(test: &mut TestContext, fixture: &mut ListenerFixture, acceptor: &Acceptor) -> Result {
    let (gate, held) = acceptor.hold();
    fixture.call(Caller::Outside, Action::Start)?;
    // A handler from before would accept the client.
    let is_held = || {
        let arrived = gate.arrived();
        fixture.entry().is_ok_and(|entry| entry.running.len() == arrived)
    };
    fixture.harness.wait_until("every handler that runs is held", is_held)?;
    drop(fixture.address.connect()?);
    fixture.wait_until_each_reports(&gate, "resumed at the end")?;
    drop(held);
    fixture.check_converged(test, "resumed at the end")
}
