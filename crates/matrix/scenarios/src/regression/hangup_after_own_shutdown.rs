//! `2aaeee34d`: this side has shut down sending; the peer answers and closes. Both directions have ended,
//! which was mistaken for an error, and the answer was discarded.

use std::os::fd::AsRawFd;

use nix::sys::socket::{Shutdown, shutdown};

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/hangup-after-own-shutdown",
    title: "If the peer closes after this side has shut down sending, its data are read and no error is reported",
    layer: Layer::Contract,
    clauses: &["S15", "bug 36"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

/// The bytes that were read, and how the connection ended.
#[derive(Default)]
struct Answer {
    bytes: Vec<u8>,
    ended: bool,
    errors: usize,
    reports: usize,
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let number = ends.near.as_raw_fd();
    shutdown(number, Shutdown::Write)?;
    let answer = Arc::new(Mutex::new(Answer::default()));
    let handler = {
        let answer = Arc::clone(&answer);
        move |ready: &ReadyGuard<'_>| {
            let mut answer = unpoisoned(&answer);
            answer.reports += 1;
            // As an upper layer does: it reads nothing after an error.
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
    // Data and end arrive before the first wait, if the transport is fast enough.
    let gate = harness.hold(thread)?;
    harness.registration(handle).want_recv()?;
    ends.far.write_all(b"the answer")?;
    drop(ends.far);
    harness.wait_until("the data", || descriptors::readable(number))?;
    gate.open();
    harness.wait_until("the end", || unpoisoned(&answer).ended)?;
    harness.fence(thread)?;
    let answer = std::mem::take(&mut *unpoisoned(&answer));
    test.check_eq("reports of an error", 0, answer.errors, "bug 36");
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    test.check_eq("bytes read", "the answer".into(), text, "bug 36: not truncated");
    test.record_counter("reports", answer.reports as u64);
    harness.registration(handle).delete()?;
    harness.finish(test, &[])
}
