//! The groups have different sizes. HAProxy chose the thread to wake by the caller's group: its count, its
//! mask, its first thread (bug 58).

use fd_core::ids::ThreadMask;

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/wrong-thread-woken",
    title: "A want for a descriptor of another group wakes every allowed thread of that group",
    layer: Layer::Contract,
    clauses: &["S19", "L1", "bug 58"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    // The last group has threads that no other has.
    let harness = Harness::start_with(test, |builder| builder.group(3), |_| Ok(()))?;
    let callers = [None, Some(harness.thread(0))];
    for thread in harness.threads() {
        // The thread alone, and with all others of its group but one.
        let others = harness.core().table().threads(thread.group()).without(thread.mask());
        let one = others.indices().next().map_or(ThreadMask::NONE, |index| ThreadMask::from_bits(1 << index));
        for mask in [thread.mask(), thread.mask().or(others.without(one))] {
            for caller in callers {
                let mut ends = test.pair()?;
                let recorder = Recorder::new();
                let handle = harness.insert_shared(ends.near, recorder.clone(), thread, mask)?;
                // All threads sleep, and none polls it.
                sleepers.wait(&harness)?;
                harness.call_on(caller, handle, |fd| fd.want_recv())??;
                harness.wait_until_polled(handle, mask)?;
                harness.reported_by_each(mask, &recorder, &mut ends.far, b"x")?;
                harness.wait_until_unused(handle)?;
                let is_allowed = |by: ThreadId| by.group() == thread.group() && mask.contains(by.mask());
                let seen = recorder.seen();
                test.check(
                    format!("the threads that report it after a want by {caller:?}"),
                    format!("{mask:?} of {}", thread.group()),
                    recorder.reads(),
                    "S19",
                    seen.iter().all(|report| is_allowed(report.thread)),
                );
                harness.registration(handle).delete()?;
            }
        }
    }
    harness.finish(test, &[])
}
