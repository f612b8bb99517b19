//! `ca1b15743`: a dump of all descriptors stopped every thread, once per descriptor.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::channel;

use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::recorder::Recorder;
use crate::threads::spawn;
use crate::transport::pair;
use crate::trial::{Failure, Trial, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/dump-stops-users",
    title: "A dump of all FDs is complete while a handler runs, and waits for nobody",
    layer: Layer::Contract,
    clauses: &["L7", "bug 25"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let lab = Lab::start(trial)?;
    let thread = lab.thread(0);
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let recorder = Recorder::new();
    let handle = lab.insert(ends.near, recorder.clone(), thread)?;
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    let held = recorder.hold_next();
    ends.far.write_all(b"heard").map_err(Failure::broken)?;
    held.reached()?;

    // By somebody who may be kept waiting.
    let (tell, told) = channel();
    let core = Arc::clone(lab.core());
    spawn(move || {
        let entries = core.entries();
        // Before the answer: the lab's end looks for what the core has open.
        drop(core);
        let _ = tell.send(entries.0);
    })?;
    let entries = told.recv_timeout(patience());
    trial.check_eq("the dump is there while the handler runs", true, entries.is_ok(), "L7, bug 25");
    trial.all_hold()?;
    let entries = entries.unwrap_or_default();
    let shown = entries.iter().find(|entry| entry.handle == handle);
    let running = shown.map(|entry| entry.running.bits());
    trial.check_eq(
        "who runs it",
        format!("{:?}", Some(thread.mask().bits())),
        format!("{running:?}"),
        "show fd",
    );
    let used = lab.core().table().used();
    trial.check_eq("entries shown", used, entries.len() as u64, "show fd");
    held.release();
    lab.wait_until("the data", || recorder.bytes() == b"heard")?;
    drop(ends.far);
    lab.finish(trial, &[])
}
