//! A handler deletes its own descriptor. HAProxy's connections do this all the time: the number must stay
//! open and the owner alive until the handler returns, or the handler continues with another descriptor (S5).

use std::sync::mpsc::{RecvTimeoutError, channel};

use fd_core::error::DeleteError;

use super::monitor::{CollectedChecks, HandlerMonitor};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/own-handler",
    title: "A handler may delete its own FD, which stays open until the handler returns and is then closed once",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "L4", "protocol 6.4", "core 19"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let (sender, receiver) = channel();
    let handler = monitor.doing(move |monitor, ready| {
        let _ = sender.send(delete_in_handler(ready, monitor));
    });
    let thread = harness.thread(0);
    let handle = harness.insert_recv(ends.near, handler, thread)?;
    let before = harness.activity(thread);
    let closed = harness.closed();

    ends.far.write_all(b"last words")?;
    let checks = receiver.recv_timeout(patience()).map_err(|error| match error {
        RecvTimeoutError::Timeout => Failure::Wrong("the handler did not return".into()),
        RecvTimeoutError::Disconnected => Failure::Wrong("the handler was dropped while it ran".into()),
    })?;
    checks.record(test);
    test.stop_if_failed()?;
    // This needs no further event (L4).
    harness.wait_until("the handler is dropped", || monitor.dropped() > 0)?;
    test.check_eq("the number was open when the handler was dropped", 0, monitor.open_when_dropped(), "4.8");
    test.check_eq("descriptors closed", 1, harness.closed() - closed, "S4");
    harness.wait_until("the peer sees the end", || ends.far.ended())?;
    test.check_eq("entry", "stale", harness.core().entry(handle).map_or("stale", |_| "registered"), "L4");
    let second_result = harness.registration(handle).delete();
    let is_stale = matches!(second_result, Err(DeleteError::Stale(_)));
    test.check_eq("delete afterwards is refused as stale", true, is_stale, "protocol 2.1");

    // No handler is left for this event.
    harness.send_unseen(&mut ends.far, b"too late")?;
    harness.fence_all()?;
    test.check_eq("handler calls", 1, monitor.calls(), "S6");
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");
    // The event was not stale: its handler ran. A pause for each closed connection would be a millisecond.
    let paused = harness.activity(thread).since(&before).poll_pause;
    test.check_cost_eq("milliseconds of pauses", 0, paused, "core 19");
    drop(ends.far);
    harness.finish(test, &[])
}

/// Deletes the handler's own descriptor and records the state that the handler then sees.
fn delete_in_handler(ready: &ReadyGuard<'_>, monitor: &HandlerMonitor) -> CollectedChecks {
    let mut checks = CollectedChecks::default();
    let registrations = || ready.context().core().registration_counts();
    let closed = registrations().closed;
    checks.eq("delete in the handler", Ok(()), ready.registration().delete(), "RegistrationRef::delete");
    let what = "second delete";
    checks.eq(what, Err(DeleteError::AlreadyDeleted), ready.registration().delete(), "protocol 6.1");
    checks.eq("the number is open in the handler", true, descriptors::is_open(monitor.number()), "S5");
    checks.eq("closed in the handler", 0, registrations().closed - closed, "S5");
    checks.eq("handlers dropped in the handler", 0, monitor.dropped(), "4.8");
    let entry = ready.context().core().entry(ready.handle());
    checks.eq("thread mask", Ok(0), entry.map(|entry| entry.thread_mask.bits()), "protocol 6.2");
    checks.eq("running mask", Ok(ready.context().id().mask()), entry.map(|entry| entry.running), "S5");
    checks.eq("the close is left to the last user", true, ready.state().contains(State::MUST_CLOSE), "S14");
    checks.eq(
        "want",
        Ok(()),
        ready.registration().want_recv(),
        "RegistrationRef::want_recv: never stale in a report",
    );
    let mut bytes = Vec::new();
    checks.eq("end of file", Ok(false), read_all(ready, &mut bytes).map_err(|error| error.to_string()), "S5");
    checks.eq("bytes", "last words".into(), String::from_utf8_lossy(&bytes).into_owned(), "S5");
    checks
}
