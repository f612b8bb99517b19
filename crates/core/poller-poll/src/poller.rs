//! One thread's array of pollfds.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use fd_core::FdTable;
use fd_core::hooks::fault;
use fd_core::ids::ThreadId;
use fd_core::poller::{Change, Event, Events, Generation, Interest, Poller, milliseconds};
use fd_core::thread_interest::ThreadInterest;
use nix::errno::Errno;

use crate::PollBackend;
use crate::changes::wanted;
use crate::events::translate;
use crate::half_closes::HalfCloses;
use crate::parts::Parts;
use crate::sys;

pub(crate) struct PollPoller {
    thread: ThreadId,
    interest: ThreadInterest,
    half_closes: Option<Arc<HalfCloses>>,
    /// The array for poll(2): an entry for each descriptor of `interest`, in its order. The allocation only
    /// grows.
    slots: Vec<libc::pollfd>,
    /// Polls in parts if there are more descriptors than one call takes.
    parts: Parts,
    /// Whether the last wait was in parts.
    in_parts: bool,
}

impl PollPoller {
    pub(crate) fn new(thread: ThreadId, backend: &PollBackend) -> io::Result<Self> {
        Ok(Self {
            thread,
            interest: backend.interest.of(thread)?,
            half_closes: backend.half_closes.clone(),
            slots: Vec::new(),
            parts: Parts::default(),
            in_parts: false,
        })
    }

    /// Fills the array with the descriptors that the group wants and `permission` lets this thread poll.
    /// Keeps it if nothing has changed: the kernel has written `revents` only.
    fn build(&mut self, permission: impl Fn(RawFd) -> Option<Generation>) {
        let Self { interest, half_closes, slots, .. } = self;
        if interest.is_current() {
            return;
        }
        slots.clear();
        interest.build(permission, |fd, interest| {
            slots.push(libc::pollfd { fd, events: wanted(interest, 0), revents: 0 });
        });
        let Some(half_closes) = half_closes else { return };
        for (index, slot) in slots.iter_mut().enumerate() {
            if slot.events & libc::POLLIN != 0 {
                slot.events |= half_closes.bit(interest.at(index));
            }
        }
    }

    /// Calls poll(2), and returns how many slots have events. A signal ends it with none.
    fn poll(&mut self, timeout: Option<Duration>) -> Result<usize, Errno> {
        self.in_parts = false;
        let mut result = sys::poll(&mut self.slots, milliseconds(timeout));
        fault!(PollLimitFatal => if result == Err(Errno::EINVAL) { return result });
        // There are more descriptors than RLIMIT_NOFILE allows now, or than another bound of this system.
        if result == Err(Errno::EINVAL) {
            self.in_parts = true;
            result = self.parts.poll(&mut self.slots, sys::open_limit(), timeout, sys::poll);
        }
        fault!(InterruptedWaitFails => return result);
        if result == Err(Errno::EINTR) { Ok(0) } else { result }
    }

    /// [`Poller::wait`] with a function in the table's place: `permission` returns the registration of a
    /// number that this thread may poll.
    ///
    /// Builds the array, waits in poll(2), and appends the events to the batch.
    fn wait_with(
        &mut self,
        permission: impl Fn(RawFd) -> Option<Generation>,
        timeout: Option<Duration>,
        batch: &mut Vec<Event>,
    ) -> io::Result<()> {
        self.build(permission);
        let mut left = self.poll(timeout)?;
        for index in self.interest.report_order() {
            if left == 0 {
                break;
            }
            let revents = self.slots[index].revents;
            if revents == 0 {
                continue;
            }
            left -= 1;
            let events = translate(revents);
            fault!(PollNvalSpins => if events == Events::INVALID { continue });
            if !events.is_none() && !self.interest.report(index, events, batch) {
                break;
            }
        }
        Ok(())
    }
}

impl Poller for PollPoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        if let Some(half_closes) = self.half_closes.as_ref().filter(|_| change.wanted.recv) {
            half_closes.examine(change.fd, change.generation);
        }
        Some(self.interest.update(change))
    }

    fn wait(&mut self, table: &FdTable, timeout: Option<Duration>, batch: &mut Vec<Event>) -> io::Result<()> {
        let thread = self.thread;
        self.wait_with(|fd| table.poll_permission(thread, fd), timeout, batch)
    }

    fn rebuild(&mut self, _forked: bool) -> io::Result<()> {
        // The kernel holds nothing, and the interest belongs to the group.
        self.interest.retry_invalid();
        Ok(())
    }

    /// A wait in parts is short, and sees no event of the other parts.
    fn is_degraded(&self) -> bool {
        self.in_parts
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use fd_core::poller::testing::{FIRST, LIMITS, TestedBackend, change, readable_pipe, seen};

    use super::*;

    fd_core::poller_tests! {
        PollBackend, PollPoller, Self::new(&LIMITS);
        a_level_is_reported_until_it_is_removed,
        a_drained_descriptor_is_silent,
        directions_and_hangups_are_told_apart,
        one_thread_updates_for_all_and_each_polls_where_it_has_permission,
        a_forgotten_descriptor_has_no_interest_for_any_reason,
        a_number_closed_behind_the_table_is_reported_once_per_registration,
        an_event_has_the_generation_of_the_build,
        events_beyond_the_batch_come_with_the_next,
    }

    /// FreeBSD answers `POLLNVAL` to a bit that an object does not know, and a file of UFS is never ready.
    #[test]
    fn a_half_close_is_requested_of_sockets_only() {
        let backend = PollBackend::make();
        let mut poller = backend.nth_poller(0);
        let (socket, _peer) = UnixStream::pair().unwrap();
        let (_reader, _writer, pipe) = readable_pipe();
        let null = std::fs::File::open("/dev/null").unwrap();
        let rdhup = sys::rdhup().unwrap_or(0);
        let (socket, null) = (socket.as_raw_fd(), null.as_raw_fd());
        for fd in [socket, pipe, null] {
            poller.update(&change(fd, Interest::NONE, Interest::BOTH));
        }
        poller.build(|_| Some(FIRST));
        let requested = |fd| poller.slots.iter().find(|slot| slot.fd == fd).map(|slot| slot.events);
        let both = libc::POLLIN | libc::POLLOUT;
        assert_eq!([socket, pipe, null].map(requested), [both | rdhup, both, both].map(Some));
        let of_device = Events::READY_R.or(Events::READY_W);
        assert!(seen(&mut poller).contains(&(null, FIRST, of_device)), "it is always ready");

        // The kind of the descriptor does not depend on the thread that has updated it.
        let mut other = backend.nth_poller(1);
        other.build(|_| Some(FIRST));
        assert_eq!(other.slots.len(), 3);
        assert!(
            other.slots.iter().all(|slot| (slot.events & rdhup != 0) == (slot.fd == socket && rdhup != 0))
        );
        poller.update(&change(socket, Interest::BOTH, Interest::SEND));
        poller.build(|_| Some(FIRST));
        assert!(poller.slots.iter().all(|slot| slot.events & rdhup == 0), "without interest in reading");
    }
}
