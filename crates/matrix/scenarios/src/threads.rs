//! Starts the threads of a scenario itself. `std::thread::spawn` panics if the system has no more threads.

use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use crate::failure::{Failure, Result};

/// Starts a thread.
///
/// # Errors
/// [`Failure::Unsupported`] if the system has no more threads.
pub(crate) fn spawn<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Result<JoinHandle<R>> {
    Builder::new().spawn(work).map_err(|error| Failure::no_thread(&error))
}

/// Starts a thread that ends within `scope`.
pub(crate) fn spawn_in<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> R + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, R>> {
    Builder::new().spawn_scoped(scope, work).map_err(|error| Failure::no_thread(&error))
}
