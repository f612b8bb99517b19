//! `c20d73733`: the wake pipe had no owner, so the highest number to poll ignored it; if it was the highest,
//! the thread could not be woken. `cc35923c3`: the maps were allocated with one bit for each byte that they
//! needed. `c71f45a0a`: a build with one thread had no wake pipe at all.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::mpsc::channel;

use fd_core::poller::Limits;

use crate::deletion::monitor::HandlerMonitor;
use crate::descriptor_limit;
use crate::descriptors::null_device;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/highest-number-unpolled",
    title: "The highest descriptor number is polled, whether it is a wake descriptor or a registered one",
    layer: Layer::Contract,
    clauses: &["L1", "L2", "bug 12", "bug 14", "bug 81"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// The wake descriptors lie above this.
const ABOVE: RawFd = 200;
const CAPACITY: usize = 1024;

fn run(test: &mut TestContext) -> Result {
    let probe = (test.make)(&Limits { capacity: 64, groups: 1, threads: 1 }).map_err(Failure::broken)?;
    let capacity = probe.capabilities().max_descriptors.map_or(CAPACITY, |most| most.min(CAPACITY));
    drop(probe);
    descriptor_limit::raise(capacity as nix::libc::rlim_t)?;
    // All lower numbers are taken while the wake descriptors are created, and freed before anything else is
    // opened.
    let fillers = RefCell::new(Ok(Vec::new()));
    let occupy = || {
        let mut taken = Vec::new();
        while taken.last().is_none_or(|fd: &OwnedFd| fd.as_raw_fd() < ABOVE) {
            taken.push(null_device()?);
        }
        Ok::<_, std::io::Error>(taken)
    };
    let mut harness = Harness::start_with(
        test,
        |builder| {
            // The fillers of a failed attempt would occupy the numbers.
            fillers.replace(Ok(Vec::new())).ok();
            fillers.replace(occupy()).ok();
            builder.capacity(capacity)
        },
        |_| fillers.replace(Ok(Vec::new())).map(drop).map_err(Failure::broken),
    )?;
    for thread in harness.threads() {
        woken(test, &mut harness, thread)?;
    }

    // Each is the highest number when it is registered, above the wake descriptors.
    let borders = [511, 512, 513, capacity - 1].map(|number| number as RawFd);
    let mut endpoints = Vec::new();
    for number in borders.into_iter().filter(|number| (*number as usize) < capacity) {
        let mut ends = test.pair()?;
        let near = at_number(ends.near, number)?;
        let monitor = HandlerMonitor::new(&near);
        let thread = harness.thread(0);
        harness.insert_recv(near, monitor.recording(), thread)?;
        ends.far.write_all(b"data")?;
        harness.wait_until(&format!("the data of number {number}"), || monitor.text() == "data")?;
        test.check_eq(format!("reports of number {number}"), 1, monitor.calls(), "L1, bugs 12 and 14");
        endpoints.push(ends.far);
    }
    drop(endpoints);
    harness.finish(test, &[])
}

/// Checks that a thread that is about to sleep is woken by a task.
fn woken(test: &mut TestContext, harness: &mut Harness, thread: ThreadId) -> Result {
    harness.fence(thread)?;
    let checkpoints = Checkpoints::watch();
    let held = checkpoints.hold(thread, Point::BeforeWait, -1);
    // A task makes it iterate once more and reach the checkpoint.
    let (sender, receiver) = channel();
    let _ = harness.core().post(thread, |_| {});
    held.reached()?;
    let _ = harness.core().post(thread, move |_| {
        let _ = sender.send(());
    });
    held.release();
    let woken = receiver.recv_timeout(patience()).is_ok();
    test.check_eq(format!("thread {thread} is woken"), true, woken, "L2, bugs 12 and 81");
    test.stop_if_failed()
}
