//! Wrong variants of the worker's steps. Only hooks call these functions.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use super::Worker;
use super::apply::change;
use crate::shared::{FdCore, SharedThread};
use crate::table::{Pin, Update};
use crate::words::events::Interest;
use crate::words::ids::ThreadMask;
use crate::words::state;
use crate::words::sync::Ordering;

thread_local! {
    static NOTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Records the time at which an iteration of this thread's loop begins.
pub(super) fn note_time(now: Instant) {
    NOTED.set(Some(now));
}

/// The time that was recorded last.
pub(super) fn noted_time(now: Instant) -> Instant {
    NOTED.get().unwrap_or(now)
}

/// Whether any thread has a task or a signal (bug 7).
pub(super) fn some_thread_has_work(core: &FdCore) -> bool {
    let has_work =
        |thread: &Arc<SharedThread>| !thread.tasks.is_empty() || thread.signals.load(Ordering::Acquire) != 0;
    core.threads().filter_map(|id| core.thread(id)).any(has_work)
}

/// Applies an update before it clears the update bit.
pub(super) fn apply_and_clear<'c>(worker: &mut Worker<'c>, pin: Pin<'c>, update: Update, mask: ThreadMask) {
    let (table, handle) = (pin.table(), pin.handle());
    worker.apply(pin, update.force);
    table.pin(handle).into_iter().for_each(|pin| pin.clear_update(mask));
}

/// Wakes the threads before the last write of an update. Returns the threads to wake after it: none.
pub(super) fn wake_early(worker: &Worker<'_>, pin: &Pin<'_>, threads: ThreadMask) -> ThreadMask {
    let others = threads.without(worker.context.id().mask());
    worker.context.core().end_waits(pin.group(), others);
    ThreadMask::NONE
}

/// A variant of `Worker::apply` that unpins the entry before it changes the poller.
pub(super) fn apply_unpinned<'c>(worker: &mut Worker<'c>, pin: Pin<'c>) {
    let me = worker.context.id().mask();
    let allowed = pin.thread_mask().contains(me);
    let wanted = if allowed { state::wanted(pin.state()) } else { Interest::NONE };
    let change = change(&pin, Interest::NONE, wanted, true);
    pin.polled().set(me.bits(), wanted.recv, wanted.send);
    let fd = pin.fd();
    drop(pin);
    checkpoint!(ApplyBegun, fd);
    worker.poller.update(&change);
    worker.flush();
}
