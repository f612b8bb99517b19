//! A listening socket fails for ever: it is shut down, so it is readable, has hung up, and accepts nothing.
//!
//! Envoy's broken listeners made every worker spin. The handler stops a listener that it cannot accept from,
//! as it would at a limit (`accept-emfile`), but this one never becomes quiet by itself: epoll and poll
//! report a hang-up without any interest, and each sharing thread must drop it from its poller (L6).
//! accept(2) of a UNIX listener does not even fail: Linux says EAGAIN, as for a queue that is empty, so the
//! handler asks poll(2).

use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use fd_core::poller::Trigger;
use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{Shutdown, shutdown};

use super::acceptor::{accept_some, greet};
use super::calls::{Answer, call, check_greeted};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/broken-listener",
    title: "A listener that fails for ever is stopped by each thread that has it, and then quiet on all threads",
    layer: Layer::Contract,
    clauses: &["S18", "L1", "L6"],
    axes: Axes { threads: &[2, 4], ..super::AXES },
    run,
};

/// Greets clients, and stops the listener if accept(2) fails or the listener has hung up.
#[derive(Default)]
struct Server {
    greeted: AtomicU64,
    failed: AtomicU64,
}

impl Handler for Server {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let accepted = accept_some(ready, u64::MAX, |connection| {
            greet(&connection, self.greeted.fetch_add(1, Ordering::SeqCst))
        });
        if accepted.is_err() || has_hung_up(ready) {
            let _ = ready.registration().stop_recv();
            self.failed.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn run(test: &mut TestContext) -> Result {
    let server = Arc::new(Server::default());
    let mut fixture = ListenerFixture::shared(test, server.clone())?;
    fixture.call(Caller::Outside, Action::Start)?;
    fixture.check_converged(test, "at first")?;
    check_greeted(test, "a client before", call(&fixture.address)?, "L1");
    fixture.harness.fence_all()?;

    let copy = fixture.harness.registration(fixture.handle).duplicate()?.into_inner();
    shut_down(&copy)?;
    drop(copy);
    let failed = || server.failed.load(Ordering::SeqCst);
    fixture.harness.wait_until("a thread reports the broken listener", || failed() > 0)?;
    // Level-triggered, each poller reports the hang-up of the stopped listener once more, and removes it.
    if test.trigger == Trigger::Level {
        fixture.wait_until_dropped("broken")?;
    }
    fixture.harness.fence_all()?;
    let threads = fixture.harness.threads();
    fixture.check_quiet(test, &threads, "broken")?;
    let most = fixture.sharers.len() as u64;
    let expected = format!("1 to {most}: at most once on each thread");
    test.check(
        "handler calls that found it broken",
        expected,
        failed(),
        "S18",
        (1..=most).contains(&failed()),
    );
    test.check_debug(
        "a client of the broken listener",
        Answer::Refused,
        call(&fixture.address)?,
        "shutdown(2)",
    );

    // A caller that does not know tries again: each thread asks once, and is quiet.
    let before = failed();
    fixture.call(Caller::Outside, Action::Start)?;
    fixture.harness.wait_until("it is reported again", || failed() > before)?;
    if test.trigger == Trigger::Level {
        fixture.wait_until_dropped("started while broken")?;
    }
    fixture.harness.fence_all()?;
    fixture.check_quiet(test, &threads, "started while broken")?;
    fixture.harness.registration(fixture.handle).delete()?;
    fixture.harness.fence_all()?;
    fixture.harness.finish(test, &[])
}

/// Asks poll(2): select(2) reports no hang-up.
fn has_hung_up(fd: &impl AsFd) -> bool {
    descriptors::poll_now(fd.as_fd().as_raw_fd()).contains(PollFlags::POLLHUP)
}

/// Ends a listening socket, as a stack that loses its network does. Every thread that waits for it is woken.
///
/// # Errors
/// `Unsupported` if this system refuses it, or the socket accepts further.
fn shut_down(listener: &(impl AsFd + AsRawFd)) -> Result {
    match shutdown(listener.as_raw_fd(), Shutdown::Both) {
        Ok(()) if descriptors::readable(listener.as_raw_fd()) => Ok(()),
        Ok(()) => Err(Failure::Unsupported("a listener that is shut down is not readable".into())),
        Err(errno @ (Errno::ENOTCONN | Errno::EINVAL)) => {
            Err(Failure::Unsupported(format!("a listener cannot be shut down: {errno}")))
        }
        Err(errno) => Err(Failure::broken(errno)),
    }
}
