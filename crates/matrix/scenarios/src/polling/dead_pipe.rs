//! The reader of a pipe has closed. poll(2), select(2) and epoll report that as long as it lasts. FreeBSD's
//! kqueue reports it once, removes the write filter (as with `EV_ONESHOT`, which was not requested), and
//! refuses the filter from then on (`EPIPE`; measured). The backend must report in the kernel's place: a
//! writer that did not write at once would get no further event.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use fd_core::error::Stale;
use fd_core::poller::{Events, Trigger};

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;
use crate::transport::fill;
use crate::transport::set_nonblocking;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/dead-pipe",
    title: "A pipe whose reader has closed is reported to its writer exactly as long as it wants to send",
    layer: Layer::Contract,
    clauses: &["L1", "L6", "V28"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// More than a kernel reports by itself.
const REPORTS: usize = 4;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let (reader, writer) = io::pipe()?;
    let writer = OwnedFd::from(writer);
    set_nonblocking(&writer)?;
    fill(&writer)?;
    let monitor = HandlerMonitor::new(&writer);
    let reported = Arc::new(AtomicUsize::new(0));
    let handler = {
        let reported = Arc::clone(&reported);
        monitor.doing(move |_, ready| {
            let of_sending = Events::READY_W.or(Events::ERR).or(Events::SHUT_W);
            let of_sending = ready.events().intersects(of_sending);
            reported.fetch_add(usize::from(of_sending), Ordering::SeqCst);
        })
    };
    let reports = || reported.load(Ordering::SeqCst);
    let handle = harness.insert(writer, handler, thread)?;
    harness.registration(handle).want_send()?;
    harness.check_quiet(test, thread, "while it is full", "S18")?;
    test.check_eq("reports while it is full", 0, reports(), "S18");
    test.stop_if_failed()?;

    drop(reader);
    let expected = match test.trigger {
        Trigger::Level => REPORTS,
        Trigger::Edge => 1,
    };
    let wait_for_reports = |harness: &Harness, when: &str, count: usize| {
        harness.wait_until(&format!("the reports {when}"), || reports() >= count)
    };
    wait_for_reports(&harness, "when the reader has closed", expected)?;
    on(&harness, handle, |context, handle| context.registration(handle).stop_both())?;
    harness.check_quiet(test, thread, "without interest", "L6")?;
    if test.trigger == Trigger::Edge {
        test.check_eq("reports of one edge", 1, reports(), "EPOLLET, EV_CLEAR");
    } else {
        on(&harness, handle, |context, handle| context.registration(handle).want_send())?;
        wait_for_reports(&harness, "when sending is wanted again", reports() + REPORTS)?;
        on(&harness, handle, |context, handle| context.registration(handle).want_recv())?;
        harness.fence(thread)?;
        wait_for_reports(&harness, "when receiving is wanted, too", reports() + REPORTS)?;
    }

    // Deleted while it is reported: then nothing keeps the thread awake.
    harness.registration(handle).delete()?;
    harness.fence(thread)?;
    harness.check_quiet(test, thread, "after the delete", "L6")?;
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");
    harness.finish(test, &[])
}

fn on(harness: &Harness, handle: FdHandle, act: fn(&Context, FdHandle) -> Result<(), Stale>) -> Result {
    harness.on(harness.thread(0), move |context| act(context, handle))?.map_err(Failure::broken)
}
