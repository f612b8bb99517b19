//! `9fab7bedf`: the peer's end was reported together with data. If the handler read exactly that data and
//! then got a report of another event, the end was forgotten, because only the last report counted.

use fd_core::poller::Events;

use crate::prelude::*;
use crate::test_context::is_stray;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/hangup-forgotten",
    title: "An end that is reported with data is remembered across a report of another event, and is reported again",
    layer: Layer::Contract,
    clauses: &["S15", "bug 4"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

const DATA: &[u8] = b"exactly this much";

/// One call of the handler.
#[derive(Clone, Copy)]
struct Report {
    events: Events,
    state: State,
    read: Option<usize>,
}

/// Reads exactly the data, then only waits to send, then reads again.
struct Reader {
    /// Whether the backend distinguishes the end from data.
    knows_end: bool,
    seen: Mutex<Vec<Report>>,
}

impl Handler for Reader {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let mut seen = unpoisoned(&self.seen);
        let (events, state, fd) = (ready.events(), ready.state(), ready.registration());
        let mut buffer = [0; DATA.len()];
        let read = match seen.len() {
            // The end may come a moment after the data.
            0 if self.knows_end && !events.intersects(Events::SHUT_R) => return,
            1 if is_stray(events, Events::READY_W) => return,
            2 if is_stray(events, Events::READY_R.or(Events::SHUT_R)) => return,
            1 => None,
            _ => nix::unistd::read(ready, &mut buffer).ok(),
        };
        // The calls on the descriptor of a report never fail.
        let _ = match seen.len() {
            0 => fd.cant_recv().and_then(|()| fd.stop_recv()).and_then(|()| fd.want_send()),
            1 => fd.stop_send().and_then(|()| fd.want_recv()),
            _ => fd.stop_both(),
        };
        seen.push(Report { events, state, read });
    }
}

fn run(test: &mut TestContext) -> Result {
    let harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let knows_end = harness.core().backend().capabilities().read_shutdown;
    let mut ends = test.pair()?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&ends.near);
    let reader = Arc::new(Reader { knows_end, seen: Mutex::default() });
    let handle = harness.insert(ends.near, reader.clone(), thread)?;
    // Both before the first wait.
    let gate = harness.hold(thread)?;
    harness.registration(handle).want_recv()?;
    ends.far.write_all(DATA)?;
    ends.far.stop_sending()?;
    harness.wait_until("the data", || descriptors::readable(number))?;
    gate.open();
    let seen = || unpoisoned(&reader.seen).clone();
    harness.wait_until("three reports", || seen().len() >= 3)?;
    let seen = seen();

    let [first, second, third] = [seen[0], seen[1], seen[2]];
    test.check_debug("bytes read at the first report", Some(DATA.len()), first.read, "");
    let hangup = |seen: &Report| seen.state.contains(State::POLL_HUP);
    if knows_end {
        test.check_eq("the end is known at the first report", true, hangup(&first), "S15");
    }
    test.check_debug("the second report", Events::READY_W, second.events, "only sending is wanted");
    if knows_end {
        test.check_eq("the end is known at the second report", true, hangup(&second), "S15, bug 4");
        let again = third.events.intersects(Events::SHUT_R);
        test.check_eq("the end is reported again once receiving is wanted", true, again, "bug 4");
    }
    test.check_debug("bytes read at the third report", Some(0), third.read, "bug 4");
    drop(ends.far);
    harness.finish(test, &[])
}
