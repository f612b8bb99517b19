//! The highest number of all is registered. HAProxy's scans end below it, or at the highest number that the
//! scanning thread itself has inserted, and are right by chance (suspect 14).

use std::os::fd::AsRawFd;

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/scan-ends-too-early",
    title: "A scan of the table finds the highest number, whichever thread inserted it",
    layer: Layer::Contract,
    clauses: &["L8", "suspect 14"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    // Much higher than the others, and below the limit of select.
    let near = at_number(ends.near, 600)?;
    let number = near.as_raw_fd();
    let recorder = Recorder::new();
    let handle = harness.insert_recv(near, recorder.clone(), thread)?;
    harness.core().before_fork();
    let what = "flags before a fork";
    test.check_eq(what, State::CLONED, harness.entry(handle)?.state.and(State::CLONED), "suspect 14");
    let listed = harness.core().entries().0.iter().any(|entry| entry.handle.number() == number);
    test.check_eq("it is in the dump", true, listed, "suspect 14");
    ends.far.write_all(b"x")?;
    harness.wait_until("its report", || recorder.bytes() == b"x")?;
    drop(ends.far);
    // Not deleted: the stop must find it, and a check fails if it does not.
    harness.finish(test, &[])
}
