//! `a3a8ea2fb`: on removal the mask of those who poll for receiving was cleared twice, and that for sending not at all.
//! Sending, wanted again, was taken for polled already.

use metadata::{Axes, Layer, Transport};

use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/send-bit-survives",
    title: "An FD that was polled for both directions and removed is reported again when it wants to send only",
    layer: Layer::Contract,
    clauses: &["S11", "L1", "bug 35"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let watch = HandlerMonitor::new(&ends.near);
    let handler = watch.doing(|ready| {
        let _ = ready.registration().stop_both();
    });
    let handle = harness.insert(ends.near, handler, thread)?;
    let want_both = move |context: &fd_core::Context| {
        context.registration(handle).want_recv().and_then(|()| context.registration(handle).want_send())
    };
    harness.on(thread, want_both)?.map_err(Failure::broken)?;
    harness.wait_until("the first report", || watch.calls() == 1)?;

    // An update is asked for, which finds nothing wanted.
    let stopped = harness.on(thread, move |context| {
        context.registration(handle).want_recv().and_then(|()| context.registration(handle).stop_both())
    })?;
    stopped.map_err(Failure::broken)?;
    harness.fence(thread)?;
    let entry = harness.entry(handle)?;
    test.check_eq("polled for receiving", 0, entry.polled_recv.bits(), "S11");
    test.check_eq("polled for sending", 0, entry.polled_send.bits(), "S11, bug 35");
    let calls = watch.calls();
    test.check_eq("handler calls", 1, calls, "S18");

    harness.on(thread, move |context| context.registration(handle).want_send())?.map_err(Failure::broken)?;
    harness.fence(thread)?;
    test.check_eq("handler calls once sending is wanted again", 2, watch.calls(), "L1, bug 35");
    test.all_hold()?;
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    drop(ends.far);
    harness.finish(test, &[])
}
