//! The control of every other contract scenario: it starts the harness and ends it. The checks of [`Lab::finish`] run in
//! every scenario, so a fault that fails this one says nothing about the scenario that it is switched on in.

use crate::catalogue::{Layer, Scenario};
use crate::lab::Lab;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "harness/control",
    title: "A runtime that starts and stops leaves nothing behind",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "L4", "L8"],
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    // Each thread has looked at what was registered, whatever the registration did to wake it.
    for thread in lab.threads() {
        lab.on(thread, |_| ())?;
    }
    // All of them sleep when the end comes: otherwise whether it wakes them is seen by chance alone.
    lab.fence_all()?;
    lab.finish(trial, &[])
}
