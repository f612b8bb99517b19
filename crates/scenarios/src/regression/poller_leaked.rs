//! `13b007d58`: each thread had a kqueue of its own, and left it open when it ended.

use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::descriptors;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/poller-leaked",
    title: "Starting and stopping a runtime again and again leaves no descriptor of any thread behind",
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

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let before = descriptors::open();
    for _ in 0..ROUNDS {
        let mut harness = Harness::start(test)?;
        harness.fence_all()?;
        harness.finish(test, &[])?;
        test.all_hold()?;
    }
    let after = descriptors::open();
    let what = format!("open descriptors after {ROUNDS} runtimes");
    test.check_eq(what, format!("{before:?}"), format!("{after:?}"), "bug 11");
    Ok(())
}
