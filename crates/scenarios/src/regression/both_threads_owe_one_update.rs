//! Two threads want one descriptor at once. HAProxy had one bit for "an update is in somebody's list", and lists per
//! thread: who came second relied on the first, which could not do it (bug 8).

use metadata::{Axes, Layer, Mode, Transport};

use super::{about, two_of_a_group};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::migration::Endpoint;
use crate::recorder::Recorder;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/both-threads-owe-one-update",
    title: "An FD that two threads want at once is polled by whoever may, be it one of them or both",
    layer: Layer::Contract,
    clauses: &["L1", "L3", "S11", "bug 8"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let [owner, other] = two_of_a_group(&harness)?;
    for mask in [owner.mask(), owner.mask().or(other.mask())] {
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        let recorder = Recorder::new();
        let handle = harness.insert_shared(ends.near, recorder.clone(), owner, mask)?;
        let mut subject = Endpoint { handle, owner: recorder.id(), recorder, far: ends.far };
        let allowed = mask.bits();
        about(&subject, format!("two threads want what {allowed:b} may use"), "L1, bug 8")
            .worker("owner", owner)
            .worker("other", other)
            .play(
                test,
                &mut harness,
                "
                owner          | other
                               | wants at UpdateBitsSet
                stops = Ok(())  |
                wants = Ok(())  |
                ends            |
                                | ends = Ok(())
                ",
            )?;
        harness.wait_until("everybody who may polls it", || {
            // Without kernel state one of them notes it for all.
            harness.core().entry(handle).is_ok_and(|entry| entry.polled_recv.bits() == allowed)
        })?;
        subject.write(b"x")?;
        subject.wait_for_bytes(&harness, b"x")?;
        subject.end(&harness)?;
    }
    harness.finish(test, &[])
}
