//! Changes that the kernel refused, for lack of memory or of room in one of its tables.

use std::time::{Duration, Instant};

use crate::shared::context::Context;
use crate::table::{FdHandle, Pin};
use crate::words::events::Interest;

/// The delay before an operation that the system refused is repeated.
pub(super) const RETRY: Duration = Duration::from_millis(10);

/// The registrations whose changes were refused. Their updates are scheduled again after [`RETRY`].
#[derive(Default)]
pub(super) struct Refused {
    handles: Vec<FdHandle>,
    pub(super) retry_at: Option<Instant>,
}

impl Refused {
    /// Records in the polled masks what this thread's poller holds, if the entry is of its group. Keeps the
    /// registration if the poller does not hold what is wanted.
    pub(super) fn settle(&mut self, context: &Context, pin: &Pin<'_>, wanted: Interest, holds: Interest) {
        if pin.group() == context.id().group() {
            pin.polled().set(context.id().mask().bits(), holds.recv, holds.send);
        }
        if holds != wanted {
            context.activity().poll_refused.bump();
            self.handles.push(pin.handle());
            if self.retry_at.is_none() {
                self.retry_at = Some(context.now() + RETRY);
            }
        }
    }

    /// Schedules the refused changes again once their delay is over.
    #[inline]
    pub(super) fn retry(&mut self, context: &Context) {
        if self.retry_at.is_some() {
            self.retry_due(context);
        }
    }

    #[cold]
    #[inline(never)]
    fn retry_due(&mut self, context: &Context) {
        if self.retry_at.is_some_and(|at| at <= context.now()) {
            self.retry_at = None;
            context.activity().poll_retry.add(self.handles.len() as u64);
            // Forced, because the poller may not know what it holds (`Interest::anything_but`).
            self.handles.drain(..).for_each(|handle| context.push_update(handle, true));
        }
    }
}
