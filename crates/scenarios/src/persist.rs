//! Starting a runtime while errors are injected: it may fail, leaves nothing behind then, and is tried again.

use std::io;

use fd_core::error::StartError;
use fd_core::hooks::inject;
use fd_core::poller::MakeBackend;
use fd_core::{Builder, Prepared, Runtime};

/// With one call in two failing, a runtime of eight threads on epoll fails to start 255 times out of 256.
const TRIES: usize = 4096;

/// Makes something that the system may refuse: once, or until it succeeds if errors are injected.
pub(crate) fn persist<T, E>(make: impl Fn() -> Result<T, E>, may_pass: impl Fn(&E) -> bool) -> Result<T, E> {
    for _ in 1..if inject::is_on() { TRIES } else { 1 } {
        match make() {
            Err(error) if may_pass(&error) => {}
            made => return made,
        }
    }
    make()
}

/// A runtime that is ready to start.
pub(crate) fn prepare(builder: impl Fn() -> Builder, make: MakeBackend) -> Result<Prepared, StartError> {
    persist(|| builder().prepare(make), |error| matches!(error, StartError::System { .. }))
}

/// A runtime that has started.
pub(crate) fn start(builder: impl Fn() -> Builder, make: MakeBackend) -> Result<Runtime, StartError> {
    persist(|| builder().start(make), |error| matches!(error, StartError::System { .. }))
}

/// For [`persist`]: whether it is the system's error.
pub(crate) fn from_the_system(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
}
