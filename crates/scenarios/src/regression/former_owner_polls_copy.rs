//! `497959290`: when a descriptor with a copy was closed, it was taken out of the pollers of the threads that were
//! allowed to use it. Those that had it registered are others.

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};

use metadata::{Axes, Layer, Transport};

use crate::catalogue::Scenario;
use crate::descriptors;
use crate::lab::Lab;
use crate::recorder::Recorder;
use crate::transport::{pair, read_all};
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/former-owner-polls-copy",
    title: "An FD with a copy is closed right after it was taken over: its former owner hears nothing of the copy",
    layer: Layer::Contract,
    clauses: &["S11", "L5", "bug 13"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let (old, new) = (lab.thread(0), lab.thread(1));
    let kernel_state = lab.core().backend().capabilities().kernel_state;
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let recorder = Recorder::new();
    let owner = recorder.id();
    let handle = lab.insert(ends.near, recorder.clone(), old)?;
    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    lab.fence(old)?;

    // The old owner does not come to look at its poller before all is over.
    let turn = lab.hold(old)?;
    let taken = lab.on(new, move |context| context.takeover(handle, owner))?;
    trial.check_eq("takeover", "Ok(())".into(), format!("{taken:?}"), "L9");
    lab.on(new, move |context| context.registration(handle).want_recv())?.map_err(Failure::broken)?;
    lab.fence(new)?;
    let entry = lab.entry(handle)?;
    trial.check_eq("the new owner polls it", true, entry.polled_recv.contains(new.mask()), "L1");
    let copy = lab.core().registration(handle).duplicate().map_err(Failure::broken)?;
    let copy = OwnedFd::from(copy);
    let before = [old, new].map(|thread| lab.activity(thread));
    lab.core().registration(handle).delete().map_err(Failure::broken)?;
    ends.far.write_all(b"for the copy").map_err(Failure::broken)?;
    lab.wait_until("the copy's data", || descriptors::readable(copy.as_raw_fd()))?;
    turn.open();
    lab.fence_all()?;
    let reported = [old, new].into_iter().zip(&before).map(|(thread, before)| {
        let since = lab.activity(thread).since(before);
        since.poll_drop + since.poll_skip
    });
    let reported: u64 = reported.sum();
    if kernel_state {
        trial.check_eq("events for nobody", 0, reported, "S11, L5, bug 13");
    } else {
        // Without kernel state, the array that a thread sleeps on may be from before the delete, which is told once.
        trial.check("events for nobody", "at most 1", reported, "L5", reported <= 1);
    }
    trial.check_eq("handler calls", 0, recorder.reports(), "S6");
    let mut bytes = Vec::new();
    read_all(&copy, &mut bytes).map_err(Failure::broken)?;
    trial.check_eq(
        "bytes for the copy",
        "for the copy".into(),
        String::from_utf8_lossy(&bytes).into_owned(),
        "S4",
    );
    drop((copy, ends.far));
    lab.finish(trial, &[])
}
