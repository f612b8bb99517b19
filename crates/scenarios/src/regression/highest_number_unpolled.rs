//! `c20d73733`: the wake pipe had no owner and did not count for the highest number to poll; if it was the highest,
//! nobody could wake the thread. `cc35923c3`: the maps were allocated with as many bits as they should have had bytes.
//! `c71f45a0a`: a build with one thread had no wake pipe at all.

use std::cell::RefCell;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::mpsc::channel;

use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use fd_core::poller::Limits;
use metadata::{Axes, Layer, Mode, Transport};

use super::set_up::{null, raise_limit};
use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext, patience};
use crate::transport::{at_number, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/highest-number-unpolled",
    title: "The highest of all numbers is polled, be it that of a thread's wake descriptor or of an FD",
    layer: Layer::Contract,
    clauses: &["L1", "L2", "bug 12", "bug 14", "bug 81"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// The wake descriptors lie above this.
const ABOVE: RawFd = 200;
const CAPACITY: usize = 1024;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let probe = (test.make)(&Limits { capacity: 64, groups: 1, threads: 1 }).map_err(Failure::broken)?;
    let capacity = probe.capabilities().max_descriptors.map_or(CAPACITY, |most| most.min(CAPACITY));
    drop(probe);
    raise_limit(capacity as nix::libc::rlim_t)?;
    // All numbers below are taken while the wake descriptors are made, and given back before anything else is.
    let fillers = RefCell::new(Ok(Vec::new()));
    let occupy = || {
        let mut taken = Vec::new();
        while taken.last().is_none_or(|fd: &OwnedFd| fd.as_raw_fd() < ABOVE) {
            taken.push(null()?);
        }
        Ok::<_, std::io::Error>(taken)
    };
    let mut harness = Harness::start_with(
        test,
        |builder| {
            // Those of the last try would be in the way.
            fillers.replace(Ok(Vec::new())).ok();
            fillers.replace(occupy()).ok();
            builder.capacity(capacity)
        },
        |_| fillers.replace(Ok(Vec::new())).map(drop).map_err(Failure::broken),
    )?;
    for thread in harness.threads() {
        woken(test, &mut harness, thread)?;
    }

    // Each is the highest number at the time when it is registered, from the wake descriptors up.
    let borders = [511, 512, 513, capacity - 1].map(|number| number as RawFd);
    let mut subjects = Vec::new();
    for number in borders.into_iter().filter(|number| (*number as usize) < capacity) {
        let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
        let near = at_number(ends.near, number).map_err(Failure::broken)?;
        let watch = HandlerMonitor::new(&near);
        let thread = harness.thread(0);
        let handle = harness.insert(near, watch.recording(), thread)?;
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        ends.far.write_all(b"heard").map_err(Failure::broken)?;
        harness.wait_until(&format!("the data of number {number}"), || watch.text() == "heard")?;
        test.check_eq(format!("reports of number {number}"), 1, watch.calls(), "L1, bugs 12 and 14");
        subjects.push(ends.far);
    }
    drop(subjects);
    harness.finish(test, &[])
}

/// A thread that is just going to sleep hears of a task.
fn woken(test: &mut TestContext, harness: &mut Harness, thread: ThreadId) -> Result<(), Failure> {
    harness.fence(thread)?;
    let checkpoints = Checkpoints::watch();
    let held = checkpoints.hold(thread, Point::BeforeWait, -1);
    // It comes there when it goes round its loop once more.
    let (tell, told) = channel();
    let _ = harness.core().post(thread, |_| {});
    held.reached()?;
    let _ = harness.core().post(thread, move |_| {
        let _ = tell.send(());
    });
    held.release();
    let woken = told.recv_timeout(patience()).is_ok();
    test.check_eq(format!("thread {thread} is woken"), true, woken, "L2, bugs 12 and 81");
    test.all_hold()
}
