//! A report that loses against a takeover must not change the state that the new owner has set. HAProxy
//! entered the event into the state before it checked whether the thread still owned the descriptor (bug 53).

use super::{about, two_of_a_group};
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/late-report-changes-the-state",
    title: "A report that loses against a takeover does not change the new owner's state",
    layer: Layer::Contract,
    clauses: &["S2", "S3", "bug 53"],
    axes: Axes { transports: &[Transport::Unix], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let [old, new] = two_of_a_group(&harness)?;
    let reported = State::READY_R.or(State::POLL_IN);
    for window in ["ReportBeforeRunning", "ReportRunningSet"] {
        let mut endpoint = Endpoint::start(test, &mut harness, old)?;
        let handle = endpoint.handle;
        let core = Arc::clone(harness.core());
        // If the report is already running, the takeover does not wait for it but is refused.
        let (answer, ready) = match window {
            "ReportBeforeRunning" => ("Ok(())", 0),
            _ => ("Err(Busy)", reported.bits()),
        };
        let bits = move || core.entry(handle).map(|entry| entry.state.and(reported).bits());
        let drawing = format!(
            "
            main            | old         | new
            writes          |             |
                            | at {window} |
                            |             | takes = {answer}
                            |             | drained = Ok(())
            ready = 0       |             |
                            | ends        |
            ready = {ready} |             |
            "
        );
        about(&endpoint, format!("taken at {window}"), "S3, bug 53")
            .worker("old", old)
            .worker("new", new)
            .main_action("writes", || {
                endpoint.recorder.leave_unread(true);
                endpoint.write(b"x")
            })
            .action("drained", move |participant| participant.registration(handle).cant_recv())
            .main_action("ready", || bits().map_err(|stale| Failure::Wrong(stale.to_string())))
            .run(test, &mut harness, &drawing)?;
        endpoint.end(&harness)?;
    }
    harness.finish(test, &[])
}
