//! One thread's kqueue poller.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use fd_core::FdTable;
use fd_core::always_ready::AlwaysReady;
use fd_core::hooks::fault;
use fd_core::ids::ThreadId;
use fd_core::poller::{Change, Event, Generation, Interest, Poller};
use nix::errno::Errno;

use crate::KqueueBackend;
use crate::changes::ChangeList;
use crate::events;
use crate::sys::{Buffers, KernelQueue};

pub(crate) struct KqueuePoller {
    thread: ThreadId,
    queue: Arc<KernelQueue>,
    /// The descriptors that kqueue refuses to poll, or whose filter it has deleted.
    always_ready: AlwaysReady,
    changes: ChangeList,
    /// The results of the changes' entries, kept between flushes for its allocation.
    results: Vec<Result<(), Errno>>,
    buffers: Buffers,
}

impl KqueuePoller {
    pub(crate) fn new(thread: ThreadId, backend: &KqueueBackend) -> io::Result<Self> {
        Ok(Self {
            thread,
            queue: backend.queues.open(thread, KernelQueue::new, |queue| queue.replace(false))?,
            always_ready: AlwaysReady::default(),
            changes: ChangeList::default(),
            results: Vec::new(),
            buffers: Buffers::default(),
        })
    }

    /// [`Poller::wait`] with a function in the table's place: `registration` returns the registration of a
    /// number.
    ///
    /// Waits in kevent(2), and appends the events and those of the descriptors that are always ready to the
    /// batch.
    fn wait_with(
        &mut self,
        registration: impl Fn(RawFd) -> Option<Generation>,
        timeout: Option<Duration>,
        batch: &mut Vec<Event>,
    ) -> io::Result<()> {
        if !self.always_ready.is_empty() {
            self.always_ready.prune(registration);
        }
        let timeout = if self.always_ready.is_empty() { timeout } else { Some(Duration::ZERO) };
        let room = self.always_ready.room_for_kernel(batch.capacity() - batch.len());
        let start = batch.len();
        // Without room for an event, kevent(2) never waits (measured).
        if room > 0 {
            self.queue.wait(&mut self.buffers, room, timeout)?;
            self.buffers.records().for_each(|record| events::append(batch, start, &record));
        }
        self.always_ready.report(batch);
        // After the report: the batch already has the last events of a filter that the kernel has deleted.
        for record in self.buffers.records() {
            if let Some(events) = events::after_deletion(&record) {
                self.always_ready.keep(record.fd, record.generation, events, record.trigger);
            }
        }
        self.buffers.clear_records();
        Ok(())
    }
}

impl Poller for KqueuePoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        // The kernel may have no filter of a descriptor that was always ready, whatever the polled masks
        // contain.
        let refused = self.always_ready.remove(change.fd);
        let force = refused || change.force;
        fault!(ForcedChangeSkipped: force => refused);
        self.changes.add(&Change { force, ..*change })
    }

    fn queued(&self) -> usize {
        self.changes.len()
    }

    fn flush(&mut self, settled: &mut dyn FnMut(RawFd, Interest)) {
        if self.changes.len() > 0 {
            self.queue.submit(self.changes.operations(), &mut self.buffers, &mut self.results);
            self.changes.settle(&self.results, &mut self.always_ready, settled);
        }
    }

    fn wait(&mut self, table: &FdTable, timeout: Option<Duration>, batch: &mut Vec<Event>) -> io::Result<()> {
        let group = self.thread.group();
        self.wait_with(|fd| table.generation(group, fd), timeout, batch)
    }

    fn rebuild(&mut self, forked: bool) -> io::Result<()> {
        self.queue.replace(forked)?;
        self.always_ready.clear();
        self.changes.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Write, pipe};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use fd_core::ids::ThreadMask;
    use fd_core::per_thread::PerThread;
    use fd_core::poller::testing::{
        FIRST, LIMITS, TestedBackend, apply, change, group, in_child, readable_pipe, receive, seen, thread,
    };
    use fd_core::poller::{Backend, DeregisterReason, Events, Trigger};

    use super::*;

    /// Longer than the time limit of a test.
    const HOUR: Duration = Duration::from_secs(3600);

    fd_core::poller_tests! {
        KqueueBackend, KqueuePoller, Self { queues: PerThread::new(&LIMITS) };
        a_level_is_reported_until_it_is_removed,
        an_edge_is_reported_once_and_replayed_by_force,
        #[cfg_attr(kqueue_library, ignore = "libkqueue differs from the kernels: docs/findings")]
        a_leftover_registration_takes_the_new_generation,
    }

    /// kevent(2), EV_ERROR: the changes after a bad one are applied and settled.
    #[test]
    fn a_bad_change_never_hides_the_next() {
        let (mut poller, (_reader, _writer, fd)) = (KqueueBackend::make().nth_poller(0), readable_pipe());
        // This process never has this number: the limit is far below.
        let closed = RawFd::MAX;
        let changes = [
            change(closed, Interest::NONE, Interest::BOTH),
            change(closed - 1, Interest::BOTH, Interest::NONE),
            change(fd, Interest::SEND, Interest::RECV),
        ];
        let settled = apply(&mut poller, &changes);
        assert_eq!(settled, [(closed, Interest::BOTH), (closed - 1, Interest::NONE), (fd, Interest::RECV)]);
        let mut first = seen(&mut poller);
        first.sort_by_key(|event| event.0);
        assert_eq!(first, [(fd, FIRST, Events::READY_R), (closed, FIRST, Events::INVALID)]);
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)], "a closed number is reported once");
    }

    /// kevent(2), EV_RECEIPT.
    #[test]
    fn a_submission_of_changes_consumes_no_event() {
        let mut poller = KqueueBackend::make().nth_poller(0);
        let pipes: Vec<_> = (0..3).map(|_| readable_pipe()).collect();
        for (_, _, fd) in &pipes {
            let edge = Change { trigger: Trigger::Edge, ..change(*fd, Interest::NONE, Interest::RECV) };
            apply(&mut poller, &[edge]);
        }
        assert_eq!(seen(&mut poller).len(), 3, "edges that fired before the later changes");
    }

    #[test]
    #[cfg_attr(kqueue_library, ignore = "libkqueue differs from the kernels: docs/findings")]
    fn directions_and_half_closes_are_told_apart() {
        let mut poller = KqueueBackend::make().nth_poller(0);
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let fd = ours.as_raw_fd();
        apply(&mut poller, &[change(fd, Interest::NONE, Interest::BOTH)]);
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W)]);
        theirs.write_all(b"x").unwrap();
        let all = |seen: Vec<(RawFd, Generation, Events)>| {
            seen.iter().fold(Events::NONE, |events, event| events.or(event.2))
        };
        assert_eq!(all(seen(&mut poller)), Events::READY_R.or(Events::READY_W));
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let half = Events::READY_R.or(Events::READY_W).or(Events::SHUT_R);
        assert_eq!(all(seen(&mut poller)), half);
    }

    /// The addition fails (`EPIPE`) on a healthy descriptor whose other end is closed.
    #[test]
    fn a_pipe_without_reader_is_a_hangup_and_not_a_failed_registration() {
        let mut poller = KqueueBackend::make().nth_poller(0);
        let (reader, writer) = pipe().unwrap();
        let fd = writer.as_raw_fd();
        drop(reader);
        let settled = apply(&mut poller, &[change(fd, Interest::NONE, Interest::SEND)]);
        assert_eq!(settled, [(fd, Interest::SEND)]);
        for _ in 0..2 {
            assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W.or(Events::ERR))]);
        }
        apply(&mut poller, &[change(fd, Interest::SEND, Interest::NONE)]);
        assert_eq!(seen(&mut poller), []);
    }

    /// The filter fires once, and the kernel deletes it (`EV_ONESHOT`).
    #[test]
    fn a_pipe_that_loses_its_reader_stays_reported() {
        let mut poller = KqueueBackend::make().nth_poller(0);
        let (reader, writer) = pipe().unwrap();
        let fd = writer.as_raw_fd();
        apply(&mut poller, &[change(fd, Interest::NONE, Interest::SEND)]);
        drop(reader);
        for _ in 0..3 {
            assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W.or(Events::ERR))]);
        }
        let settled = apply(&mut poller, &[change(fd, Interest::SEND, Interest::NONE)]);
        assert_eq!(settled, [(fd, Interest::NONE)]);
        assert_eq!(seen(&mut poller), []);
    }

    #[test]
    fn a_device_is_always_ready() {
        let mut poller = KqueueBackend::make().nth_poller(0);
        let file = File::options().write(true).open("/dev/null").unwrap();
        let fd = file.as_raw_fd();
        let settled = apply(&mut poller, &[change(fd, Interest::NONE, Interest::SEND)]);
        assert_eq!(settled, [(fd, Interest::SEND)]);
        for _ in 0..2 {
            assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W)]);
        }
    }

    #[test]
    #[cfg_attr(kqueue_library, ignore = "libkqueue differs from the kernels: docs/findings")]
    fn a_close_ends_the_registration_and_forget_removes_that_of_an_open_number() {
        let backend = KqueueBackend::make();
        let mut poller = backend.nth_poller(0);
        let (reader, _writer, fd) = readable_pipe();
        let _clone = reader.try_clone().unwrap();
        let (kept, _other, kept_fd) = readable_pipe();
        let changes = [fd, kept_fd].map(|fd| change(fd, Interest::NONE, Interest::RECV));
        apply(&mut poller, &changes);
        backend.forget(kept_fd, group(), thread(0).mask(), ThreadMask::NONE, DeregisterReason::StaysOpen);
        backend.forget(fd, group(), thread(0).mask(), ThreadMask::NONE, DeregisterReason::CloseCloned);
        drop(reader);
        assert_eq!(seen(&mut poller), []);
        drop(kept);
    }

    #[test]
    fn a_wake_ends_the_current_or_the_next_wait() {
        let backend = KqueueBackend::make();
        let mut poller = backend.nth_poller(0);
        let Some(waker) = backend.waker(thread(0)) else { return };
        let mut batch = Vec::with_capacity(8);
        waker.wake();
        poller.wait_with(|_| None, Some(HOUR), &mut batch).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| waker.wake());
            poller.wait_with(|_| None, Some(HOUR), &mut batch).unwrap();
        });
        assert_eq!(batch, [], "a wake is not an event");
    }

    #[test]
    #[cfg_attr(kqueue_library, ignore = "libkqueue differs from the kernels: docs/findings")]
    fn a_rebuilt_queue_is_empty_and_its_old_waker_works() {
        let (backend, (_reader, _writer, fd)) = (KqueueBackend::make(), readable_pipe());
        let mut poller = backend.nth_poller(0);
        receive(&mut poller, [fd]);
        let waker = backend.waker(thread(0));
        poller.rebuild(false).unwrap();
        assert_eq!(seen(&mut poller), []);
        if let Some(waker) = waker {
            let mut batch = Vec::with_capacity(8);
            waker.wake();
            poller.wait_with(|_| None, Some(HOUR), &mut batch).unwrap();
            assert_eq!(batch, []);
        }
        receive(&mut poller, [fd]);
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)]);
    }

    /// A queue is not inherited. The child makes its own, and removes registrations from it.
    #[test]
    #[cfg_attr(kqueue_library, ignore = "libkqueue differs from the kernels: docs/findings")]
    fn a_child_owns_the_queue_that_it_has_made() {
        let backend = KqueueBackend::make();
        let mut poller = backend.nth_poller(0);
        let (_kept, _writer, fd) = readable_pipe();
        receive(&mut poller, [fd]);
        assert!(in_child(|| {
            let replaced = poller.rebuild(true).is_ok();
            receive(&mut poller, [fd]);
            let is_polled = seen(&mut poller) == [(fd, FIRST, Events::READY_R)];
            backend.forget(fd, group(), thread(0).mask(), ThreadMask::NONE, DeregisterReason::StaysOpen);
            replaced && is_polled && seen(&mut poller).is_empty()
        }));
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)], "the parent has its registration");
    }

    /// Suspect 12: a thread that holds a waker may use it after the poller's thread and the runtime have
    /// ended.
    #[test]
    fn a_waker_outlives_its_thread_and_backend() {
        let backend = KqueueBackend::make();
        let poller = backend.nth_poller(0);
        let waker = backend.waker(thread(0));
        drop((poller, backend));
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
