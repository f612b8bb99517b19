//! A descriptor is inserted for threads that the caller's own group does not have. HAProxy filtered the mask
//! by that group, which left no thread, or the wrong ones (bug 78).

use fd_core::ids::{GroupId, ThreadMask};

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/insert-asks-the-wrong-group",
    title: "An insert for another group keeps the requested threads of that group, whichever thread inserts",
    layer: Layer::Contract,
    clauses: &["S19", "bug 78"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start_with(test, |builder| builder.group(3), |_| Ok(()))?;
    let target = harness.threads().into_iter().max().map_or(harness.thread(0).group(), ThreadId::group);
    let has = harness.core().table().threads(target);
    for caller in [None, Some(harness.thread(0))] {
        for (requested, kept) in
            [(has, has), (ThreadMask::ALL, has), (ThreadMask::from_bits(0b100), ThreadMask::from_bits(0b100))]
        {
            insert(test, &mut harness, caller, target, requested, kept)?;
        }
    }
    harness.finish(test, &[])
}

fn insert(
    test: &mut TestContext,
    harness: &mut Harness,
    caller: Option<ThreadId>,
    target: GroupId,
    requested: ThreadMask,
    kept: ThreadMask,
) -> Result {
    let mut ends = test.pair()?;
    let recorder = Recorder::new();
    let (handler, options, near) = (recorder.clone(), harness.options(), ends.near);
    let inserted = match caller {
        Some(caller) => harness
            .on(caller, move |context| context.core().insert(near, handler, target, requested, options))?,
        None => harness.core().insert(near, handler, target, requested, options),
    };
    let what = format!("insert of {requested:?} for {target} by {caller:?}");
    let handle = match inserted {
        Ok(handle) => handle,
        Err(error) => {
            test.check(what, "accepted", error.reason, "S19, bug 78", false);
            return test.stop_if_failed();
        }
    };
    test.check_eq(what, kept.bits(), harness.entry(handle)?.thread_mask.bits(), "S19, bug 78");
    harness.registration(handle).want_recv()?;
    harness.wait_until_polled(handle, kept)?;
    harness.reported_by_each(kept, &recorder, &mut ends.far, b"x")?;
    harness.registration(handle).delete().map_err(Failure::broken)
}
