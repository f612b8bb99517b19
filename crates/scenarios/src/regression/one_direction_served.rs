//! A descriptor can be read and written at once. A handler of HAProxy's served one direction per report, and while one
//! was busy it never came to the other (bug 39).

use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};

use fd_core::ReadyGuard;
use fd_core::poller::Events;
use metadata::{Axes, Layer, Transport};

use crate::catalogue::Scenario;
use crate::descriptors;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/one-direction-served",
    title: "A report of an FD that can be read and written says both, at once",
    layer: Layer::Contract,
    clauses: &["L1", "bug 39"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let number = ends.near.as_raw_fd();
    let told: Arc<Mutex<Vec<Events>>> = Arc::default();
    let tell = Arc::clone(&told);
    let handler = move |ready: &ReadyGuard<'_>| {
        tell.lock().unwrap_or_else(PoisonError::into_inner).push(ready.events());
        // Unread: it could be read again and again.
        let _ = ready.registration().stop_both();
    };
    let handle = harness.insert(ends.near, Arc::new(handler), thread)?;
    // Both are wanted, and possible, before the thread polls.
    let held = harness.hold(thread)?;
    ends.far.write_all(b"x").map_err(Failure::broken)?;
    harness.wait_until("the data", || descriptors::readable(number))?;
    for want in [fd_core::RegistrationRef::want_recv, fd_core::RegistrationRef::want_send] {
        want(&harness.core().registration(handle)).map_err(Failure::broken)?;
    }
    held.open();
    harness.wait_until("a report", || !told.lock().unwrap_or_else(PoisonError::into_inner).is_empty())?;
    harness.fence(thread)?;
    let told = told.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let both = told[0].intersects(Events::READY_R) && told[0].intersects(Events::READY_W);
    test.check("the first report", "readable and writable", format!("{told:?}"), "bug 39", both);
    test.check_eq("reports", 1, told.len(), "L6");
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    drop(ends.far);
    harness.finish(test, &[])
}
