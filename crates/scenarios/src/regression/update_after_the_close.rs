//! A thread is about to tell its poller of a descriptor that another one deletes. HAProxy's select sets the bit after the
//! close, and then every call fails (suspect 11); its kqueue submits the change after the close, and it reaches the next
//! file of that number (suspect 5).

use std::os::fd::AsRawFd;
use std::sync::Arc;

use metadata::{Axes, Layer, Transport};

use super::about;
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::harness::Harness;
use crate::migration::Endpoint;
use crate::recorder::Recorder;
use crate::test_context::{Failure, TestContext};
use crate::transport::{at_number, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/update-after-the-close",
    title: "What a thread is telling its poller is over before the number is closed, and reaches no later life",
    layer: Layer::Contract,
    clauses: &["S5", "S8", "S11", "L5", "suspect 5", "suspect 11"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// How often the deleter gets a chance to do what it must not.
const GIVE_WAY: u32 = 500;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let updater = harness.thread(0);
    let ends = pair(test.params.transport).map_err(Failure::broken)?;
    let mut next = pair(test.params.transport).map_err(Failure::broken)?;
    let number = ends.near.as_raw_fd();
    let recorder = Recorder::new();
    let handle = harness.insert(ends.near, recorder.clone(), updater)?;
    let subject = Endpoint { handle, owner: recorder.id(), recorder, far: ends.far };
    let core = Arc::clone(harness.core());
    let before = core.registration_counts().closed;
    about(&subject, "deleted during an update", "S5")
        .worker("updater", updater)
        .outsider("deleter")
        // The life is over; nobody says when the deleter would close, if it did not wait.
        .we("gives-way", || {
            Harness::wait(&core, "the life is over", || core.entry(handle).is_err())?;
            (0..GIVE_WAY).for_each(|_| std::thread::yield_now());
            Ok(())
        })
        .we("open", || Ok(descriptors::is_open(number)))
        .we("closed", || Ok(core.registration_counts().closed - before))
        .play(
            test,
            &mut harness,
            "
            us          | updater             | deleter
                        | wants at ApplyBegun |
                        |                     | deletes at DeleteMaskCleared
                        |                     | goes on
            gives-way   |                     |
            open = true |                     |
            closed = 0  |                     |
                        | goes on             |
                        |                     | ends = Ok(())
                        | ends = Ok(())       |
            closed = 1  |                     |
            ",
        )?;
    // The lab's end waits for everybody to let go of it.
    drop(core);
    // The number lives again, unwanted and readable: a registration that is left over would report it.
    let near = at_number(next.near, number).map_err(Failure::broken)?;
    let before = harness.activity(updater);
    std::io::Write::write_all(&mut next.far, b"x").map_err(Failure::broken)?;
    let handle = harness.insert(near, subject.recorder.clone(), harness.thread(1))?;
    harness.fence_all()?;
    let since = harness.activity(updater).since(&before);
    let strays = since.poll_drop + since.poll_skip + since.poll_inval;
    test.cost_eq("reports of the number to the old thread", 0, strays, "S8, S11");
    test.check_eq("reports to anybody", 0, subject.recorder.reports(), "S18");
    test.check_eq("polled before it is wanted", 0, harness.entry(handle)?.polled_recv.bits(), "S10");
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.wait_until("the new life's report", || subject.recorder.bytes() == b"x")?;
    test.check_eq("its thread", 1, subject.recorder.reports_on(harness.thread(1)), "L1");
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    drop((subject, next.far));
    harness.finish(test, &[])
}
