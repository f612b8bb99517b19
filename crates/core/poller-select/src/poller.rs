//! One thread's sets of descriptors.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use fd_core::FdTable;
use fd_core::hooks::fault;
use fd_core::ids::ThreadId;
use fd_core::interest::GroupInterest;
use fd_core::poller::{Change, Event, Events, Generation, Interest, Poller};
use fd_core::thread_interest::ThreadInterest;
use nix::errno::Errno;

use crate::changes::{Set, wanted};
use crate::events::translate;
use crate::sys::{self, FdSet, Outcome};

/// The greatest number of waits in a row that fail with `EBADF` although every number is open. Threads that
/// close and open a number all the time cause some; a wait that fails for another reason would be a spin.
const MOST_UNEXPLAINED: u32 = 100;

pub(crate) struct SelectPoller {
    thread: ThreadId,
    /// It remembers which descriptors are in the sets: the kernel overwrites those.
    interest: ThreadInterest,
    /// The number of waits in a row that failed with `EBADF` although every number was open.
    unexplained: u32,
    /// The sets of the last build: what is polled for reading, and for writing.
    wanted: [FdSet; 2],
}

impl SelectPoller {
    pub(crate) fn new(thread: ThreadId, interest: Arc<GroupInterest>) -> Self {
        Self {
            thread,
            interest: ThreadInterest::new(interest),
            wanted: <[FdSet; 2]>::default(),
            unexplained: 0,
        }
    }

    /// Returns sets of the descriptors that the group wants and `permission` lets this thread poll.
    fn build(&mut self, permission: impl Fn(RawFd) -> Option<Generation>) -> [FdSet; 2] {
        if self.interest.is_current() {
            return self.wanted;
        }
        let [mut read, mut write] = <[FdSet; 2]>::default();
        self.interest.build(permission, |fd, interest| {
            for set in wanted(interest) {
                match set {
                    Set::Read => read.insert(fd),
                    Set::Write => write.insert(fd),
                }
            }
        });
        self.wanted = [read, write];
        self.wanted
    }

    /// [`Poller::wait`] with a function in the table's place: `permission` returns the registration of a
    /// number that this thread may poll.
    ///
    /// Builds the sets, waits in select(2), and appends the events to the batch.
    fn wait_with(
        &mut self,
        permission: impl Fn(RawFd) -> Option<Generation>,
        timeout: Option<Duration>,
        batch: &mut Vec<Event>,
    ) -> io::Result<()> {
        let [mut read, mut write] = self.build(&permission);
        let unexplained = std::mem::take(&mut self.unexplained);
        let outcome = sys::select_or_signal(&mut read, &mut write, timeout)?;
        fault!(SelectBadfFatal => if outcome == Outcome::BadDescriptor { return Ok(()) });
        match outcome {
            Outcome::Nothing => {}
            Outcome::Events => {
                self.collect(permission, |fd| translate(read.contains(fd), write.contains(fd)), batch);
            }
            Outcome::BadDescriptor => {
                return self.report_closed(permission, sys::is_open, unexplained, batch);
            }
        }
        Ok(())
    }

    /// Reports the closed numbers. After `EBADF` the contents of the sets are undefined.
    ///
    /// # Errors
    /// `EBADF` if every number is open, and was after [`MOST_UNEXPLAINED`] failures in a row.
    fn report_closed(
        &mut self,
        permission: impl Fn(RawFd) -> Option<Generation>,
        is_open: impl Fn(RawFd) -> bool,
        unexplained: u32,
        batch: &mut Vec<Event>,
    ) -> io::Result<()> {
        let found = self.collect(permission, |fd| Events::INVALID.when(!is_open(fd)), batch);
        if found {
            return Ok(());
        }
        // It was closed during the call, and is open again.
        self.unexplained = (unexplained + 1) % (MOST_UNEXPLAINED + 1);
        if self.unexplained > 0 { Ok(()) } else { Err(Errno::EBADF.into()) }
    }

    /// Appends the events that `events_of` returns for each descriptor of the sets. Returns whether there was
    /// any event.
    fn collect(
        &mut self,
        permission: impl Fn(RawFd) -> Option<Generation>,
        events_of: impl Fn(RawFd) -> Events,
        batch: &mut Vec<Event>,
    ) -> bool {
        let mut found = false;
        for index in self.interest.report_order() {
            let (fd, generation) = self.interest.at(index);
            let events = events_of(fd);
            if events.is_none() {
                continue;
            }
            found = true;
            if events == Events::INVALID && permission(fd) != Some(generation) {
                // The table closed it between the build and the call. The end of a registration clears its
                // interest.
                continue;
            }
            if !self.interest.report(index, events, batch) {
                break;
            }
        }
        found
    }
}

impl Poller for SelectPoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
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

    /// Polls once. Every number has its first registration.
    fn seen(poller: &mut SelectPoller) -> Vec<(RawFd, Generation, Events)> {
        seen_with(poller, |_| Some(FIRST))
    }

    fn seen_with(
        poller: &mut SelectPoller,
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

    /// The poller does not spin: it reports the number once per registration, and again only after a change
    /// of the interest or a new registration.
    #[test]
    fn a_number_closed_behind_the_table_is_reported_once_per_registration() {
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
        let third = seen_with(&mut poller, |_| Some(2));
        assert!(third.contains(&(closed, 2, Events::INVALID)), "{third:?}");
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

    #[test]
    fn a_drained_descriptor_is_silent() {
        let (backend, (mut reader, _writer, fd)) = (backend(), readable_pipe());
        let mut poller = poller(&backend, 0);
        poller.update(&change(fd, Interest::NONE, Interest::RECV));
        reader.read_exact(&mut [0]).unwrap();
        assert_eq!(seen(&mut poller), []);
    }

    #[test]
    fn ebadf_without_a_closed_number_is_an_error_in_the_end() {
        let backend = backend();
        let mut poller = poller(&backend, 0);
        let closed = closed_number();
        poller.update(&change(closed, Interest::NONE, Interest::RECV));
        poller.build(|_| Some(FIRST));
        let report = |poller: &mut SelectPoller, is_open: bool| {
            let (was, mut batch) = (std::mem::take(&mut poller.unexplained), Vec::with_capacity(8));
            let result = poller.report_closed(|_| Some(FIRST), |_| is_open, was, &mut batch);
            (result.map_err(|error| error.raw_os_error()), batch.len())
        };
        let error = Err(Some(Errno::EBADF as i32));
        let all_forgiven = |poller: &mut SelectPoller| {
            for _ in 0..MOST_UNEXPLAINED {
                assert_eq!(report(poller, true), (Ok(()), 0), "closed and open again");
            }
        };
        all_forgiven(&mut poller);
        assert_eq!(report(&mut poller, true), (error, 0));
        all_forgiven(&mut poller);
        assert_eq!(report(&mut poller, false), (Ok(()), 1), "found");
        all_forgiven(&mut poller);
        poller.interest.group().write(closed, Interest::NONE);
        assert_eq!(seen(&mut poller), []);
        all_forgiven(&mut poller);
    }

    /// A closed number without a registration in the set would fail every call (suspect 11).
    #[test]
    fn a_number_whose_registration_ends_during_the_wait_is_not_reported() {
        let backend = backend();
        let mut poller = poller(&backend, 0);
        let closed = closed_number();
        poller.update(&change(closed, Interest::NONE, Interest::RECV));
        // The thread has permission while it builds the set. The registration is deleted before it looks for
        // the closed number.
        let alive = Cell::new(Some(FIRST));
        let mut batch = Vec::with_capacity(8);
        poller.wait_with(|_| alive.take(), Some(Duration::ZERO), &mut batch).unwrap();
        assert_eq!(batch, []);
        // Without a registration, the number is in no set.
        poller.wait_with(|_| None, Some(Duration::ZERO), &mut batch).unwrap();
        assert_eq!((batch, poller.unexplained), (vec![], 0));
    }
}
