//! Why a process or a thread cannot be started.

use std::io::{Error, ErrorKind};

/// Names the cause in an error of fork(2) or pthread_create(3): `EAGAIN`, "Resource temporarily unavailable",
/// means that a limit is reached. Other errors stay as they are.
pub fn start_error(error: Error) -> Error {
    const LIMIT: &str = "no more processes or threads can be started: raise the limit (ulimit -u, or pids.max of \
        the control group), or use fewer --jobs";
    if error.kind() == ErrorKind::WouldBlock { Error::new(ErrorKind::WouldBlock, LIMIT) } else { error }
}
