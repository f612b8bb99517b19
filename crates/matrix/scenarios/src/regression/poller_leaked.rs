//! `13b007d58`: each thread had a kqueue of its own, and left it open when it ended.

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/poller-leaked",
    title: "Repeated starts and stops of a runtime leave no descriptor open",
    layer: Layer::Contract,
    clauses: &["bug 11"],
    axes: Axes {
        transports: &[Transport::Pipe],
        triggers: &[Mode::Level],
        threads: &[1, 4],
        groups: &[1, 2],
    },
    run,
};

const ROUNDS: usize = 8;

fn run(test: &mut TestContext) -> Result {
    let before = descriptors::open();
    for _ in 0..ROUNDS {
        let mut harness = Harness::start(test)?;
        harness.fence_all()?;
        harness.finish(test, &[])?;
        test.stop_if_failed()?;
    }
    let after = descriptors::open();
    let what = format!("open descriptors after {ROUNDS} runtimes");
    test.check_debug(what, before, after, "bug 11");
    Ok(())
}
