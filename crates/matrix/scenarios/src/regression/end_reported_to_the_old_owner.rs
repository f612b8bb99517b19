//! The peer of an idle connection closes while another thread takes the connection over. In HAProxy the old
//! owner handled the end of a connection that it no longer owned (bug 49).

use fd_core::error::MoveError;

use super::{about, two_of_a_group};
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/end-reported-to-the-old-owner",
    title: "The new owner handles the end of a connection that closes during the takeover, once",
    layer: Layer::Contract,
    clauses: &["S1", "S3", "bug 49"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix, Transport::Pipe], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let [old, new] = two_of_a_group(&harness)?;
    for window in ["ReportBeforeRunning", "AfterWait"] {
        let endpoint = Endpoint::start(test, &mut harness, old)?;
        let interleaving = about(&endpoint, format!("taken at {window}"), "S3, bug 49");
        let Endpoint { handle, owner, recorder, far } = endpoint;
        let counted = Arc::clone(&recorder);
        let mut far = Some(far);
        let drawing = format!(
            "
            main          | old         | new
            closes        |             |
                          | at {window} |
                          |             | takes-and-wants at ApplyBegun
                          | ends        |
            ends-seen = 0 |             |
                          |             | ends = Ok(())
            "
        );
        interleaving
            .worker("old", old)
            .worker("new", new)
            .action("takes-and-wants", move |participant| -> Result<(), MoveError> {
                participant
                    .context()
                    .map_or(Err(MoveError::NoThread), |context| context.takeover(handle, owner))?;
                Ok(participant.registration(handle).want_recv()?)
            })
            .main_action("closes", || {
                far = None;
                Ok(())
            })
            .main_action("ends-seen", || Ok(counted.reports()))
            .run(test, &mut harness, &drawing)?;
        harness.wait_until("the new owner reads the end", || recorder.reports() > 0)?;
        harness.fence_all()?;
        let seen: Vec<_> = recorder.seen().iter().map(|seen| (seen.thread, seen.end)).collect();
        test.check_debug("threads that read the end", vec![(new, true)], seen, "S1, S3");
        harness.registration(handle).delete().map_err(|error| Failure::Wrong(error.to_string()))?;
    }
    harness.finish(test, &[])
}
