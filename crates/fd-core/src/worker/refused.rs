//! Changes that the kernel refused, for lack of memory or of room in one of its tables, or because it does
//! not poll such a file (`O_PATH` on epoll).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::shared::context::Context;
use crate::table::{FdHandle, Pin};
use crate::words::events::Interest;
use crate::words::state;

/// The delay before an operation that the system refused is repeated.
pub(super) const RETRY: Duration = Duration::from_millis(10);

/// After this number of refusals without a success in between, one second, the handler gets an error.
const REFUSALS: u32 = 100;

/// The registrations whose changes were refused. Their updates are scheduled again after [`RETRY`].
#[derive(Default)]
pub(super) struct Refused {
    handles: Vec<FdHandle>,
    /// How often the changes of each were refused in succession.
    times: HashMap<FdHandle, u32>,
    /// Those that were refused too often.
    given_up: Vec<FdHandle>,
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
            self.note(context, pin);
        } else if !self.times.is_empty() {
            self.times.remove(&pin.handle());
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, context: &Context, pin: &Pin<'_>) {
        let handle = pin.handle();
        context.activity().poll_refused.bump();
        let times = self.times.entry(handle).or_default();
        *times += 1;
        // Without its wake descriptor a thread would sleep for ever.
        let mut gives_up = *times >= REFUSALS && pin.state() & state::INTERNAL == 0;
        fault!(RefusedForEver => gives_up = false);
        if gives_up {
            self.times.remove(&handle);
            self.given_up.push(handle);
            // In the next iteration, which does not sleep before.
            self.retry_at = Some(context.now());
        } else {
            self.handles.push(handle);
            self.retry_at.get_or_insert_with(|| context.now() + RETRY);
        }
    }

    /// Schedules the refused changes again once their delay is over, and reports those that were refused too
    /// often.
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
            context.activity().poll_retry.add((self.handles.len() + self.given_up.len()) as u64);
            // Forced, because the poller may not know what it holds (`Interest::anything_but`).
            self.handles.drain(..).for_each(|handle| context.push_update(handle, true));
            // Registrations that have ended are not refused any more, and need no count.
            self.times.retain(|handle, _| context.core().table().pin(*handle).is_ok());
            self.given_up.drain(..).for_each(|handle| context.report_refused(handle));
        }
    }
}
