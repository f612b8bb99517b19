//! One thread's sets of descriptors.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use fd_core::FdTable;
use fd_core::hooks::fault;
use fd_core::ids::ThreadId;
use fd_core::poller::{Change, Event, Events, Generation, Interest, Poller};
use fd_core::thread_interest::ThreadInterest;
use nix::errno::Errno;

use crate::SelectBackend;
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
    pub(crate) fn new(thread: ThreadId, backend: &SelectBackend) -> io::Result<Self> {
        let (interest, wanted) = (backend.interest.of(thread)?, <[FdSet; 2]>::default());
        Ok(Self { thread, interest, wanted, unexplained: 0 })
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
        self.wait_with(|fd| table.poll_permission(thread, fd), timeout, batch)
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
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use fd_core::poller::testing::{FIRST, LIMITS, TestedBackend, change, closed_number, receive, seen};

    use super::*;

    fd_core::poller_tests! {
        SelectBackend, SelectPoller, Self::new(&LIMITS).unwrap();
        a_level_is_reported_until_it_is_removed,
        a_drained_descriptor_is_silent,
        one_thread_updates_for_all_and_each_polls_where_it_has_permission,
        a_forgotten_descriptor_has_no_interest_for_any_reason,
        a_number_closed_behind_the_table_is_reported_once_per_registration,
        an_event_has_the_generation_of_the_build,
        events_beyond_the_batch_come_with_the_next,
    }

    #[test]
    fn directions_are_told_apart_and_end_of_file_is_readable() {
        let mut poller = SelectBackend::make().nth_poller(0);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let fd = ours.as_raw_fd();
        poller.update(&change(fd, Interest::NONE, Interest::BOTH));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W)]);
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R.or(Events::READY_W))]);
        poller.update(&change(fd, Interest::BOTH, Interest::SEND));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W)]);
    }

    #[test]
    fn ebadf_without_a_closed_number_is_an_error_in_the_end() {
        let mut poller = SelectBackend::make().nth_poller(0);
        let closed = closed_number();
        receive(&mut poller, [closed]);
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
        let mut poller = SelectBackend::make().nth_poller(0);
        let closed = closed_number();
        receive(&mut poller, [closed]);
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
