//! A handler returns while its descriptor is being deleted. HAProxy reads the thread mask before it clears
//! its running bit; a deleter in between leaves the close to the returning thread, which does not notice
//! (suspect 1, model M2).

use super::about;
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/last-user-does-not-know",
    title: "A handler that returns during a delete closes the descriptor, even if its exit began before the delete",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "L4", "suspect 1"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let runner = harness.thread(0);
    // A worker thread of the same or another group, and a thread of no group.
    for deleter in [Some(harness.thread(1)), None] {
        let mut endpoint = Endpoint::start(test, &mut harness, runner)?;
        let recorder = Arc::clone(&endpoint.recorder);
        let core = Arc::clone(harness.core());
        let before = core.registration_counts().closed;
        let drawing = "
            main       | runner       | deleter
            writes     |              |
                       | at ExitBegun |
                       |              | deletes = Ok(())
            runs = 1   |              |
            closed = 0 |              |
                       | continues    |
            closes     |              |
                       | ends         |
            closed = 1 |              |
            ";
        about(&endpoint, "exit", "L4, suspect 1")
            .worker("runner", runner)
            .caller("deleter", deleter)
            .main_action("writes", || endpoint.write(b"x"))
            .main_action("runs", || Ok(recorder.reports()))
            .main_action("closes", || {
                let is_closed = || core.registration_counts().closed > before;
                Harness::wait_with_core(&core, "the runner closes it", is_closed)
            })
            .main_action("closed", || Ok(core.registration_counts().closed - before))
            .run(test, &mut harness, drawing)?;
    }
    harness.finish(test, &[])
}
