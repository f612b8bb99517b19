//! A refused operation must return its reference. In HAProxy a report kept it if the mask did not match, and
//! a thread that waited for the last reference waited endlessly (bug 57; bug 26 is the same mistake with a
//! lock).

use super::{about, two_of_a_group};
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/reference-left-behind",
    title: "A refused report leaves no reference that blocks a move or the close",
    layer: Layer::Contract,
    clauses: &["S12", "L4", "L9", "bug 26", "bug 57"],
    axes: Axes { transports: &[Transport::Unix], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let [old, new] = two_of_a_group(&harness)?;
    // Refused before it sets its running bit, and after.
    for window in ["AfterWait", "ReportBeforeRunning"] {
        let mut endpoint = Endpoint::start(test, &mut harness, old)?;
        let handle = endpoint.handle;
        let core = Arc::clone(harness.core());
        let before = core.registration_counts().closed;
        let drawing = format!(
            "
            main           | old         | new
            writes         |             |
                           | at {window} |
                           |             | takes = Ok(())
                           | continues   |
            unused         |             |
                           | ends        |
                           |             | ends
            references = 0 |             |
                           |             | pushes = Ok(())
                           |             | deletes = Ok(())
            closed = 1     |             |
            "
        );
        about(&endpoint, format!("refused at {window}"), "S12, bug 57")
            .worker("old", old)
            .worker("new", new)
            .action("pushes", move |participant| participant.registration(handle).migrate_on(old))
            .main_action("writes", || endpoint.write(b"x"))
            .main_action("unused", || {
                let is_unused = || core.entry(handle).is_ok_and(|entry| entry.references == 0);
                Harness::wait_with_core(&core, "the refused report returns its reference", is_unused)
            })
            .main_action("references", || {
                core.entry(handle)
                    .map(|entry| entry.references)
                    .map_err(|stale| Failure::Wrong(stale.to_string()))
            })
            .main_action("closed", || Ok(core.registration_counts().closed - before))
            .run(test, &mut harness, &drawing)?;
    }
    harness.finish(test, &[])
}
