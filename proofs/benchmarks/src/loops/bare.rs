//! The bare system calls, in the shortest loop that does the work.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::ring::{Ring, thread_time};
use crate::work::Poller;

pub fn run(ring: &Ring, poller: Poller) -> io::Result<Duration> {
    match poller {
        Poller::Kernel => kernel::run(ring),
        Poller::Poll => poll(ring),
        Poller::Select => select(ring),
    }
}

fn poll(ring: &Ring) -> io::Result<Duration> {
    let entry = |fd: std::os::fd::BorrowedFd<'_>| libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries: Vec<_> = ring.descriptors().map(entry).collect();
    let begin = thread_time();
    ring.start();
    while !ring.is_over() {
        // SAFETY: the array is valid for the call.
        let mut ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, -1) };
        if ready < 0 {
            return Err(io::Error::last_os_error());
        }
        for (index, entry) in entries.iter().enumerate() {
            if ready == 0 {
                break;
            }
            if entry.revents & libc::POLLIN != 0 {
                ready -= 1;
                if ring.ready(index) {
                    break;
                }
            }
        }
    }
    Ok(thread_time() - begin)
}

fn select(ring: &Ring) -> io::Result<Duration> {
    use nix::sys::select::{FdSet, select};

    let descriptors: Vec<_> = ring.descriptors().collect();
    let mut index_of = vec![usize::MAX; libc::FD_SETSIZE];
    let mut wanted = FdSet::new();
    let mut bound = 0;
    for (index, fd) in descriptors.iter().enumerate() {
        if fd.as_raw_fd() as usize >= libc::FD_SETSIZE {
            return Err(io::Error::other("a descriptor number is above FD_SETSIZE"));
        }
        index_of[fd.as_raw_fd() as usize] = index;
        bound = bound.max(fd.as_raw_fd() + 1);
        wanted.insert(*fd);
    }
    let begin = thread_time();
    ring.start();
    while !ring.is_over() {
        let mut ready = wanted;
        select(bound, &mut ready, None, None, None)?;
        for fd in ready.fds(Some(bound - 1)) {
            if ring.ready(index_of[fd.as_raw_fd() as usize]) {
                break;
            }
        }
    }
    Ok(thread_time() - begin)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) mod kernel {
    use super::*;
    use fd_core::poller::{BATCH, MakeBackend};
    use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

    /// fd-core's backend for the same interface.
    pub const BACKEND: MakeBackend = poller_epoll::backend;

    pub fn run(ring: &Ring) -> io::Result<Duration> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (index, fd) in ring.descriptors().enumerate() {
            epoll.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, index as u64))?;
        }
        let mut events = [EpollEvent::empty(); BATCH];
        let begin = thread_time();
        ring.start();
        while !ring.is_over() {
            let count = epoll.wait(&mut events, EpollTimeout::NONE)?;
            for event in &events[..count] {
                if ring.ready(event.data() as usize) {
                    break;
                }
            }
        }
        Ok(thread_time() - begin)
    }
}

#[cfg(any(
    target_os = "freebsd",
    target_os = "macos",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "dragonfly"
))]
pub(super) mod kernel {
    use super::*;
    use fd_core::poller::{BATCH, MakeBackend};
    use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};

    /// fd-core's backend for the same interface.
    pub const BACKEND: MakeBackend = poller_kqueue::backend;

    pub fn run(ring: &Ring) -> io::Result<Duration> {
        let queue = Kqueue::new()?;
        let entry = |fd: usize, index: usize| {
            KEvent::new(fd, EventFilter::EVFILT_READ, EvFlags::EV_ADD, FilterFlag::empty(), 0, index as _)
        };
        let numbers = ring.descriptors().map(|fd| fd.as_raw_fd() as usize);
        let changes: Vec<_> = numbers.enumerate().map(|(index, fd)| entry(fd, index)).collect();
        queue.kevent(&changes, &mut [], None)?;
        let mut events = [entry(0, 0); BATCH];
        let begin = thread_time();
        ring.start();
        while !ring.is_over() {
            let count = queue.kevent(&[], &mut events, None)?;
            for event in &events[..count] {
                if ring.ready(event.udata() as usize) {
                    break;
                }
            }
        }
        Ok(thread_time() - begin)
    }
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "macos",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "dragonfly"
)))]
pub(super) mod kernel {
    use super::*;
    use fd_core::poller::MakeBackend;

    /// fd-core's backend for the same interface.
    pub const BACKEND: MakeBackend = poller_poll::backend;

    pub fn run(ring: &Ring) -> io::Result<Duration> {
        poll(ring)
    }
}
