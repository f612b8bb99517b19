//! The control of every other contract scenario: it starts the harness, uses once what the harness offers (a
//! task and a fence for each thread), and ends it. All scenarios do that, so a fault that fails this one
//! proves nothing about the scenario that it is switched on in.

use std::io::{PipeWriter, Write, pipe};
use std::os::fd::AsRawFd;

use fd_core::ids::ThreadId;
use metadata::{Axes, Layer, Mode, Transport};

use crate::failure::Result;
use crate::harness::{Harness, Sleepers};
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::test_context::TestContext;
use crate::transport::set_nonblocking;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "harness/control",
    title: "A runtime that starts and stops leaves nothing behind",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "L4", "L8"],
    // Every number of threads and groups that a contract scenario has. Nothing is opened on the transport,
    // and the fences are level-triggered.
    axes: Axes {
        transports: &[Transport::Pipe],
        triggers: &[Mode::Level],
        threads: &[1, 2, 4, 8],
        groups: &[1, 2],
    },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    // Each task, each fence and the end must find all threads asleep. If a thread were awake, only chance
    // would show whether something wakes it.
    sleepers.wait(&harness)?;
    let mut fences = Vec::new();
    for thread in harness.threads() {
        harness.on(thread, |_| ())?;
        sleepers.wait(&harness)?;
        fences.push(fence(&harness, thread)?);
    }
    harness.fence_all()?;
    sleepers.wait(&harness)?;
    let kept: Vec<_> = fences.iter().map(AsRawFd::as_raw_fd).collect();
    harness.finish(test, &kept)
}

/// Registers another fence, as the harness does, and sends one event through it.
fn fence(harness: &Harness, thread: ThreadId) -> Result<PipeWriter> {
    let (near, mut far) = pipe()?;
    set_nonblocking(&near)?;
    let recorder = Recorder::new();
    harness.insert_recv(near.into(), recorder.clone(), thread)?;
    far.write_all(b"x")?;
    harness.wait_until("another fence", || recorder.bytes() == b"x")?;
    Ok(far)
}
