//! The system calls, and the epoll descriptor of a thread.
//!
//! epoll_ctl(2) and epoll_wait(2) take numbers here, not borrowed descriptors: a number may have been closed
//! behind the table's back. That must lead to an error of the call, and not break the guarantee of a
//! `BorrowedFd`.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::time::Duration;
use std::{io, ptr};

use fd_core::hooks::fault;
use fd_core::hooks::inject::{self, Call};
use fd_core::owner_process::OwnerProcess;
use fd_core::poller::milliseconds;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags};

use crate::changes::{Operation, remove};

/// One thread's epoll descriptor. Its number never changes; the epoll behind it may be replaced.
pub(crate) struct KernelQueue {
    epoll: OwnedFd,
    /// The process that made the epoll behind the number. A forked child shares it with its parent until it
    /// has replaced it, and must not remove registrations from it.
    process: OwnerProcess,
}

impl KernelQueue {
    pub(crate) fn new() -> io::Result<Self> {
        inject::before(Call::EpollCreate)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?.0;
        Ok(Self { epoll, process: OwnerProcess::this() })
    }

    /// Puts an empty epoll behind the number. A thread that uses the number meanwhile reaches the old epoll
    /// or the new one, and never another file: no lock is needed.
    pub(crate) fn replace(&self) -> io::Result<()> {
        let fresh = Self::new()?;
        loop {
            match dup3(&fresh.epoll, &self.epoll) {
                Ok(()) => break,
                Err(Errno::EINTR | Errno::EBUSY) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        self.process.claim();
        Ok(())
    }

    /// Calls epoll_ctl(2) once.
    pub(crate) fn control(&self, operation: Operation, fd: RawFd, tag: u64) -> Result<(), Errno> {
        control(self.epoll.as_raw_fd(), operation, fd, tag)
    }

    /// Removes the registration of `fd`, if there is one. Callable from any thread.
    pub(crate) fn forget(&self, fd: RawFd) {
        if self.process.is_this() {
            remove(|| self.control(Operation::Delete, fd, 0), || is_open(fd));
        }
    }

    /// Waits for events, and returns those of the buffer that the kernel has written. `buffer` is not empty.
    /// A signal ends the wait without an event. `None` waits without a limit: the kernel then reads no
    /// clock.
    pub(crate) fn wait<'b>(
        &self,
        buffer: &'b mut [libc::epoll_event],
        timeout: Option<Duration>,
    ) -> io::Result<&'b [libc::epoll_event]> {
        let result = wait(self.epoll.as_raw_fd(), buffer, timeout);
        fault!(InterruptedWaitFails => _ = result?);
        match result {
            Ok(count) => Ok(&buffer[..count]),
            Err(Errno::EINTR) => Ok(&[]),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Calls epoll_ctl(2) once.
pub(crate) fn control(epoll: RawFd, operation: Operation, fd: RawFd, tag: u64) -> Result<(), Errno> {
    let (code, events, call) = match operation {
        Operation::Add(events) => (libc::EPOLL_CTL_ADD, events, Call::EpollAdd),
        Operation::Modify(events) => (libc::EPOLL_CTL_MOD, events, Call::EpollModify),
        Operation::Delete => (libc::EPOLL_CTL_DEL, 0, Call::EpollDelete),
    };
    inject::before(call)?;
    let mut event = libc::epoll_event { events, u64: tag };
    // SAFETY: `event` is valid for the call, and the kernel keeps no pointer to it. DEL ignores it.
    let result = unsafe { libc::epoll_ctl(epoll, code, fd, &mut event) };
    Errno::result(result).map(drop)
}

/// Calls dup3(2) once: makes the number of `to` another descriptor of the open file of `from`.
fn dup3(from: &OwnedFd, to: &OwnedFd) -> Result<(), Errno> {
    inject::before(Call::Dup3)?;
    // SAFETY: the caller owns both numbers. The target stays open, so its OwnedFd stays valid.
    let result = unsafe { libc::dup3(from.as_raw_fd(), to.as_raw_fd(), libc::O_CLOEXEC) };
    Errno::result(result).map(drop)
}

/// Returns whether `fd` is an open descriptor.
pub(crate) fn is_open(fd: RawFd) -> bool {
    // SAFETY: F_GETFD takes any number and touches no memory.
    inject::before(Call::FcntlGetfd).is_ok() && unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}

/// Calls epoll_wait(2) once, or epoll_pwait2(2) if the timeout needs it. `None` waits without a limit.
#[inline]
pub(crate) fn wait(
    epoll: RawFd,
    buffer: &mut [libc::epoll_event],
    timeout: Option<Duration>,
) -> Result<usize, Errno> {
    let room = i32::try_from(buffer.len()).unwrap_or(i32::MAX);
    match timeout {
        None => epoll_wait(epoll, buffer, room, -1),
        Some(timeout) => wait_at_most(epoll, buffer, room, timeout),
    }
}

#[inline(never)]
fn wait_at_most(
    epoll: RawFd,
    buffer: &mut [libc::epoll_event],
    room: i32,
    timeout: Duration,
) -> Result<usize, Errno> {
    let is_fine = !timeout.subsec_nanos().is_multiple_of(1_000_000);
    fault!(TimeoutRoundedDown: is_fine => false);
    if is_fine && fine_timeouts().is_ok() {
        epoll_pwait2(epoll, buffer, room, KernelTimespec::of(timeout))
    } else {
        epoll_wait(epoll, buffer, room, milliseconds(Some(timeout)))
    }
}

/// Calls epoll_pwait(2) once. `None` waits without a limit.
pub(crate) fn wait_masked(
    epoll: RawFd,
    buffer: &mut [libc::epoll_event],
    timeout: Option<Duration>,
    mask: &libc::sigset_t,
) -> Result<usize, Errno> {
    let room = i32::try_from(buffer.len()).unwrap_or(i32::MAX);
    inject::before(Call::EpollWait)?;
    // SAFETY: the kernel writes at most `room` elements, and the buffer has as many. It only reads the mask.
    let result = unsafe { libc::epoll_pwait(epoll, buffer.as_mut_ptr(), room, milliseconds(timeout), mask) };
    Errno::result(result).map(|count| count as usize)
}

/// A timeout that is passed to the system call unchanged.
pub(crate) enum RawTimeout {
    /// The timeout of epoll_wait(2).
    Milliseconds(i32),
    /// The timeout of epoll_pwait2(2).
    Timespec { seconds: i64, nanoseconds: i64 },
}

/// Calls epoll_wait(2) or epoll_pwait2(2) once with unchanged arguments.
///
/// # Panics
/// If `room` is more than the length of the buffer.
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

/// The number of epoll_wait(2), which ignores the arguments after the timeout. On newer processors, it is
/// that of epoll_pwait(2), which does the same without a signal mask, and takes a little longer.
#[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "arm", target_arch = "s390x"))]
const EPOLL_WAIT: libc::c_long = libc::SYS_epoll_wait;
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "arm", target_arch = "s390x")))]
const EPOLL_WAIT: libc::c_long = libc::SYS_epoll_pwait;

#[inline]
fn epoll_wait(
    epoll: RawFd,
    buffer: &mut [libc::epoll_event],
    room: i32,
    milliseconds: i32,
) -> Result<usize, Errno> {
    assert!(usize::try_from(room).is_ok_and(|room| room <= buffer.len()) || room < 0);
    inject::before(Call::EpollWait)?;
    // As a plain system call: the function of the C library is a cancellation point, and enters and leaves
    // cancellation by two atomic read-modify-writes in every process with threads.
    // SAFETY: the kernel writes at most `room` elements, and the buffer has as many. It writes none if `room`
    // is negative. It reads no signal mask.
    let result = unsafe {
        libc::syscall(
            EPOLL_WAIT,
            epoll,
            buffer.as_mut_ptr(),
            room,
            milliseconds,
            ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    };
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

/// The number of epoll_pwait2(2). It is the same on all processors, as for every call since Linux 5.1. Not
/// every C library declares it.
const EPOLL_PWAIT2: libc::c_long = 441;

/// The kernel's `__kernel_timespec`. Both fields have 64 bits on every processor.
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

/// Returns whether epoll_pwait2(2) exists, or why waits are rounded up to milliseconds. It is probed once,
/// with a number that is never a descriptor, so the result does not depend on the number of free descriptors.
pub(crate) fn fine_timeouts() -> Result<(), &'static str> {
    static EXISTS: OnceLock<bool> = OnceLock::new();
    let exists = EXISTS.get_or_init(|| {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        let timeout = KernelTimespec::of(Duration::ZERO);
        let mask = ptr::null::<libc::sigset_t>();
        // SAFETY: there is room for one event; the kernel reads the timeout, and no signal mask.
        let result = unsafe { libc::syscall(EPOLL_PWAIT2, -1, &mut event, 1, &timeout, mask, 0_usize) };
        Errno::result(result) == Err(Errno::EBADF)
    });
    if *exists {
        Ok(())
    } else {
        Err("no epoll_pwait2(2) here: the timeout of epoll_wait(2) is in milliseconds")
    }
}

#[cfg(test)]
mod tests {
    use std::io::pipe;

    use fd_core::poller::testing::{in_bare_child, in_child};

    use super::*;

    #[test]
    fn a_child_removes_registrations_from_its_own_epoll_and_not_from_its_parents() {
        for bare in [false, true] {
            let queue = KernelQueue::new().unwrap();
            let (reader, _writer) = pipe().unwrap();
            let fd = reader.as_raw_fd();
            let add = || queue.control(Operation::Add(libc::EPOLLIN as u32), fd, 0);
            add().unwrap();
            let act = || {
                queue.forget(fd);
                let keeps_parents = add() == Err(Errno::EEXIST);
                let is_replaced = queue.replace().is_ok() && add().is_ok();
                queue.forget(fd);
                keeps_parents && is_replaced && add().is_ok()
            };
            assert!(if bare { in_bare_child(act) } else { in_child(act) }, "bare: {bare}");
            assert_eq!(add(), Err(Errno::EEXIST), "bare: {bare}: the parent has its registration");
            queue.forget(fd);
            assert_eq!(add(), Ok(()));
        }
    }
}
