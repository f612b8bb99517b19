//! A listener that many threads pause and resume at once, under connections.
//!
//! Resumed from a thread outside its mask, a listener's state was touched unlocked (bug 33); its flags were cleared
//! non-atomically, and a resume that met an `EAGAIN` left it paused but polled, or ready but not polled (bug 38). What
//! counts is the last word: whatever came before, the pollers end up with what it says.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::scope;
use std::time::Duration;

use fd_core::RegistrationRef;
use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer, Transport};

use super::acceptor::Acceptor;
use super::calls::{Answer, call, greeting, numbers};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::catalogue::Scenario;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext};
use crate::threads::spawn_in;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/pause-resume-flap",
    title: "A listener that is paused and resumed at speed ends in the last wanted state",
    layer: Layer::Contract,
    clauses: &["S11", "S18", "L1", "L6", "bug 33", "bug 38"],
    axes: Axes {
        transports: &[Transport::Tcp, Transport::Unix],
        threads: &[2, 4],
        groups: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

const ROUNDS: u64 = 6;
/// Of each flapper, in each round.
const FLAPS: u64 = 150;
const CLIENTS: usize = 3;
/// Of each client in each round, at most. More is no harder, and thousands fill the system's tables of connections that
/// are over (TIME_WAIT, connection tracking) until it drops a SYN, which takes seconds to repeat.
const CALLS: usize = 12;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::shared(test, acceptor.clone())?;
    let mut answers = vec![report_in_the_pause(test, &mut fixture)?];

    let (rounds, enough) = (AtomicUsize::new(0), AtomicBool::new(false));
    let address = fixture.address.clone();
    let stormed = scope(|scope| {
        let client = || -> Result<_, Failure> {
            let mut answers = Vec::new();
            while !enough.load(Ordering::SeqCst) {
                if answers.len() < CALLS * rounds.load(Ordering::SeqCst) {
                    answers.push(call(&address)?);
                } else {
                    // The next round has not begun.
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
            Ok(answers)
        };
        let clients = (0..CLIENTS).map(|_| spawn_in(scope, client)).collect::<Result<Vec<_>, _>>();
        let clients = clients.inspect_err(|_| enough.store(true, Ordering::SeqCst))?;
        let ended = (0..ROUNDS).try_for_each(|round| {
            rounds.fetch_add(1, Ordering::SeqCst);
            flap(test, &fixture, round)?;
            if round % 2 == 0 {
                stays_paused(test, &mut fixture, &acceptor)
            } else {
                resumes(test, &mut fixture)
            }
        });
        enough.store(true, Ordering::SeqCst);
        // Whoever waits for a greeting is entitled to it.
        let _ = fixture.call(Caller::Outside, Action::Start);
        let answers: Vec<_> =
            clients.into_iter().map(|client| client.join().expect("a client never panics")).collect();
        ended.map(|()| answers)
    })?;
    for client in stormed {
        answers.extend(client?);
    }
    // The clients of the rounds were accepted, too, and hung up long ago.
    let calls = answers.len() as u64 + ROUNDS;
    fixture.harness.wait_until("every client is accepted", || acceptor.greeted() >= calls)?;
    fixture.harness.fence_all()?;
    let mut numbers = numbers(&answers);
    test.check_eq("clients greeted", answers.len(), numbers.len(), "L1: nobody is lost");
    numbers.dedup();
    test.check_eq("different greetings", answers.len(), numbers.len(), "accept(2): each connection once");
    test.check_eq("connections accepted", calls, acceptor.greeted(), "accept(2): each connection once");
    test.count("clients", calls);
    fixture.harness.finish(test, &[])
}

/// A connection is reported while the listener is paused, and the listener is resumed before those who dropped the
/// report get to drop the listener, too. Edge-triggered, the kernel will not report the connection again by itself.
fn report_in_the_pause(test: &mut TestContext, fixture: &mut ListenerFixture) -> Result<Answer, Failure> {
    fixture.call(Caller::Outside, Action::Start)?;
    fixture.check_converged(test, "at first")?;
    fixture.call(Caller::Outside, Action::Stop)?;
    let checkpoints = Checkpoints::watch();
    let dropping = checkpoints.gate(Point::ReportHandlerDone, fixture.handle.number());
    let guard = dropping.guard();
    let client = fixture.address.connect().map_err(Failure::broken)?;
    fixture.harness.wait_until("every sharer drops the report of the paused listener", || {
        dropping.arrived() == fixture.sharers.len()
    })?;
    fixture.call(Caller::Outside, Action::Start)?;
    drop(checkpoints);
    drop(guard);
    let answer = greeting(client)?;
    let served = matches!(answer, Answer::Greeted(_));
    test.check(
        "the client that called in the pause",
        "Greeted",
        format!("{answer:?}"),
        "L1, suspect 10",
        served,
    );
    fixture.check_converged(test, "resumed before the listener was dropped")?;
    Ok(answer)
}

/// Pauses and resumes at random: two threads from outside, and every kind of worker in tasks.
fn flap(test: &TestContext, fixture: &ListenerFixture, round: u64) -> Result<(), Failure> {
    let (core, handle) = (fixture.harness.core(), fixture.handle);
    let (done, finished) = std::sync::mpsc::channel();
    let seed = |flapper: u64| test.seed.wrapping_add(round << 32 | flapper);
    let mut flappers = 0;
    for caller in fixture.callers() {
        let Caller::Worker(thread) = caller else { continue };
        flappers += 1;
        let (seed, done) = (seed(flappers), done.clone());
        let _ = core.post(thread, move |context| {
            let _ = done.send(flaps(&context.registration(handle), seed));
        });
    }
    scope(|scope| {
        for flapper in [100, 101] {
            let (seed, done) = (seed(flapper), done.clone());
            spawn_in(scope, move || done.send(flaps(&core.registration(handle), seed)))?;
        }
        Ok(())
    })?;
    for _ in 0..flappers + 2 {
        let flapped = finished.recv_timeout(crate::test_context::patience());
        let flapped = flapped.map_err(|_| Failure::Wrong("a thread hangs in a pause or a resume".into()))?;
        flapped.map_err(|stale| Failure::Wrong(stale.to_string()))?;
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

/// The last word is a pause: the pollers drop the listener, and nobody accepts.
fn stays_paused(
    test: &mut TestContext,
    fixture: &mut ListenerFixture,
    acceptor: &Acceptor,
) -> Result<(), Failure> {
    fixture.call(Caller::Outside, Action::Stop)?;
    // A handler that was running goes on accepting: what it took, no poller would report.
    fixture.harness.fence_all()?;
    // There is something to report, so that a poller that still has it says so.
    drop(fixture.address.connect().map_err(Failure::broken)?);
    fixture.wait_until_dropped("paused in the end")?;
    fixture.harness.fence_all()?;
    let runs = acceptor.runs();
    let threads = fixture.harness.threads();
    fixture.check_quiet(test, &threads, "paused in the end")?;
    test.check_eq("handler runs while paused", runs, acceptor.runs(), "S18, bug 38");
    fixture.call(Caller::Outside, Action::Start)
}

/// The last word is a resume: the pollers have the listener, and a client is served.
fn resumes(test: &mut TestContext, fixture: &mut ListenerFixture) -> Result<(), Failure> {
    fixture.call(Caller::Outside, Action::Start)?;
    drop(fixture.address.connect().map_err(Failure::broken)?);
    fixture.check_converged(test, "resumed in the end")
}
