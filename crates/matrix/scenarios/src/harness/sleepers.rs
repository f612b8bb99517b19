//! Sees which threads sleep, without waking any of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;

use super::Harness;
use crate::checkpoints::{Checkpoints, HeldThread};
use crate::failure::Result;
use crate::mutex::unpoisoned;

/// Which threads sleep, by their names.
///
/// A fence and a task wake the thread that they concern, and so repair a wake-up that the core has forgotten.
/// A scenario about threads that sleep looks with this value first.
///
/// A thread counts as asleep from the last step before its wait to its return from it. If another thread has
/// just woken it, or if its wait has no timeout because there is work, it counts as asleep although it is
/// about to return. So a scenario first waits for the effects of its own calls. It must not have two runtimes
/// at once: their threads have the same names.
pub(crate) struct Sleepers {
    asleep: Arc<Mutex<BTreeMap<String, bool>>>,
    checkpoints: Checkpoints,
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
        Self { asleep, checkpoints }
    }

    /// Whether each of the threads sleeps.
    pub(crate) fn sleep(&self, threads: &[ThreadId]) -> bool {
        let asleep = unpoisoned(&self.asleep);
        threads.iter().all(|thread| asleep.get(&format!("worker {thread}")) == Some(&true))
    }

    /// Waits until every thread sleeps.
    pub(crate) fn wait(&self, harness: &Harness) -> Result {
        self.wait_for(harness, &harness.threads())
    }

    /// Waits until each of the threads sleeps.
    pub(crate) fn wait_for(&self, harness: &Harness, threads: &[ThreadId]) -> Result {
        harness.wait_until(&format!("these threads sleep: {threads:?}"), || self.sleep(threads))
    }

    /// Waits until every thread sleeps and `holds` returns true. Nothing wakes a thread meanwhile.
    ///
    /// # Errors
    /// `Failure::Wrong` with `what` if that never happens.
    pub(crate) fn wait_until(
        &self,
        harness: &Harness,
        what: &str,
        mut holds: impl FnMut() -> bool,
    ) -> Result {
        let threads = harness.threads();
        harness.wait_until(what, || self.sleep(&threads) && holds())
    }

    /// Waits until `thread` sleeps, then holds it after that wait, before it dispatches the batch. Only what
    /// the caller does next may wake it.
    pub(crate) fn hold_batch(&self, harness: &Harness, thread: ThreadId) -> Result<HeldThread> {
        self.wait_for(harness, &[thread])?;
        Ok(self.checkpoints.hold_batch(thread))
    }
}
