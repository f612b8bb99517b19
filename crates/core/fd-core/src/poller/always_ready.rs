//! Descriptors that are ready although a kernel poller refuses them or no longer reports them: regular files
//! on epoll, devices and dead pipes on kqueue. poll(2) reports them, so this list reports them in the place
//! of its poller.

use std::os::fd::RawFd;

use crate::words::events::{Event, Events, Generation, Trigger};

/// The list of one poller. While it has entries, the poller must not sleep. Only the poller's thread uses it.
///
/// It is linear, because programs poll few such files: with 10,000 of them, a wait that reports 256 costs 11
/// µs more, and all of them together cost 40 ms to add.
///
/// ```
/// use pollmatrix_fd_core::always_ready::AlwaysReady;
/// use pollmatrix_fd_core::poller::{Events, Trigger};
///
/// let mut list = AlwaysReady::default();
/// list.keep(7, 1, Events::READY_R, Trigger::Level);
/// list.keep(9, 1, Events::READY_W, Trigger::Edge);
/// let mut batch = Vec::with_capacity(8);
/// assert_eq!(list.room_for_kernel(8), 6);
/// list.report(&mut batch);
/// assert_eq!(batch.iter().map(|event| event.fd).collect::<Vec<_>>(), [7, 9]);
///
/// list.prune(|fd| (fd == 7).then_some(2));
/// assert!(list.is_empty(), "the edge was reported, and fd 7 has another generation");
/// ```
#[derive(Debug, Default)]
pub struct AlwaysReady {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    event: Event,
    trigger: Trigger,
}

impl AlwaysReady {
    /// Adds `events` to those of this registration of `fd`. A level-triggered entry is reported at every
    /// wait, an edge-triggered one at the next wait only.
    pub fn keep(&mut self, fd: RawFd, generation: Generation, events: Events, trigger: Trigger) {
        let is_same =
            |e: &&mut Entry| (e.event.fd, e.event.generation, e.trigger) == (fd, generation, trigger);
        match self.entries.iter_mut().find(is_same) {
            Some(entry) => entry.event.events = entry.event.events.or(events),
            None => self.entries.push(Entry { event: Event { fd, generation, events }, trigger }),
        }
    }

    /// Removes `fd`. Returns whether the list had it.
    pub fn remove(&mut self, fd: RawFd) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.event.fd != fd);
        self.entries.len() != before
    }

    /// Removes the registrations that have ended. A descriptor can be closed without a call of its pollers,
    /// because the kernel forgets it by itself, so this list must compare generations. `registration` returns
    /// the current generation of a number. It must not consider permissions: a thread that lost one keeps its
    /// registrations until it applies their removal.
    pub fn prune(&mut self, registration: impl Fn(RawFd) -> Option<Generation>) {
        self.entries.retain(|entry| registration(entry.event.fd) == Some(entry.event.generation));
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Whether the list has no entries.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of events of a batch with `room` that the kernel may fill, so that neither the kernel nor
    /// this list starves.
    pub fn room_for_kernel(&self, room: usize) -> usize {
        room - self.entries.len().min(room / 2)
    }

    /// Appends the entries to `batch`, within its capacity. Entries that do not fit come first the next time.
    pub fn report(&mut self, batch: &mut Vec<Event>) {
        let count = self.entries.len().min(batch.capacity() - batch.len());
        batch.extend(self.entries[..count].iter().map(|entry| entry.event));
        let unreported = self.entries.len() - count;
        self.entries.rotate_left(count);
        let mut index = 0;
        self.entries.retain(|entry| {
            index += 1;
            index <= unreported || entry.trigger == Trigger::Level
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn fds(list: &mut AlwaysReady, room: usize) -> Vec<RawFd> {
        let mut batch = Vec::with_capacity(room);
        // A Vec can have a greater capacity than requested.
        while batch.capacity() - batch.len() > room {
            batch.push(Event { fd: -1, generation: 0, events: Events::NONE });
        }
        list.report(&mut batch);
        batch.iter().map(|event| event.fd).filter(|fd| *fd >= 0).collect()
    }

    fn list(count: RawFd) -> AlwaysReady {
        let mut list = AlwaysReady::default();
        (0..count).for_each(|fd| list.keep(fd, 1, Events::READY_R, Trigger::Level));
        list
    }

    #[test]
    fn a_level_is_reported_each_time_and_an_edge_once() {
        let mut list = list(1);
        list.keep(7, 1, Events::READY_W, Trigger::Edge);
        assert_eq!(fds(&mut list, 4), [0, 7]);
        assert_eq!(fds(&mut list, 4), [0]);
        assert!(!list.is_empty());
    }

    #[test]
    fn a_small_batch_starves_no_registration() {
        let mut list = list(5);
        let seen: Vec<_> = (0..5).flat_map(|_| fds(&mut list, 2)).collect();
        assert_eq!(seen, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
        assert!(fds(&mut list, 0).is_empty());
    }

    #[test]
    fn the_directions_of_one_registration_are_one_event() {
        let mut list = list(1);
        list.keep(0, 1, Events::ERR, Trigger::Level);
        let mut batch = Vec::with_capacity(4);
        list.report(&mut batch);
        let events = Events::READY_R.or(Events::ERR);
        assert_eq!(batch, [Event { fd: 0, generation: 1, events }]);
    }

    /// An entry of an ended registration would keep its thread from sleeping.
    #[test]
    fn an_ended_registration_is_not_reported() {
        let mut list = list(3);
        list.prune(|fd| match fd {
            0 => Some(1),
            1 => Some(2),
            _ => None,
        });
        assert_eq!(fds(&mut list, 4), [0]);
        assert!(list.remove(0) && !list.remove(0));
        assert!(list.is_empty());
    }

    #[test]
    fn the_kernel_and_the_list_both_have_room() {
        for (entries, room, kernel) in [(0, 8, 8), (3, 8, 5), (100, 8, 4), (100, 1, 1), (1, 0, 0)] {
            assert_eq!(list(entries).room_for_kernel(room), kernel, "{entries} entries, room {room}");
        }
    }
}
