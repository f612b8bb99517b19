//! The part of the main thread: client calls, detection of threads that hang, and the checks of the quiescent
//! state.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fd_core::FdCore;

use super::{Shared, worker};
use crate::patience::{Looks, patience};

/// A caller outside the runtime.
pub(super) struct Client {
    random: fastrand::Rng,
}

impl Client {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: fastrand::Rng::with_seed(!seed) }
    }

    /// Connects to a listener, enables interests and writes from outside the runtime, and sleeps for a short
    /// time.
    pub(super) fn step(&mut self, shared: &Shared, core: &FdCore) {
        let listener = &shared.listeners[self.random.usize(..shared.listeners.len())];
        if let Err(error) = listener.connect() {
            shared.violate(format!("a listener cannot be called: {error}"));
        }
        if let (Some(handle), true) = (listener.handle(), self.random.bool()) {
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

/// Detects threads that make no progress. `seen` has each thread's count of batches, and the time of its last
/// change.
pub(super) fn check_progress(shared: &Shared, seen: &mut [(u64, Instant)]) {
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
    let (end, mut looks) = (Instant::now() + patience(), Looks::default());
    while !holds() {
        if shared.violated.load(Ordering::SeqCst) {
            return;
        }
        if Instant::now() >= end {
            return shared.violate(what());
        }
        looks.pause();
    }
}

/// Stops the workers and checks the quiescent state.
pub(super) fn check_quiescent(shared: &Arc<Shared>, core: &Arc<FdCore>, client: &mut Client) {
    shared.resting.store(true, Ordering::SeqCst);
    // A thread that has stopped is past every handler that did not see the flag: from then on no handler
    // disables an interest.
    wait(
        shared,
        || "L2, L9: a worker does not stop at its next batch".into(),
        || {
            worker::unpark_all(shared, core);
            shared.rested.load(Ordering::SeqCst) == shared.threads.len()
        },
    );
    client.step(shared, core);
    for listener in &shared.listeners {
        let wanted = listener.handle().is_some_and(|handle| core.registration(handle).want_recv().is_ok());
        shared.require(wanted, || "S4: a listener that no thread has deleted has ended".into());
    }
    // Writes a new byte to each descriptor: an event that its poller lost shows now.
    for slot in &shared.slots {
        slot.write();
        if let Some((handle, ..)) = slot.get() {
            let wanted = core.registration(handle).want_recv();
            shared.require(wanted.is_ok(), || {
                format!("S4: {handle:?}, which no thread has deleted, has ended")
            });
        }
    }
    for slot in &shared.slots {
        let Some((handle, _, handler)) = slot.get() else { continue };
        let Some(handler) = handler.upgrade() else {
            shared.violate(format!("S5: {handle:?} is registered, and its handler is dropped"));
            return;
        };
        let what = || {
            let entry = core.entry(handle).map_or_else(|stale| stale.to_string(), |entry| entry.to_string());
            format!(
                "L1: fd {} has read interest and unread data, and is not reported\n{entry}",
                handle.number()
            )
        };
        wait(shared, what, || handler.is_read());
        let what = || format!("L9, S12: fd {} is still in use in the quiescent state", handle.number());
        wait(shared, what, || {
            core.entry(handle).is_ok_and(|entry| entry.running.is_empty() && entry.references == 0)
        });
    }
    for listener in &shared.listeners {
        let what = || "L1: a listener has read interest and a waiting connection, and does not accept".into();
        wait(shared, what, || listener.is_served());
    }
    let slots = shared.slots.len() as u64;
    wait(
        shared,
        || format!("S4: {} handlers exist for {slots} slots", shared.alive.load(Ordering::SeqCst)),
        || shared.alive.load(Ordering::SeqCst) == slots,
    );
    wait(
        shared,
        || {
            format!(
                "S4, L4: {} slots of the table are used, with {:?}",
                core.table().used(),
                core.registration_counts()
            )
        },
        || {
            let registrations = core.registration_counts();
            registrations.inserted == registrations.closed + registrations.released + core.table().used()
        },
    );
    let registrations = core.registration_counts();
    shared.require(registrations.close_errors == 0, || {
        format!("S4: numbers closed that were not open: {registrations:?}")
    });
}
