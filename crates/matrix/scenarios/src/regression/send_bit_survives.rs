//! `a3a8ea2fb`: on removal the mask of the threads that poll for receiving was cleared twice, and that for
//! sending not at all. When sending was wanted again, it was considered polled already.

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/send-bit-survives",
    title: "A descriptor that was polled for both directions and removed is reported when only sending is wanted again",
    layer: Layer::Contract,
    clauses: &["S11", "L1", "bug 35"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handler = monitor.doing(|_, ready| {
        let _ = ready.registration().stop_both();
    });
    let handle = harness.insert(ends.near, handler, thread)?;
    let want_both = move |context: &Context| {
        context.registration(handle).want_recv().and_then(|()| context.registration(handle).want_send())
    };
    harness.on(thread, want_both)??;
    harness.wait_until("the first report", || monitor.calls() == 1)?;

    // Requests an update that then finds no interest.
    let stopped = harness.on(thread, move |context| {
        context.registration(handle).want_recv().and_then(|()| context.registration(handle).stop_both())
    })?;
    stopped?;
    let is_removed = |harness: &Harness| {
        harness.entry(handle).is_ok_and(|entry| entry.polled_recv.or(entry.polled_send).is_empty())
    };
    harness.wait_until("it is removed from its poller", || is_removed(&harness))?;
    harness.fence(thread)?;
    let entry = harness.entry(handle)?;
    test.check_eq("polled for receiving", 0, entry.polled_recv.bits(), "S11");
    test.check_eq("polled for sending", 0, entry.polled_send.bits(), "S11, bug 35");
    let calls = monitor.calls();
    test.check_eq("handler calls", 1, calls, "S18");

    harness.on(thread, move |context| context.registration(handle).want_send())??;
    harness.wait_until("the report once sending is wanted again", || monitor.calls() > calls)?;
    harness.fence(thread)?;
    test.check_eq("handler calls once sending is wanted again", 2, monitor.calls(), "L1, bug 35");
    test.stop_if_failed()?;
    harness.registration(handle).delete()?;
    drop(ends.far);
    harness.finish(test, &[])
}
