//! Two threads enable read interest in one descriptor at the same time. HAProxy had one bit for "an update is
//! in some thread's list", and one list per thread: the second thread relied on the first, which could not
//! apply the update (bug 8).

use super::{about, two_of_a_group};
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/both-threads-owe-one-update",
    title: "A descriptor that two threads want at the same time is polled by every allowed thread",
    layer: Layer::Contract,
    clauses: &["L1", "L3", "S11", "bug 8"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let [owner, other] = two_of_a_group(&harness)?;
    for mask in [owner.mask(), owner.mask().or(other.mask())] {
        let ends = test.pair()?;
        let recorder = Recorder::new();
        let handle = harness.insert_shared(ends.near, recorder.clone(), owner, mask)?;
        let mut endpoint = Endpoint { handle, owner: recorder.id(), recorder, far: ends.far };
        let allowed = mask.bits();
        let drawing = "
            owner          | other
                           | wants at UpdateBitsSet
            stops = Ok(()) |
            wants = Ok(()) |
            ends           |
                           | ends = Ok(())
            ";
        about(&endpoint, format!("two threads want a descriptor of the mask {allowed:b}"), "L1, bug 8")
            .worker("owner", owner)
            .worker("other", other)
            .run(test, &mut harness, drawing)?;
        harness.wait_until_polled(handle, mask)?;
        harness.reported_by_each(mask, &endpoint.recorder, &mut endpoint.far, b"x")?;
        endpoint.end(&harness)?;
    }
    harness.finish(test, &[])
}
