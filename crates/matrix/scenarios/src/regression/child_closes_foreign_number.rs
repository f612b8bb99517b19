//! `ba8e8c351`: a forked child closed "its" kqueue, which a child does not inherit: the number was free, or
//! belonged to another file by then. An epoll descriptor is inherited, but shared with the parent
//! (`fb8983f21`): registrations of the child wake the parent.

use std::error::Error;
use std::io::{PipeReader, PipeWriter, Read, pipe};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};
use nix::{errno::Errno, libc};

use crate::deletion::monitor::HandlerMonitor;
use crate::descriptors::null_device;
use crate::prelude::*;
use crate::transport::set_nonblocking;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/child-closes-foreign-number",
    title: "A forked child that continues uses a poller of its own, and closes only its own descriptors",
    layer: Layer::Contract,
    clauses: &["S4", "bug 5", "protocol 16.4", "kqueue(2)"],
    // The child continues with the thread that forked.
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// Enough files to take every number of a poller that the child does not inherit.
const FOREIGN: usize = 16;

/// A forked child. Dropping this ends it.
struct Child {
    process: Pid,
    /// Closed when this process ends for any reason. Then the child ends, too.
    leash: Option<PipeWriter>,
}

/// The numbers of the inherited descriptors that the child uses.
#[derive(Clone, Copy)]
struct Inherits {
    waits: RawFd,
    leash: RawFd,
    answer: RawFd,
}

impl Drop for Child {
    fn drop(&mut self) {
        self.leash = None;
        let _ = kill(self.process, Signal::SIGKILL);
        let _ = waitpid(self.process, None);
    }
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handle = harness.insert_recv(ends.near, monitor.recording(), thread)?;
    harness.fence(thread)?;

    let (answers, answer) = pipe()?;
    let before = harness.activity(thread);
    let (waits, leash) = pipe()?;
    let inherits =
        Inherits { waits: waits.as_raw_fd(), leash: leash.as_raw_fd(), answer: answer.as_raw_fd() };
    let forked = harness.on(thread, move |context| {
        context.core().before_fork();
        // SAFETY: only the forking thread continues in the child. Besides async-signal-safe functions it uses
        // the allocator, whose lock no other thread holds: this runtime has one thread, and the scenario's
        // own thread waits for the result of this task.
        match unsafe { fork() } {
            Ok(ForkResult::Parent { child }) => Ok(child),
            Ok(ForkResult::Child) => {
                if in_the_child(context, handle, inherits).is_err() {
                    // SAFETY: ends this process, the child, at once.
                    unsafe { libc::_exit(1) };
                }
                Err(Errno::ECHILD)
            }
            Err(errno) => Err(errno),
        }
    })?;
    let child = Child { process: forked?, leash: Some(leash) };
    drop((answer, waits));

    // The child's poller has reported. The child stays until it is killed.
    let intact = read_answer(&answers);
    test.check_eq("the child's poller works", true, intact.is_some(), "bug 5: the child gets its event");
    let intact = intact.map_or_else(|| "unknown".into(), |count| count.to_string());
    test.check_eq("files of the child that are still its own", FOREIGN.to_string(), intact, "bug 5");
    test.stop_if_failed()?;
    harness.fence(thread)?;
    let since = harness.activity(thread).since(&before);
    let strays = since.poll_drop + since.poll_skip;
    test.check_cost_eq("events of the child's registrations that its parent saw", 0, strays, "fb8983f21");
    ends.far.write_all(b"more data")?;
    harness.wait_until("the parent's data", || monitor.text() == "more data")?;
    test.check_eq("calls of the parent's handler", 1, monitor.calls(), "the child deleted its copy only");
    drop(child);
    harness.registration(handle).delete()?;
    drop((ends.far, answers));
    harness.finish(test, &[])
}

/// The child's part before it returns to its loop: opens files that take the free numbers, deletes the
/// inherited registration, and registers a descriptor that is readable at once.
fn in_the_child(context: &Context, inherited: FdHandle, numbers: Inherits) -> Result<(), Box<dyn Error>> {
    context.forked();
    let foreign = (0..FOREIGN).map(|_| null_device()).collect::<Result<Vec<_>, _>>()?;
    context.registration(inherited).delete()?;
    let (reader, mut writer) = pipe()?;
    writer.write_all(b"x")?;
    set_nonblocking(&reader)?;
    let foreign = Mutex::new(Some((foreign, writer)));
    let handler = move |ready: &ReadyGuard<'_>| {
        let _ = ready.registration().stop_recv();
        let foreign = unpoisoned(&foreign).take();
        let intact = foreign.iter().flat_map(|(files, _)| files).filter(|fd| is_intact(fd)).count();
        let answer = [u8::try_from(intact).unwrap_or(u8::MAX)];
        // SAFETY: writes one byte to an inherited number, and reads from another until the parent closes its
        // end. Only that ends this process, so nothing of it is closed in the meantime. The child's own copy
        // of the parent's end must be closed first.
        unsafe {
            libc::close(numbers.leash);
            libc::write(numbers.answer, answer.as_ptr().cast(), 1);
            let mut byte = 0_u8;
            while libc::read(numbers.waits, (&raw mut byte).cast(), 1) < 0 {}
            libc::_exit(0)
        }
    };
    let (group, mask) = (context.id().group(), context.id().mask());
    let inserted = context.core().insert(
        OwnedFd::from(reader),
        Arc::new(handler),
        group,
        mask,
        InsertOptions::default(),
    );
    let handle = inserted.map_err(|refused| refused.reason)?;
    Ok(context.registration(handle).want_recv()?)
}

/// Returns whether the number is open and still the null device, which accepts every write.
fn is_intact(fd: &OwnedFd) -> bool {
    descriptors::is_open(fd.as_raw_fd()) && nix::unistd::write(fd, b"x") == Ok(1)
}

/// Returns the child's answer. `None` if the child ends or does not answer.
fn read_answer(mut answers: &PipeReader) -> Option<u8> {
    let timeout = PollTimeout::try_from(patience()).unwrap_or(PollTimeout::MAX);
    let mut polled = [PollFd::new(answers.as_fd(), PollFlags::POLLIN)];
    poll(&mut polled, timeout).ok().filter(|count| *count > 0)?;
    let mut answer = [0];
    answers.read_exact(&mut answer).ok()?;
    Some(answer[0])
}
