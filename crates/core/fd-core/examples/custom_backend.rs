//! A backend of one's own, on poll(2), and an echo through a socket pair that it polls.
//!
//! The interest of a group is in memory that its threads share ([`SharedInterest`]). Before each wait, a
//! thread lists the descriptors that it may poll ([`ThreadInterest`]). A backend with a kernel object per
//! thread, as epoll, sets `kernel_state` and keeps the interest there.

use std::error::Error;
use std::io::{self, Read, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pollmatrix_fd_core::error::BackendError;
use pollmatrix_fd_core::ids::{GroupId, ThreadId, ThreadMask};
use pollmatrix_fd_core::poller::{
    Backend, Capabilities, Change, DeregisterReason, Event, Events, Interest, Limits, Poller, milliseconds,
};
use pollmatrix_fd_core::thread_interest::{SharedInterest, ThreadInterest};
use pollmatrix_fd_core::{FdTable, InsertOptions, ReadyGuard, Runtime};

/// The part that all threads share: the interest of each group.
struct OwnBackend(SharedInterest);

fn backend(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    Ok(Box::new(OwnBackend(SharedInterest::new(limits))))
}

impl Backend for OwnBackend {
    fn name(&self) -> &'static str {
        "own"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            edge: false,
            read_shutdown: false,
            kernel_state: false,
            fine_timeouts: Err("the timeout of poll(2) is in milliseconds"),
            ..Capabilities::ALL
        }
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(OwnPoller { thread, interest: self.0.of(thread)? }))
    }

    fn forget(&self, fd: RawFd, group: GroupId, _: ThreadMask, _: ThreadMask, _: DeregisterReason) {
        self.0.forget(fd, group);
    }
}

struct OwnPoller {
    thread: ThreadId,
    interest: ThreadInterest,
}

impl Poller for OwnPoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        Some(self.interest.update(change))
    }

    fn wait(&mut self, table: &FdTable, timeout: Option<Duration>, batch: &mut Vec<Event>) -> io::Result<()> {
        let (thread, mut polled) = (self.thread, Vec::new());
        self.interest.build(
            |fd| table.poll_permission(thread, fd),
            |fd, interest| {
                let mut flags = PollFlags::empty();
                flags.set(PollFlags::POLLIN, interest.recv);
                flags.set(PollFlags::POLLOUT, interest.send);
                // SAFETY: poll(2) reports a number that is closed meanwhile as POLLNVAL.
                polled.push(PollFd::new(unsafe { BorrowedFd::borrow_raw(fd) }, flags));
            },
        );
        let timeout = PollTimeout::try_from(milliseconds(timeout)).unwrap_or(PollTimeout::NONE);
        match poll(&mut polled, timeout) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        for index in self.interest.report_order() {
            let events = translate(polled[index].revents().unwrap_or(PollFlags::empty()));
            // A full batch ends the reports. The next wait continues there.
            if !events.is_none() && !self.interest.report(index, events, batch) {
                break;
            }
        }
        Ok(())
    }

    fn rebuild(&mut self, _forked: bool) -> io::Result<()> {
        self.interest.retry_invalid();
        Ok(())
    }
}

fn translate(seen: PollFlags) -> Events {
    Events::READY_R
        .when(seen.contains(PollFlags::POLLIN))
        .or(Events::READY_W.when(seen.contains(PollFlags::POLLOUT)))
        .or(Events::SHUT_R.or(Events::SHUT_W).when(seen.contains(PollFlags::POLLHUP)))
        .or(Events::ERR.when(seen.contains(PollFlags::POLLERR)))
        .or(Events::INVALID.when(seen.contains(PollFlags::POLLNVAL)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (near, mut far) = UnixStream::pair()?;
    near.set_nonblocking(true)?;
    let runtime = Runtime::builder().group(1).start(backend)?;
    let core = runtime.core();
    let id = ThreadId::FIRST;
    let echo = |ready: &ReadyGuard<'_, UnixStream>| {
        let (mut stream, mut bytes) = (ready.source(), [0; 64]);
        if let Ok(count @ 1..) = stream.read(&mut bytes) {
            let _ = stream.write_all(&bytes[..count]);
        }
    };
    let handle = core.insert(near, echo, id.group(), id.mask(), InsertOptions::default())?;
    core.registration(handle).want_recv()?;

    far.write_all(b"hello")?;
    let mut echoed = [0; 5];
    far.read_exact(&mut echoed)?;
    writeln!(io::stdout(), "{} echoed {}", core.backend().name(), String::from_utf8_lossy(&echoed))?;
    runtime.stop()?;
    Ok(())
}
