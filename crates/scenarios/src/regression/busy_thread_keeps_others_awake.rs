//! One thread has more work than it can do. In HAProxy a counter for all threads said that there was work, and every
//! other one looked for it instead of sleeping (bug 7).

use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/busy-thread-keeps-others-awake",
    title: "Work that waits for one thread keeps no other from sleeping",
    layer: Layer::Contract,
    clauses: &["L2", "bug 7"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

/// How often the others are woken meanwhile.
const FENCES: u64 = 5;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let busy = harness.thread(0);
    harness.fence_all()?;
    let working = harness.hold(busy)?;
    let guard = working.guard();
    // This one waits until the thread is let go.
    let _ = harness.core().post(busy, |_| ());
    for thread in harness.threads().into_iter().filter(|thread| *thread != busy) {
        let before = harness.activity(thread);
        for _ in 0..FENCES {
            harness.fence(thread)?;
        }
        let since = harness.activity(thread).since(&before);
        let at = |what: &str| format!("{what} of thread {thread}");
        test.check_eq(at("turns without a sleep"), 0, since.wake_tasks, "bug 7");
        // A fence is two events, each in a turn of its own, and the first turn may have begun before.
        let most = 2 * FENCES + 1;
        test.cost(at("turns"), format!("at most {most}"), since.loops, "bug 7", since.loops <= most);
    }
    drop(guard);
    harness.finish(test, &[])
}
