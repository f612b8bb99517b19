//! The system calls, and the kernel queue of a thread.
//!
//! kevent(2) takes numbers here, not borrowed descriptors: a number may have been closed behind the table's
//! back. That must lead to an error of the call, and not break the guarantee of a `BorrowedFd`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::ptr::{self, null, null_mut, without_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use fd_core::hooks::fault;
use fd_core::hooks::inject::{self, Call};
use fd_core::owner_process::OwnerProcess;
use fd_core::poller::Wake;
use nix::errno::Errno;

use crate::abi;
use crate::changes::Operation;
use crate::entries::{self, Codes, Entry};
use crate::events::Record;
use crate::mistakes;
use crate::receipts::{self, FirstEntry, Kernel, NOT_ANSWERED};

/// The maximum number of attempts to set close-on-exec on a queue that is already in use.
const TRIES: usize = 64;

const CODES: Codes = Codes {
    filter_read: abi::EVFILT_READ as i64,
    filter_write: abi::EVFILT_WRITE as i64,
    add: abi::EV_ADD as u64,
    delete: abi::EV_DELETE as u64,
    clear: abi::EV_CLEAR as u64,
    receipt: abi::EV_RECEIPT as u64,
    oneshot: abi::EV_ONESHOT as u64,
    eof: abi::EV_EOF as u64,
    error: abi::EV_ERROR as u64,
};

/// The identifier of the user event. It cannot collide with a descriptor number: each filter has its own
/// identifiers (measured).
pub(crate) const USER_EVENT: libc::uintptr_t = 0;

/// One thread's kernel queue. Within a process its number never changes; the queue behind it may be replaced.
pub(crate) struct KernelQueue {
    number: AtomicI32,
    /// The process that has the queue. A forked child does not inherit it: there the number is closed, or
    /// belongs to another file.
    process: OwnerProcess,
    user_event: bool,
}

impl KernelQueue {
    pub(crate) fn new() -> io::Result<Self> {
        let (queue, user_event) = fresh()?;
        Ok(Self { number: AtomicI32::new(queue.into_raw_fd()), process: OwnerProcess::this(), user_event })
    }

    /// Replaces the queue by an empty one.
    pub(crate) fn replace(&self, forked: bool) -> io::Result<()> {
        let (queue, _) = fresh()?;
        if forked || !self.is_ours() {
            // Only this thread exists after the fork: no other thread has read the number and is about to use
            // it.
            fault!(KqueueClosesInherited => mistakes::close(self.number()));
            self.number.store(queue.into_raw_fd(), Ordering::Relaxed);
            self.process.claim();
            return Ok(());
        }
        // The number stays the same, because wakers and `forget` of other threads use it at any time.
        loop {
            match dup2(&queue, self.number()) {
                Ok(()) => break,
                Err(Errno::EINTR | Errno::EBUSY) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        // The old queue is gone, so the new one is used even if close-on-exec cannot be set.
        (0..TRIES).find(|_| close_on_exec(self.number()).is_ok());
        // A wake-up of the old queue may be lost: repeat it.
        self.trigger();
        Ok(())
    }

    /// Returns whether the kernel has user events.
    pub(crate) fn has_user_event(&self) -> bool {
        self.user_event
    }

    /// Submits all entries, even if some fail, and replaces `results` by the result of each.
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

    /// Removes the filters of a descriptor, if there are any. Callable from any thread.
    pub(crate) fn forget(&self, removal: [Operation; 2]) {
        if self.is_ours() {
            let (mut changes, mut receipts) = (Vec::with_capacity(1), Vec::with_capacity(1));
            let queue = self.number();
            let mut calls = Calls { queue, changes: &mut changes, receipts: &mut receipts };
            receipts::remove(&mut calls, &removal);
        }
    }

    /// Waits for at most `room` records, and leaves them in the buffers. `room` is not zero. A signal ends
    /// the wait without a record. `None` waits without a limit.
    pub(crate) fn wait(
        &self,
        buffers: &mut Buffers,
        room: usize,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        buffers.seen = 0;
        if buffers.events.len() < room {
            buffers.events.resize(room, EMPTY);
        }
        let result = kevent(self.number(), &[], &mut buffers.events[..room], timeout);
        fault!(InterruptedWaitFails => _ = result?);
        match result {
            Ok(count) => buffers.seen = count,
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    /// Ends the current or the next wait of the queue's thread. Async-signal-safe.
    fn trigger(&self) {
        let before = Errno::last_raw();
        // It fails if there is no user event (an old kernel, a forked child before `replace`). Then there is
        // no waker, either.
        let _ = trigger(self.number());
        Errno::set_raw(before);
    }

    fn number(&self) -> RawFd {
        // Relaxed: it changes only in a forked child, which has no other threads yet.
        self.number.load(Ordering::Relaxed)
    }

    /// Returns whether this process has the queue.
    fn is_ours(&self) -> bool {
        self.process.is_this()
    }
}

impl Drop for KernelQueue {
    fn drop(&mut self) {
        if self.is_ours() {
            // SAFETY: the number came from into_raw_fd in this process, and no other code closes it.
            unsafe { libc::close(self.number()) };
            #[cfg(kqueue_library)]
            abi::settle();
        }
    }
}

/// Wakes one thread through its queue. Keeps the queue open.
pub(crate) struct Waker(pub(crate) Arc<KernelQueue>);

impl Wake for Waker {
    fn wake(&self) {
        self.0.trigger();
    }
}

/// The calls of kevent(2) that submit entries.
struct Calls<'a> {
    queue: RawFd,
    changes: &'a mut Vec<abi::kevent>,
    receipts: &'a mut Vec<abi::kevent>,
}

impl Kernel for Calls<'_> {
    fn call(&mut self, operations: &[Operation], receipts: &mut Vec<i64>) -> Result<(), Errno> {
        self.changes.clear();
        self.changes.extend(operations.iter().map(|operation| raw(&entries::entry(&CODES, operation))));
        // As many receipts as entries: with less room the kernel stops where the room ends, without an error
        // (measured). With more, a kernel might fill the rest with events.
        self.receipts.clear();
        self.receipts.resize(operations.len(), EMPTY);
        let count = kevent(self.queue, self.changes, self.receipts, Some(Duration::ZERO))?;
        receipts.extend(self.receipts[..count].iter().filter_map(receipt));
        Ok(())
    }

    fn is_open(&self, fd: RawFd) -> bool {
        // SAFETY: F_GETFD takes any number and touches no memory.
        inject::before(Call::FcntlGetfd).is_ok() && unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
    }
}

/// The buffers of one thread's calls.
#[derive(Default)]
pub(crate) struct Buffers {
    changes: Vec<abi::kevent>,
    receipts: Vec<abi::kevent>,
    answers: Vec<i64>,
    events: Vec<abi::kevent>,
    seen: usize,
}

// SAFETY: the only pointers in it are the `udata` fields, which hold generations and are never dereferenced.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Returns the records of the last wait, without the user event.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.events[..self.seen].iter().filter_map(|event| entries::record(&CODES, &entry(event)))
    }

    /// Makes [`Buffers::records`] empty.
    pub(crate) fn clear_records(&mut self) {
        self.seen = 0;
    }
}

// SAFETY: a kevent consists of numbers and a pointer that may be null.
pub(crate) const EMPTY: abi::kevent = unsafe { std::mem::zeroed() };

const USER_ENTRY: abi::kevent = abi::kevent {
    ident: USER_EVENT,
    filter: abi::EVFILT_USER,
    flags: abi::EV_ADD | abi::EV_CLEAR | abi::EV_RECEIPT,
    ..EMPTY
};

/// An entry that succeeds in every kernel. The timer is deleted long before it expires.
const TIMER_ENTRY: abi::kevent =
    abi::kevent { filter: abi::EVFILT_TIMER, flags: abi::EV_ADD | abi::EV_RECEIPT, data: 1_000_000, ..EMPTY };

/// Creates a queue with close-on-exec. Returns it, and whether it has a user event.
///
/// # Errors
/// Those of the system calls; `Unsupported` if the kernel has no `EV_RECEIPT`.
pub(crate) fn fresh() -> io::Result<(OwnedFd, bool)> {
    inject::before(Call::Kqueue)?;
    // SAFETY: kqueue(2) has no arguments.
    let number = Errno::result(unsafe { abi::kqueue() })?;
    // SAFETY: the number is new, and no other code knows it.
    let queue = unsafe { OwnedFd::from_raw_fd(number) };
    close_on_exec(queue.as_raw_fd())?;
    let user_event = receipts::first_answers(|entry| {
        let entry = match entry {
            // This only adds it: an entry that adds and triggers it does not trigger it (measured).
            FirstEntry::AddUserEvent => USER_ENTRY,
            FirstEntry::AddTimer => TIMER_ENTRY,
            FirstEntry::DeleteTimer => abi::kevent { flags: abi::EV_DELETE | abi::EV_RECEIPT, ..TIMER_ENTRY },
        };
        let mut returned = [EMPTY];
        let count = kevent(queue.as_raw_fd(), &[entry], &mut returned, Some(Duration::ZERO))?;
        Ok(returned[..count].first().and_then(receipt))
    })?;
    Ok((queue, user_event))
}

/// Triggers the user event. Async-signal-safe, so it has no injected errors.
pub(crate) fn trigger(queue: RawFd) -> Result<(), Errno> {
    // The kernel replaces the stored udata by that of this entry (measured), which is always the same.
    let change = abi::kevent { fflags: abi::NOTE_TRIGGER, flags: 0, ..USER_ENTRY };
    loop {
        match call(queue, &[change], &mut [], Some(Duration::ZERO)) {
            Err(Errno::EINTR) => {}
            result => return result.map(drop),
        }
    }
}

/// Calls dup2(2) once: makes the number `to` another descriptor of the open file of `from`.
fn dup2(from: &OwnedFd, to: RawFd) -> Result<(), Errno> {
    inject::before(Call::Dup2)?;
    // SAFETY: the caller owns both numbers, and the target stays open.
    Errno::result(unsafe { libc::dup2(from.as_raw_fd(), to) }).map(drop)
}

/// Sets close-on-exec. A forked child does not inherit a queue, so only an exec without a fork can happen
/// before this call.
fn close_on_exec(fd: RawFd) -> Result<(), Errno> {
    inject::before(Call::FcntlSetfd)?;
    // SAFETY: F_SETFD takes any number and touches no memory.
    Errno::result(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) }).map(drop)
}

/// Calls kevent(2) once. Without room for events it never waits. A timeout of `None` waits without a limit.
pub(crate) fn kevent(
    queue: RawFd,
    changes: &[abi::kevent],
    events: &mut [abi::kevent],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    let injected = if changes.is_empty() { Call::KeventWait } else { Call::KeventSubmit };
    inject::before(injected)?;
    let result = call(queue, changes, events, timeout);
    inject::after(injected)?;
    result
}

fn call(
    queue: RawFd,
    changes: &[abi::kevent],
    events: &mut [abi::kevent],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    let timeout = timeout.map(entries::timeout).map(timespec);
    let timeout = timeout.as_ref().map_or(null(), ptr::from_ref);
    let changelist = if changes.is_empty() { null() } else { changes.as_ptr() };
    let eventlist = if events.is_empty() { null_mut() } else { events.as_mut_ptr() };
    // SAFETY: the kernel reads and writes as many elements as the slices have.
    let result =
        unsafe { abi::kevent(queue, changelist, changes.len() as _, eventlist, events.len() as _, timeout) };
    Errno::result(result).map(|count| count as usize)
}

fn timespec((seconds, nanoseconds): (i64, i64)) -> libc::timespec {
    libc::timespec { tv_sec: seconds as _, tv_nsec: nanoseconds as _ }
}

/// Calls kevent(2) once without changes and with unchanged arguments: `room` as `nevents`, and the timeout.
///
/// # Panics
/// If `room` is more than the length of the buffer. FreeBSD treats a negative `room` as no limit (measured):
/// the buffer must have a place for every event that can occur.
pub(crate) fn wait_raw(
    queue: RawFd,
    events: &mut [abi::kevent],
    room: i32,
    timeout: Option<(i64, i64)>,
) -> Result<usize, Errno> {
    assert!(usize::try_from(room).is_ok_and(|room| room <= events.len()) || room < 0);
    let timeout = timeout.map(timespec);
    let timeout = timeout.as_ref().map_or(null(), ptr::from_ref);
    inject::before(Call::KeventWait)?;
    // SAFETY: there are no changes; the buffer has as many places as the kernel may write; the timeout is
    // valid for the call.
    let result = unsafe { abi::kevent(queue, null(), 0, events.as_mut_ptr(), room as _, timeout) };
    Errno::result(result).map(|count| count as usize)
}

/// Returns the error number of a receipt, zero for success. `None` for an event.
fn receipt(returned: &abi::kevent) -> Option<i64> {
    entries::receipt(&CODES, &entry(returned))
}

/// Returns the result of a call with one entry and room for one receipt.
pub(crate) fn answer(returned: &[abi::kevent]) -> Result<(), Errno> {
    returned.first().and_then(receipt).map_or(Err(NOT_ANSWERED), receipts::answer)
}

/// Converts an entry to the system's structure. It only copies fields.
fn raw(entry: &Entry) -> abi::kevent {
    abi::kevent {
        ident: entry.ident as _,
        filter: entry.filter as _,
        flags: entry.flags as _,
        data: entry.data as _,
        udata: without_provenance_mut(entry.udata),
        ..EMPTY
    }
}

/// Converts the system's structure to an entry. It only copies fields.
fn entry(raw: &abi::kevent) -> Entry {
    Entry {
        ident: raw.ident as _,
        filter: raw.filter as _,
        flags: raw.flags as _,
        data: raw.data as _,
        udata: raw.udata.addr(),
    }
}

/// Returns the version of the library behind kqueue(2): `2.7.0`. `None` if it is not libkqueue.
#[cfg(kqueue_library)]
pub(crate) fn library_version() -> Option<String> {
    let (queue, _) = fresh().ok()?;
    let question = abi::kevent {
        ident: 0,
        filter: abi::EVFILT_LIBKQUEUE,
        flags: abi::EV_ADD,
        fflags: abi::NOTE_VERSION,
        ..EMPTY
    };
    let mut answer = [EMPTY];
    let count = call(queue.as_raw_fd(), &[question], &mut answer, Some(Duration::ZERO)).ok()?;
    let [answer] = answer;
    // Another library refuses the filter, with an error or in a receipt.
    let refused = count != 1 || answer.filter != abi::EVFILT_LIBKQUEUE || answer.data <= 0;
    let [major, minor, patch, release] = u32::try_from(answer.data).ok().filter(|_| !refused)?.to_be_bytes();
    let suffix = if release == 0 { String::new() } else { format!("-{release}") };
    Some(format!("{major}.{minor}.{patch}{suffix}"))
}
