//! What a system has too little of, seen by the error that it answers.

use std::error::Error;
use std::io;

use nix::errno::Errno;

use crate::{descriptors, needs};

/// What a scenario needs and this system does not have, if `error` or what it is because of says so.
pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(errno) = errno(error) {
            return named(errno);
        }
        cause = error.source();
    }
    None
}

fn errno(error: &(dyn Error + 'static)) -> Option<Errno> {
    let of_io = |error: &io::Error| error.raw_os_error().map(Errno::from_raw);
    error.downcast_ref().copied().or_else(|| error.downcast_ref().and_then(of_io))
}

fn named(errno: Errno) -> Option<String> {
    match errno {
        Errno::EMFILE => Some(format!("needs more than {} descriptors (ulimit -n)", descriptors::limit())),
        Errno::ENFILE => Some("needs more open files than the system has left".into()),
        Errno::EADDRNOTAVAIL | Errno::ENETUNREACH | Errno::ENETDOWN if !needs::has_loopback() => {
            Some(needs::NO_LOOPBACK.into())
        }
        _ => None,
    }
}
