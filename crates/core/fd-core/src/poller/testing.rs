//! A kit for the tests of backends: the properties that several of them have, and the setup of the others.
//!
//! A backend's tests list their properties with [`poller_tests`](crate::poller_tests).

use std::cell::{Cell, RefCell};
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Duration;

use crate::poller::{Backend, Limits, Poller};
use crate::words::events::{Change, DeregisterReason, Event, Events, Generation, Interest, Trigger};
use crate::words::ids::{GroupId, ThreadId, ThreadMask};

/// The limits of the tests' backends.
pub const LIMITS: Limits = Limits { capacity: 1024, groups: 2, threads: 3 };
/// The generation of the first registration of a number.
pub const FIRST: Generation = 1;

/// A backend whose pollers can wait without a table.
pub trait TestedBackend: Backend + Sized {
    /// Its poller of one thread.
    type Own: TestedPoller;

    /// Creates a backend for [`LIMITS`].
    fn make() -> Self;

    /// Creates the poller of a thread.
    fn own_poller(&self, thread: ThreadId) -> Self::Own;

    /// Creates the poller of a thread of [`group`].
    fn nth_poller(&self, index: usize) -> Self::Own {
        self.own_poller(thread(index))
    }
}

/// A poller that can wait without a table.
pub trait TestedPoller: Poller {
    /// [`Poller::wait`] with a function in the table's place: it returns the registration of a number that
    /// the thread may poll.
    fn wait_without_table(
        &mut self,
        registration: &dyn Fn(RawFd) -> Option<Generation>,
        timeout: Option<Duration>,
        batch: &mut Vec<Event>,
    ) -> io::Result<()>;
}

/// Implements [`TestedBackend`], and makes a test of each property that is listed. The poller has functions
/// `new(ThreadId, &Backend) -> io::Result<Self>` and `wait_with`, as [`TestedPoller::wait_without_table`].
#[macro_export]
macro_rules! poller_tests {
    ($backend:ty, $poller:ty, $make:expr; $($(#[$attribute:meta])* $property:ident,)+) => {
        impl $crate::poller::testing::TestedBackend for $backend {
            type Own = $poller;

            fn make() -> Self {
                $make
            }

            fn own_poller(&self, thread: ThreadId) -> $poller {
                <$poller>::new(thread, self).unwrap()
            }
        }

        impl $crate::poller::testing::TestedPoller for $poller {
            fn wait_without_table(
                &mut self,
                registration: &dyn Fn(RawFd) -> Option<Generation>,
                timeout: Option<Duration>,
                batch: &mut Vec<Event>,
            ) -> io::Result<()> {
                self.wait_with(registration, timeout, batch)
            }
        }

        $(
            #[test]
            $(#[$attribute])*
            fn $property() {
                $crate::poller::testing::$property::<$backend>();
            }
        )+
    };
}

/// The group of the tests' threads, which is not the first one.
pub fn group() -> GroupId {
    GroupId::new(2).unwrap()
}

/// A thread of [`group`].
pub fn thread(index: usize) -> ThreadId {
    ThreadId::new(group(), index).unwrap()
}

/// A level-triggered change of the first registration.
pub fn change(fd: RawFd, known: Interest, wanted: Interest) -> Change {
    Change { fd, generation: FIRST, known, wanted, trigger: Trigger::Level, force: false }
}

/// Makes the changes, in one submission if the poller queues them. Returns the interest that each was settled
/// to.
pub fn apply(poller: &mut impl Poller, changes: &[Change]) -> Vec<(RawFd, Interest)> {
    let mut settled = vec![];
    for change in changes {
        settled.extend(poller.update(change).map(|held| (change.fd, held)));
    }
    poller.flush(&mut |fd, held| settled.push((fd, held)));
    assert_eq!(poller.queued(), 0);
    settled
}

/// Registers descriptors for receiving.
pub fn receive(poller: &mut impl Poller, fds: impl IntoIterator<Item = RawFd>) {
    for fd in fds {
        let settled = apply(poller, &[change(fd, Interest::NONE, Interest::RECV)]);
        assert_eq!(settled, [(fd, Interest::RECV)]);
    }
}

/// Polls once. Every number has its first registration.
pub fn seen(poller: &mut impl TestedPoller) -> Vec<(RawFd, Generation, Events)> {
    seen_with(poller, |_| Some(FIRST))
}

/// Polls once.
pub fn seen_with(
    poller: &mut impl TestedPoller,
    registration: impl Fn(RawFd) -> Option<Generation>,
) -> Vec<(RawFd, Generation, Events)> {
    let mut batch = Vec::with_capacity(8);
    poller.wait_without_table(&registration, Some(Duration::ZERO), &mut batch).unwrap();
    batch.iter().map(|event| (event.fd, event.generation, event.events)).collect()
}

/// A pipe with one byte in it, and the number of its reading end.
pub fn readable_pipe() -> (PipeReader, PipeWriter, RawFd) {
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(b"x").unwrap();
    let fd = reader.as_raw_fd();
    (reader, writer, fd)
}

/// Returns a closed number that no test gets, and that the kernel checks nevertheless: in select(2), Linux
/// ignores closed numbers beyond the size of its table of open files, which only grows.
pub fn closed_number() -> RawFd {
    const NUMBER: RawFd = 200;
    static GROWN: Once = Once::new();
    // SAFETY: this function owns the copy, and closes it before other code can know its number.
    GROWN.call_once(|| unsafe {
        let copy = libc::fcntl(2, libc::F_DUPFD_CLOEXEC, NUMBER);
        assert_eq!(copy, NUMBER);
        libc::close(copy);
    });
    NUMBER
}

/// Runs `action` in a forked child, and returns its answer: false if it panics.
pub fn in_child(action: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child uses the allocator of the C library, which fork(2) prepares, and exits.
    answer(unsafe { libc::fork() }, action)
}

/// As [`in_child`], in a child that the C library has not made.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn in_bare_child(action: impl FnOnce() -> bool) -> bool {
    // SAFETY: as fork(2). The action makes system calls and uses atomics only, and the child exits.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    answer(child as libc::pid_t, action)
}

fn answer(child: libc::pid_t, action: impl FnOnce() -> bool) -> bool {
    if child == 0 {
        let answer = catch_unwind(AssertUnwindSafe(action)).unwrap_or(false);
        // SAFETY: ends this process, the child, at once.
        unsafe { libc::_exit(i32::from(answer)) };
    }
    let mut status = -1;
    // SAFETY: `status` is valid for the call.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "{status}");
    libc::WEXITSTATUS(status) == 1
}

/// Of every backend.
pub fn a_level_is_reported_until_it_is_removed<B: TestedBackend>() {
    let (backend, (_reader, _writer, fd)) = (B::make(), readable_pipe());
    let mut poller = backend.nth_poller(0);
    receive(&mut poller, [fd]);
    for _ in 0..2 {
        assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)]);
    }
    let settled = apply(&mut poller, &[change(fd, Interest::RECV, Interest::NONE)]);
    assert_eq!(settled, [(fd, Interest::NONE)]);
    assert_eq!(seen(&mut poller), []);
}

/// Of every backend.
pub fn a_drained_descriptor_is_silent<B: TestedBackend>() {
    let (backend, (mut reader, _writer, fd)) = (B::make(), readable_pipe());
    let mut poller = backend.nth_poller(0);
    receive(&mut poller, [fd]);
    reader.read_exact(&mut [0]).unwrap();
    assert_eq!(seen(&mut poller), []);
}

/// Of a backend that tells errors apart.
pub fn directions_and_hangups_are_told_apart<B: TestedBackend>() {
    let backend = B::make();
    let mut poller = backend.nth_poller(0);
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let fd = ours.as_raw_fd();
    apply(&mut poller, &[change(fd, Interest::NONE, Interest::BOTH)]);
    assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_W)]);
    theirs.write_all(b"x").unwrap();
    let both = Events::READY_R.or(Events::READY_W);
    assert_eq!(seen(&mut poller), [(fd, FIRST, both)]);
    theirs.shutdown(std::net::Shutdown::Write).unwrap();
    let half = both.or(Events::SHUT_R.when(backend.capabilities().read_shutdown));
    assert_eq!(seen(&mut poller), [(fd, FIRST, half)]);
    drop(theirs);
    let closed = seen(&mut poller);
    if cfg!(any(target_os = "linux", target_os = "android")) {
        assert_eq!(closed, [(fd, FIRST, half.or(Events::SHUT_W))]);
    } else {
        // Other kernels do not report readiness to send beside a hang-up.
        assert!(closed[0].2.intersects(Events::SHUT_W), "{closed:?}");
    }
}

/// Suspect 10: a forced change reports an edge again that another thread has consumed.
pub fn an_edge_is_reported_once_and_replayed_by_force<B: TestedBackend>() {
    let (backend, (_reader, _writer, fd)) = (B::make(), readable_pipe());
    let mut poller = backend.nth_poller(0);
    let edge = Change { trigger: Trigger::Edge, ..change(fd, Interest::NONE, Interest::RECV) };
    apply(&mut poller, &[edge]);
    assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)]);
    assert_eq!(seen(&mut poller), []);
    apply(&mut poller, &[Change { known: Interest::RECV, force: true, ..edge }]);
    assert_eq!(seen(&mut poller), [(fd, FIRST, Events::READY_R)]);
}

/// Of a backend with kernel state: the event has the generation with which it was registered.
pub fn a_leftover_registration_takes_the_new_generation<B: TestedBackend>() {
    let (backend, (_reader, _writer, fd)) = (B::make(), readable_pipe());
    let mut poller = backend.nth_poller(0);
    let first = change(fd, Interest::NONE, Interest::RECV);
    apply(&mut poller, &[first]);
    let settled = apply(&mut poller, &[Change { generation: Generation::MAX, ..first }]);
    assert_eq!(settled, [(fd, Interest::RECV)]);
    assert_eq!(seen(&mut poller), [(fd, Generation::MAX, Events::READY_R)]);
}

/// Of a backend whose threads share the interest.
pub fn one_thread_updates_for_all_and_each_polls_where_it_has_permission<B: TestedBackend>() {
    let (backend, (_reader, _writer, fd)) = (B::make(), readable_pipe());
    let mut pollers = [0, 1, 2].map(|index| backend.nth_poller(index));
    receive(&mut pollers[0], [fd]);
    assert_eq!(seen_with(&mut pollers[0], |_| None), []);
    assert_eq!(seen_with(&mut pollers[1], |_| Some(5)), [(fd, 5, Events::READY_R)]);
    backend.forget(fd, group(), ThreadMask::NONE, ThreadMask::NONE, DeregisterReason::Close);
    assert_eq!(seen_with(&mut pollers[2], |_| Some(5)), []);
}

/// The group's bits are the only record, whichever threads the polled masks name. A bit that stayed behind
/// would be polled without end (suspect 11).
pub fn a_forgotten_descriptor_has_no_interest_for_any_reason<B: TestedBackend>() {
    let (backend, (_reader, _writer, fd)) = (B::make(), readable_pipe());
    let mut pollers =
        [group(), GroupId::new(1).unwrap()].map(|group| backend.own_poller(ThreadId::new(group, 0).unwrap()));
    // The numbers that have interest: the poller looks for permission.
    let wanted_by = |poller: &mut B::Own| {
        let wanted = RefCell::new(vec![]);
        let note = |fd| {
            wanted.borrow_mut().push(fd);
            None
        };
        assert_eq!(seen_with(poller, note), []);
        wanted.into_inner()
    };
    let mine = ThreadMask::from_bits(0b1);
    for reason in [DeregisterReason::Close, DeregisterReason::CloseCloned, DeregisterReason::StaysOpen] {
        for wanted in [Interest::RECV, Interest::SEND, Interest::BOTH] {
            for (recv, send) in [(ThreadMask::NONE, ThreadMask::NONE), (mine, mine), (mine, ThreadMask::NONE)]
            {
                for poller in &mut pollers {
                    apply(poller, &[fd, fd + 1].map(|number| change(number, Interest::NONE, wanted)));
                }
                backend.forget(fd, group(), recv, send, reason);
                let left = pollers.each_mut().map(wanted_by);
                let expected = [vec![fd + 1], vec![fd, fd + 1]];
                assert_eq!(left, expected, "{reason:?} {wanted:?} {recv:?} {send:?}");
            }
        }
    }
}

/// The poller does not spin: it reports the number once per registration, and again only after a change of
/// the interest, a new registration or its own replacement.
pub fn a_number_closed_behind_the_table_is_reported_once_per_registration<B: TestedBackend>() {
    let (backend, (_reader, _writer, fd)) = (B::make(), readable_pipe());
    let (mut poller, closed) = (backend.nth_poller(0), closed_number());
    receive(&mut poller, [closed, fd]);
    let first = seen(&mut poller);
    assert!(first.contains(&(closed, FIRST, Events::INVALID)), "{first:?}");
    let others = [(fd, FIRST, Events::READY_R)];
    for _ in 0..2 {
        assert_eq!(seen(&mut poller), others, "the others are served");
    }
    let second = seen_with(&mut poller, |_| Some(2));
    assert!(second.contains(&(closed, 2, Events::INVALID)), "{second:?}");
    apply(&mut poller, &[change(closed, Interest::RECV, Interest::RECV)]);
    let same = seen_with(&mut poller, |_| Some(2));
    assert_eq!(same, [(fd, 2, Events::READY_R)], "the same interest again");
    apply(&mut poller, &[change(closed, Interest::RECV, Interest::BOTH)]);
    let third = seen_with(&mut poller, |_| Some(2));
    assert!(third.contains(&(closed, 2, Events::INVALID)), "{third:?}");
    poller.rebuild(false).unwrap();
    let rebuilt = seen_with(&mut poller, |_| Some(2));
    assert!(rebuilt.contains(&(closed, 2, Events::INVALID)), "{rebuilt:?}");
}

/// The thread may lose its permission between the build and the answer. The core checks the generation of
/// each event, so the event must carry the generation of the build.
pub fn an_event_has_the_generation_of_the_build<B: TestedBackend>() {
    let (backend, (_reader, _writer, fd)) = (B::make(), readable_pipe());
    let mut poller = backend.nth_poller(0);
    receive(&mut poller, [fd]);
    let registration = Cell::new(3);
    let seen = seen_with(&mut poller, |_| Some(registration.replace(4)));
    assert_eq!(seen, [(fd, 3, Events::READY_R)]);
}

/// All pipes stay readable. If every batch started at the lowest number, the others would never be reported.
pub fn events_beyond_the_batch_come_with_the_next<B: TestedBackend>() {
    let backend = B::make();
    let mut poller = backend.nth_poller(0);
    let pipes = [(); 5].map(|()| readable_pipe());
    let mut left: Vec<_> = pipes.iter().map(|(_, _, fd)| *fd).collect();
    receive(&mut poller, left.clone());
    let mut wait = |batch: &mut Vec<Event>| {
        poller.wait_without_table(&|_| Some(FIRST), Some(Duration::ZERO), batch).unwrap();
    };
    for _ in 0..5 {
        let mut batch = Vec::with_capacity(1);
        wait(&mut batch);
        assert!(batch.len() <= batch.capacity());
        left.retain(|fd| batch.iter().all(|event| event.fd != *fd));
    }
    assert_eq!(left, [0; 0]);
    let mut none = Vec::new();
    wait(&mut none);
    assert_eq!((none.len(), none.capacity()), (0, 0), "a full batch is not grown");
}
