//! A worker thread other than the first one forks, and the child continues with it. The first thread, which
//! handled the signals, does not exist there: SIGTERM had no effect in such a child.

use std::sync::atomic::{AtomicU32, Ordering};

use nix::libc;

use super::child::{Child, when};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/signals-in-a-child",
    title: "In a forked child, the thread that continues handles the signals, whichever it was",
    layer: Layer::Contract,
    clauses: &["L2", "core 25"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[2], groups: &[1, 2] },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let handled = Arc::new(AtomicU32::new(0));
    let configure = |builder: fd_core::Builder| {
        let handled = Arc::clone(&handled);
        builder.signal(libc::SIGUSR1, move |_| _ = handled.fetch_add(1, Ordering::SeqCst))
    };
    let mut harness = Harness::start_with(test, configure, |_| Ok(()))?;
    for thread in harness.threads() {
        harness.core().before_fork();
        let signals = Arc::clone(&handled);
        let before = handled.load(Ordering::SeqCst);
        let mut child = Child::fork_on(&harness, thread, move |context, report| {
            // SAFETY: raise(3) has no precondition.
            unsafe { libc::raise(libc::SIGUSR1) };
            when(
                context,
                move |_| signals.load(Ordering::SeqCst) > before,
                move |context| {
                    report.eq("the thread that continues", thread, context.id());
                    report.end()
                },
            );
        })?;
        child.record(test, &format!("forked on {thread}"), "core 25")?;
        drop(child);
        harness.fence_all()?;
        let count = handled.load(Ordering::SeqCst);
        test.check_eq("signals that the parent has handled", before, count, "fork(2)");
    }
    harness.finish(test, &[])
}
