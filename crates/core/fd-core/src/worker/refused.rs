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

/// A change that is refused for this long, without a success in between, is given up: the handler gets an
/// error.
const PATIENCE: Duration = Duration::from_secs(1);

/// The registrations whose changes were refused, each with the time of the first refusal since a success.
type Refusals = HashMap<FdHandle, Instant>;

/// The registrations whose changes were refused. Their updates are scheduled again after [`RETRY`].
#[derive(Default)]
pub(super) struct Refused {
    waiting: Refusals,
    /// Those that were scheduled again last. One that is not refused again is forgotten.
    tried: Refusals,
    /// The number of refusals since changes were last scheduled again: one registration can have several.
    refusals: u64,
    /// Those that were refused for too long.
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
        } else if !self.waiting.is_empty() || !self.tried.is_empty() {
            let handle = pin.handle();
            self.waiting.remove(&handle);
            self.tried.remove(&handle);
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, context: &Context, pin: &Pin<'_>) {
        let (handle, now) = (pin.handle(), context.now());
        context.activity().poll_refused.bump();
        self.refusals += 1;
        let tried = self.tried.remove(&handle);
        let first = *self.waiting.entry(handle).or_insert(tried.unwrap_or(now));
        // Without its wake descriptor a thread would sleep for ever.
        let is_over = now.saturating_duration_since(first) >= PATIENCE;
        let mut gives_up = is_over && pin.state() & state::INTERNAL == 0;
        fault!(RefusedForEver => gives_up = false);
        if gives_up {
            self.waiting.remove(&handle);
            self.given_up.push(handle);
            // In the next iteration, which does not sleep before.
            self.retry_at = Some(now);
        } else {
            self.retry_at.get_or_insert(now + RETRY);
        }
    }

    /// Schedules the refused changes again once their delay is over, and reports those that were refused for
    /// too long.
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
            context.activity().poll_retry.add(std::mem::take(&mut self.refusals));
            self.tried = std::mem::take(&mut self.waiting);
            // Forced, because the poller may not know what it holds (`Interest::anything_but`).
            self.tried.keys().for_each(|handle| context.push_update(*handle, true));
            self.given_up.drain(..).for_each(|handle| context.report_refused(handle));
        }
    }
}
