//! Handlers that are dropped when the runtime stops call it: they stop a listener, or delete descriptors that
//! belong to them. HAProxy appended such an update to a freed list (bug 29), and searched that list for
//! descriptors to forget (bug 59).

use std::os::fd::OwnedFd;
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};

use fd_core::FdCore;

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/called-while-it-stops",
    title: "A handler that is dropped when the runtime stops can stop, want, delete and insert without touching freed state",
    layer: Layer::Contract,
    clauses: &["S4", "L8", "bug 29", "bug 59"],
    axes: Axes { transports: &[Transport::Unix], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Calls the runtime when it is dropped.
struct CallsOnDrop {
    core: Weak<FdCore>,
    /// All registrations of this kind; some of them have ended before.
    others: Arc<Mutex<Vec<FdHandle>>>,
    spare: Mutex<Option<OwnedFd>>,
    refused: Arc<AtomicU64>,
}

impl Handler for CallsOnDrop {
    fn ready(&self, _: &ReadyGuard<'_>) {}
}

impl Drop for CallsOnDrop {
    fn drop(&mut self) {
        // The core itself may be about to be dropped: then no call is possible.
        let Some(core) = self.core.upgrade() else { return };
        // Copied out of the lock: a call below can drop another handler, which takes the lock, too.
        let others = unpoisoned(&self.others).clone();
        for (index, other) in others.into_iter().enumerate() {
            let fd = core.registration(other);
            let _ = (fd.stop_recv(), fd.want_recv(), fd.want_send());
            if index % 2 == 0 {
                let _ = fd.delete();
            }
        }
        let Some(spare) = unpoisoned(&self.spare).take() else { return };
        let Some(thread) = core.threads().next() else { return };
        let handler: Arc<dyn Handler> = Arc::new(|_: &ReadyGuard<'_>| {});
        let inserted = core.insert(spare, handler, thread.group(), thread.mask(), Default::default());
        self.refused.fetch_add(u64::from(inserted.is_err()), Ordering::SeqCst);
        let _ = core.post(thread, |_| ());
        core.wake(thread);
    }
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let others: Arc<Mutex<Vec<FdHandle>>> = Arc::default();
    let refused = Arc::new(AtomicU64::new(0));
    let mut ends_kept = Vec::new();
    let threads = harness.threads();
    for thread in threads.iter().cycle().take(6) {
        let (ends, spare) = (test.pair(), test.pair());
        let (ends, spare) = (ends?, spare?);
        let handler = CallsOnDrop {
            core: Arc::downgrade(harness.core()),
            others: Arc::clone(&others),
            spare: Mutex::new(Some(spare.near)),
            refused: Arc::clone(&refused),
        };
        let handle = harness.insert(ends.near, Arc::new(handler), *thread)?;
        unpoisoned(&others).push(handle);
        ends_kept.extend([ends.far, spare.far]);
    }
    harness.fence_all()?;
    // Private and shared updates that the threads do not apply before they end.
    let handles = unpoisoned(&others).clone();
    let held = harness.hold(threads[0])?;
    let updates = handles.clone();
    let _ = harness.core().post(threads[0], move |context| {
        for handle in &updates {
            let _ = context.registration(*handle).want_recv();
        }
        context.core().request_stop();
    });
    for handle in &handles {
        harness.registration(*handle).want_send()?;
    }
    held.open();
    drop(ends_kept);
    let count = handles.len() as u64;
    harness.finish(test, &[])?;
    let dropped = refused.load(Ordering::SeqCst);
    test.check_eq("refused inserts, whose descriptors are closed", count, dropped, "L8");
    Ok(())
}
