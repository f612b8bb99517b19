//! The timers of one thread: actions that run after a delay, and the timeouts of registrations.
//!
//! A registration keeps the time of its timeout itself, so that every thread can move it by one store, and a
//! takeover can find it. A thread keeps at most one *look* for each number: the time at which it looks at the
//! timeout of whatever registration the number has then. A timeout that was moved to a later time is found
//! too early, and gets another look; one that was moved to an earlier time is announced. So a registration
//! that moves its timeout at every read costs its thread one look for each period, and one that has ended
//! leaves nothing that grows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::RawFd;
use std::time::Instant;

use crate::shared::context::Context;
use crate::table::TableId;
use crate::words::ids::ThreadId;

/// The greatest number of timers and of timeouts that one iteration of the loop runs.
pub(crate) const TIMERS: usize = 64;

/// The action of a timer.
pub(crate) type TimerAction = Box<dyn FnOnce(&Context)>;

/// Names a timer, for [`Context::cancel`]. It is never used again for another timer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimerId {
    pub(super) thread: ThreadId,
    pub(super) table: TableId,
    pub(super) key: TimerKey,
}

/// The time when a timer is due, and its place in the order in which the thread has set its timers.
pub(crate) type TimerKey = (Instant, u64);

#[derive(Default)]
pub(crate) struct Timers {
    /// Sorted by the time when they are due, then by the order in which they were set.
    actions: BTreeMap<TimerKey, TimerAction>,
    /// The number of timers that were ever set.
    set: u64,
    looks: BTreeSet<(Instant, RawFd)>,
    look_at: HashMap<RawFd, Instant>,
}

impl Timers {
    /// The number of timers and looks.
    pub(crate) fn len(&self) -> usize {
        self.actions.len() + self.looks.len()
    }

    /// The time of the first timer or look.
    pub(crate) fn next(&self) -> Option<Instant> {
        let action = self.actions.first_key_value().map(|((due, _), _)| *due);
        action.into_iter().chain(self.looks.first().map(|(due, _)| *due)).min()
    }

    /// Sets a timer.
    pub(crate) fn set(&mut self, due: Instant, action: TimerAction) -> TimerKey {
        let key = (due, self.set);
        self.set += 1;
        self.actions.insert(key, action);
        key
    }

    /// Takes a timer out.
    pub(crate) fn cancel(&mut self, key: TimerKey) -> Option<TimerAction> {
        self.actions.remove(&key)
    }

    /// A bound that is above the timers that are set now, and not above those that are set later.
    pub(crate) fn bound(&self) -> u64 {
        self.set
    }

    /// Takes the first timer out that is due and below `bound`.
    pub(crate) fn pop_due(&mut self, now: Instant, bound: u64) -> Option<TimerAction> {
        let first = self.actions.first_entry()?;
        let (due, order) = *first.key();
        // A timer that is set meanwhile is not due before `now`, so all that were set before come first.
        (due <= now && order < bound).then(|| first.remove())
    }

    /// Takes any timer out.
    pub(crate) fn pop(&mut self) -> Option<TimerAction> {
        self.actions.pop_first().map(|(_, action)| action)
    }

    /// Looks at `fd` at `due`, or earlier if there is an earlier look.
    pub(crate) fn look(&mut self, fd: RawFd, due: Instant) {
        match self.look_at.get(&fd) {
            Some(earlier) if *earlier <= due => return,
            Some(later) => _ = self.looks.remove(&(*later, fd)),
            None => {}
        }
        self.look_at.insert(fd, due);
        self.looks.insert((due, fd));
    }

    /// Takes the first look out that is due.
    pub(crate) fn pop_look(&mut self, now: Instant) -> Option<RawFd> {
        let &(due, fd) = self.looks.first().filter(|(due, _)| *due <= now)?;
        self.looks.remove(&(due, fd));
        self.look_at.remove(&fd);
        Some(fd)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_number_has_one_look_and_it_is_the_earliest() {
        let (mut timers, start) = (Timers::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for (fd, due) in [(7, 5), (8, 4), (7, 9), (7, 2), (8, 4)] {
            timers.look(fd, at(due));
        }
        assert_eq!((timers.len(), timers.look_at.len(), timers.next()), (2, 2, Some(at(2))));
        let looks: Vec<_> = [1, 2, 3, 4, 9].map(|now| timers.pop_look(at(now))).into();
        assert_eq!(looks, [None, Some(7), None, Some(8), None]);
        assert_eq!((timers.len(), timers.look_at.len(), timers.next()), (0, 0, None));
    }

    #[test]
    fn a_timer_that_is_set_while_timers_run_waits_for_the_next_iteration() {
        let (mut timers, now) = (Timers::default(), Instant::now());
        timers.set(now, Box::new(|_| ()));
        let bound = timers.bound();
        assert!(timers.pop_due(now, bound).is_some());
        timers.set(now, Box::new(|_| ()));
        assert!(timers.pop_due(now, bound).is_none(), "a timer that sets itself again ends the iteration");
        assert!(timers.pop_due(now, timers.bound()).is_some());
    }
}
