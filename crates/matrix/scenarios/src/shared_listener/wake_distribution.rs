//! The threads that wake for a connection on a shared listener.
//!
//! HAProxy does not use EPOLLEXCLUSIVE: every bound thread wakes for every connection, one of them accepts,
//! and the others wake without need. How many threads wake, and which is first, depends on the kernel and the
//! backend: the scenario records it and requires nothing. Only waits that return are counted:
//! level-triggered, a kernel checks again before a wait returns, and a late thread continues to sleep.

use std::collections::BTreeMap;

use super::acceptor::Acceptor;
use super::calls::{call, numbers};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/wake-distribution",
    title: "A connection on a shared listener wakes at least one sharing thread, and exactly one thread accepts it",
    layer: Layer::Characterisation,
    clauses: &["S3", "S18", "epoll_ctl(2) EPOLLEXCLUSIVE"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1, 2, 4, 8], ..Axes::PLAIN },
    run,
};

const CALLS: u64 = 40;

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::shared(test, acceptor.clone())?;
    fixture.harness.fence_all()?;
    sleepers.wait(&fixture.harness)?;
    let before: Vec<_> =
        fixture.other_threads.iter().map(|thread| fixture.harness.activity(*thread)).collect();
    fixture.call(Caller::Outside, Action::Start)?;
    fixture.check_converged(test, "at first")?;

    let mut answers = Vec::new();
    // Number of threads that reported a connection → number of such connections.
    let mut woken = BTreeMap::<u64, u64>::new();
    for _ in 0..CALLS {
        let runs = acceptor.runs();
        answers.push(call(&fixture.address)?);
        // Every thread that was woken for it has run.
        fixture.harness.fence_all()?;
        *woken.entry(acceptor.runs() - runs).or_default() += 1;
    }

    let expected: Vec<_> = (0..CALLS).collect();
    test.check_debug("greetings", expected, numbers(&answers), "L1");
    let sharers = fixture.sharers.len() as u64;
    for (threads, connections) in woken {
        let allowed = (1..=sharers).contains(&threads);
        let expected = format!("1 to {sharers}: a thread that finds the queue empty is not called again");
        test.check("threads that woke for one connection", expected, threads, "S18", allowed);
        test.record_counter(format!("connections that woke {threads}"), connections);
    }
    for thread in fixture.sharers.clone() {
        let tally = acceptor.tally(thread);
        let sum = tally.accepted + tally.empty;
        let what = format!("handler calls of thread {thread}: accepted, or empty");
        test.check_eq(what, sum, tally.runs, "arithmetic");
        test.record_counter(format!("accepted {thread}"), tally.accepted);
        test.record_counter(format!("empty {thread}"), tally.empty);
    }
    for (thread, before) in fixture.other_threads.clone().into_iter().zip(before) {
        let activity = fixture.harness.activity(thread).since(&before);
        // A fence after the start, and one after each call.
        fixture.check_activity(test, thread, &activity, 2 * (1 + CALLS), "not sharing");
    }
    fixture.harness.finish(test, &[])
}
