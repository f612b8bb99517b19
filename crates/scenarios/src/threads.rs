//! Threads of a scenario's own. Those of std panic if the system has no more of them.

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use crate::test_context::Failure;

/// Starts a thread.
///
/// # Errors
/// [`Failure::Unsupported`] if the system has no more of them.
pub(crate) fn spawn<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<JoinHandle<R>, Failure> {
    Builder::new().spawn(work).map_err(|error| short(&error))
}

/// Starts a thread that ends within `scope`.
///
/// # Errors
/// As for [`spawn`].
pub(crate) fn spawn_in<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> R + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, R>, Failure> {
    Builder::new().spawn_scoped(scope, work).map_err(|error| short(&error))
}

pub(crate) fn short(error: &io::Error) -> Failure {
    Failure::Unsupported(format!("needs more threads than the system starts: {error}"))
}
