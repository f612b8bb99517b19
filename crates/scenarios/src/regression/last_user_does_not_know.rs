//! A handler returns while its descriptor is being deleted. HAProxy's reads the thread mask, and only then gives up its
//! running bit; the deleter in between leaves the close to it, and it does not know (suspect 1, model M2).

use std::sync::Arc;

use metadata::{Axes, Layer, Transport};

use super::about;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::migration::Endpoint;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/last-user-does-not-know",
    title: "A handler that returns during a delete closes the FD, whatever it knew of the delete when it began to leave",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "L4", "suspect 1"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let runner = harness.thread(0);
    // A worker thread of the same or another group, and a thread of none.
    for deleter in [Some(harness.thread(1)), None] {
        let mut subject = Endpoint::start(test, &mut harness, runner)?;
        let recorder = Arc::clone(&subject.recorder);
        let core = Arc::clone(harness.core());
        let before = core.registration_counts().closed;
        about(&subject, "leaving", "L4, suspect 1")
            .worker("runner", runner)
            .caller("deleter", deleter)
            .we("writes", || subject.write(b"x"))
            .we("runs", || Ok(recorder.reports()))
            .we("closed", || Ok(core.registration_counts().closed - before))
            .play(
                test,
                &mut harness,
                "
                us         | runner        | deleter
                writes     |               |
                           | at ExitBegun  |
                           |               | deletes = Ok(())
                runs = 1   |               |
                closed = 0 |               |
                           | ends          |
                closed = 1 |               |
                ",
            )?;
    }
    harness.finish(test, &[])
}
