//! A child that the C library has not made: `_Fork()` (POSIX 2024), or clone(2). The hooks of
//! pthread_atfork(3) do not run, and the child must notice nevertheless that nothing of the runtime is its
//! own: an epoll descriptor is shared with the parent, and the threads do not exist.

use fd_core::EntryInfo;

use super::child::Child;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/bare-fork",
    title: "A child that clone(2) has made ends its copy of the runtime, and its parent's registrations stay",
    layer: Layer::Contract,
    clauses: &["S4", "L1", "L8", "core 24"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Some(Harness::start(test)?);
    let running = harness.as_ref().expect("just started");
    let mut ends = test.pair()?;
    let recorder = Recorder::new();
    let handle = running.insert_recv(ends.near, recorder.clone(), running.thread(0))?;
    running.core().before_fork();
    sleepers.wait(running)?;
    let mut child = Child::bare_fork(|report| {
        let Some(harness) = harness.take() else { return };
        let core = Arc::clone(harness.core());
        let own = |entry: &EntryInfo| entry.state.contains(State::INTERNAL);
        for entry in core.entries().0.into_iter().filter(|entry| !own(entry)) {
            report.eq("a delete", true, core.registration(entry.handle).delete().is_ok());
        }
        drop(harness.into_runtime());
        report.eq("registrations", 0, core.table().used());
    })?;
    child.record(test, "made by clone(2)", "core 24")?;
    let running = harness.take().ok_or_else(|| Failure::Broken("no harness".into()))?;
    running.send_while_read(&mut ends.far, handle.number(), b"parent", || recorder.bytes().len())?;
    running.wait_until("the parent's poller reports its data", || recorder.bytes() == b"parent")?;
    drop((child, ends.far));
    running.finish(test, &[])
}
