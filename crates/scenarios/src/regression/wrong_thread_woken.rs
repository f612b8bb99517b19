//! The groups have different sizes. HAProxy chose the thread to wake by the caller's group: its count, its
//! mask, its first thread (bug 58).

use std::io::Write;

use fd_core::ids::ThreadMask;
use metadata::{Axes, Layer, Mode, Transport};

use crate::failure::Failure;
use crate::harness::Harness;
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::test_context::TestContext;
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/wrong-thread-woken",
    title: "A want for a descriptor of another group wakes an allowed thread of that group",
    layer: Layer::Contract,
    clauses: &["S19", "L1", "bug 58"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    // The last group has threads that no other has.
    let mut harness = Harness::start_with(test, |builder| builder.group(3), |_| Ok(()))?;
    let callers = [None, Some(harness.thread(0))];
    for thread in harness.threads() {
        // The thread alone, and with all others of its group but one.
        let others = harness.core().table().threads(thread.group()).without(thread.mask());
        let one = others.indices().next().map_or(ThreadMask::NONE, |index| ThreadMask::from_bits(1 << index));
        for mask in [thread.mask(), thread.mask().or(others.without(one))] {
            for caller in callers {
                let mut ends = pair(test.params.transport).map_err(Failure::set_up)?;
                let recorder = Recorder::new();
                let handle = harness.insert_shared(ends.near, recorder.clone(), thread, mask)?;
                // All threads sleep, and none polls it.
                harness.fence_all()?;
                match caller {
                    Some(caller) => {
                        harness.on(caller, move |context| context.registration(handle).want_recv())?
                    }
                    None => harness.core().registration(handle).want_recv(),
                }
                .map_err(Failure::set_up)?;
                ends.far.write_all(b"x").map_err(Failure::set_up)?;
                harness.wait_until(
                    &format!("a thread of {mask:?} of {} is woken by {caller:?}", thread.group()),
                    || recorder.reports() > 0,
                )?;
                let by = recorder.seen()[0].thread;
                let allowed = by.group() == thread.group() && mask.contains(by.mask());
                test.check(
                    "the thread that handles it",
                    format!("{mask:?} of {}", thread.group()),
                    by,
                    "S19",
                    allowed,
                );
                harness.core().registration(handle).delete().map_err(Failure::set_up)?;
            }
        }
    }
    harness.finish(test, &[])
}
