//! Runtimes that start, stop, are dropped, fork, and panic.

pub(crate) mod child;
mod held_at_fork;

crate::scenario::family! {
    bare_fork,
    calls_beside_stop,
    drain_serves_what_it_has,
    fork_drops_runtime,
    fork_goes_on,
    impossible_builds,
    insert_beside_stop,
    internal_handles,
    panics,
    signals_in_a_child,
    start_stop_often,
    stopped_from_inside,
    tasks_at_stop,
    two_runtimes,
}

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use fd_core::{Builder, Runtime};

use crate::prelude::*;

/// Returns the builder of a runtime without a harness: the cell's threads and groups.
fn builder(test: &TestContext) -> Builder {
    let (threads, groups) = (test.params.threads, test.params.groups);
    let of = |group| threads / groups + usize::from(group < threads % groups);
    (0..groups).fold(Runtime::builder(), |builder, group| builder.group(of(group)))
}

/// Stops the runtime.
fn stop(runtime: Runtime) -> Result {
    runtime.stop().map_err(|error| Failure::Wrong(error.to_string()))
}

/// Returns a handler that does nothing.
fn idle() -> Arc<dyn Handler> {
    Arc::new(|_: &ReadyGuard<'_>| {})
}

/// Counts how many of its tokens have been dropped.
#[derive(Default)]
struct DropCounter(Arc<AtomicUsize>);

/// Counts its own drop.
struct DropToken(Arc<AtomicUsize>);

impl DropCounter {
    fn token(&self) -> DropToken {
        DropToken(Arc::clone(&self.0))
    }

    fn dropped(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for DropToken {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Creates a connected pair over the cell's transport.
fn both_ends(test: &TestContext) -> Result<(OwnedFd, FarEnd)> {
    let ends = test.pair()?;
    Ok((ends.near, ends.far))
}
