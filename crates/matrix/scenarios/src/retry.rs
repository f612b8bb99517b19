//! Starts runtimes while errors are injected: a start that fails leaves nothing behind, so it is tried again.

use std::io;

use fd_core::error::StartError;
use fd_core::hooks::inject;
use fd_core::poller::MakeBackend;
use fd_core::{Builder, Prepared, Runtime};

/// If one call in two fails, 255 of 256 starts of a runtime of eight threads on epoll fail.
const ATTEMPTS: usize = 4096;

/// Calls `make` once. While errors are injected, repeats it as long as it fails with an error that
/// `is_transient`.
pub(crate) fn retry<T, E>(
    make: impl Fn() -> Result<T, E>,
    is_transient: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for _ in 1..if inject::is_on() { ATTEMPTS } else { 1 } {
        match make() {
            Err(error) if is_transient(&error) => {}
            made => return made,
        }
    }
    make()
}

/// Prepares a runtime that has not started.
pub(crate) fn prepare(builder: impl Fn() -> Builder, make: MakeBackend) -> Result<Prepared, StartError> {
    retry(|| builder().prepare(make), |error| matches!(error, StartError::System { .. }))
}

/// Starts a runtime.
pub(crate) fn start(builder: impl Fn() -> Builder, make: MakeBackend) -> Result<Runtime, StartError> {
    retry(|| builder().start(make), |error| matches!(error, StartError::System { .. }))
}

/// For [`retry`]: returns whether the error is one of a system call.
pub(crate) fn is_system_error(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
}
