//! Who wakes for a connection on a shared listener.
//!
//! HAProxy never asked for EPOLLEXCLUSIVE: every bound thread wakes for every connection, one of them accepts, and the
//! others were woken in vain. How many wake, and who is first, is the kernel's and the backend's own answer: recorded
//! here, not required. Only waits that return are seen: level-triggered, a kernel looks again before it lets a thread
//! go, and sends back to sleep whoever comes too late.

use std::collections::BTreeMap;

use metadata::{Axes, Layer, Transport};

use super::acceptor::Acceptor;
use super::calls::{call, numbers};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::catalogue::Scenario;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/wake-distribution",
    title: "How many threads wake for a connection on a shared listener, and which of them accept",
    layer: Layer::Characterisation,
    clauses: &["S3", "S18", "epoll_ctl(2) EPOLLEXCLUSIVE"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1, 2, 4, 8], ..Axes::PLAIN },
    run,
};

const CALLS: u64 = 40;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::shared(test, acceptor.clone())?;
    fixture.call(Caller::Outside, Action::Start)?;
    fixture.check_converged(test, "at first")?;
    let before: Vec<_> = fixture.strangers.iter().map(|thread| fixture.harness.activity(*thread)).collect();

    let mut answers = Vec::new();
    // How many threads reported it → how many connections.
    let mut woken = BTreeMap::<u64, u64>::new();
    for _ in 0..CALLS {
        let runs = acceptor.runs();
        answers.push(call(&fixture.address)?);
        // Whoever was woken for it has run.
        fixture.harness.fence_all()?;
        *woken.entry(acceptor.runs() - runs).or_default() += 1;
    }

    let expected: Vec<_> = (0..CALLS).collect();
    test.check_eq("greetings", format!("{expected:?}"), format!("{:?}", numbers(&answers)), "L1");
    let sharers = fixture.sharers.len() as u64;
    for (threads, connections) in woken {
        let allowed = (1..=sharers).contains(&threads);
        let expected = format!("1 to {sharers}: a thread that finds the queue empty is not called again");
        test.check("threads that woke for one connection", expected, threads, "S18", allowed);
        test.count(format!("connections that woke {threads}"), connections);
    }
    for thread in fixture.sharers.clone() {
        let tally = acceptor.tally(thread);
        let sum = tally.accepted + tally.in_vain;
        test.check_eq(
            format!("runs of thread {thread}: accepted, or in vain"),
            sum,
            tally.runs,
            "arithmetic",
        );
        test.count(format!("accepted {thread}"), tally.accepted);
        test.count(format!("in vain {thread}"), tally.in_vain);
    }
    for (thread, before) in fixture.strangers.clone().into_iter().zip(before) {
        let moved = fixture.harness.activity(thread).since(&before);
        fixture.check_moved(test, thread, &moved, 2 * CALLS, "not a sharer");
    }
    fixture.harness.finish(test, &[])
}
