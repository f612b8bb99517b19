//! One thread has more work than it can do. HAProxy had one counter of work for all threads, and every other
//! thread looked for that work instead of sleeping (bug 7).

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/busy-thread-keeps-others-awake",
    title: "Work that waits for one thread does not keep other threads awake",
    layer: Layer::Contract,
    clauses: &["L2", "bug 7"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

/// How often each other thread is woken meanwhile.
const FENCES: u64 = 5;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let busy = harness.thread(0);
    harness.fence_all()?;
    let working = harness.hold(busy)?;
    let guard = working.guard();
    // This task stays queued until the thread is released.
    let _ = harness.core().post(busy, |_| ());
    for thread in harness.threads().into_iter().filter(|thread| *thread != busy) {
        let before = harness.activity(thread);
        for _ in 0..FENCES {
            harness.fence(thread)?;
        }
        let since = harness.activity(thread).since(&before);
        let at = |what: &str| format!("{what} of thread {thread}");
        test.check_eq(at("iterations without a sleep"), 0, since.wake_tasks, "bug 7");
        // A fence is two events, each in its own iteration, and the first one may have begun before.
        test.check_cost_most(at("iterations"), 2 * FENCES + 1, since.loops, "bug 7");
    }
    drop(guard);
    harness.finish(test, &[])
}
