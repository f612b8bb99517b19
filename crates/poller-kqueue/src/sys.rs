//! The system calls, and the kernel queues of all threads.
//!
//! kevent(2) is called by number, not through borrowed descriptors: a number may have been closed behind the
//! table's back, which must be an answer here, not a broken promise.

use std::io;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::ptr::{self, null, null_mut, without_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use fd_core::fault::{self, Fault};
use fd_core::poller::{Generation, Trigger, Wake};
use libc::timespec;
use nix::errno::Errno;
use nix::sys::event::Kqueue;

use crate::changes::{Action, Filter, Operation};
use crate::events::Record;

/// The user event's identifier. It shares no space with descriptor numbers: filters have their own (measured).
const USER_EVENT: libc::uintptr_t = 0;

/// One kernel queue. Within a process its number never changes; what is behind it may.
pub(crate) struct Slot {
    number: AtomicI32,
    /// The process that the number is a queue in. A forked child does not inherit it: there the number is not open,
    /// or is somebody else's.
    process: AtomicU32,
    user_event: bool,
}

impl Slot {
    pub(crate) fn new() -> io::Result<Self> {
        let (queue, user_event) = fresh()?;
        Ok(Self {
            number: AtomicI32::new(queue.into_raw_fd()),
            process: AtomicU32::new(std::process::id()),
            user_event,
        })
    }

    /// Puts an empty queue in the place of this one.
    pub(crate) fn replace(&self, forked: bool) -> io::Result<()> {
        let (queue, _) = fresh()?;
        if forked || !self.is_ours() {
            // No other thread has survived the fork: nobody is between reading the number and using it.
            let old = self.number.swap(queue.into_raw_fd(), Ordering::Relaxed);
            self.process.store(std::process::id(), Ordering::Relaxed);
            if fault::on(Fault::KqueueClosesInherited) {
                // SAFETY: none: this is the mistake.
                unsafe { libc::close(old) };
            }
            return Ok(());
        }
        // Behind the same number, because wakers and those who forget use it at any time.
        loop {
            // SAFETY: plain numbers, both ours; the target stays open.
            match Errno::result(unsafe { libc::dup2(queue.as_raw_fd(), self.number()) }) {
                Ok(_) => break,
                Err(Errno::EINTR | Errno::EBUSY) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        close_on_exec(self.number());
        // Who woke the old queue a moment ago must not have done it for nothing.
        self.trigger();
        Ok(())
    }

    /// Whether the kernel has user events.
    pub(crate) fn has_user_event(&self) -> bool {
        self.user_event
    }

    /// Submits the entries, all of them whatever becomes of each, and puts what became of each into `results`.
    pub(crate) fn submit(
        &self,
        operations: &[Operation],
        buffers: &mut Buffers,
        results: &mut Vec<Result<(), Errno>>,
    ) {
        results.clear();
        let stops_at_error = fault::on(Fault::KqueueStopsAtFirstError);
        if stops_at_error || !self.submit_all(operations, buffers, results) {
            // A call that failed as a whole does not say how far it got. To do it again does no harm: an addition
            // replaces, a deletion may miss.
            for operation in operations {
                let result = self.submit_one(operation);
                results.push(result);
                if result.is_err() && stops_at_error {
                    break;
                }
            }
            results.resize(operations.len(), Ok(()));
        }
        if fault::on(Fault::KqueueChangesTakeEvents) {
            buffers.receipts.resize(64, EMPTY);
            let _ = self.kevent(&[], &mut buffers.receipts, Duration::ZERO);
        }
    }

    /// Removes a descriptor, whatever is or is not registered. From any thread.
    pub(crate) fn forget(&self, removal: [Operation; 2]) {
        if self.is_ours() {
            for operation in &removal {
                let _ = self.submit_one(operation);
            }
        }
    }

    /// Waits for at most `room` records, which is more than none, and leaves them in the buffers. A signal is a
    /// success with nothing seen.
    pub(crate) fn wait(&self, buffers: &mut Buffers, room: usize, timeout: Duration) -> io::Result<()> {
        buffers.seen = 0;
        if buffers.events.len() < room {
            buffers.events.resize(room, EMPTY);
        }
        match self.kevent(&[], &mut buffers.events[..room], timeout) {
            Ok(count) => buffers.seen = count,
            Err(Errno::EINTR) if !fault::on(Fault::InterruptedWaitFails) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    /// Makes the queue's thread leave its wait. Async-signal-safe.
    fn trigger(&self) {
        let before = Errno::last_raw();
        // A user event that is not there (an old kernel, a fresh child) has no waker.
        let _ = trigger(self.number());
        Errno::set_raw(before);
    }

    /// Submits the entries in one call, and says whether the kernel answered each.
    fn submit_all(
        &self,
        operations: &[Operation],
        buffers: &mut Buffers,
        results: &mut Vec<Result<(), Errno>>,
    ) -> bool {
        buffers.changes.clear();
        buffers.changes.extend(operations.iter().map(entry));
        // As many receipts as entries: with less room the kernel stops where the room ends, and says nothing
        // (measured); with more, some kernel might fill the rest with events.
        buffers.receipts.clear();
        buffers.receipts.resize(operations.len(), EMPTY);
        let answered = self.kevent(&buffers.changes, &mut buffers.receipts, Duration::ZERO);
        if answered != Ok(operations.len()) {
            return false;
        }
        results
            .extend(operations.iter().zip(&buffers.receipts).map(|(asked, receipt)| result(asked, receipt)));
        true
    }

    fn submit_one(&self, operation: &Operation) -> Result<(), Errno> {
        loop {
            let mut receipt = [EMPTY];
            match self.kevent(&[entry(operation)], &mut receipt, Duration::ZERO) {
                Ok(0) => return Ok(()),
                Ok(_) => return result(operation, &receipt[0]),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    fn kevent(
        &self,
        changes: &[libc::kevent],
        events: &mut [libc::kevent],
        timeout: Duration,
    ) -> Result<usize, Errno> {
        kevent(self.number(), changes, events, Some(timeout))
    }

    fn number(&self) -> RawFd {
        // Relaxed: it changes only in a forked child, which has no other threads yet.
        self.number.load(Ordering::Relaxed)
    }

    fn is_ours(&self) -> bool {
        self.process.load(Ordering::Relaxed) == std::process::id()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.is_ours() {
            // SAFETY: the number came from into_raw_fd in this process, and nobody else closes it.
            unsafe { libc::close(self.number()) };
        }
    }
}

/// Wakes one thread through its own queue, which it keeps open.
pub(crate) struct Waker(pub(crate) Arc<Slot>);

impl Wake for Waker {
    fn wake(&self) {
        self.0.trigger();
    }
}

/// What one thread's calls read and write; per thread, because receipts are looked at.
#[derive(Default)]
pub(crate) struct Buffers {
    changes: Vec<libc::kevent>,
    receipts: Vec<libc::kevent>,
    events: Vec<libc::kevent>,
    seen: usize,
}

// SAFETY: the only pointers in it are udata, which are generations and are never followed.
unsafe impl Send for Buffers {}

impl Buffers {
    /// What the last wait saw, without the user event, whose whole message is that the wait is over.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.events[..self.seen].iter().filter_map(record)
    }

    /// Makes [`Buffers::records`] empty.
    pub(crate) fn forget_records(&mut self) {
        self.seen = 0;
    }
}

// SAFETY: a kevent is plain numbers and a pointer that may be null.
pub(crate) const EMPTY: libc::kevent = unsafe { std::mem::zeroed() };

const USER_ENTRY: libc::kevent = libc::kevent {
    ident: USER_EVENT,
    filter: libc::EVFILT_USER,
    flags: libc::EV_ADD | libc::EV_CLEAR | libc::EV_RECEIPT,
    ..EMPTY
};

/// A queue that will not be inherited over an exec, and whether it has a user event.
pub(crate) fn fresh() -> io::Result<(OwnedFd, bool)> {
    let queue = OwnedFd::from(Kqueue::new()?);
    close_on_exec(queue.as_raw_fd());
    let mut receipt = [EMPTY];
    // To add and to trigger it in one entry would not trigger it (measured); here it is only added.
    let added = kevent(queue.as_raw_fd(), &[USER_ENTRY], &mut receipt, Some(Duration::ZERO));
    let user_event = added.is_ok_and(|receipts| receipts == 0 || answer(&receipt[0]).is_ok());
    Ok((queue, user_event))
}

/// Makes the user event fire.
pub(crate) fn trigger(queue: RawFd) -> Result<(), Errno> {
    // Its udata replaces the stored one: always the same (measured).
    let change = libc::kevent { fflags: libc::NOTE_TRIGGER, flags: 0, ..USER_ENTRY };
    kevent(queue, &[change], &mut [], Some(Duration::ZERO)).map(drop)
}

/// A fork does not inherit a queue, so that only an exec without a fork can see the moment before this.
fn close_on_exec(fd: RawFd) {
    // SAFETY: F_SETFD takes any number and touches no memory.
    unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
}

/// One call of kevent(2). It never waits if there is no room for events, and for ever if there is no timeout.
pub(crate) fn kevent(
    queue: RawFd,
    changes: &[libc::kevent],
    events: &mut [libc::kevent],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    let timeout = timeout.map(timespec);
    let timeout = timeout.as_ref().map_or(null(), ptr::from_ref);
    let changelist = if changes.is_empty() { null() } else { changes.as_ptr() };
    let eventlist = if events.is_empty() { null_mut() } else { events.as_mut_ptr() };
    // SAFETY: the kernel reads and writes as many elements as the slices have.
    let result =
        unsafe { libc::kevent(queue, changelist, changes.len() as _, eventlist, events.len() as _, timeout) };
    Errno::result(result).map(|count| count as usize)
}

/// One call without changes and with arguments as they are: `nevents`, and the timeout, which is none if it is absent.
///
/// # Panics
/// If there is room for more than the buffer has places. Less than none means no limit to FreeBSD (measured): the
/// buffer must have a place for every event that there can be.
pub(crate) fn wait_raw(
    queue: RawFd,
    events: &mut [libc::kevent],
    room: i32,
    timeout: Option<(i64, i64)>,
) -> Result<usize, Errno> {
    assert!(usize::try_from(room).is_ok_and(|room| room <= events.len()) || room < 0);
    let timeout = timeout
        .map(|(seconds, nanoseconds)| libc::timespec { tv_sec: seconds as _, tv_nsec: nanoseconds as _ });
    let timeout = timeout.as_ref().map_or(null(), ptr::from_ref);
    // SAFETY: there are no changes, and as many places as the kernel may write to; the timeout lives.
    let result = unsafe { libc::kevent(queue, null(), 0, events.as_mut_ptr(), room as _, timeout) };
    Errno::result(result).map(|count| count as usize)
}

/// The entry of the change list that is an operation, asking for a receipt.
fn entry(operation: &Operation) -> libc::kevent {
    let action = match operation.action {
        Action::Add(Trigger::Level) => libc::EV_ADD,
        Action::Add(Trigger::Edge) => libc::EV_ADD | libc::EV_CLEAR,
        Action::Delete => libc::EV_DELETE,
    };
    libc::kevent {
        ident: operation.fd as libc::uintptr_t,
        filter: match operation.filter {
            Filter::Read => libc::EVFILT_READ,
            Filter::Write => libc::EVFILT_WRITE,
        },
        flags: action | libc::EV_RECEIPT,
        udata: without_provenance_mut(operation.generation as usize),
        ..EMPTY
    }
}

/// What the receipt of an operation says.
fn result(operation: &Operation, receipt: &libc::kevent) -> Result<(), Errno> {
    match answer(receipt) {
        // NetBSD says this of a pipe whose other end is gone (pipe_kqfilter in sys_pipe.c), where the others say
        // EPIPE. Only a number that really is not open may be called so.
        Err(Errno::EBADF) if matches!(operation.action, Action::Add(_)) && is_open(operation.fd) => {
            Err(Errno::EPIPE)
        }
        answer => answer,
    }
}

/// What a receipt says.
pub(crate) fn answer(receipt: &libc::kevent) -> Result<(), Errno> {
    match receipt.data {
        0 => Ok(()),
        errno => Err(Errno::from_raw(errno as i32)),
    }
}

fn is_open(fd: RawFd) -> bool {
    // SAFETY: F_GETFD takes any number and touches no memory.
    unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}

fn record(raw: &libc::kevent) -> Option<Record> {
    let filter = match raw.filter {
        libc::EVFILT_READ => Filter::Read,
        libc::EVFILT_WRITE => Filter::Write,
        _ => return None,
    };
    let has = |flag| raw.flags & flag != 0;
    Some(Record {
        fd: raw.ident as RawFd,
        generation: raw.udata.addr() as Generation,
        filter,
        data: raw.data as _,
        eof: has(libc::EV_EOF),
        error: has(libc::EV_ERROR),
        deleted: has(libc::EV_ONESHOT),
        trigger: if has(libc::EV_CLEAR) { Trigger::Edge } else { Trigger::Level },
    })
}

/// The timeout, exact. Some systems refuse more than 10⁸ seconds.
fn timespec(timeout: Duration) -> timespec {
    const LONGEST: Duration = Duration::from_secs(100_000_000);
    let mut timeout = timeout.min(LONGEST);
    if fault::on(Fault::TimeoutRoundedDown) {
        timeout = Duration::from_millis(timeout.as_millis() as u64);
    }
    timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos() as _ }
}
