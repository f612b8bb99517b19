//! Wrong variants of steps of the core and of a context. Only hooks call them.

use std::os::fd::RawFd;

use crate::entry::Entry;
use crate::shared::context::{Context, Reported};
use crate::table::{self, Denied, FdHandle};
use crate::words::events::{Event, Events};
use crate::words::state;
use crate::words::sync::Ordering;

/// Counts a report of a locked entry as one of a foreign group. Returns whether the entry is locked.
pub(super) fn drop_if_locked(context: &Context, event: &Event) -> bool {
    let is_locked = table::mistakes::is_locked(context.core().table(), event.fd);
    if is_locked {
        context.activity().poll_drop.bump();
    }
    is_locked
}

/// Reports a stale event to the next registration of its number, if there is one.
pub(super) fn report_next(context: &Context, event: &Event) -> Option<Reported> {
    let generation = table::mistakes::generation(context.core().table(), event.fd)?;
    (generation != event.generation).then(|| context.report(&Event { generation, ..*event }))
}

/// Applies a report that has lost its race to the state.
pub(super) fn apply_report(context: &Context, handle: FdHandle, events: Events) {
    let change = |state| Some(state::after_report(state, events));
    if let Ok(pin) = context.core().table().pin(handle) {
        let _ = pin.entry().state.fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
    }
}

/// Takes the end of a registration by its own handler for a stale event.
pub(super) fn stale_if_closed(reported: Reported) -> Reported {
    if reported == Reported::Closed { Reported::Stale } else { reported }
}

/// Keeps a reference for a report that is refused by the thread mask.
pub(super) fn keep_reference(context: &Context, handle: FdHandle, denied: &Denied<'_>) {
    if matches!(denied, Denied::NotAllowed) {
        std::mem::forget(context.core().table().pin(handle));
    }
}

/// Stores a state that is computed from an older one. Returns the older one.
pub(super) fn store_report(entry: &Entry, fd: RawFd, events: Events) -> u32 {
    let before = entry.state.load(Ordering::Acquire);
    checkpoint!(ReportEntered, fd);
    entry.write_flags(state::after_report(before, events));
    before
}

/// One direction of a report of two.
pub(super) fn one_direction(events: Events) -> Events {
    if events.intersects(Events::READY_R) { Events::READY_R } else { events }
}

/// Whether both directions are ready.
pub(super) fn is_of_both_directions(events: Events) -> bool {
    events.intersects(Events::READY_R) && events.intersects(Events::READY_W)
}

/// Whether no active direction is ready.
pub(super) fn is_failure(state: u32, events: Events) -> bool {
    let wanted = state::wanted(state);
    !events.intersects(Events::READY_R.when(wanted.recv).or(Events::READY_W.when(wanted.send)))
}
