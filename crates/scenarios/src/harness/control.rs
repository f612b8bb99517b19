//! The control of every other contract scenario: it starts the harness, uses once what the harness offers (a task and a
//! fence for each thread), and ends it. All scenarios do that, so a fault that fails this one says nothing about the
//! scenario that it is switched on in.

use std::collections::BTreeMap;
use std::io::{PipeWriter, Write, pipe};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};

use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::deletion::registration::unpoisoned;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::recorder::Recorder;
use crate::test_context::{Failure, TestContext};
use crate::transport::set_nonblocking;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "harness/control",
    title: "A runtime that starts and stops leaves nothing behind",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "L4", "L8"],
    // Every number of threads and groups that a contract scenario has. Nothing is opened on the transport, and the fences are
    // level-triggered.
    axes: Axes {
        transports: &[Transport::Pipe],
        triggers: &[Mode::Level],
        threads: &[1, 2, 4, 8],
        groups: &[1, 2],
    },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    // Were a thread still awake when it is given a task or a fence, or when the end comes, whether anything wakes it would be
    // seen by chance alone.
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

/// Another fence, registered and passed as those of the harness are.
fn fence(harness: &Harness, thread: ThreadId) -> Result<PipeWriter, Failure> {
    let (near, mut far) = pipe().map_err(Failure::broken)?;
    set_nonblocking(&near).map_err(Failure::broken)?;
    let recorder = Recorder::new();
    let handle = harness.insert(near.into(), recorder.clone(), thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    far.write_all(b"x").map_err(Failure::broken)?;
    harness.wait_until("another fence", || recorder.bytes() == b"x")?;
    Ok(far)
}

/// Which threads sleep, by their names.
struct Sleepers {
    asleep: Arc<Mutex<BTreeMap<String, bool>>>,
    _watched: Checkpoints,
}

impl Sleepers {
    /// From before the threads start.
    fn watch() -> Self {
        let asleep: Arc<Mutex<BTreeMap<String, bool>>> = Arc::default();
        let seen = Arc::clone(&asleep);
        let watched = Checkpoints::telling(move |point, _| {
            if matches!(point, Point::BeforeWait | Point::AfterWait) {
                let name = std::thread::current().name().unwrap_or_default().to_owned();
                unpoisoned(&seen).insert(name, point == Point::BeforeWait);
            }
        });
        Self { asleep, _watched: watched }
    }

    /// Waits until every thread has announced its sleep and not returned from its wait.
    fn wait(&self, harness: &Harness) -> Result<(), Failure> {
        let threads = harness.threads().len();
        harness.wait_until("every thread sleeps", || {
            let asleep = unpoisoned(&self.asleep);
            asleep.len() == threads && asleep.values().all(|asleep| *asleep)
        })
    }
}
