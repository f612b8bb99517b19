//! `7e94b40a2`: the flags of a registration were computed and not stored, so that nothing was ever
//! edge-triggered.

use std::io::{ErrorKind, Read};

use fd_core::poller::Trigger;

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/insert-flags-lost",
    title: "An insertion applies its options: the trigger, and the reset on close",
    layer: Layer::Contract,
    clauses: &["bug 56"],
    axes: Axes { transports: &[Transport::Tcp], threads: &[1], ..Axes::PLAIN },
    run,
};

/// The flags that the options set.
const ASKED: State = State::EXPORTED.or(State::LINGER_RISK);

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let (group, mask) = (thread.group(), thread.mask());
    let options = InsertOptions { exported: true, reset_on_close: true, ..harness.options() };
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    // Reads nothing: only the trigger determines how often it is called.
    let handler = monitor.doing(|_, _| {});
    let handle = harness.core().insert(ends.near, handler, group, mask, options)?;
    let flags = harness.entry(handle)?.state.and(ASKED.or(State::EDGE).or(State::CLONED));
    let edge = test.trigger == Trigger::Edge;
    let expected = if edge { ASKED.or(State::EDGE) } else { ASKED };
    test.check_eq("flags", format!("{expected:#x}"), format!("{flags:#x}"), "bug 56");

    harness.registration(handle).want_recv()?;
    // The registration is applied first: data that are present at that moment can cause one edge, and another
    // one when the kernel signals their arrival.
    harness.fence(thread)?;
    ends.far.write_all(b"unread")?;
    harness.wait_until("the report", || monitor.calls() > 0)?;
    harness.fence(thread)?;
    harness.fence(thread)?;
    let calls = monitor.calls();
    let (allowed, holds) = if edge { ("1", calls == 1) } else { ("2 or more", calls >= 2) };
    test.check("reports of unread data", allowed, calls, "bug 56", holds);
    test.stop_if_failed()?;
    harness.registration(handle).delete()?;
    drop(ends.far);

    // Another one is closed without unread data: unread data would cause a reset by themselves.
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let inserted = harness.core().insert(ends.near, monitor.recording(), group, mask, options);
    harness.registration(inserted?).delete()?;
    ends.far.set_read_timeout(patience())?;
    let read = ends.far.read(&mut [0]).map_err(|error| error.kind());
    let expected = Err::<usize, _>(ErrorKind::ConnectionReset);
    test.check_debug("the peer's read", expected, read, "SO_LINGER, bug 56");
    drop(ends.far);
    harness.finish(test, &[])
}
