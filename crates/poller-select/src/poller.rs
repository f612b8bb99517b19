//! One thread's sets of what it may poll.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use fd_core::FdTable;
use fd_core::hooks::fault;
use fd_core::ids::ThreadId;
use fd_core::interest::GroupInterest;
use fd_core::poller::{Change, Event, Events, Generation, Interest, Poller};
use nix::errno::Errno;

use crate::changes::{Set, wanted};
use crate::events::translate;
use crate::sys::{self, FdSet, Seen};

pub(crate) struct SelectPoller {
    thread: ThreadId,
    interest: Arc<GroupInterest>,
    /// What is in the sets, lowest first: the kernel overwrites those. It only ever grows.
    slots: Vec<Slot>,
    /// Numbers that were found not to be open and have been reported, with their registration. They are left out until
    /// that registration ends or somebody asks for them anew.
    invalid: Vec<(RawFd, Generation)>,
    /// Where the next batch starts, so that a small one does not starve the high numbers.
    turn: usize,
    /// Whether the last wait failed with `EBADF` though every number was open.
    unexplained: bool,
}

struct Slot {
    fd: RawFd,
    generation: Generation,
}

impl SelectPoller {
    pub(crate) fn new(thread: ThreadId, interest: Arc<GroupInterest>) -> Self {
        Self { thread, interest, slots: Vec::new(), invalid: Vec::new(), turn: 0, unexplained: false }
    }

    /// Fills the sets with what the group wants and `permission` lets this thread poll.
    fn build(&mut self, permission: impl Fn(RawFd) -> Option<Generation>) -> (FdSet, FdSet) {
        let (mut read, mut write) = (FdSet::default(), FdSet::default());
        self.invalid.retain(|(fd, generation)| permission(*fd) == Some(*generation));
        self.slots.clear();
        self.interest.scan(|fd, interest| {
            let Some(generation) = permission(fd) else { return };
            if self.invalid.contains(&(fd, generation)) {
                return;
            }
            for set in wanted(interest) {
                match set {
                    Set::Read => read.insert(fd),
                    Set::Write => write.insert(fd),
                }
            }
            self.slots.push(Slot { fd, generation });
        });
        (read, write)
    }

    fn fill(
        &mut self,
        permission: impl Fn(RawFd) -> Option<Generation>,
        registration: impl Fn(RawFd) -> Option<Generation>,
        timeout: Duration,
        batch: &mut Vec<Event>,
    ) -> io::Result<()> {
        let (mut read, mut write) = self.build(&permission);
        let was_unexplained = std::mem::take(&mut self.unexplained);
        let seen = sys::select_or_signal(&mut read, &mut write, timeout)?;
        fault!(SelectBadfFatal => if seen == Seen::BadDescriptor { return Ok(()) });
        match seen {
            Seen::Nothing => {}
            Seen::Events => {
                self.collect(
                    permission,
                    registration,
                    |fd| translate(read.contains(fd), write.contains(fd)),
                    batch,
                );
            }
            Seen::BadDescriptor => {
                return self.search(permission, registration, sys::is_open, was_unexplained, batch);
            }
        }
        Ok(())
    }

    /// Reports the numbers that are not open. The sets say nothing after `EBADF`.
    ///
    /// # Errors
    /// `EBADF` if every number is open for the second time in a row: to wait again at once would be a spin. Once, it is a
    /// number that was closed and is open again by now.
    fn search(
        &mut self,
        permission: impl Fn(RawFd) -> Option<Generation>,
        registration: impl Fn(RawFd) -> Option<Generation>,
        is_open: impl Fn(RawFd) -> bool,
        was_unexplained: bool,
        batch: &mut Vec<Event>,
    ) -> io::Result<()> {
        let found = self.collect(permission, registration, |fd| Events::INVALID.when(!is_open(fd)), batch);
        self.unexplained = !found && !was_unexplained;
        if found || self.unexplained { Ok(()) } else { Err(Errno::EBADF.into()) }
    }

    /// Appends what `answer` says of each slot, and says whether it says something of any.
    fn collect(
        &mut self,
        permission: impl Fn(RawFd) -> Option<Generation>,
        registration: impl Fn(RawFd) -> Option<Generation>,
        answer: impl Fn(RawFd) -> Events,
        batch: &mut Vec<Event>,
    ) -> bool {
        let mut some = false;
        let count = self.slots.len();
        let start = self.turn % count.max(1);
        for index in (start..count).chain(0..start) {
            let Slot { fd, generation } = self.slots[index];
            let events = answer(fd);
            if events.is_none() {
                continue;
            }
            some = true;
            if events == Events::INVALID && permission(fd) != Some(generation) {
                // Closed as it should be, between the build and the call. Nothing may be left behind.
                if registration(fd).is_none() {
                    self.interest.sweep(fd, || registration(fd).is_none());
                }
                continue;
            }
            if batch.len() == batch.capacity() {
                self.turn = index;
                break;
            }
            if events == Events::INVALID {
                self.invalid.push((fd, generation));
            }
            batch.push(Event { fd, generation, events });
        }
        some
    }
}

impl Poller for SelectPoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        // Another try only for another interest: a report may lead to another update, and that to another report.
        if self.interest.read(change.fd) != change.wanted {
            self.invalid.retain(|(fd, _)| *fd != change.fd);
        }
        self.interest.write(change.fd, change.wanted);
        Some(change.wanted)
    }

    fn wait(&mut self, table: &FdTable, timeout: Duration, batch: &mut Vec<Event>) -> io::Result<()> {
        let thread = self.thread;
        let registration = |fd| table.generation(thread.group(), fd);
        fault!(OnePollerPerProcess => return self.fill(registration, registration, timeout, batch));
        self.fill(|fd| table.poll_permission(thread, fd), registration, timeout, batch)
    }

    fn rebuild(&mut self, _forked: bool) -> io::Result<()> {
        // The kernel has nothing, and the interest is the group's, not this thread's.
        self.invalid.clear();
        Ok(())
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
    use crate::SelectBackend;
    use crate::sys::tests::closed_number;

    const FIRST: Generation = 1;

    fn backend() -> SelectBackend {
        SelectBackend::new(&Limits { capacity: 1024, groups: 2, threads: 3 }).unwrap()
    }

    fn group() -> GroupId {
        GroupId::new(2).unwrap()
    }

    fn poller(backend: &SelectBackend, index: usize) -> SelectPoller {
        let thread = ThreadId::new(group(), index).unwrap();
        SelectPoller::new(thread, backend.groups[group().index()].clone())
    }

    fn change(fd: RawFd, known: Interest, wanted: Interest) -> Change {
        Change { fd, generation: FIRST, known, wanted, trigger: Trigger::Level, force: false }
    }

    /// What is there now, in a world where every number lives its first registration.
    fn seen(poller: &mut SelectPoller) -> Vec<(RawFd, Generation, Events)> {
        seen_with(poller, |_| Some(FIRST))
    }

    fn seen_with(
        poller: &mut SelectPoller,
        permission: impl Fn(RawFd) -> Option<Generation>,
    ) -> Vec<(RawFd, Generation, Events)> {
        let mut batch = Vec::with_capacity(8);
        poller.fill(permission, |_| Some(FIRST), Duration::ZERO, &mut batch).unwrap();
        batch.iter().map(|event| (event.fd, event.generation, event.events)).collect()
    }

    fn readable_pipe() -> (PipeReader, PipeWriter, RawFd) {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let fd = reader.as_raw_fd();
        (reader, writer, fd)
    }

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
    fn one_thread_updates_for_all_and_each_polls_what_it_may() {
        let (backend, (_reader, _writer, fd)) = (backend(), readable_pipe());
        let mut pollers: Vec<_> = (0..3).map(|index| poller(&backend, index)).collect();
        pollers[0].update(&change(fd, Interest::NONE, Interest::RECV));
        assert_eq!(seen_with(&mut pollers[0], |_| None), []);
        assert_eq!(seen_with(&mut pollers[1], |_| Some(5)), [(fd, 5, Events::READY_R)]);
        backend.forget(fd, group(), ThreadMask::NONE, ThreadMask::NONE, DeregisterReason::Close);
        assert_eq!(seen_with(&mut pollers[2], |_| Some(5)), []);
    }

    /// The bits are the only ones, whoever the polled masks name: what stayed behind would be polled without end (suspect 11).
    #[test]
    fn a_descriptor_that_leaves_is_of_no_interest_however_it_leaves() {
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
    fn directions_are_told_apart_and_end_of_file_is_readable() {
        let backend = backend();
        let mut poller = poller(&backend, 0);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let fd = ours.as_raw_fd();
        poller.update(&change(fd, Interest::NONE, Interest::BOTH));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W)]);
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R.or(Events::READY_W))]);
        poller.update(&change(fd, Interest::BOTH, Interest::SEND));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W)]);
    }

    /// Not a spin: once per registration, and again only if somebody asks anew or the number starts another registration.
    #[test]
    fn a_number_closed_behind_the_table_is_said_once_per_registration() {
        let (backend, (_reader, _writer, fd)) = (backend(), readable_pipe());
        let mut poller = poller(&backend, 0);
        let closed = closed_number();
        poller.update(&change(closed, Interest::NONE, Interest::RECV));
        poller.update(&change(fd, Interest::NONE, Interest::RECV));
        let first = seen(&mut poller);
        assert!(first.contains(&(closed, FIRST, Events::INVALID)), "{first:?}");
        let others = [(fd, FIRST, Events::READY_R)];
        for _ in 0..2 {
            assert_eq!(seen(&mut poller), others, "the others are served");
        }
        let second = seen_with(&mut poller, |_| Some(2));
        assert!(second.contains(&(closed, 2, Events::INVALID)), "{second:?}");
        poller.update(&change(closed, Interest::RECV, Interest::RECV));
        assert_eq!(
            seen_with(&mut poller, |_| Some(2)),
            [(fd, 2, Events::READY_R)],
            "the same interest again"
        );
        poller.update(&change(closed, Interest::RECV, Interest::BOTH));
        let asked = seen_with(&mut poller, |_| Some(2));
        assert!(asked.contains(&(closed, 2, Events::INVALID)), "{asked:?}");
    }

    /// The thread may lose its permission between the build and the answer: the core checks the generation, but
    /// what was built must carry the one that it was built under.
    #[test]
    fn the_generation_is_the_one_of_the_build() {
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
        // Nobody reads: without a turn the lowest numbers would fill every batch.
        for _ in 0..5 {
            let mut batch = Vec::with_capacity(1);
            poller.fill(|_| Some(FIRST), |_| Some(FIRST), Duration::ZERO, &mut batch).unwrap();
            assert!(batch.len() <= batch.capacity());
            left.retain(|fd| batch.iter().all(|event| event.fd != *fd));
        }
        assert_eq!(left, [0; 0]);
        let mut none = Vec::new();
        poller.fill(|_| Some(FIRST), |_| Some(FIRST), Duration::ZERO, &mut none).unwrap();
        assert_eq!((none.len(), none.capacity()), (0, 0));
    }

    #[test]
    fn a_drained_descriptor_is_silent() {
        let (backend, (mut reader, _writer, fd)) = (backend(), readable_pipe());
        let mut poller = poller(&backend, 0);
        poller.update(&change(fd, Interest::NONE, Interest::RECV));
        reader.read_exact(&mut [0]).unwrap();
        assert_eq!(seen(&mut poller), []);
    }

    #[test]
    fn a_bad_descriptor_that_is_not_found_is_an_error_the_second_time() {
        let backend = backend();
        let mut poller = poller(&backend, 0);
        let closed = closed_number();
        poller.update(&change(closed, Interest::NONE, Interest::RECV));
        poller.build(|_| Some(FIRST));
        let search = |poller: &mut SelectPoller, is_open: bool| {
            let (was, mut batch) = (std::mem::take(&mut poller.unexplained), Vec::with_capacity(8));
            let result = poller.search(|_| Some(FIRST), |_| Some(FIRST), |_| is_open, was, &mut batch);
            (result.map_err(|error| error.raw_os_error()), batch.len())
        };
        let error = Err(Some(Errno::EBADF as i32));
        assert_eq!(search(&mut poller, true), (Ok(()), 0), "closed and open again");
        assert_eq!(search(&mut poller, true), (error, 0));
        assert_eq!(search(&mut poller, true), (Ok(()), 0));
        for _ in 0..2 {
            assert_eq!(search(&mut poller, false), (Ok(()), 1), "found");
        }
        assert_eq!(search(&mut poller, true), (Ok(()), 0));
        poller.interest.write(closed, Interest::NONE);
        assert_eq!(seen(&mut poller), []);
        assert_eq!(search(&mut poller, true), (Ok(()), 0), "not in a row");
    }

    /// A bit that is nobody's would fail every call of every thread (suspect 11).
    #[test]
    fn a_bad_number_that_is_nobodys_leaves_the_shared_interest() {
        let backend = backend();
        let mut poller = poller(&backend, 0);
        let closed = closed_number();
        poller.update(&change(closed, Interest::NONE, Interest::RECV));
        // Permitted while the set is built, and deleted when the bad number is looked for.
        let alive = Cell::new(Some(FIRST));
        let mut batch = Vec::with_capacity(8);
        poller.fill(|_| alive.take(), |_| None, Duration::ZERO, &mut batch).unwrap();
        assert_eq!(batch, []);
        assert_eq!(backend.groups[1].read(closed), Interest::NONE);
    }
}
