//! `ca1b15743`: a dump of all descriptors stopped every thread, once per descriptor.

use std::sync::mpsc::channel;

use crate::prelude::*;
use crate::threads::spawn;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/dump-stops-users",
    title: "A dump of all descriptors is complete while a handler runs, and waits for no thread",
    layer: Layer::Contract,
    clauses: &["L7", "bug 25"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let recorder = Recorder::new();
    let handle = harness.insert_recv(ends.near, recorder.clone(), thread)?;
    let held = recorder.hold_next();
    ends.far.write_all(b"data")?;
    held.reached()?;

    // On a thread of its own, which the dump may block.
    let (sender, receiver) = channel();
    let core = Arc::clone(harness.core());
    spawn(move || {
        let entries = core.entries();
        // Before the result is sent: the end of the harness waits for the last reference to the core.
        drop(core);
        let _ = sender.send(entries.0);
    })?;
    let entries = receiver.recv_timeout(patience());
    test.check_eq("the dump is there while the handler runs", true, entries.is_ok(), "L7, bug 25");
    test.stop_if_failed()?;
    let entries = entries.unwrap_or_default();
    let shown = entries.iter().find(|entry| entry.handle == handle);
    let running = shown.map(|entry| entry.running.bits());
    test.check_debug("threads that run the handler", Some(thread.mask().bits()), running, "show fd");
    let used = harness.core().table().used();
    test.check_eq("entries shown", used, entries.len() as u64, "show fd");
    held.release();
    harness.wait_until("the data", || recorder.bytes() == b"data")?;
    drop(ends.far);
    harness.finish(test, &[])
}
