//! Applying pending updates: brings a thread's poller up to date with the states of its descriptors (protocol
//! 12).
//!
//! An update bit says that the state and a poller may differ. A thread first clears its bit and then reads
//! the state: a change that comes later sets the bit again, so no interest is lost (L1). What the poller
//! should hold is computed here; the polled masks record what it holds.

use super::{QUEUE, Worker, mistakes};
use crate::table::{Live, Pin, Update};
use crate::words::events::{Change, Interest, Trigger};
use crate::words::ids::ThreadMask;
use crate::words::state;
use crate::words::sync::Ordering;

impl<'c> Worker<'c> {
    /// Applies the pending updates of this thread: those of its private list, then those of the group's
    /// shared list.
    #[inline]
    pub(crate) fn apply_updates(&mut self) {
        let context = self.context;
        if context.has_updates() {
            self.apply_all_private();
        }
        if context.core().table().has_listed_updates(context.id().group()) {
            self.apply_listed();
        }
        if !self.queued.is_empty() {
            self.flush();
        }
    }

    #[inline(never)]
    fn apply_all_private(&mut self) {
        let mut updates = std::mem::take(&mut self.updates);
        self.context.swap_updates(&mut updates);
        updates.drain(..).for_each(|update| self.apply_private(update));
        self.updates = updates;
    }

    #[inline(never)]
    fn apply_listed(&mut self) {
        let (context, id) = (self.context, self.context.id());
        let is_shared = !self.kernel_state;
        let walked = context.core().table().walk_updates(id, is_shared, |pin| self.apply(pin, false));
        context.activity().poll_drop.add(walked.dropped);
        unless!(RelistedNotWoken => context.core().wake_all(id.group(), walked.to_wake));
    }

    /// Applies an update of the private list (protocol 12.1).
    fn apply_private(&mut self, update: Update) {
        let context = self.context;
        let Ok(pin) = context.core().table().pin(update.handle) else {
            // The registration has ended.
            context.activity().poll_drop.bump();
            return;
        };
        if pin.group() == context.id().group() {
            // The bit is cleared before any check, and before the state is read (bug 18, L1).
            let mask = if self.kernel_state { context.id().mask() } else { ThreadMask::ALL };
            fault!(ApplyBeforeClear => return mistakes::apply_and_clear(self, pin, update, mask));
            pin.clear_update(mask);
            self.apply(pin, update.force);
        } else if update.force {
            // The entry belongs to another group now. Its masks have no meaning for this thread (S9), but
            // this thread's poller may still have the descriptor.
            self.submit(pin, Interest::NONE, Interest::NONE, true);
        } else {
            context.activity().poll_drop.bump();
        }
    }

    /// Brings this thread's poller up to date with a pinned entry of its group. The update bit is cleared
    /// already.
    pub(super) fn apply(&mut self, pin: Pin<'c>, mut force: bool) {
        fault!(UpdateUnpinned => return mistakes::apply_unpinned(self, pin));
        if !self.kernel_state {
            self.apply_for_all(&pin);
            return;
        }
        if self.queued.iter().any(|(queued, _)| queued.fd() == pin.fd()) {
            // The polled masks do not yet show the result of the queued change.
            self.flush();
        }
        let me = self.context.id().mask();
        let (recv, send) = pin.polled().load();
        let known = Interest { recv: recv & me.bits() != 0, send: send & me.bits() != 0 };
        let mut allowed = pin.thread_mask().contains(me);
        let mut word = pin.state();
        if allowed && word & state::REARM != 0 {
            (word, allowed) = self.take_rearm(&pin);
            // The former owner may have consumed an edge that this poller has not seen. A level is reported
            // anyway, and so is a direction that this poller begins to hold.
            force |= word & state::EDGE != 0 && !known.is_none();
        }
        let wanted = if allowed { state::wanted(word) } else { Interest::NONE };
        checkpoint!(ApplyBegun, pin.fd());
        self.submit(pin, known, wanted, force);
    }

    /// Clears the mark of a change of owner (protocol 12.5). Returns the state from before, and whether this
    /// thread is still allowed.
    fn take_rearm(&self, pin: &Pin<'c>) -> (u32, bool) {
        checkpoint!(RearmSeen, pin.fd());
        // Pair: rearm. The mark is cleared first, then the thread mask is read again. A takeover writes the
        // mask first, then the mark: if it came after this thread's first read of the mask, this read shows
        // the new owner. The mark belongs to that owner then, and that owner may already have applied its
        // updates without it.
        let word = pin.entry().state.fetch_and(!state::REARM, Ordering::AcqRel);
        let allowed = pin.thread_mask().contains(self.context.id().mask());
        fault!(RearmStolen: allowed => true);
        if !allowed {
            // Pair: update. The update that is scheduled here publishes the mark.
            pin.entry().state.fetch_or(state::REARM, Ordering::AcqRel);
            self.context.core().schedule(pin, None);
        }
        (word, allowed)
    }

    /// Gives the poller one change, or queues it until [`Worker::flush`].
    pub(super) fn submit(&mut self, pin: Pin<'c>, known: Interest, wanted: Interest, force: bool) {
        let change = change(&pin, known, wanted, force);
        let is_noop = change.is_noop();
        fault!(KqueueNoopDropsChanges: is_noop => false);
        if is_noop {
            return;
        }
        self.context.activity().poll_update.bump();
        match self.poller.update(&change) {
            Some(holds) => self.refused.settle(self.context, &pin, wanted, holds),
            None => {
                self.queued.push((pin, wanted));
                if self.poller.queued() >= QUEUE {
                    self.flush();
                }
            }
        }
    }

    /// Submits the queued changes, records what the poller holds, and unpins the entries.
    #[inline(never)]
    pub(super) fn flush(&mut self) {
        let Self { poller, queued, refused, context, .. } = self;
        poller.flush(&mut |fd, holds| {
            if let Some((pin, wanted)) = queued.iter().find(|(pin, _)| pin.fd() == fd) {
                refused.settle(context, pin, *wanted, holds);
            }
        });
        queued.clear();
    }

    /// Applies an update for the whole group (protocol 12.7), where the threads of a group share the interest
    /// in memory: the first thread that sees an update applies it for all.
    ///
    /// The polled masks name every thread that may sleep with the descriptor in its arrays. A thread that is
    /// removed from them is woken.
    fn apply_for_all(&mut self, pin: &Pin<'c>) {
        let mut allowed = pin.thread_mask();
        let mut before = pin.state();
        let mut to_wake = ThreadMask::NONE;
        let keep = loop {
            let (recv, send) = pin.polled().load();
            let known = Interest { recv: recv != 0, send: send != 0 };
            let wanted = if allowed.is_empty() { Interest::NONE } else { state::wanted(before) };
            checkpoint!(ApplyBegun, pin.fd());
            self.context.activity().poll_update.bump();
            let holds = self.poller.update(&change(pin, known, wanted, true)).unwrap_or(wanted);
            let replaced = pin.polled().replace(allowed.bits(), holds.recv, holds.send);
            // Pair: polled. Two threads can apply at once, and the one that read the older state or mask can
            // write last. Each thread reads both again after it has written, so the last write is always of
            // the latest state and mask (L1, L5).
            let (now, owners) = (pin.state(), pin.thread_mask());
            let unchanged = state::wanted(now) == state::wanted(before) && owners == allowed;
            fault!(AppliedForFormerOwner: unchanged => state::wanted(now) == state::wanted(before));
            fault!(AppliedOnce: unchanged => true);
            // These threads may sleep with the descriptor in their arrays, and may no longer poll it.
            let keep = if holds.is_none() { ThreadMask::NONE } else { allowed };
            to_wake = to_wake.or(ThreadMask::from_bits(replaced).without(keep));
            if unchanged {
                break keep;
            }
            // This thread has just written an older state or mask, and repairs that now.
            fault!(OwnerNotWoken => to_wake = mistakes::wake_early(self, pin, to_wake));
            (before, allowed) = (now, owners);
        };
        // No pair: the mark has no meaning where the interest is shared.
        pin.entry().state.fetch_and(!state::REARM, Ordering::AcqRel);
        // An allowed thread may have built its arrays before the last write, and may sleep without the
        // descriptor. This thread builds its own afterwards (L1, L11).
        let me = self.context.id().mask();
        fault!(OneSharerWoken: keep => if allowed.contains(me) { ThreadMask::NONE } else { keep });
        unless!(OwnerNotWoken => to_wake = to_wake.or(keep));
        // Pair: sleep. After the last write: a thread that is woken builds its arrays from it.
        self.context.core().end_waits(pin.group(), to_wake.without(me));
    }
}

/// The change of a pinned entry from `known` to `wanted`.
pub(super) fn change(pin: &Live<'_>, known: Interest, wanted: Interest, force: bool) -> Change {
    let trigger = if pin.state() & state::EDGE != 0 { Trigger::Edge } else { Trigger::Level };
    Change { fd: pin.fd(), generation: pin.generation(), known, wanted, trigger, force }
}
