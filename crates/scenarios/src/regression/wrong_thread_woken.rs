//! Groups of different sizes. HAProxy chose the thread to wake by the caller's group: its count, its mask, its first
//! thread (bug 58).

use std::io::Write;

use fd_core::ids::ThreadMask;
use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::recorder::Recorder;
use crate::transport::pair;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/wrong-thread-woken",
    title: "Whoever wants an FD for another group wakes a thread of that group that may use it",
    layer: Layer::Contract,
    clauses: &["S19", "L1", "bug 58"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    // The last group has threads that no other has.
    let mut lab = Lab::start_with(trial, |builder| builder.group(3), |_| Ok(()))?;
    let callers = [None, Some(lab.thread(0))];
    for thread in lab.threads() {
        // It alone; and with all others of its group but one.
        let others = lab.core().table().threads(thread.group()).without(thread.mask());
        let one = others.nth(0).map_or(ThreadMask::NONE, |index| ThreadMask::from_bits(1 << index));
        for mask in [thread.mask(), thread.mask().or(others.without(one))] {
            for caller in callers {
                let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
                let recorder = Recorder::new();
                let handle = lab.insert_shared(ends.near, recorder.clone(), thread, mask)?;
                // Asleep, and knowing nothing of it.
                lab.fence_all()?;
                match caller {
                    Some(caller) => lab.on(caller, move |context| context.registration(handle).want_recv())?,
                    None => lab.core().registration(handle).want_recv(),
                }
                .map_err(Failure::broken)?;
                ends.far.write_all(b"x").map_err(Failure::broken)?;
                lab.wait_until(
                    &format!("a thread of {mask:?} of {} is woken by {caller:?}", thread.group()),
                    || recorder.reports() > 0,
                )?;
                let by = recorder.seen()[0].thread;
                let allowed = by.group() == thread.group() && mask.contains(by.mask());
                trial.check("who handles it", format!("{mask:?} of {}", thread.group()), by, "S19", allowed);
                lab.core().registration(handle).delete().map_err(Failure::broken)?;
            }
        }
    }
    lab.finish(trial, &[])
}
