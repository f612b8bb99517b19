//! Sees which threads sleep, without waking any of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use fd_core::hooks::checkpoint::Point;

use super::Harness;
use crate::checkpoints::Checkpoints;
use crate::failure::Failure;
use crate::mutex::unpoisoned;

/// Which threads sleep, by their names.
///
/// A fence and a task wake the thread that they concern, and so repair a wake-up that the core has forgotten.
/// A scenario about threads that sleep looks with this value first.
pub(crate) struct Sleepers {
    asleep: Arc<Mutex<BTreeMap<String, bool>>>,
    _checkpoints: Checkpoints,
}

impl Sleepers {
    /// Must be called before the threads start.
    pub(crate) fn watch() -> Self {
        let asleep: Arc<Mutex<BTreeMap<String, bool>>> = Arc::default();
        let by_name = Arc::clone(&asleep);
        let checkpoints = Checkpoints::with_listener(move |point, _| {
            if matches!(point, Point::BeforeWait | Point::AfterWait) {
                let name = std::thread::current().name().unwrap_or_default().to_owned();
                unpoisoned(&by_name).insert(name, point == Point::BeforeWait);
            }
        });
        Self { asleep, _checkpoints: checkpoints }
    }

    /// Whether every thread has announced its sleep and has not returned from its wait.
    fn all_sleep(&self, harness: &Harness) -> bool {
        let asleep = unpoisoned(&self.asleep);
        asleep.len() == harness.threads().len() && asleep.values().all(|asleep| *asleep)
    }

    /// Waits until every thread sleeps.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if a thread keeps working.
    pub(crate) fn wait(&self, harness: &Harness) -> Result<(), Failure> {
        self.wait_until(harness, "every thread sleeps", || true)
    }

    /// Waits until every thread sleeps and `holds` returns true. Nothing wakes a thread meanwhile.
    ///
    /// # Errors
    /// [`Failure::Wrong`] with `what` if that never happens.
    pub(crate) fn wait_until(
        &self,
        harness: &Harness,
        what: &str,
        mut holds: impl FnMut() -> bool,
    ) -> Result<(), Failure> {
        harness.wait_until(what, || self.all_sleep(harness) && holds())
    }
}
