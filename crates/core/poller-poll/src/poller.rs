//! One thread's array of pollfds.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use fd_core::FdTable;
use fd_core::hooks::fault;
use fd_core::ids::ThreadId;
use fd_core::interest::GroupInterest;
use fd_core::poller::{Change, Event, Events, Generation, Interest, Poller, milliseconds};
use fd_core::thread_interest::ThreadInterest;
use nix::errno::Errno;

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
    pub(crate) fn new(
        thread: ThreadId,
        interest: Arc<GroupInterest>,
        half_closes: Option<Arc<HalfCloses>>,
    ) -> Self {
        let interest = ThreadInterest::new(interest);
        Self { thread, interest, half_closes, slots: Vec::new(), parts: Parts::default(), in_parts: false }
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
        let permission = |fd| {
            fault!(OnePollerPerProcess => return table.generation(thread.group(), fd));
            table.poll_permission(thread, fd)
        };
        self.wait_with(permission, timeout, batch)
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
    use std::cell::Cell;
    use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use fd_core::ids::{GroupId, ThreadMask};
    use fd_core::poller::{Backend, DeregisterReason, Limits, Trigger};

    use super::*;
    use crate::PollBackend;

    const FIRST: Generation = 1;

    fn backend() -> PollBackend {
        PollBackend::new(&Limits { capacity: 1024, groups: 2, threads: 3 })
    }

    fn group() -> GroupId {
        GroupId::new(2).unwrap()
    }

    fn poller(backend: &PollBackend, index: usize) -> PollPoller {
        let thread = ThreadId::new(group(), index).unwrap();
        PollPoller::new(thread, backend.groups[group().index()].clone(), backend.half_closes.clone())
    }

    fn change(fd: RawFd, known: Interest, wanted: Interest) -> Change {
        Change { fd, generation: FIRST, known, wanted, trigger: Trigger::Level, force: false }
    }

    /// Polls once. Every number has its first registration.
    fn seen(poller: &mut PollPoller) -> Vec<(RawFd, Generation, Events)> {
        seen_with(poller, |_| Some(FIRST))
    }

    fn seen_with(
        poller: &mut PollPoller,
        permission: impl Fn(RawFd) -> Option<Generation>,
    ) -> Vec<(RawFd, Generation, Events)> {
        let mut batch = Vec::with_capacity(8);
        poller.wait_with(permission, Some(Duration::ZERO), &mut batch).unwrap();
        batch.iter().map(|event| (event.fd, event.generation, event.events)).collect()
    }

    fn readable_pipe() -> (PipeReader, PipeWriter, RawFd) {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let fd = reader.as_raw_fd();
        (reader, writer, fd)
    }

    /// A closed number, far above the numbers that tests open.
    const CLOSED: RawFd = 1000;

    #[test]
    fn a_level_is_reported_until_it_is_removed() {
        let (backend, (_reader, _writer, fd)) = (backend(), readable_pipe());
        let mut poller = poller(&backend, 0);
        assert_eq!(poller.update(&change(fd, Interest::NONE, Interest::RECV)), Some(Interest::RECV));
        for _ in 0..2 {
            assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)]);
        }
        assert_eq!(poller.update(&change(fd, Interest::RECV, Interest::NONE)), Some(Interest::NONE));
        assert_eq!(seen(&mut poller), []);
    }

    #[test]
    fn one_thread_updates_for_all_and_each_polls_where_it_has_permission() {
        let (backend, (_reader, _writer, fd)) = (backend(), readable_pipe());
        let mut pollers: Vec<_> = (0..3).map(|index| poller(&backend, index)).collect();
        pollers[0].update(&change(fd, Interest::NONE, Interest::RECV));
        assert_eq!(seen_with(&mut pollers[0], |_| None), []);
        assert_eq!(seen_with(&mut pollers[1], |_| Some(5)), [(fd, 5, Events::READY_R)]);
        backend.forget(fd, group(), ThreadMask::NONE, ThreadMask::NONE, DeregisterReason::Close);
        assert_eq!(seen_with(&mut pollers[2], |_| Some(5)), []);
    }

    /// The group's bits are the only record, whichever threads the polled masks name. A bit that stayed
    /// behind would be polled without end (suspect 11).
    #[test]
    fn a_forgotten_descriptor_has_no_interest_for_any_reason() {
        let (backend, (_reader, _writer, fd)) = (backend(), readable_pipe());
        let mut poller = poller(&backend, 0);
        let mine = ThreadMask::from_bits(0b1);
        for reason in [DeregisterReason::Close, DeregisterReason::CloseCloned, DeregisterReason::StaysOpen] {
            for wanted in [Interest::RECV, Interest::SEND, Interest::BOTH] {
                for (recv, send) in
                    [(ThreadMask::NONE, ThreadMask::NONE), (mine, mine), (mine, ThreadMask::NONE)]
                {
                    for number in [fd, fd + 1] {
                        poller.update(&change(number, Interest::NONE, wanted));
                    }
                    backend.groups[0].write(fd, wanted);
                    backend.forget(fd, group(), recv, send, reason);
                    let left = [fd, fd + 1].map(|number| backend.groups[group().index()].read(number));
                    assert_eq!(left, [Interest::NONE, wanted], "{reason:?} {wanted:?} {recv:?} {send:?}");
                    assert_eq!(backend.groups[0].read(fd), wanted, "another group's");
                    assert!(seen(&mut poller).iter().all(|(seen, ..)| *seen != fd));
                    poller.update(&change(fd + 1, wanted, Interest::NONE));
                }
            }
        }
    }

    #[test]
    fn directions_and_hangups_are_told_apart() {
        let backend = backend();
        let mut poller = poller(&backend, 0);
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let fd = ours.as_raw_fd();
        poller.update(&change(fd, Interest::NONE, Interest::BOTH));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W)]);
        theirs.write_all(b"x").unwrap();
        let both = Events::READY_R.or(Events::READY_W);
        assert_eq!(seen(&mut poller), [(fd, FIRST, both)]);
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let half = both.or(Events::SHUT_R.when(backend.capabilities().read_shutdown));
        assert_eq!(seen(&mut poller), [(fd, FIRST, half)]);
        drop(theirs);
        let closed = seen(&mut poller);
        assert!(closed[0].2.intersects(Events::SHUT_W), "{closed:?}");
    }

    /// The poller does not spin: it reports the number once per registration, and again only after a change
    /// of the interest or a new registration.
    #[test]
    fn a_number_closed_behind_the_table_is_reported_once_per_registration() {
        let (backend, (_reader, _writer, fd)) = (backend(), readable_pipe());
        let mut poller = poller(&backend, 0);
        poller.update(&change(CLOSED, Interest::NONE, Interest::RECV));
        poller.update(&change(fd, Interest::NONE, Interest::RECV));
        let first = seen(&mut poller);
        assert!(first.contains(&(CLOSED, FIRST, Events::INVALID)), "{first:?}");
        let others = [(fd, FIRST, Events::READY_R)];
        for _ in 0..2 {
            assert_eq!(seen(&mut poller), others, "the others are served");
        }
        let second = seen_with(&mut poller, |_| Some(2));
        assert!(second.contains(&(CLOSED, 2, Events::INVALID)), "{second:?}");
        poller.update(&change(CLOSED, Interest::RECV, Interest::RECV));
        assert_eq!(
            seen_with(&mut poller, |_| Some(2)),
            [(fd, 2, Events::READY_R)],
            "the same interest again"
        );
        poller.update(&change(CLOSED, Interest::RECV, Interest::BOTH));
        let third = seen_with(&mut poller, |_| Some(2));
        assert!(third.contains(&(CLOSED, 2, Events::INVALID)), "{third:?}");
    }

    /// The thread may lose its permission between the build and the answer. The core checks the generation of
    /// each event, so the event must carry the generation of the build.
    #[test]
    fn an_event_has_the_generation_of_the_build() {
        let (backend, (_reader, _writer, fd)) = (backend(), readable_pipe());
        let mut poller = poller(&backend, 0);
        poller.update(&change(fd, Interest::NONE, Interest::RECV));
        let registration = Cell::new(3);
        let seen = seen_with(&mut poller, |_| Some(registration.replace(4)));
        assert_eq!(seen, [(fd, 3, Events::READY_R)]);
    }

    #[test]
    fn events_beyond_the_batch_come_with_the_next() {
        let backend = backend();
        let mut poller = poller(&backend, 0);
        let pipes: Vec<_> = (0..5).map(|_| readable_pipe()).collect();
        let mut left: Vec<_> = pipes.iter().map(|(_, _, fd)| *fd).collect();
        for fd in &left {
            poller.update(&change(*fd, Interest::NONE, Interest::RECV));
        }
        // All pipes stay readable. If every batch started at the lowest number, the others would never be
        // reported.
        for _ in 0..5 {
            let mut batch = Vec::with_capacity(1);
            poller.wait_with(|_| Some(FIRST), Some(Duration::ZERO), &mut batch).unwrap();
            assert!(batch.len() <= batch.capacity());
            left.retain(|fd| batch.iter().all(|event| event.fd != *fd));
        }
        assert_eq!(left, [0; 0]);
        let mut none = Vec::new();
        poller.wait_with(|_| Some(FIRST), Some(Duration::ZERO), &mut none).unwrap();
        assert_eq!((none.len(), none.capacity()), (0, 0));
    }

    /// FreeBSD answers `POLLNVAL` to a bit that an object does not know, and a file of UFS is never ready.
    #[test]
    fn a_half_close_is_requested_of_sockets_only() {
        let backend = backend();
        let mut poller = poller(&backend, 0);
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
        let mut other = super::tests::poller(&backend, 1);
        other.build(|_| Some(FIRST));
        assert_eq!(other.slots.len(), 3);
        assert!(
            other.slots.iter().all(|slot| (slot.events & rdhup != 0) == (slot.fd == socket && rdhup != 0))
        );
        poller.update(&change(socket, Interest::BOTH, Interest::SEND));
        poller.build(|_| Some(FIRST));
        assert!(poller.slots.iter().all(|slot| slot.events & rdhup == 0), "without interest in reading");
    }

    #[test]
    fn a_drained_descriptor_is_silent() {
        let (backend, (mut reader, _writer, fd)) = (backend(), readable_pipe());
        let mut poller = poller(&backend, 0);
        poller.update(&change(fd, Interest::NONE, Interest::RECV));
        reader.read_exact(&mut [0]).unwrap();
        assert_eq!(seen(&mut poller), []);
    }
}
