//! `497959290`: when a descriptor with a copy was closed, it was removed from the pollers of the threads that
//! were allowed to use it, although other threads had it registered.

use std::os::fd::AsRawFd;

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/former-owner-polls-copy",
    title: "If a descriptor with a copy is closed right after a takeover, its former owner gets no event of the copy",
    layer: Layer::Contract,
    clauses: &["S11", "L5", "bug 13"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let (old, new) = (harness.thread(0), harness.thread(1));
    let kernel_state = harness.core().backend().capabilities().kernel_state;
    let mut ends = test.pair()?;
    let recorder = Recorder::new();
    let owner = recorder.id();
    let handle = harness.insert_recv(ends.near, recorder.clone(), old)?;
    harness.fence(old)?;

    // The old owner does not poll before everything has happened.
    let gate = harness.hold(old)?;
    let taken = harness.on(new, move |context| context.takeover(handle, owner))?;
    test.check_debug("takeover", Ok(()), taken, "L9");
    harness.on(new, move |context| context.registration(handle).want_recv())??;
    harness.wait_until_polled_by(handle, new)?;
    harness.fence(new)?;
    let entry = harness.entry(handle)?;
    test.check_eq("the new owner polls it", true, entry.polled_recv.contains(new.mask()), "L1");
    let copy = harness.registration(handle).duplicate()?;
    let copy = copy.into_inner();
    let before = [old, new].map(|thread| harness.activity(thread));
    harness.registration(handle).delete()?;
    ends.far.write_all(b"for the copy")?;
    harness.wait_until("the copy's data", || descriptors::readable(copy.as_raw_fd()))?;
    gate.open();
    harness.fence_all()?;
    let reported = [old, new].into_iter().zip(&before).map(|(thread, before)| {
        let since = harness.activity(thread).since(before);
        since.poll_drop + since.poll_skip
    });
    let reported: u64 = reported.sum();
    if kernel_state {
        test.check_eq("undelivered events", 0, reported, "S11, L5, bug 13");
    } else {
        // Without kernel state, the array of a sleeping thread may date from before the delete, and yields
        // one event.
        test.check("undelivered events", "at most 1", reported, "L5", reported <= 1);
    }
    test.check_eq("handler calls", 0, recorder.reports(), "S6");
    let mut bytes = Vec::new();
    read_all(&copy, &mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    test.check_eq("bytes for the copy", "for the copy".into(), text, "S4");
    drop((copy, ends.far));
    harness.finish(test, &[])
}
