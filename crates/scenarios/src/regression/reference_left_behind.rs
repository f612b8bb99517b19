//! Every way of being refused gives its reference back. HAProxy's report kept it when the mask did not match, and whoever
//! waited for the last reference waited for ever (bug 57; bug 26 is the same of a lock).

use std::sync::Arc;

use metadata::{Axes, Layer, Transport};

use super::{about, two_of_a_group};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::migration::Endpoint;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/reference-left-behind",
    title: "A report that is refused leaves no reference in the way of a move or of the close",
    layer: Layer::Contract,
    clauses: &["S12", "L4", "L9", "bug 26", "bug 57"],
    axes: Axes { transports: &[Transport::Unix], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let [old, new] = two_of_a_group(&harness)?;
    // Refused before it says that it is running, and after.
    for window in ["AfterWait", "ReportBeforeRunning"] {
        let mut subject = Endpoint::start(test, &mut harness, old)?;
        let handle = subject.handle;
        let core = Arc::clone(harness.core());
        let before = core.registration_counts().closed;
        about(&subject, format!("refused at {window}"), "S12, bug 57")
            .worker("old", old)
            .worker("new", new)
            .does("pushes", move |participant| participant.registration(handle).migrate_on(old))
            .we("writes", || subject.write(b"x"))
            .we("references", || {
                core.entry(handle)
                    .map(|entry| entry.references)
                    .map_err(|stale| Failure::Wrong(stale.to_string()))
            })
            .we("closed", || Ok(core.registration_counts().closed - before))
            .play(
                test,
                &mut harness,
                &format!(
                    "
                    us             | old         | new
                    writes         |             |
                                   | at {window} |
                                   |             | takes = Ok(())
                                   | ends        |
                                   |             | ends
                    references = 0 |             |
                                   |             | pushes = Ok(())
                                   |             | deletes = Ok(())
                    closed = 1     |             |
                    "
                ),
            )?;
    }
    harness.finish(test, &[])
}
