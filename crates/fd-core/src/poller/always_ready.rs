//! Descriptors that a kernel poller refuses, or has given up, but that are ready all the same: regular files on
//! epoll, devices and dead pipes on kqueue. poll(2) reports them; so does this list, in the name of the poller
//! that it belongs to.

use std::os::fd::RawFd;

use crate::words::events::{Event, Events, Generation, Trigger};

/// One poller's list. While it has entries, the poller must not sleep.
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
    /// Adds `events` to what is reported of this registration of `fd`: at every wait if level-triggered, at the next one
    /// only if edge-triggered.
    pub fn keep(&mut self, fd: RawFd, generation: Generation, events: Events, trigger: Trigger) {
        let same = |e: &&mut Entry| (e.event.fd, e.event.generation, e.trigger) == (fd, generation, trigger);
        match self.entries.iter_mut().find(same) {
            Some(entry) => entry.event.events = entry.event.events.or(events),
            None => self.entries.push(Entry { event: Event { fd, generation, events }, trigger }),
        }
    }

    /// Forgets `fd`, and says whether it was there.
    pub fn remove(&mut self, fd: RawFd) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.event.fd != fd);
        self.entries.len() != before
    }

    /// Forgets the lives that are over. A descriptor may be closed without its pollers being told, as the kernel
    /// forgets it by itself: this list has to ask. `registration` gives the generation of a number that is alive. It must
    /// not look at permissions: a thread that lost one keeps its registrations until it is told to remove them.
    pub fn prune(&mut self, registration: impl Fn(RawFd) -> Option<Generation>) {
        self.entries.retain(|entry| registration(entry.event.fd) == Some(entry.event.generation));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many entries of a batch with `room` the kernel may fill, so that neither it nor this list starves.
    pub fn room_for_kernel(&self, room: usize) -> usize {
        room - self.entries.len().min(room / 2)
    }

    /// Appends to `batch` what fits into its capacity. What did not fit comes first the next time.
    pub fn report(&mut self, batch: &mut Vec<Event>) {
        let count = self.entries.len().min(batch.capacity() - batch.len());
        batch.extend(self.entries[..count].iter().map(|entry| entry.event));
        let left = self.entries.split_off(count);
        let reported = std::mem::replace(&mut self.entries, left);
        self.entries.extend(reported.into_iter().filter(|entry| entry.trigger == Trigger::Level));
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn fds(list: &mut AlwaysReady, room: usize) -> Vec<RawFd> {
        let mut batch = Vec::with_capacity(room);
        // Vec may give more than it was asked for.
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
    fn a_small_batch_starves_nobody() {
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

    /// An entry whose registration is over would keep its thread from sleeping for ever.
    #[test]
    fn a_registration_that_is_over_is_not_reported() {
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
