//! `ca1b15743`: a dump of all descriptors stopped every thread, once per descriptor.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::channel;

use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::recorder::Recorder;
use crate::test_context::{Failure, TestContext, patience};
use crate::threads::spawn;
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/dump-stops-users",
    title: "A dump of all FDs is complete while a handler runs, and waits for nobody",
    layer: Layer::Contract,
    clauses: &["L7", "bug 25"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let recorder = Recorder::new();
    let handle = harness.insert(ends.near, recorder.clone(), thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    let held = recorder.hold_next();
    ends.far.write_all(b"heard").map_err(Failure::broken)?;
    held.reached()?;

    // By somebody who may be kept waiting.
    let (tell, told) = channel();
    let core = Arc::clone(harness.core());
    spawn(move || {
        let entries = core.entries();
        // Before the answer: the lab's end looks for what the core has open.
        drop(core);
        let _ = tell.send(entries.0);
    })?;
    let entries = told.recv_timeout(patience());
    test.check_eq("the dump is there while the handler runs", true, entries.is_ok(), "L7, bug 25");
    test.all_hold()?;
    let entries = entries.unwrap_or_default();
    let shown = entries.iter().find(|entry| entry.handle == handle);
    let running = shown.map(|entry| entry.running.bits());
    test.check_eq(
        "who runs it",
        format!("{:?}", Some(thread.mask().bits())),
        format!("{running:?}"),
        "show fd",
    );
    let used = harness.core().table().used();
    test.check_eq("entries shown", used, entries.len() as u64, "show fd");
    held.release();
    harness.wait_until("the data", || recorder.bytes() == b"heard")?;
    drop(ends.far);
    harness.finish(test, &[])
}
