//! Every way of being refused gives its reference back. HAProxy's report kept it when the mask did not match, and whoever
//! waited for the last reference waited for ever (bug 57; bug 26 is the same of a lock).

use std::sync::Arc;

use metadata::{Axes, Layer, Transport};

use super::{about, two_of_a_group};
use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::migration::Subject;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/reference-left-behind",
    title: "A report that is refused leaves no reference in the way of a move or of the close",
    layer: Layer::Contract,
    clauses: &["S12", "L4", "L9", "bug 26", "bug 57"],
    axes: Axes { transports: &[Transport::Unix], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let [old, new] = two_of_a_group(&lab)?;
    // Refused before it says that it is running, and after.
    for window in ["AfterWait", "ReportBeforeRunning"] {
        let mut subject = Subject::start(trial, &mut lab, old)?;
        let handle = subject.handle;
        let core = Arc::clone(lab.core());
        let before = core.registration_counts().closed;
        about(&subject, format!("refused at {window}"), "S12, bug 57")
            .worker("old", old)
            .worker("new", new)
            .does("pushes", move |speaker| speaker.registration(handle).migrate_on(old))
            .we("writes", || subject.write(b"x"))
            .we("references", || {
                core.entry(handle)
                    .map(|entry| entry.references)
                    .map_err(|stale| Failure::Wrong(stale.to_string()))
            })
            .we("closed", || Ok(core.registration_counts().closed - before))
            .play(
                trial,
                &mut lab,
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
    lab.finish(trial, &[])
}
