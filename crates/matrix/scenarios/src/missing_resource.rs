//! Names the resource that the system lacks, from the error of a system call.

use std::error::Error;
use std::io;

use nix::errno::Errno;

use crate::{descriptors, loopback};

/// Returns the resource that a scenario needs and this system lacks, if `error` or one of its sources says
/// so.
pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(errno) = errno(error) {
            return from_errno(errno);
        }
        cause = error.source();
    }
    None
}

fn errno(error: &(dyn Error + 'static)) -> Option<Errno> {
    let of_io = |error: &io::Error| error.raw_os_error().map(Errno::from_raw);
    error.downcast_ref().copied().or_else(|| error.downcast_ref().and_then(of_io))
}

fn from_errno(errno: Errno) -> Option<String> {
    match errno {
        Errno::EMFILE => Some(format!("needs more than {} descriptors (ulimit -n)", descriptors::limit())),
        Errno::ENFILE => Some("needs more open files than the system has left".into()),
        Errno::EADDRNOTAVAIL | Errno::ENETUNREACH | Errno::ENETDOWN if !loopback::has_loopback() => {
            Some(loopback::NO_LOOPBACK.into())
        }
        _ => None,
    }
}
