//! Somebody opens a file the moment that its number becomes free. HAProxy closed wake pipes once per thread, and the
//! second close hit whatever had the number by then (bug 6), or left them registered in the way of it (bug 60).

use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};

use fd_core::hooks::checkpoint::Point;
use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::deletion::registration::{identity, unpoisoned};
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::migration::Endpoint;
use crate::test_context::{Failure, TestContext};
use crate::transport::{copy_at, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/closed-number-is-somebody-elses",
    title: "A number that was closed is let alone: whoever gets it next keeps it, while threads work and when they end",
    layer: Layer::Contract,
    clauses: &["S4", "bug 6", "bug 60"],
    axes: Axes { transports: &[Transport::Unix], triggers: &[Mode::Level], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let kept = pair(metadata::Transport::Pipe).map_err(Failure::broken)?;
    let file: Arc<OwnedFd> = Arc::new(kept.near);
    let theirs = identity(&*file);
    let strangers: Arc<Mutex<Vec<OwnedFd>>> = Arc::default();
    let (moves_in, original) = (Arc::clone(&strangers), Arc::clone(&file));
    let checkpoints = Checkpoints::telling(move |point, number| {
        if point == Point::Closed
            && let Ok(stranger) = copy_at(&*original, number)
        {
            unpoisoned(&moves_in).push(stranger);
        }
    });
    // Twice: the second runtime works around the strangers that the first one has made room for.
    for round in 0..2 {
        let mut harness = Harness::start(test)?;
        let (first, second) = (harness.thread(0), harness.thread(1));
        for deleter in harness.threads() {
            let subject = Endpoint::start(test, &mut harness, first)?;
            let handle = subject.handle;
            let deleted = harness.on(deleter, move |context| context.registration(handle).delete())?;
            test.check_eq("delete", "Ok(())".into(), format!("{deleted:?}"), "L7");
        }
        // This one is left to the stop, as the wake descriptors are.
        let left = Endpoint::start(test, &mut harness, second)?;
        let moved_in = unpoisoned(&strangers).len();
        test.check("strangers while the threads work", "one per close", moved_in, "bug 6", moved_in > round);
        stop(test, harness, left, &strangers)?;
        let intact = settle(&strangers, theirs);
        test.check_eq("strangers whose number was closed or changed", 0, intact, "S4, bug 6");
        test.all_hold()?;
    }
    drop(checkpoints);
    Ok(())
}

/// Ends the trial's runtime; what moved in until then, and during the stop, is not a leak.
fn stop(
    test: &mut TestContext,
    harness: Harness,
    left: Endpoint,
    strangers: &Mutex<Vec<OwnedFd>>,
) -> Result<(), Failure> {
    let mut kept: Vec<RawFd> = unpoisoned(strangers).iter().map(AsRawFd::as_raw_fd).collect();
    // The numbers of what is still registered will be the strangers' by then.
    kept.extend(harness.core().entries().0.iter().map(|entry| entry.handle.number()));
    // Its number is left free: nobody of the core closes it.
    drop(left.far);
    harness.finish(test, &kept)
}

/// How many strangers are not what they were. Lets go of the others.
fn settle(strangers: &Mutex<Vec<OwnedFd>>, theirs: Option<u64>) -> usize {
    let (same, other): (Vec<_>, Vec<_>) = std::mem::take(&mut *unpoisoned(strangers))
        .into_iter()
        .partition(|stranger| identity(&stranger.as_fd()) == theirs);
    drop(same);
    // Somebody else's by now, or nobody's: not ours to close.
    let count = other.len();
    other.into_iter().map(IntoRawFd::into_raw_fd).for_each(|_| ());
    count
}
