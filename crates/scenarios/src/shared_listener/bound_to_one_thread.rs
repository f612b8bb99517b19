//! A listener that one thread of several is bound to, as in the commit that gave every thread its own epoll.
//!
//! Before it, one epoll descriptor served the whole process, and "all other threads receive events for that FD as
//! well": with four threads and one listener on one of them, three were spinning (bug 9; bug 10 for kqueue). The
//! commit shows `show activity` before and after; so does this scenario, in its notes: run it with the fault
//! `one-poller-per-process` for the table before.

use fd_core::ActivityTable;
use metadata::{Axes, Layer, Transport};

use super::acceptor::Acceptor;
use super::calls::{Answer, call, greeting};
use super::field::{Action, Caller, Field};
use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/bound-to-one-thread",
    title: "A listener bound to one thread wakes that thread only, even while it is busy",
    layer: Layer::Contract,
    clauses: &["S3", "L5", "bug 9", "bug 10"],
    axes: Axes {
        transports: &[Transport::Tcp, Transport::Unix],
        threads: &[2, 4],
        groups: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

const CALLS: u64 = 60;

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let lab = Lab::start(trial)?;
    let bound = lab.thread(trial.seed as usize % trial.params.threads);
    let acceptor = Acceptor::new();
    let mut field = Field::with(trial, lab, acceptor.clone(), |thread| thread == bound)?;
    field.call(Caller::Outside, Action::Start)?;
    field.lab.fence_all()?;
    let before = field.lab.core().activity();

    for _ in 0..CALLS {
        let answer = call(&field.address)?;
        trial.check("call", "Greeted", format!("{answer:?}"), "L1", matches!(answer, Answer::Greeted(_)));
    }
    // The worst case of the commit: the bound thread is busy, and a connection waits for it. The last call is over:
    // edge-triggered, its run would accept this one, too.
    field.lab.fence(bound)?;
    let (gate, busy) = acceptor.hold();
    let waiting = field.address.connect().map_err(Failure::broken)?;
    field.lab.wait_until("the bound thread begins to accept", || gate.arrived() == 1)?;
    for thread in field.strangers.clone() {
        field.lab.fence(thread)?;
    }
    drop(busy);
    let answer = greeting(waiting)?;
    trial.check(
        "the call that waited",
        "Greeted",
        format!("{answer:?}"),
        "L1",
        matches!(answer, Answer::Greeted(_)),
    );

    let after = field.lab.core().activity();
    let moved: Vec<_> =
        after.0.iter().zip(&before.0).map(|((id, now), (_, then))| (*id, now.since(then))).collect();
    trial.note(format!(
        "show activity, {} calls on a listener of thread {bound}, and 2 fences' events on each other thread\n{}",
        CALLS + 1,
        ActivityTable(moved.clone())
    ));
    for (thread, moved) in moved {
        for (name, value) in
            [("loops", moved.loops), ("poll_io", moved.poll_io), ("poll_skip", moved.poll_skip)]
        {
            trial.count(format!("{name} {thread}"), value);
        }
        if thread != bound {
            field.check_moved(trial, thread, &moved, 2, "during all calls");
        }
    }
    let served = acceptor.tallies().into_iter().filter(|(_, tally)| tally.accepted > 0);
    let expected = format!("[({bound}, {})]", CALLS + 1);
    let observed: Vec<_> = served.map(|(thread, tally)| format!("({thread}, {})", tally.accepted)).collect();
    trial.check_eq("who accepted", expected, format!("[{}]", observed.join(", ")), "S3");
    field.lab.finish(trial, &[])
}
