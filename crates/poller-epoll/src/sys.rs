//! The system calls, and the epoll descriptors of all threads.
//!
//! epoll_ctl(2) and epoll_wait(2) are called by number, not through borrowed descriptors: a number may have been
//! closed behind the table's back, which must be an answer here, not a broken promise.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{io, ptr};

use fd_core::hooks::fault;
use fd_core::hooks::inject::{self, Call};
use fd_core::poller::milliseconds;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags};

use crate::changes::{Operation, remove};

/// One epoll descriptor. Its number never changes; what is behind it may.
pub(crate) struct Slot {
    epoll: OwnedFd,
    /// The process that made what is behind the number. A forked child shares it with its parent until it has
    /// replaced it, and must not take anything out of it.
    process: AtomicU32,
}

impl Slot {
    pub(crate) fn new() -> io::Result<Self> {
        inject::before(Call::EpollCreate)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?.0;
        Ok(Self { epoll, process: AtomicU32::new(std::process::id()) })
    }

    /// Puts an empty epoll behind the number. Threads that use the number meanwhile get the old or the new one,
    /// and never a stranger's: no lock is needed.
    pub(crate) fn replace(&self) -> io::Result<()> {
        let fresh = Self::new()?;
        loop {
            match dup3(&fresh.epoll, &self.epoll) {
                Ok(()) => break,
                Err(Errno::EINTR | Errno::EBUSY) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        // Relaxed: read by this process's other threads, which all see its own id or, right after a fork, none.
        self.process.store(std::process::id(), Ordering::Relaxed);
        Ok(())
    }

    /// One call of epoll_ctl(2).
    pub(crate) fn control(&self, operation: Operation, fd: RawFd, tag: u64) -> Result<(), Errno> {
        control(self.epoll.as_raw_fd(), operation, fd, tag)
    }

    /// Removes `fd`, whatever is or is not registered.
    pub(crate) fn forget(&self, fd: RawFd) {
        if self.process.load(Ordering::Relaxed) == std::process::id() {
            remove(|| self.control(Operation::Delete, fd, 0), || is_open(fd));
        }
    }

    /// One wait. `buffer` is not empty. A signal is a success with nothing seen.
    pub(crate) fn wait<'b>(
        &self,
        buffer: &'b mut [libc::epoll_event],
        timeout: Duration,
    ) -> io::Result<&'b [libc::epoll_event]> {
        let result = wait(self.epoll.as_raw_fd(), buffer, Some(timeout));
        fault!(InterruptedWaitFails => _ = result?);
        match result {
            Ok(count) => Ok(&buffer[..count]),
            Err(Errno::EINTR) => Ok(&[]),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// One call of epoll_ctl(2).
pub(crate) fn control(epoll: RawFd, operation: Operation, fd: RawFd, tag: u64) -> Result<(), Errno> {
    let (code, events, call) = match operation {
        Operation::Add(events) => (libc::EPOLL_CTL_ADD, events, Call::EpollAdd),
        Operation::Modify(events) => (libc::EPOLL_CTL_MOD, events, Call::EpollModify),
        Operation::Delete => (libc::EPOLL_CTL_DEL, 0, Call::EpollDelete),
    };
    inject::before(call)?;
    let mut event = libc::epoll_event { events, u64: tag };
    // SAFETY: `event` is valid for the call, which keeps no pointer to it. DEL ignores it.
    let result = unsafe { libc::epoll_ctl(epoll, code, fd, &mut event) };
    Errno::result(result).map(drop)
}

/// One call of dup3(2): puts what is behind `from` behind the number of `to`, too.
fn dup3(from: &OwnedFd, to: &OwnedFd) -> Result<(), Errno> {
    inject::before(Call::Dup3)?;
    // SAFETY: plain numbers, both owned by the caller; the target stays open, as its OwnedFd claims.
    let result = unsafe { libc::dup3(from.as_raw_fd(), to.as_raw_fd(), libc::O_CLOEXEC) };
    Errno::result(result).map(drop)
}

/// Whether `fd` is an open descriptor.
pub(crate) fn is_open(fd: RawFd) -> bool {
    // SAFETY: F_GETFD takes any number and touches no memory.
    inject::before(Call::FcntlGetfd).is_ok() && unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}

/// One call of epoll_wait(2), or of epoll_pwait2(2) if the timeout needs it. Without a timeout it waits for ever.
pub(crate) fn wait(
    epoll: RawFd,
    buffer: &mut [libc::epoll_event],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    let room = i32::try_from(buffer.len()).unwrap_or(i32::MAX);
    let Some(timeout) = timeout else { return epoll_wait(epoll, buffer, room, -1) };
    let is_whole = timeout.subsec_nanos().is_multiple_of(1_000_000);
    fault!(TimeoutRoundedDown: is_whole => true);
    if is_whole || fine_timeouts().is_err() {
        epoll_wait(epoll, buffer, room, milliseconds(timeout))
    } else {
        epoll_pwait2(epoll, buffer, room, KernelTimespec::of(timeout))
    }
}

/// A timeout as it is handed over.
pub(crate) enum RawTimeout {
    /// To epoll_wait(2).
    Milliseconds(i32),
    /// To epoll_pwait2(2).
    Timespec { seconds: i64, nanoseconds: i64 },
}

/// One call with arguments as they are.
///
/// # Panics
/// If there is room for more than the buffer has places.
pub(crate) fn wait_raw(
    epoll: RawFd,
    buffer: &mut [libc::epoll_event],
    room: i32,
    timeout: RawTimeout,
) -> Result<usize, Errno> {
    match timeout {
        RawTimeout::Milliseconds(milliseconds) => epoll_wait(epoll, buffer, room, milliseconds),
        RawTimeout::Timespec { seconds, nanoseconds } => {
            epoll_pwait2(epoll, buffer, room, KernelTimespec { seconds, nanoseconds })
        }
    }
}

fn epoll_wait(
    epoll: RawFd,
    buffer: &mut [libc::epoll_event],
    room: i32,
    milliseconds: i32,
) -> Result<usize, Errno> {
    assert!(usize::try_from(room).is_ok_and(|room| room <= buffer.len()) || room < 0);
    inject::before(Call::EpollWait)?;
    // SAFETY: the kernel writes at most `room` elements into the buffer, which has as many, and none if it is negative.
    let result = unsafe { libc::epoll_wait(epoll, buffer.as_mut_ptr(), room, milliseconds) };
    Errno::result(result).map(|count| count as usize)
}

fn epoll_pwait2(
    epoll: RawFd,
    buffer: &mut [libc::epoll_event],
    room: i32,
    timeout: KernelTimespec,
) -> Result<usize, Errno> {
    assert!(usize::try_from(room).is_ok_and(|room| room <= buffer.len()) || room < 0);
    inject::before(Call::EpollPwait2)?;
    // SAFETY: as for epoll_wait; the kernel reads the timeout, and no signal mask.
    let result = unsafe {
        libc::syscall(
            EPOLL_PWAIT2,
            epoll,
            buffer.as_mut_ptr(),
            room,
            &timeout,
            ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    };
    Errno::result(result).map(|count| count as usize)
}

/// The number of epoll_pwait2(2): one for all processors, as for every call since Linux 5.1. C libraries have no older name for it.
const EPOLL_PWAIT2: libc::c_long = 441;

/// The kernel's `__kernel_timespec`: 64 bits wide on every processor.
#[repr(C)]
struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

impl KernelTimespec {
    fn of(timeout: Duration) -> Self {
        let seconds = i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX);
        Self { seconds, nanoseconds: timeout.subsec_nanos().into() }
    }
}

/// Whether epoll_pwait2(2) is there, or why waits are rounded up to milliseconds. The kernel is asked once, with a number
/// that is never a descriptor: the answer does not depend on how many descriptors are left.
pub(crate) fn fine_timeouts() -> Result<(), &'static str> {
    static THERE: OnceLock<bool> = OnceLock::new();
    let there = THERE.get_or_init(|| {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        let timeout = KernelTimespec::of(Duration::ZERO);
        let mask = ptr::null::<libc::sigset_t>();
        // SAFETY: there is room for the one event; the kernel reads the timeout, and no signal mask.
        let result = unsafe { libc::syscall(EPOLL_PWAIT2, -1, &mut event, 1, &timeout, mask, 0_usize) };
        Errno::result(result) == Err(Errno::EBADF)
    });
    if *there {
        Ok(())
    } else {
        Err("this kernel or emulator has no epoll_pwait2(2), and epoll_wait(2) counts in milliseconds")
    }
}
