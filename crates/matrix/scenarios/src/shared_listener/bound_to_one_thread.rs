//! A listener is bound to one of several threads, as in the commit that gave every thread its own epoll
//! descriptor.
//!
//! Before that commit, one epoll descriptor served the whole process, and "all other threads receive events
//! for that FD as well": with four threads and one listener on one of them, three were spinning (bug 9; bug
//! 10 for kqueue). The commit shows `show activity` before and after. This scenario records the same tables
//! in its notes; the fault `one-poller-per-process` gives the table of before.

use fd_core::ActivityTable;

use super::acceptor::Acceptor;
use super::calls::{call, check_greeted, greeting};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/bound-to-one-thread",
    title: "A connection to a listener that is bound to one thread wakes only that thread, even while it is busy",
    layer: Layer::Contract,
    clauses: &["S3", "L5", "bug 9", "bug 10"],
    axes: Axes { threads: &[2, 4], ..super::AXES },
    run,
};

const CALLS: u64 = 60;

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let harness = Harness::start(test)?;
    let bound = harness.thread(test.seed as usize % test.params.threads);
    let acceptor = Acceptor::new();
    let mut fixture = ListenerFixture::with(test, harness, acceptor.clone(), |thread| thread == bound)?;
    fixture.harness.fence_all()?;
    // The start is counted, too: it must wake the bound thread, and no other one.
    sleepers.wait(&fixture.harness)?;
    let before = fixture.harness.core().activity();
    fixture.call(Caller::Outside, Action::Start)?;

    for _ in 0..CALLS {
        check_greeted(test, "call", call(&fixture.address)?, "L1");
    }
    // The worst case of the commit: the bound thread is busy, and a connection waits for it. The last call
    // must have ended: edge-triggered, its handler would accept this connection, too.
    fixture.harness.fence(bound)?;
    let (gate, busy) = acceptor.hold();
    let waiting = fixture.address.connect()?;
    fixture.harness.wait_until("the bound thread begins to accept", || gate.arrived() == 1)?;
    for thread in fixture.other_threads.clone() {
        fixture.harness.fence(thread)?;
    }
    drop(busy);
    check_greeted(test, "the call that waited", greeting(waiting)?, "L1");

    let after = fixture.harness.core().activity();
    let activity: Vec<_> =
        after.0.iter().zip(&before.0).map(|((id, now), (_, then))| (*id, now.since(then))).collect();
    test.note(format!(
        "show activity, {} calls on a listener of thread {bound}, and 2 fences' events on each other thread\n{}",
        CALLS + 1,
        ActivityTable(activity.clone())
    ));
    for (thread, activity) in activity {
        for (name, value) in
            [("loops", activity.loops), ("poll_io", activity.poll_io), ("poll_skip", activity.poll_skip)]
        {
            test.record_counter(format!("{name} {thread}"), value);
        }
        if thread != bound {
            fixture.check_activity(test, thread, &activity, 2, "during all calls");
        }
    }
    let served = acceptor.tallies().into_iter().filter(|(_, tally)| tally.accepted > 0);
    let expected = format!("[({bound}, {})]", CALLS + 1);
    let observed: Vec<_> = served.map(|(thread, tally)| format!("({thread}, {})", tally.accepted)).collect();
    test.check_eq("threads that accepted", expected, format!("[{}]", observed.join(", ")), "S3");
    fixture.harness.finish(test, &[])
}
