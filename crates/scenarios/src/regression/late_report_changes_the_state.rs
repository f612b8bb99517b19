//! A report that loses to a takeover must not touch what the new owner has prepared. HAProxy's entered its event into
//! the state before it was sure of its right to (bug 53).

use std::sync::Arc;

use fd_core::State;
use metadata::{Axes, Layer, Transport};

use super::{about, two_of_a_group};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::migration::Endpoint;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/late-report-changes-the-state",
    title: "A report that loses to a takeover leaves the state as the new owner has made it",
    layer: Layer::Contract,
    clauses: &["S2", "S3", "bug 53"],
    axes: Axes { transports: &[Transport::Unix], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let [old, new] = two_of_a_group(&harness)?;
    let reported = State::READY_R.or(State::POLL_IN);
    for window in ["ReportBeforeRunning", "ReportRunningSet"] {
        let mut subject = Endpoint::start(test, &mut harness, old)?;
        let handle = subject.handle;
        let core = Arc::clone(harness.core());
        // While the report is running already, the takeover waits for nothing: it is refused, and the drawing is another.
        let (answer, ready) = match window {
            "ReportBeforeRunning" => ("Ok(())", 0),
            _ => ("Err(Busy)", reported.bits()),
        };
        let bits = move || core.entry(handle).map(|entry| entry.state.and(reported).bits());
        about(&subject, format!("taken at {window}"), "S3, bug 53")
            .worker("old", old)
            .worker("new", new)
            .we("writes", || {
                subject.recorder.leave_unread(true);
                subject.write(b"x")
            })
            .does("drained", move |participant| participant.registration(handle).cant_recv())
            .we("ready", || bits().map_err(|stale| Failure::Wrong(stale.to_string())))
            .play(
                test,
                &mut harness,
                &format!(
                    "
                    us              | old         | new
                    writes          |             |
                                    | at {window} |
                                    |             | takes = {answer}
                                    |             | drained = Ok(())
                    ready = 0       |             |
                                    | ends        |
                    ready = {ready} |             |
                    "
                ),
            )?;
        subject.end(&harness)?;
    }
    harness.finish(test, &[])
}
