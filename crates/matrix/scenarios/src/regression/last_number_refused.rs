//! `2c58b41c9`: the table had exactly the promised room for connections. The pollers and the wake descriptors
//! took some of the numbers, and the last connections were refused.

use std::os::fd::{AsRawFd, RawFd};

use nix::sys::resource::{Resource, setrlimit};

use crate::deletion::monitor::HandlerMonitor;
use crate::descriptors::null_device;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/last-number-refused",
    title: "The table has room for every descriptor that the process can open",
    layer: Layer::Contract,
    clauses: &["bug 28"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 4], ..Axes::PLAIN },
    run,
};

/// The limit of open descriptors, which is below the capacity of every backend.
const LIMIT: RawFd = 160;

fn run(test: &mut TestContext) -> Result {
    setrlimit(Resource::RLIMIT_NOFILE, LIMIT as _, LIMIT as _)?;
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let near = at_number(ends.near, LIMIT - 1)?;
    let monitor = HandlerMonitor::new(&near);
    let (group, mask, options) = (thread.group(), thread.mask(), InsertOptions::default());
    let inserted = harness.core().insert(near, monitor.recording(), group, mask, options);
    let answer = inserted.as_ref().map(drop).map_err(|refused| refused.reason.to_string());
    test.check_debug("insertion of the last number", Ok(()), answer, "bug 28");
    test.stop_if_failed()?;
    let handle = inserted?;
    harness.registration(handle).want_recv()?;
    ends.far.write_all(b"data")?;
    harness.wait_until("the last number's data", || monitor.text() == "data")?;

    // And all others, until the process cannot open more.
    let (mut handles, mut refused) = (vec![handle], Vec::new());
    while let Ok(fd) = null_device() {
        let number = fd.as_raw_fd();
        match harness.core().insert(fd, Arc::new(|_: &ReadyGuard<'_>| {}), group, mask, options) {
            Ok(handle) => handles.push(handle),
            Err(error) => refused.push((number, error.reason)),
        }
        if !refused.is_empty() {
            break;
        }
    }
    test.check_debug("numbers refused", vec![], refused, "bug 28");
    test.record_counter("descriptors inserted", handles.len() as u64);
    for handle in handles {
        harness.registration(handle).delete()?;
    }
    harness.fence_all()?;
    drop(ends.far);
    harness.finish(test, &[])
}
