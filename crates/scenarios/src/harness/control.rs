//! The control of every other contract scenario: it starts the harness and ends it. The checks of [`Lab::finish`] run in
//! every scenario, so a fault that fails this one says nothing about the scenario that it is switched on in.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use fd_core::checkpoint::Point;

use crate::catalogue::{Layer, Scenario};
use crate::deletion::life::unpoisoned;
use crate::hold::Checkpoints;
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
    let sleepers = Sleepers::watch();
    let mut lab = Lab::start(trial)?;
    // Each thread looks at what was registered, whatever the registration did to wake it.
    sleepers.wait(&lab)?;
    for thread in lab.threads() {
        lab.on(thread, |_| ())?;
    }
    // Nothing is under way behind the fences. Were a thread still awake at the stop, a stop that wakes no thread would be
    // seen by chance alone.
    lab.fence_all()?;
    sleepers.wait(&lab)?;
    lab.finish(trial, &[])
}

/// Which threads sleep, by their names.
struct Sleepers {
    asleep: Arc<Mutex<BTreeMap<String, bool>>>,
    _watched: Checkpoints,
}

impl Sleepers {
    /// From before the threads start.
    fn watch() -> Self {
        let asleep: Arc<Mutex<BTreeMap<String, bool>>> = Arc::default();
        let seen = Arc::clone(&asleep);
        let watched = Checkpoints::telling(move |point, _| {
            if matches!(point, Point::BeforeWait | Point::AfterWait) {
                let name = std::thread::current().name().unwrap_or_default().to_owned();
                unpoisoned(&seen).insert(name, point == Point::BeforeWait);
            }
        });
        Self { asleep, _watched: watched }
    }

    /// Waits until every thread has announced its sleep and not returned from its wait.
    fn wait(&self, lab: &Lab) -> Result<(), Failure> {
        let threads = lab.threads().len();
        lab.wait_until("every thread sleeps", || {
            let asleep = unpoisoned(&self.asleep);
            asleep.len() == threads && asleep.values().all(|asleep| *asleep)
        })
    }
}
