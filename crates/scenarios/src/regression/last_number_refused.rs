//! `2c58b41c9`: the table was made for as many descriptors as the users were promised; the pollers' and the wake
//! descriptors took their numbers away, and the last users were refused.

use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use fd_core::{InsertOptions, ReadyGuard};
use metadata::{Axes, Layer, Mode, Transport};
use nix::sys::resource::{Resource, setrlimit};

use super::set_up::null;
use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{at_number, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/last-number-refused",
    title: "Whatever descriptor the process can still open, the table has room for it",
    layer: Layer::Contract,
    clauses: &["bug 28"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 4], ..Axes::PLAIN },
    run,
};

/// As many descriptors as the process may have: fewer than any backend has room for.
const LIMIT: RawFd = 160;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    setrlimit(Resource::RLIMIT_NOFILE, LIMIT as _, LIMIT as _).map_err(Failure::broken)?;
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let near = at_number(ends.near, LIMIT - 1).map_err(Failure::broken)?;
    let watch = HandlerMonitor::new(&near);
    let (group, mask, options) = (thread.group(), thread.mask(), InsertOptions::default());
    let inserted = harness.core().insert(near, watch.recording(), group, mask, options);
    let answer = inserted.as_ref().map(drop).map_err(|refused| refused.reason.to_string());
    test.check_eq("insertion of the last number", "Ok(())".into(), format!("{answer:?}"), "bug 28");
    test.all_hold()?;
    let handle = inserted.map_err(Failure::broken)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    ends.far.write_all(b"heard").map_err(Failure::broken)?;
    harness.wait_until("the last number's data", || watch.text() == "heard")?;

    // And all the others, up to the point where the system gives no more.
    let (mut handles, mut refused) = (vec![handle], Vec::new());
    while let Ok(fd) = null() {
        let number = fd.as_raw_fd();
        match harness.core().insert(fd, Arc::new(|_: &ReadyGuard<'_>| {}), group, mask, options) {
            Ok(handle) => handles.push(handle),
            Err(error) => refused.push((number, error.reason)),
        }
        if !refused.is_empty() {
            break;
        }
    }
    test.check_eq("numbers refused", "[]".into(), format!("{refused:?}"), "bug 28");
    test.count("descriptors inserted", handles.len() as u64);
    for handle in handles {
        harness.core().registration(handle).delete().map_err(Failure::broken)?;
    }
    harness.fence_all()?;
    drop(ends.far);
    harness.finish(test, &[])
}
