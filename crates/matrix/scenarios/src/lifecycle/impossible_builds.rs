//! Invalid configurations of a runtime: each start returns a descriptive error and leaves nothing behind.
//! Some signals that cannot be caught made the start panic.

use fd_core::error::StartError;
use fd_core::{Builder, Runtime};
use nix::libc;

use super::{builder, stop};
use crate::prelude::*;
use crate::retry;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/impossible-builds",
    title: "A start with an invalid signal, capacity or shape is refused, and the next start works",
    layer: Layer::Contract,
    clauses: &["core 13"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let before = descriptors::open();
    let signals =
        [0, -1, 65, i32::MAX, libc::SIGKILL, libc::SIGSTOP, libc::SIGSEGV, libc::SIGILL, libc::SIGFPE];
    for signal in signals {
        let build = builder(test).signal(signal, |_| ());
        refused(test, &format!("signal {signal}"), "signal", build);
    }
    for capacity in [0, i32::MAX as usize, usize::MAX] {
        let build = builder(test).capacity(capacity);
        refused(test, &format!("capacity {capacity}"), "descriptors", build);
    }
    for (name, build) in [
        ("no group", Runtime::builder()),
        ("a group of no thread", Runtime::builder().group(1).group(0)),
        ("a group of 65 threads", Runtime::builder().group(65)),
    ] {
        refused(test, name, "threads", build);
    }
    test.stop_if_failed()?;
    let runtime = retry::start(|| builder(test).signal(libc::SIGUSR1, |_| ()).capacity(512), test.make);
    stop(runtime.map_err(Failure::from_start)?)?;
    test.check_debug("open descriptors", before, descriptors::open(), "core 13");
    Ok(())
}

/// Checks that the start is refused with a message that contains `reason`.
fn refused(test: &mut TestContext, what: &str, reason: &str, build: Builder) {
    let answer = match build.start(test.make) {
        Ok(runtime) => stop(runtime).map_or_else(|failure| failure.to_string(), |()| "started".into()),
        Err(StartError::Shape(text)) if text.contains(reason) => "refused".into(),
        Err(other) => format!("{other:?}"),
    };
    test.check_eq(what, "refused".into(), answer, "core 13");
}
