//! `808e1b7c4`: a descriptor that was never opened was closed all the same, as number −1, or as number 0,
//! which belonged to another file.

use std::os::fd::RawFd;

use fd_core::Runtime;
use fd_core::ids::{GroupId, ThreadMask};
use fd_core::poller::{Backend, Limits};

use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;
use crate::retry::{is_system_error, prepare, retry};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/deinit-without-init",
    title: "A poller or runtime that ends before it starts, or is opened twice, closes exactly what it opened",
    layer: Layer::Contract,
    clauses: &["S4", "bug 24"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let before = descriptors::open();
    let limits = Limits { capacity: 64, groups: 2, threads: 2 };
    let first = GroupId::new(1).and_then(|group| ThreadId::new(group, 0));
    let first = first.ok_or_else(|| Failure::Broken("no first thread".into()))?;
    let make = test.make;
    let backend = || make(&limits).map_err(Failure::broken);

    drop(backend()?);
    unchanged(test, &before, "a backend without a poller")?;

    let some = backend()?;
    let open =
        |backend: &dyn Backend| retry(|| backend.poller(first), is_system_error).map_err(Failure::broken);
    let poller = open(&*some)?;
    // The backend is dropped before its poller.
    drop((some, poller));
    unchanged(test, &before, "a backend with some of its pollers")?;

    let twice = backend()?;
    let poller = open(&*twice)?;
    let again = open(&*twice)?;
    drop((poller, again, twice));
    unchanged(test, &before, "a poller that was opened twice")?;

    let ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let builder = || Runtime::builder().group(2).group(1);
    let prepared = prepare(builder, test.make).map_err(Failure::from_start)?;
    let options = InsertOptions::default();
    let inserted =
        prepared.core().insert(ends.near, monitor.recording(), first.group(), ThreadMask::ALL, options);
    let handle = inserted?;
    prepared.core().registration(handle).want_recv()?;
    drop(prepared);
    let ended = ends.far.ended();
    drop(ends.far);
    unchanged(test, &before, "a runtime that was never started")?;
    test.check_eq("the descriptor inserted into that runtime is closed", true, ended, "S4");
    test.check_eq("handlers dropped", 1, monitor.dropped(), "S4");
    Ok(())
}

/// Checks that the same descriptors are open as before. A difference ends the run: later descriptors would
/// reuse the numbers.
fn unchanged(test: &mut TestContext, before: &[RawFd], what: &str) -> Result {
    let after = descriptors::open();
    let what = format!("open descriptors after {what}");
    test.check_debug(what, before, &after[..], "bug 24");
    test.stop_if_failed()
}
