//! `145b17fd2`: an inherited listener for two groups was inserted twice under one number. Each group needs a
//! descriptor of its own.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use fd_core::error::InsertRefused;

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/inserted-twice",
    title: "A second insertion of a registered number is refused without effect, and a duplicate is accepted in any group",
    layer: Layer::Contract,
    clauses: &["S10", "bug 69"],
    axes: Axes { transports: &[Transport::Unix], triggers: &[Mode::Level], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let (thread, other) = (harness.thread(0), harness.thread(1));
    let mut ends = test.pair()?;
    let number = ends.near.as_raw_fd();
    let (monitor, second) = (HandlerMonitor::new(&ends.near), HandlerMonitor::new(&ends.near));
    let handle = harness.insert_recv(ends.near, monitor.recording(), thread)?;
    harness.fence(thread)?;

    // SAFETY: not sound in general, which is the mistake under test: the table owns the number. It is given
    // up below.
    let again = unsafe { OwnedFd::from_raw_fd(number) };
    let inserted =
        harness.core().insert(again, second.recording(), other.group(), other.mask(), harness.options());
    match inserted {
        Ok(_) => test.check_eq("the second insertion", "refused", "accepted", "S10, bug 69"),
        Err(refused) => {
            let _ = refused.source.into_raw_fd();
            let expected = InsertRefused::InUse { fd: number };
            let holds = refused.reason == expected;
            test.check("the second insertion", expected.to_string(), refused.reason, "S10, bug 69", holds);
        }
    }
    test.stop_if_failed()?;
    test.check_eq("dropped handlers of the refused insertion", 1, second.dropped(), "InsertError");
    ends.far.write_all(b"first")?;
    harness.wait_until("the first one's data", || monitor.text() == "first")?;

    let copy = harness.registration(handle).duplicate()?;
    let third = HandlerMonitor::at(std::os::fd::AsFd::as_fd(&copy).as_raw_fd());
    let copied =
        harness.core().insert(copy, third.recording(), other.group(), other.mask(), harness.options());
    let copied = copied?;
    harness.registration(handle).delete()?;
    harness.registration(copied).want_recv()?;
    ends.far.write_all(b"copy")?;
    harness.wait_until("the duplicate's data", || third.text() == "copy")?;
    harness.fence_all()?;
    test.check_eq("calls of the first one's handler", 1, monitor.calls(), "S6");
    test.check_eq("calls of the refused handler", 0, second.calls(), "S10");
    harness.registration(copied).delete()?;
    drop(ends.far);
    harness.finish(test, &[])
}
