//! `2aaeee34d`: we have said all that we had to say; the peer answers and closes. That is the end of both directions,
//! which was taken for an error, and the answer was thrown away.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};

use fd_core::{ReadyGuard, State};
use metadata::{Axes, Layer, Transport};
use nix::sys::socket::{Shutdown, shutdown};

use crate::catalogue::Scenario;
use crate::descriptors;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{pair, read_all};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/hangup-after-own-shutdown",
    title: "The peer's end after one's own is no error: all that it has sent is read first",
    layer: Layer::Contract,
    clauses: &["S15", "bug 36"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

/// What is read and whether it ended well.
#[derive(Default)]
struct Answer {
    bytes: Vec<u8>,
    ended: bool,
    errors: usize,
    reports: usize,
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let number = ends.near.as_raw_fd();
    shutdown(number, Shutdown::Write).map_err(Failure::broken)?;
    let answer = Arc::new(Mutex::new(Answer::default()));
    let handler = {
        let answer = Arc::clone(&answer);
        move |ready: &ReadyGuard<'_>| {
            let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
            answer.reports += 1;
            // As an upper layer does: after an error there is nothing more to read.
            if ready.state().contains(State::POLL_ERR) {
                answer.errors += 1;
                answer.ended = true;
            } else {
                answer.ended = read_all(ready, &mut answer.bytes).unwrap_or(true);
            }
            let _ = if answer.ended {
                ready.registration().stop_recv()
            } else {
                ready.registration().cant_recv()
            };
        }
    };
    let handle = harness.insert(ends.near, Arc::new(handler), thread)?;
    // Data and end are there before the first wait, if the transport is fast enough.
    let turn = harness.hold(thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    ends.far.write_all(b"the answer").map_err(Failure::broken)?;
    drop(ends.far);
    harness.wait_until("the data", || descriptors::readable(number))?;
    turn.open();
    harness.wait_until("the end", || answer.lock().unwrap_or_else(PoisonError::into_inner).ended)?;
    harness.fence(thread)?;
    let answer = std::mem::take(&mut *answer.lock().unwrap_or_else(PoisonError::into_inner));
    test.check_eq("reports of an error", 0, answer.errors, "bug 36");
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    test.check_eq("what was read", "the answer".into(), text, "bug 36: not truncated");
    test.count("reports", answer.reports as u64);
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    harness.finish(test, &[])
}
