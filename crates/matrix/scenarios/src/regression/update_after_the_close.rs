//! A thread is about to apply an update of a descriptor that another thread deletes. HAProxy's select sets
//! the bit after the close, and then every call fails (suspect 11); its kqueue submits the change after the
//! close, and the change affects the next file of that number (suspect 5).

use std::os::fd::AsRawFd;

use super::about;
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/update-after-the-close",
    title: "An update in progress completes before the number is closed, and affects no later registration",
    layer: Layer::Contract,
    clauses: &["S5", "S8", "S11", "L5", "suspect 5", "suspect 11"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

/// How often the scenario yields, so that the deleter gets a chance to close too early.
const GIVE_WAY: u32 = 500;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let updater = harness.thread(0);
    let ends = test.pair()?;
    let mut next = test.pair()?;
    let number = ends.near.as_raw_fd();
    let recorder = Recorder::new();
    let handle = harness.insert(ends.near, recorder.clone(), updater)?;
    let endpoint = Endpoint { handle, owner: recorder.id(), recorder, far: ends.far };
    let core = Arc::clone(harness.core());
    let before = core.registration_counts().closed;
    let drawing = "
        main        | updater             | deleter
                    | wants at ApplyBegun |
                    |                     | deletes at DeleteMaskCleared
                    |                     | continues
        yields      |                     |
        open = true |                     |
        closed = 0  |                     |
                    | continues           |
                    |                     | ends = Ok(())
                    | ends = Ok(())       |
        closed = 1  |                     |
        ";
    about(&endpoint, "deleted during an update", "S5")
        .worker("updater", updater)
        .outsider("deleter")
        // The registration has ended. A deleter that did not wait would close soon, but at no checkpoint.
        .main_action("yields", || {
            Harness::wait_with_core(&core, "the registration has ended", || core.entry(handle).is_err())?;
            (0..GIVE_WAY).for_each(|_| std::thread::yield_now());
            Ok(())
        })
        .main_action("open", || Ok(descriptors::is_open(number)))
        .main_action("closed", || Ok(core.registration_counts().closed - before))
        .run(test, &mut harness, drawing)?;
    // The end of the harness waits for the last reference to the core.
    drop(core);
    // The number is registered again, readable and without interest: a leftover registration would report it.
    let near = at_number(next.near, number)?;
    let before = harness.activity(updater);
    harness.send(&mut next.far, number, b"x")?;
    let handle = harness.insert(near, endpoint.recorder.clone(), harness.thread(1))?;
    harness.fence_all()?;
    let since = harness.activity(updater).since(&before);
    let strays = since.poll_drop + since.poll_skip + since.poll_inval;
    test.check_cost_eq("reports of the number on the old thread", 0, strays, "S8, S11");
    test.check_eq("reports on all threads", 0, endpoint.recorder.reports(), "S18");
    test.check_eq("polled before it is wanted", 0, harness.entry(handle)?.polled_recv.bits(), "S10");
    harness.registration(handle).want_recv()?;
    harness.wait_until("the new registration's report", || endpoint.recorder.bytes() == b"x")?;
    test.check_eq("reports on its own thread", 1, endpoint.recorder.reports_on(harness.thread(1)), "L1");
    harness.registration(handle).delete()?;
    drop((endpoint, next.far));
    harness.finish(test, &[])
}
