//! The reader of a pipe is gone. poll(2), select(2) and epoll say so for ever. FreeBSD's kqueue says it once, takes the write
//! filter out as it does (`EV_ONESHOT`, though nobody asked for it), and refuses it from then on (`EPIPE`; measured). Its
//! backend must say it in the kernel's place: who did not write at once would never hear of it again.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fd_core::error::Stale;
use fd_core::poller::{Events, Trigger};
use fd_core::{Context, FdHandle};
use metadata::{Axes, Layer, Transport};

use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::regression::set_up::{fill, is_quiet};
use crate::test_context::{Failure, TestContext};
use crate::transport::set_nonblocking;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "polling/dead-pipe",
    title: "A pipe whose reader is gone is reported to its writer for as long as it wants to send, and no longer",
    layer: Layer::Contract,
    clauses: &["L1", "L6", "V28"],
    axes: Axes { transports: &[Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// More of them than a kernel tells by itself.
const REPORTS: usize = 4;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let (reader, writer) = io::pipe().map_err(Failure::broken)?;
    let writer = OwnedFd::from(writer);
    set_nonblocking(&writer).map_err(Failure::broken)?;
    fill(&writer)?;
    let watch = HandlerMonitor::new(&writer);
    let told = Arc::new(AtomicUsize::new(0));
    let handler = {
        let told = Arc::clone(&told);
        watch.doing(move |ready| {
            let of_sending = Events::READY_W.or(Events::ERR).or(Events::SHUT_W);
            let of_sending = ready.events().intersects(of_sending);
            told.fetch_add(usize::from(of_sending), Ordering::SeqCst);
        })
    };
    let reports = || told.load(Ordering::SeqCst);
    let handle = harness.insert(writer, handler, thread)?;
    harness.core().registration(handle).want_send().map_err(Failure::broken)?;
    is_quiet(test, &mut harness, thread, "while it is full", "S18")?;
    test.check_eq("reports while it is full", 0, reports(), "S18");
    test.all_hold()?;

    drop(reader);
    let expected = match test.trigger {
        Trigger::Level => REPORTS,
        Trigger::Edge => 1,
    };
    let heard = |harness: &Harness, when: &str, count: usize| {
        harness.wait_until(&format!("the reports {when}"), || reports() >= count)
    };
    heard(&harness, "when the reader is gone", expected)?;
    on(&harness, handle, |context, handle| context.registration(handle).stop_both())?;
    is_quiet(test, &mut harness, thread, "with nothing wanted", "L6")?;
    if test.trigger == Trigger::Edge {
        test.check_eq("reports of one edge", 1, reports(), "EPOLLET, EV_CLEAR");
    } else {
        on(&harness, handle, |context, handle| context.registration(handle).want_send())?;
        heard(&harness, "when it is wanted again", reports() + REPORTS)?;
        on(&harness, handle, |context, handle| context.registration(handle).want_recv())?;
        harness.fence(thread)?;
        heard(&harness, "when receiving is wanted, too", reports() + REPORTS)?;
    }

    // Deleted while it is reported: then there is nothing that keeps the thread awake.
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    harness.fence(thread)?;
    is_quiet(test, &mut harness, thread, "after the delete", "L6")?;
    test.check_eq("handlers dropped", 1, watch.dropped(), "S4");
    harness.finish(test, &[])
}

fn on(
    harness: &Harness,
    handle: FdHandle,
    act: fn(&Context, FdHandle) -> Result<(), Stale>,
) -> Result<(), Failure> {
    harness.on(harness.thread(0), move |context| act(context, handle))?.map_err(Failure::broken)
}
