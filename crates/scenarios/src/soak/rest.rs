//! What happens outside the worker threads: clients that call, the watch over who hangs, and the checks at rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fd_core::FdCore;

use super::{Shared, worker};
use crate::test_context::patience;

/// A caller from outside the runtime.
pub(super) struct Client {
    random: fastrand::Rng,
}

impl Client {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: fastrand::Rng::with_seed(!seed) }
    }

    /// A call on a listener, a want or a write from outside, and a short sleep.
    pub(super) fn step(&mut self, shared: &Shared, core: &FdCore) {
        let listening = &shared.listeners[self.random.usize(..shared.listeners.len())];
        if let Err(error) = listening.call() {
            shared.violate(format!("a listener cannot be called: {error}"));
        }
        if let (Some(handle), true) = (listening.handle(), self.random.bool()) {
            let _ = core.registration(handle).want_recv();
        }
        for _ in 0..self.random.usize(..8) {
            let slot = &shared.slots[self.random.usize(..shared.slots.len())];
            if let Some((handle, ..)) = slot.get() {
                let _ = core.registration(handle).want_recv();
                let _ = slot.write();
            }
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Notices threads that make no progress. `seen`: what each had done, and when it was first seen so.
pub(super) fn watch(shared: &Shared, seen: &mut [(u64, Instant)]) {
    for (thread, seen) in shared.threads.iter().zip(seen) {
        let batches = thread.batches.load(Ordering::SeqCst);
        if batches != seen.0 || thread.parked.load(Ordering::SeqCst) {
            *seen = (batches, Instant::now());
        } else if seen.1.elapsed() > patience() {
            shared.violate(format!("L9: thread {} makes no progress", thread.id));
        }
    }
}

fn wait(shared: &Shared, what: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + patience();
    while !holds() {
        if shared.violated.load(Ordering::SeqCst) {
            return;
        }
        if Instant::now() >= end {
            return shared.violate(what());
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Brings everything to rest and checks what must be true then.
pub(super) fn settle(shared: &Arc<Shared>, core: &Arc<FdCore>, client: &mut Client) {
    shared.resting.store(true, Ordering::SeqCst);
    // A thread that has rested is past every handler that did not see the flag: no want is taken back from then on.
    wait(
        shared,
        || "L2, L9: a worker does not come to rest".into(),
        || {
            worker::unpark_all(shared, core);
            shared.rested.load(Ordering::SeqCst) == shared.threads.len()
        },
    );
    client.step(shared, core);
    for listening in &shared.listeners {
        let wanted = listening.handle().is_some_and(|handle| core.registration(handle).want_recv().is_ok());
        shared.must(wanted, || "S4: a listener that nobody has deleted is gone".into());
    }
    // A new byte for each: what its poller lost shows now.
    for slot in &shared.slots {
        slot.write();
        if let Some((handle, ..)) = slot.get() {
            let wanted = core.registration(handle).want_recv();
            shared.must(wanted.is_ok(), || format!("S4: {handle:?}, which nobody has deleted, is gone"));
        }
    }
    for slot in &shared.slots {
        let Some((handle, _, subject)) = slot.get() else { continue };
        let Some(subject) = subject.upgrade() else {
            shared.violate(format!("S5: {handle:?} lives, and its owner does not"));
            return;
        };
        let what = || {
            let entry = core.entry(handle).map_or_else(|stale| stale.to_string(), |entry| entry.to_string());
            format!(
                "L1: fd {} is wanted and has something to read, and is not reported\n{entry}",
                handle.number()
            )
        };
        wait(shared, what, || subject.is_read());
        let what = || format!("L9, S12: fd {} is still in use at rest", handle.number());
        wait(shared, what, || {
            core.entry(handle).is_ok_and(|entry| entry.running.is_empty() && entry.references == 0)
        });
    }
    for listening in &shared.listeners {
        let what = || "L1: a listener is wanted, is called, and does not accept".into();
        wait(shared, what, || listening.is_served());
    }
    let slots = shared.slots.len() as u64;
    wait(
        shared,
        || format!("S4: {} owners live, of {slots}", shared.alive.load(Ordering::SeqCst)),
        || shared.alive.load(Ordering::SeqCst) == slots,
    );
    wait(
        shared,
        || format!("S4, L4: {} lives are used, of {:?}", core.table().used(), core.registration_counts()),
        || {
            let registrations = core.registration_counts();
            registrations.inserted == registrations.closed + registrations.released + core.table().used()
        },
    );
    let registrations = core.registration_counts();
    shared.must(registrations.close_errors == 0, || {
        format!("S4: numbers closed that were not open: {registrations:?}")
    });
}
