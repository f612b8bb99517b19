//! Runtimes that start, stop, are dropped, fork, and panic.

pub(crate) mod child;
mod held_at_fork;

crate::catalogue::family! {
    calls_beside_stop,
    fork_drops_runtime,
    fork_goes_on,
    impossible_builds,
    insert_beside_stop,
    internal_handles,
    panics,
    start_stop_often,
    stopped_from_inside,
    tasks_at_stop,
    two_runtimes,
}

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fd_core::{Builder, Handler, ReadyGuard, Runtime};

use crate::test_context::{Failure, TestContext};

/// A runtime without a lab: the cell's threads and groups.
fn builder(test: &TestContext) -> Builder {
    let (threads, groups) = (test.params.threads, test.params.groups);
    let of = |group| threads / groups + usize::from(group < threads % groups);
    (0..groups).fold(Runtime::builder(), |builder, group| builder.group(of(group)))
}

fn stopped(runtime: Runtime) -> Result<(), Failure> {
    runtime.stop().map_err(|death| Failure::Wrong(death.to_string()))
}

/// A handler that does nothing.
fn idle() -> Arc<dyn Handler> {
    Arc::new(|_: &ReadyGuard<'_>| {})
}

/// Counts how often clones of it were dropped, in all.
#[derive(Default)]
struct Tally(Arc<AtomicUsize>);

/// Counts for its tally when it is dropped.
struct Tallied(Arc<AtomicUsize>);

impl Tally {
    fn token(&self) -> Tallied {
        Tallied(Arc::clone(&self.0))
    }

    fn dropped(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Tallied {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Whether the write end of a pipe sees that its reader is gone, and so on: the peer of a registration that has ended.
fn both_ends(test: &TestContext) -> Result<(OwnedFd, crate::transport::Far), Failure> {
    let ends = crate::transport::pair(test.params.transport).map_err(Failure::broken)?;
    Ok((ends.near, ends.far))
}
