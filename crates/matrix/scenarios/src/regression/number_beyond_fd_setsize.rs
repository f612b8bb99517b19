//! `3fa87b1db`: a descriptor at or above `FD_SETSIZE` was put into a set without room for it, and the memory
//! behind the set was overwritten.

use fd_core::Runtime;
use fd_core::error::{InsertRefused, StartError};
use fd_core::poller::{BackendError, Limits};
use nix::libc;

use crate::deletion::monitor::HandlerMonitor;
use crate::descriptor_limit;
use crate::prelude::*;
use crate::transport::Pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/number-beyond-fd-setsize",
    title: "A number that the backend has no room for is refused at insertion, and every lower number is polled",
    layer: Layer::Contract,
    clauses: &["bug 2"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let limits = |capacity| Limits { capacity, groups: 1, threads: 1 };
    let bound = (test.make)(&limits(64)).map_err(Failure::broken)?.capabilities().max_descriptors;
    descriptor_limit::raise(libc::FD_SETSIZE as libc::rlim_t + 64)?;
    // A number that a backend may have no room for.
    let number = bound.unwrap_or(libc::FD_SETSIZE);

    if let Some(bound) = bound {
        let fits = (test.make)(&limits(bound)).is_ok();
        test.check_eq("a table of the maximum capacity is accepted", true, fits, "select(2)");
        let answer = (test.make)(&limits(bound + 1)).map(drop);
        let refused = matches!(answer, Err(BackendError::Capacity { limit, .. }) if limit == bound);
        test.check_eq("a table of a larger capacity is refused", true, refused, "select(2), bug 2");
        let started = Runtime::builder().group(1).capacity(bound + 1).prepare(test.make).map(drop);
        let refused = matches!(started, Err(StartError::Backend(BackendError::Capacity { .. })));
        test.check_eq("a runtime with such a table is refused", true, refused, "select(2), bug 2");
        test.stop_if_failed()?;
    }

    // Without a configured capacity, the runtime chooses one that fits.
    let mut harness = Harness::start(test)?;
    let capacity = harness.core().table().capacity();
    let fits = bound.is_none_or(|bound| capacity <= bound);
    test.check("the default capacity of the table", format!("{bound:?} at most"), capacity, "bug 2", fits);

    let ends = test.pair()?;
    let near = at_number(ends.near, number as i32)?;
    let monitor = HandlerMonitor::new(&near);
    let thread = harness.thread(0);
    if bound.is_some() {
        let (group, mask) = (thread.group(), thread.mask());
        let refused = harness.core().insert(near, monitor.recording(), group, mask, InsertOptions::default());
        let reason = refused.as_ref().map_err(|refused| refused.reason).map(drop);
        let expected = InsertRefused::Capacity { fd: number as i32, capacity };
        let holds = reason == Err(expected);
        test.check("the number", expected.to_string(), format!("{reason:?}"), "bug 2", holds);
        test.stop_if_failed()?;
        drop((refused, ends.far));
    } else {
        is_polled(test, &mut harness, Pair { near, far: ends.far })?;
    }
    let ends = test.pair()?;
    let near = at_number(ends.near, number as i32 - 1)?;
    is_polled(test, &mut harness, Pair { near, far: ends.far })?;
    harness.finish(test, &[])
}

fn is_polled(test: &mut TestContext, harness: &mut Harness, mut ends: Pair) -> Result {
    let monitor = HandlerMonitor::new(&ends.near);
    let thread = harness.thread(0);
    let handle = harness.insert_recv(ends.near, monitor.recording(), thread)?;
    ends.far.write_all(b"data")?;
    harness.wait_until(&format!("the data of number {}", monitor.number()), || monitor.text() == "data")?;
    harness.fence(thread)?;
    test.check_eq(format!("reports of number {}", monitor.number()), 1, monitor.calls(), "L1");
    harness.registration(handle).delete().map_err(Failure::broken)
}
