//! The part of the main thread: client calls, detection of threads that hang, and the checks of the quiescent
//! state.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fd_core::FdCore;

use super::listener::SharedListener;
use super::slots::Slot;
use super::{Shared, worker};
use crate::patience::wait_until;
use crate::prelude::*;

/// A caller outside the runtime.
pub(super) struct Client {
    random: fastrand::Rng,
}

impl Client {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: fastrand::Rng::with_seed(!seed) }
    }

    /// Returns a random number below `end`.
    pub(super) fn choose(&mut self, end: usize) -> usize {
        self.random.usize(..end)
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

/// Checks the interests that are enabled, before anything but the core and its pollers wakes a thread: the
/// threads sleep, or are about to.
fn check_asleep(shared: &Shared, core: &FdCore, client: &mut Client) {
    let enabled =
        |handle: FdHandle| core.entry(handle).ok().filter(|entry| entry.state.contains(State::ACTIVE_R));
    let slots = || {
        shared.slots.iter().filter(|slot| slot.get().is_some_and(|(handle, ..)| enabled(handle).is_some()))
    };
    let handles = slots().filter_map(Slot::get).map(|(handle, ..)| handle);
    for handle in handles.chain(shared.listeners.iter().filter_map(SharedListener::handle)) {
        let what =
            || format!("L1, L3: fd {} has read interest, and its threads do not poll it", handle.number());
        // The pollers of former owners may have it, too.
        wait(shared, what, || {
            enabled(handle).is_none_or(|entry| entry.polled_recv.contains(entry.thread_mask))
        });
    }
    for listener in &shared.listeners {
        check_one_accepts(shared, core, client, listener);
    }
    for slot in slots() {
        let Some((handle, _, handler)) = slot.get() else { continue };
        // What was written before needs no new event.
        for _ in 0..2 {
            let what = || {
                format!("L1: fd {} has read interest and unread data, and is not reported", handle.number())
            };
            wait(shared, what, || handler.upgrade().is_none_or(|handler| handler.is_read()));
            slot.write();
        }
    }
}

/// Checks that one thread of the listener's group accepts while the others are held in a task.
fn check_one_accepts(shared: &Shared, core: &FdCore, client: &mut Client, listener: &SharedListener) {
    let Some(handle) = listener.handle() else { return };
    let registration = core.registration(handle);
    // A listener that is enabled is left alone: another want would wake the threads that this looks at.
    let is_enabled = core.entry(handle).map(|entry| entry.state.contains(State::ACTIVE_R));
    let wanted = is_enabled.and_then(|enabled| if enabled { Ok(()) } else { registration.want_recv() });
    shared.require(wanted.is_ok(), || "S4: a listener that no thread has deleted has ended".into());
    let group: Vec<_> = core.threads().filter(|thread| thread.group() == listener.group()).collect();
    let alone = group[client.choose(group.len())];
    let (gate, released) = (Gate::new(), Arc::new(AtomicBool::new(false)));
    let guard = gate.guard();
    for thread in group.iter().filter(|thread| **thread != alone) {
        let (gate, released) = (gate.clone(), Arc::clone(&released));
        let _ = core.post(*thread, move |_| {
            gate.pass();
            released.store(true, Ordering::SeqCst);
        });
    }
    wait(shared, || "L2: a thread runs no task".into(), || gate.arrived() == group.len() - 1);
    if let Err(error) = listener.connect() {
        shared.violate(format!("a listener cannot be called: {error}"));
    }
    let what = || format!("L1: thread {alone} does not accept while the others of its group are busy");
    wait(shared, what, || listener.is_served());
    // No thread is held longer than this patience lasts.
    shared.require(!released.load(Ordering::SeqCst), what);
    drop(guard);
}

fn wait(shared: &Shared, what: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    if !wait_until(|| holds() || shared.violated.load(Ordering::SeqCst)) {
        shared.violate(what());
    }
}

/// Stops the workers and checks the quiescent state.
pub(super) fn check_quiescent(
    shared: &Arc<Shared>,
    core: &Arc<FdCore>,
    sleepers: &Sleepers,
    client: &mut Client,
) {
    shared.resting.store(true, Ordering::SeqCst);
    // A thread that has stopped, or that sleeps, is past every handler that did not see the flag: from then
    // on no handler disables an interest.
    let sleeps =
        |index: usize| worker::stays_parked(shared, index) && sleepers.sleep(&[shared.threads[index].id]);
    wait(
        shared,
        || "L2, L9: a worker does not stop at its next batch".into(),
        || {
            worker::unpark_all(shared, core);
            let parked = (0..shared.threads.len()).filter(|index| sleeps(*index)).count();
            shared.rested.load(Ordering::SeqCst) + parked == shared.threads.len()
        },
    );
    check_asleep(shared, core, client);
    client.step(shared, core);
    // Enables every interest that a thread has left disabled.
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
