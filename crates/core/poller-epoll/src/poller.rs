//! One thread's epoll poller.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use fd_core::FdTable;
use fd_core::always_ready::AlwaysReady;
use fd_core::hooks::fault;
use fd_core::ids::ThreadId;
use fd_core::poller::{Change, Event, Events, Generation, Interest, Poller, Trigger};
use nix::errno::Errno;

use crate::changes::{Settled, Substitute, settle};
use crate::sys::{self, KernelQueue};
use crate::{EpollBackend, events, mistakes};

pub(crate) struct EpollPoller {
    thread: ThreadId,
    queue: Arc<KernelQueue>,
    /// The descriptors that epoll refuses to poll.
    always_ready: AlwaysReady,
    /// The kernel writes events here. The buffer grows to the size of the caller's batch, and never shrinks.
    buffer: Vec<libc::epoll_event>,
}

impl EpollPoller {
    pub(crate) fn new(thread: ThreadId, backend: &EpollBackend) -> io::Result<Self> {
        let queue = backend.queues.open(thread, KernelQueue::new, KernelQueue::replace)?;
        Ok(Self { thread, queue, always_ready: AlwaysReady::default(), buffer: Vec::new() })
    }

    /// Makes the calls of a change, and returns the interest that is held afterwards.
    fn apply(&mut self, change: &Change) -> Interest {
        let &Change { fd, generation, wanted, trigger, .. } = change;
        let control = |operation| {
            let result = self.queue.control(operation, fd, events::tag(fd, generation));
            fault!(EpollIgnoresEexist => if result == Err(Errno::EEXIST) { return Ok(()) });
            result
        };
        let Settled { held, substitute } = settle(change, control, || sys::is_open(fd));
        let ready = Events::READY_R.when(wanted.recv).or(Events::READY_W.when(wanted.send));
        fault!(AlwaysReadyIgnored => if substitute == Some(Substitute::Ready) { return held });
        match substitute {
            Some(Substitute::Ready) => self.always_ready.keep(fd, generation, ready, trigger),
            // As an edge, which is reported once: the poller cannot repair a close behind the table's back.
            // It counts as held, otherwise every later update would retry and report again.
            Some(Substitute::Invalid) => {
                self.always_ready.keep(fd, generation, Events::INVALID, Trigger::Edge);
            }
            None => {}
        }
        held
    }

    /// [`Poller::wait`] with a function in the table's place: `registration` returns the registration of a
    /// number.
    ///
    /// Waits in epoll_wait(2), and appends the events and those of the descriptors that are always ready to
    /// the batch.
    fn wait_with(
        &mut self,
        registration: impl Fn(RawFd) -> Option<Generation>,
        timeout: Option<Duration>,
        batch: &mut Vec<Event>,
    ) -> io::Result<()> {
        let room = batch.capacity() - batch.len();
        if !self.always_ready.is_empty() {
            self.always_ready.prune(registration);
            if !self.always_ready.is_empty() {
                return self.wait_with_always_ready(room, batch);
            }
        }
        self.wait_for_kernel(room, timeout, batch)
    }

    #[inline(never)]
    fn wait_with_always_ready(&mut self, room: usize, batch: &mut Vec<Event>) -> io::Result<()> {
        self.wait_for_kernel(self.always_ready.room_for_kernel(room), Some(Duration::ZERO), batch)?;
        self.always_ready.report(batch);
        Ok(())
    }

    /// Appends at most `room` events of the kernel to the batch, which has so much room.
    #[inline]
    fn wait_for_kernel(
        &mut self,
        room: usize,
        timeout: Option<Duration>,
        batch: &mut Vec<Event>,
    ) -> io::Result<()> {
        // An empty buffer is EINVAL.
        if room == 0 {
            return Ok(());
        }
        if self.buffer.len() < room {
            self.grow(room);
        }
        let seen = self.queue.wait(&mut self.buffer[..room], timeout)?;
        batch.extend(seen.iter().map(|raw| events::event(raw.events, raw.u64)));
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, room: usize) {
        self.buffer.resize(room, libc::epoll_event { events: 0, u64: 0 });
    }
}

impl Poller for EpollPoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        // The kernel has no registration of a descriptor that was always ready, whatever the polled masks
        // contain.
        let refused = self.always_ready.remove(change.fd);
        let force = refused || change.force;
        fault!(ForcedChangeSkipped: force => refused);
        Some(self.apply(&Change { force, ..*change }))
    }

    fn wait(&mut self, table: &FdTable, timeout: Option<Duration>, batch: &mut Vec<Event>) -> io::Result<()> {
        let group = self.thread.group();
        fault!(EpollAsksForNothing => if mistakes::waited(table, &self.queue, timeout) { return Ok(()) });
        self.wait_with(|fd| table.generation(group, fd), timeout, batch)
    }

    fn rebuild(&mut self, _forked: bool) -> io::Result<()> {
        // After a fork this replaces the epoll behind the child's number only.
        self.queue.replace()?;
        self.always_ready.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::{AsRawFd, OwnedFd};

    use fd_core::ids::{GroupId, ThreadMask};
    use fd_core::per_thread::PerThread;
    use fd_core::poller::testing::{
        FIRST, LIMITS, TestedBackend, change, group, readable_pipe, receive, seen, thread,
    };
    use fd_core::poller::{Backend, DeregisterReason};

    use super::*;

    fd_core::poller_tests! {
        EpollBackend, EpollPoller, Self { queues: PerThread::new(&LIMITS) };
        a_level_is_reported_until_it_is_removed,
        a_drained_descriptor_is_silent,
        directions_and_hangups_are_told_apart,
        an_edge_is_reported_once_and_replayed_by_force,
        a_leftover_registration_takes_the_new_generation,
    }

    #[test]
    fn an_absent_registration_is_added_or_needs_no_removal() {
        let (mut poller, (_reader, _writer, fd)) = (EpollBackend::make().nth_poller(0), readable_pipe());
        assert_eq!(poller.update(&change(fd, Interest::BOTH, Interest::NONE)), Some(Interest::NONE));
        assert_eq!(poller.update(&change(fd, Interest::SEND, Interest::RECV)), Some(Interest::RECV));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)]);
    }

    #[test]
    fn a_regular_file_is_always_ready_while_it_is_wanted() {
        let mut poller = EpollBackend::make().nth_poller(0);
        let file = File::open("Cargo.toml").unwrap();
        let fd = file.as_raw_fd();
        assert_eq!(poller.update(&change(fd, Interest::NONE, Interest::RECV)), Some(Interest::RECV));
        for _ in 0..2 {
            assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)]);
        }
        assert_eq!(poller.update(&change(fd, Interest::RECV, Interest::BOTH)), Some(Interest::BOTH));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R.or(Events::READY_W))]);
        assert_eq!(poller.update(&change(fd, Interest::BOTH, Interest::BOTH)), Some(Interest::BOTH));
        assert_eq!(seen(&mut poller).len(), 1, "the same interest again");
        assert_eq!(poller.update(&change(fd, Interest::BOTH, Interest::NONE)), Some(Interest::NONE));
        assert_eq!(seen(&mut poller), []);
    }

    #[test]
    fn a_regular_file_does_not_hide_other_events_and_ends_with_its_registration() {
        let (mut poller, (_reader, _writer, pipe)) = (EpollBackend::make().nth_poller(0), readable_pipe());
        let file = File::open("Cargo.toml").unwrap();
        let fd = file.as_raw_fd();
        receive(&mut poller, [fd, pipe]);
        assert_eq!(seen(&mut poller), [(pipe, FIRST, Events::READY_R), (fd, FIRST, Events::READY_R)]);
        let mut batch = Vec::with_capacity(8);
        poller.wait_with(|_| Some(2), Some(Duration::ZERO), &mut batch).unwrap();
        assert_eq!(batch.len(), 1, "{batch:?}");
        assert!(poller.always_ready.is_empty());
    }

    #[test]
    fn a_number_closed_behind_the_table_is_reported_once() {
        let mut poller = EpollBackend::make().nth_poller(0);
        // This process never has this number: the limit is far below.
        let fd = RawFd::MAX;
        assert_eq!(poller.update(&change(fd, Interest::NONE, Interest::RECV)), Some(Interest::RECV));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::INVALID)]);
        assert_eq!(seen(&mut poller), []);
    }

    /// Bugs 1 and 76: the kernel keeps the registration of a closed number while another descriptor has the
    /// open file.
    #[test]
    fn forgetting_a_cloned_descriptor_reaches_every_thread_that_polls_it() {
        let (backend, (reader, _writer, fd)) = (EpollBackend::make(), readable_pipe());
        let _clone = OwnedFd::from(reader.try_clone().unwrap());
        let mut pollers: Vec<_> = (0..3).map(|index| backend.nth_poller(index)).collect();
        for poller in &mut pollers {
            receive(poller, [fd]);
        }
        let (recv, send) = (ThreadMask::from_bits(0b001), ThreadMask::from_bits(0b010));
        backend.forget(fd, group(), recv, send, DeregisterReason::CloseCloned);
        drop(reader);
        let seen: Vec<_> = pollers.iter_mut().map(|poller| seen(poller).len()).collect();
        assert_eq!(seen, [0, 0, 1], "only the third thread keeps its registration");
    }

    /// Linux 6.10 and later: a descriptor must be out of the other threads' epolls before its number is
    /// closed.
    #[test]
    fn a_close_removes_the_registrations_of_the_other_threads() {
        let (backend, (_reader, _writer, fd)) = (EpollBackend::make(), readable_pipe());
        let mut pollers: Vec<_> = (0..2).map(|index| backend.nth_poller(index)).collect();
        for poller in &mut pollers {
            receive(poller, [fd]);
        }
        backend.forget(fd, group(), ThreadMask::from_bits(0b10), ThreadMask::NONE, DeregisterReason::Close);
        let seen: Vec<_> = pollers.iter_mut().map(|poller| seen(poller).len()).collect();
        assert_eq!(seen, [1, 0]);
    }

    #[test]
    fn forgetting_an_absent_registration_or_group_does_nothing() {
        let backend = EpollBackend::make();
        let _poller = backend.nth_poller(0);
        let other = GroupId::new(9).unwrap();
        for fd in [0, RawFd::MAX, -1] {
            backend.forget(fd, group(), ThreadMask::ALL, ThreadMask::ALL, DeregisterReason::StaysOpen);
            backend.forget(fd, other, ThreadMask::ALL, ThreadMask::ALL, DeregisterReason::StaysOpen);
        }
    }

    /// A stale registration: the number is closed, but an undeclared duplicate is open. Only a new epoll
    /// removes it. The number of the epoll stays the same for threads that call `forget`.
    #[test]
    fn a_rebuilt_poller_is_empty_and_works() {
        let (backend, (reader, _writer, fd)) = (EpollBackend::make(), readable_pipe());
        let _duplicate = reader.try_clone().unwrap();
        let mut poller = backend.nth_poller(0);
        receive(&mut poller, [fd]);
        drop(reader);
        assert_eq!(seen(&mut poller).len(), 1);
        poller.rebuild(false).unwrap();
        assert_eq!(seen(&mut poller), []);

        let (_reader, _writer, fd) = readable_pipe();
        receive(&mut poller, [fd]);
        backend.forget(fd, group(), thread(0).mask(), ThreadMask::NONE, DeregisterReason::StaysOpen);
        assert_eq!(seen(&mut poller), []);
    }

    #[test]
    fn a_full_batch_is_not_grown() {
        let (mut poller, (_reader, _writer, fd)) = (EpollBackend::make().nth_poller(0), readable_pipe());
        receive(&mut poller, [fd]);
        let mut batch = Vec::new();
        poller.wait_with(|_| None, Some(Duration::ZERO), &mut batch).unwrap();
        assert_eq!((batch.len(), batch.capacity()), (0, 0));
    }

    #[test]
    fn events_beyond_the_batch_come_with_the_next() {
        let mut poller = EpollBackend::make().nth_poller(0);
        let mut pipes: Vec<_> = (0..5).map(|_| readable_pipe()).collect();
        let mut left: Vec<_> = pipes.iter().map(|(_, _, fd)| *fd).collect();
        receive(&mut poller, left.clone());
        // Each batch drains the pipes that it reports.
        while !left.is_empty() {
            let mut batch = Vec::with_capacity(2);
            poller.wait_with(|_| None, Some(Duration::ZERO), &mut batch).unwrap();
            assert!(!batch.is_empty() && batch.len() <= batch.capacity());
            for event in batch {
                left.retain(|fd| *fd != event.fd);
                let (reader, _, _) = pipes.iter_mut().find(|(_, _, fd)| *fd == event.fd).unwrap();
                reader.read_exact(&mut [0]).unwrap();
            }
        }
        assert_eq!(seen(&mut poller), []);
    }
}
