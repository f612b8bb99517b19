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

use fd_core::hooks::fault;
use fd_core::hooks::inject::{self, Call};
use fd_core::poller::Wake;
use nix::errno::Errno;
use nix::sys::event::Kqueue;

use crate::changes::Operation;
use crate::entries::{self, Codes, Entry};
use crate::events::Record;
use crate::mistakes;
use crate::receipts::{self, Kernel};

/// How often close-on-exec is asked for of a queue that is in use already.
const TRIES: usize = 64;

const CODES: Codes = Codes {
    filter_read: libc::EVFILT_READ as i64,
    filter_write: libc::EVFILT_WRITE as i64,
    add: libc::EV_ADD as u64,
    delete: libc::EV_DELETE as u64,
    clear: libc::EV_CLEAR as u64,
    receipt: libc::EV_RECEIPT as u64,
    oneshot: libc::EV_ONESHOT as u64,
    eof: libc::EV_EOF as u64,
    error: libc::EV_ERROR as u64,
};

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
            fault!(KqueueClosesInherited => mistakes::close(self.number()));
            self.number.store(queue.into_raw_fd(), Ordering::Relaxed);
            self.process.store(std::process::id(), Ordering::Relaxed);
            return Ok(());
        }
        // Behind the same number, because wakers and those who forget use it at any time.
        loop {
            match dup2(&queue, self.number()) {
                Ok(()) => break,
                Err(Errno::EINTR | Errno::EBUSY) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        // The old queue is gone: this one must do, with or without.
        (0..TRIES).find(|_| close_on_exec(self.number()).is_ok());
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
        let Buffers { changes, receipts, answers, .. } = buffers;
        let mut calls = Calls { queue: self.number(), changes, receipts };
        receipts::submit(&mut calls, operations, answers, results);
        fault!(KqueueChangesTakeEvents => mistakes::take_events(self.number(), receipts));
    }

    /// Removes a descriptor, whatever is or is not registered. From any thread.
    pub(crate) fn forget(&self, removal: [Operation; 2]) {
        if self.is_ours() {
            let (mut changes, mut receipts) = (Vec::with_capacity(1), Vec::with_capacity(1));
            let queue = self.number();
            let mut calls = Calls { queue, changes: &mut changes, receipts: &mut receipts };
            receipts::remove(&mut calls, &removal);
        }
    }

    /// Waits for at most `room` records, which is more than none, and leaves them in the buffers. A signal is a
    /// success with nothing seen.
    pub(crate) fn wait(&self, buffers: &mut Buffers, room: usize, timeout: Duration) -> io::Result<()> {
        buffers.seen = 0;
        if buffers.events.len() < room {
            buffers.events.resize(room, EMPTY);
        }
        let result = kevent(self.number(), &[], &mut buffers.events[..room], Some(timeout));
        fault!(InterruptedWaitFails => _ = result?);
        match result {
            Ok(count) => buffers.seen = count,
            Err(Errno::EINTR) => {}
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

/// The calls of kevent(2) that submit entries.
struct Calls<'a> {
    queue: RawFd,
    changes: &'a mut Vec<libc::kevent>,
    receipts: &'a mut Vec<libc::kevent>,
}

impl Kernel for Calls<'_> {
    fn call(&mut self, operations: &[Operation], receipts: &mut Vec<i64>) -> Result<(), Errno> {
        self.changes.clear();
        self.changes.extend(operations.iter().map(|operation| raw(&entries::entry(&CODES, operation))));
        // As many receipts as entries: with less room the kernel stops where the room ends, and says nothing
        // (measured); with more, some kernel might fill the rest with events.
        self.receipts.clear();
        self.receipts.resize(operations.len(), EMPTY);
        let count = kevent(self.queue, self.changes, self.receipts, Some(Duration::ZERO))?;
        receipts.extend(self.receipts[..count].iter().map(|receipt| -> i64 { receipt.data as _ }));
        Ok(())
    }

    fn is_open(&self, fd: RawFd) -> bool {
        // SAFETY: F_GETFD takes any number and touches no memory.
        inject::before(Call::FcntlGetfd).is_ok() && unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
    }
}

/// What one thread's calls read and write; per thread, because receipts are looked at.
#[derive(Default)]
pub(crate) struct Buffers {
    changes: Vec<libc::kevent>,
    receipts: Vec<libc::kevent>,
    answers: Vec<i64>,
    events: Vec<libc::kevent>,
    seen: usize,
}

// SAFETY: the only pointers in it are udata, which are generations and are never followed.
unsafe impl Send for Buffers {}

impl Buffers {
    /// What the last wait saw, without the user event, whose whole message is that the wait is over.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.events[..self.seen].iter().filter_map(|event| entries::record(&CODES, &entry(event)))
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
    inject::before(Call::Kqueue)?;
    let queue = OwnedFd::from(Kqueue::new()?);
    close_on_exec(queue.as_raw_fd())?;
    let mut receipt = [EMPTY];
    // To add and to trigger it in one entry would not trigger it (measured); here it is only added.
    let user_event = loop {
        match kevent(queue.as_raw_fd(), &[USER_ENTRY], &mut receipt, Some(Duration::ZERO)) {
            Ok(receipts) => break receipts == 0 || answer(&receipt[0]).is_ok(),
            Err(Errno::EINTR) => {}
            // An old kernel does not have the filter.
            Err(Errno::EINVAL) => break false,
            Err(errno) => return Err(errno.into()),
        }
    };
    Ok((queue, user_event))
}

/// Makes the user event fire. Async-signal-safe, so it does not ask for injected errors.
pub(crate) fn trigger(queue: RawFd) -> Result<(), Errno> {
    // Its udata replaces the stored one: always the same (measured).
    let change = libc::kevent { fflags: libc::NOTE_TRIGGER, flags: 0, ..USER_ENTRY };
    loop {
        match call(queue, &[change], &mut [], Some(Duration::ZERO)) {
            Err(Errno::EINTR) => {}
            result => return result.map(drop),
        }
    }
}

/// One call of dup2(2): puts what is behind `from` behind the number `to`, too.
fn dup2(from: &OwnedFd, to: RawFd) -> Result<(), Errno> {
    inject::before(Call::Dup2)?;
    // SAFETY: plain numbers, both the caller's; the target stays open.
    Errno::result(unsafe { libc::dup2(from.as_raw_fd(), to) }).map(drop)
}

/// A fork does not inherit a queue, so that only an exec without a fork can see the moment before this.
fn close_on_exec(fd: RawFd) -> Result<(), Errno> {
    inject::before(Call::FcntlSetfd)?;
    // SAFETY: F_SETFD takes any number and touches no memory.
    Errno::result(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) }).map(drop)
}

/// One call of kevent(2). It never waits if there is no room for events, and for ever if there is no timeout.
pub(crate) fn kevent(
    queue: RawFd,
    changes: &[libc::kevent],
    events: &mut [libc::kevent],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    let asked = if changes.is_empty() { Call::KeventWait } else { Call::KeventSubmit };
    inject::before(asked)?;
    let result = call(queue, changes, events, timeout);
    inject::after(asked)?;
    result
}

fn call(
    queue: RawFd,
    changes: &[libc::kevent],
    events: &mut [libc::kevent],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    let timeout = timeout.map(entries::timeout).map(timespec);
    let timeout = timeout.as_ref().map_or(null(), ptr::from_ref);
    let changelist = if changes.is_empty() { null() } else { changes.as_ptr() };
    let eventlist = if events.is_empty() { null_mut() } else { events.as_mut_ptr() };
    // SAFETY: the kernel reads and writes as many elements as the slices have.
    let result =
        unsafe { libc::kevent(queue, changelist, changes.len() as _, eventlist, events.len() as _, timeout) };
    Errno::result(result).map(|count| count as usize)
}

fn timespec((seconds, nanoseconds): (i64, i64)) -> libc::timespec {
    libc::timespec { tv_sec: seconds as _, tv_nsec: nanoseconds as _ }
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
    let timeout = timeout.map(timespec);
    let timeout = timeout.as_ref().map_or(null(), ptr::from_ref);
    inject::before(Call::KeventWait)?;
    // SAFETY: there are no changes, and as many places as the kernel may write to; the timeout lives.
    let result = unsafe { libc::kevent(queue, null(), 0, events.as_mut_ptr(), room as _, timeout) };
    Errno::result(result).map(|count| count as usize)
}

/// What a receipt says.
pub(crate) fn answer(receipt: &libc::kevent) -> Result<(), Errno> {
    receipts::answer(receipt.data as _)
}

/// The system's structure. Nothing but copies.
fn raw(entry: &Entry) -> libc::kevent {
    libc::kevent {
        ident: entry.ident as _,
        filter: entry.filter as _,
        flags: entry.flags as _,
        data: entry.data as _,
        udata: without_provenance_mut(entry.udata),
        ..EMPTY
    }
}

/// What is used of the system's structure. Nothing but copies.
fn entry(raw: &libc::kevent) -> Entry {
    Entry {
        ident: raw.ident as _,
        filter: raw.filter as _,
        flags: raw.flags as _,
        data: raw.data as _,
        udata: raw.udata.addr(),
    }
}
