//! Wrong variants of what a worker does. Only hooks call them.

use std::cell::Cell;
use std::time::Instant;

use super::{Worker, change};
use crate::shared::{FdCore, SharedThread};
use crate::table::{Pin, Update};
use crate::words::events::Interest;
use crate::words::ids::ThreadMask;
use crate::words::state;
use crate::words::sync::Ordering;

thread_local! {
    static NOTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Notes the time at which an iteration of this thread's loop begins.
pub(super) fn note_time(now: Instant) {
    NOTED.set(Some(now));
}

/// The time that was noted last.
pub(super) fn noted_time(now: Instant) -> Instant {
    NOTED.get().unwrap_or(now)
}

/// Whether some thread has something to run, this one or another (bug 7).
pub(super) fn some_thread_has_work(core: &FdCore) -> bool {
    let has_work =
        |thread: &SharedThread| !thread.tasks.is_empty() || thread.signals.load(Ordering::Acquire) != 0;
    core.threads().filter_map(|id| core.thread(id)).any(has_work)
}

/// Applies an update before its bit is cleared.
pub(super) fn apply_and_clear<'c>(worker: &mut Worker<'c>, pin: Pin<'c>, update: Update, mask: ThreadMask) {
    let (table, handle) = (pin.table(), pin.handle());
    worker.apply(pin, update.force);
    table.pin(handle).into_iter().for_each(|pin| pin.clear_update(mask));
}

/// [`Worker::apply`], which lets go of the entry before it tells the poller.
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
