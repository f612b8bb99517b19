//! A descriptor is deleted while it is in the shared list, and its number is registered again in another
//! group. HAProxy left it in the list (bug 22); then the new registration is in the wrong list, or in none
//! (suspect 16).

use std::os::fd::{AsRawFd, OwnedFd};

use super::one_of_each_group;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/deleted-while-listed",
    title: "A number deleted with a pending update can be registered in another group, and both groups keep working",
    layer: Layer::Contract,
    clauses: &["S10", "S13", "L1", "L3", "bug 22", "suspect 16"],
    axes: Axes {
        transports: &[Transport::Unix, Transport::Pipe],
        triggers: &[Mode::Level],
        groups: &[2],
        ..Axes::PLAIN
    },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let [first, second] = one_of_each_group(&harness)?;
    for (from, to) in [(first, second), (second, first)] {
        let held = [harness.hold(from)?, harness.hold(to)?];
        let guards = held.each_ref().map(Gate::guard);
        let ends = || test.pair().map_err(Failure::broken);
        let (before, deleted, after, next) = (ends()?, ends()?, ends()?, ends()?);
        let number = deleted.near.as_raw_fd();
        // They are in this order in the shared list, from which the second one is deleted.
        let before = Listed::new(&harness, before.near, before.far, from)?;
        let deleted = Listed::new(&harness, deleted.near, deleted.far, from)?;
        let after = Listed::new(&harness, after.near, after.far, from)?;
        harness.registration(deleted.handle).delete()?;
        let near = at_number(next.near, number)?;
        let next = Listed::new(&harness, near, next.far, to)?;
        drop(guards);
        let mut all = [before, next, after];
        for Listed { handle, thread, recorder, far } in &mut all {
            harness.wait_until_polled(*handle, thread.mask())?;
            far.write_all(b"x")?;
            harness.wait_until("it is reported", || recorder.bytes() == b"x")?;
        }
        harness.fence_all()?;
        for listed in all {
            let entry = harness.entry(listed.handle)?;
            test.check_eq("pending updates", 0, entry.update_mask.bits(), "L3");
            test.check_eq("polled by", listed.thread.mask().bits(), entry.polled_recv.bits(), "S11");
            test.check_eq("reports", 1, listed.recorder.reports_on(listed.thread), "L1");
            test.stop_if_failed()?;
            harness.registration(listed.handle).delete()?;
        }
    }
    harness.finish(test, &[])
}

/// A registration whose first update is in its group's shared list.
struct Listed {
    handle: FdHandle,
    thread: ThreadId,
    recorder: Arc<Recorder>,
    far: FarEnd,
}

impl Listed {
    fn new(harness: &Harness, near: OwnedFd, far: FarEnd, thread: ThreadId) -> Result<Self> {
        let recorder = Recorder::new();
        let handle = harness.insert(near, recorder.clone(), thread)?;
        // A thread of no group sets the interest, so the update goes to the shared list.
        harness.registration(handle).want_recv()?;
        Ok(Self { handle, thread, recorder, far })
    }
}
