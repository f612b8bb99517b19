//! Another part of the process opens a file at the moment when a number becomes free. HAProxy closed wake
//! pipes once per thread, and the second close hit the file that had the number by then (bug 6), or left the
//! pipes registered under it (bug 60).

use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd, RawFd};

use crate::descriptors::inode;
use crate::migration::Endpoint;
use crate::prelude::*;
use crate::transport::{copy_at, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/closed-number-is-somebody-elses",
    title: "A closed number belongs to its next file: the core does not touch it, while threads run and when they end",
    layer: Layer::Contract,
    clauses: &["S4", "bug 6", "bug 60"],
    axes: Axes { transports: &[Transport::Unix], triggers: &[Mode::Level], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let kept = pair(metadata::Transport::Pipe)?;
    let file: Arc<OwnedFd> = Arc::new(kept.near);
    let expected_inode = inode(&*file);
    let successors: Arc<Mutex<Vec<OwnedFd>>> = Arc::default();
    let (opened, original) = (Arc::clone(&successors), Arc::clone(&file));
    let checkpoints = Checkpoints::with_listener(move |point, number| {
        if point == Point::Closed
            && let Ok(successor) = copy_at(&*original, number)
        {
            unpoisoned(&opened).push(successor);
        }
    });
    // Twice: the second runtime starts while other files have the numbers that the first one has freed.
    for round in 0..2 {
        let mut harness = Harness::start(test)?;
        let (first, second) = (harness.thread(0), harness.thread(1));
        for deleter in harness.threads() {
            let endpoint = Endpoint::start(test, &mut harness, first)?;
            let handle = endpoint.handle;
            let deleted = harness.on(deleter, move |context| context.registration(handle).delete())?;
            test.check_debug("delete", Ok(()), deleted, "L7");
        }
        // The stop closes this one, as it closes the wake descriptors.
        let left = Endpoint::start(test, &mut harness, second)?;
        let opened = unpoisoned(&successors).len();
        test.check("files opened under closed numbers", "one per close", opened, "bug 6", opened > round);
        stop(test, harness, left, &successors)?;
        let changed = close_unchanged(&successors, expected_inode);
        test.check_eq("files under closed numbers that were closed or replaced", 0, changed, "S4, bug 6");
        test.stop_if_failed()?;
    }
    drop(checkpoints);
    Ok(())
}

/// Stops the runtime. Files that were opened under closed numbers, until then and during the stop, are no
/// leak.
fn stop(
    test: &mut TestContext,
    harness: Harness,
    left: Endpoint,
    successors: &Mutex<Vec<OwnedFd>>,
) -> Result {
    let mut kept: Vec<RawFd> = unpoisoned(successors).iter().map(AsRawFd::as_raw_fd).collect();
    // The stop closes the remaining registrations, and other files get their numbers.
    kept.extend(harness.core().entries().0.iter().map(|entry| entry.handle.number()));
    // The number of the far end stays free: the core does not close it.
    drop(left.far);
    harness.finish(test, &kept)
}

/// Closes the files that are unchanged, and returns how many are not.
fn close_unchanged(successors: &Mutex<Vec<OwnedFd>>, inode_of_all: Option<u64>) -> usize {
    let (same, other): (Vec<_>, Vec<_>) = std::mem::take(&mut *unpoisoned(successors))
        .into_iter()
        .partition(|successor| inode(&successor.as_fd()) == inode_of_all);
    drop(same);
    // The number is free by now, or belongs to another file: this scenario must not close it.
    let count = other.len();
    other.into_iter().map(IntoRawFd::into_raw_fd).for_each(|_| ());
    count
}
