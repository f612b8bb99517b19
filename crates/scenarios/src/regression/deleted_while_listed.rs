//! A descriptor is deleted while it is in the shared list, and its number lives again in another group. HAProxy's stayed
//! listed (bug 22); then the new life is in the wrong list, or in none (suspect 16).

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use fd_core::FdHandle;
use fd_core::ids::ThreadId;
use metadata::{Axes, Layer, Mode, Transport};

use super::one_of_each_group;
use crate::catalogue::Scenario;
use crate::gate::Gate;
use crate::harness::Harness;
use crate::recorder::Recorder;
use crate::test_context::{Failure, TestContext};
use crate::transport::{Far, at_number, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/deleted-while-listed",
    title: "A number that is deleted with an update pending lives again in another group, and both groups go on",
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

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let [first, second] = one_of_each_group(&harness)?;
    for (from, to) in [(first, second), (second, first)] {
        let held = [harness.hold(from)?, harness.hold(to)?];
        let guards = held.each_ref().map(Gate::guard);
        let ends = || pair(test.params.transport).map_err(Failure::broken);
        let (before, doomed, after, next) = (ends()?, ends()?, ends()?, ends()?);
        let number = doomed.near.as_raw_fd();
        // In this order in the list of the group that one of them leaves.
        let before = Listed::new(&harness, before.near, before.far, from)?;
        let doomed = Listed::new(&harness, doomed.near, doomed.far, from)?;
        let after = Listed::new(&harness, after.near, after.far, from)?;
        harness.core().registration(doomed.handle).delete().map_err(Failure::broken)?;
        let near = at_number(next.near, number).map_err(Failure::broken)?;
        let next = Listed::new(&harness, near, next.far, to)?;
        drop(guards);
        for mut listed in [before, next, after] {
            listed.far.write_all(b"x").map_err(Failure::broken)?;
            harness.wait_until("it is reported", || listed.recorder.bytes() == b"x")?;
            harness.fence_all()?;
            let entry = harness.entry(listed.handle)?;
            test.check_eq("updates owed", 0, entry.update_mask.bits(), "L3");
            test.check_eq("polled by", listed.thread.mask().bits(), entry.polled_recv.bits(), "S11");
            test.check_eq("reports", 1, listed.recorder.reports_on(listed.thread), "L1");
            test.all_hold()?;
            harness.core().registration(listed.handle).delete().map_err(Failure::broken)?;
        }
    }
    harness.finish(test, &[])
}

/// A registration whose first update is in its group's shared list.
struct Listed {
    handle: FdHandle,
    thread: ThreadId,
    recorder: Arc<Recorder>,
    far: Far,
}

impl Listed {
    fn new(harness: &Harness, near: OwnedFd, far: Far, thread: ThreadId) -> Result<Self, Failure> {
        let recorder = Recorder::new();
        let handle = harness.insert(near, recorder.clone(), thread)?;
        // By a thread of no group, so it is nobody's private update.
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        Ok(Self { handle, thread, recorder, far })
    }
}
