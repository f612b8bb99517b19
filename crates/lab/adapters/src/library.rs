//! What the pollers of libraries share.

use std::io;

use nix::errno::Errno;
use selector::{Capabilities, Changed, Interest, Interface, Mode, Record, Registered, View};

/// The view of a poller with this name.
pub const fn view(name: &'static str) -> [View; 1] {
    [View { api: name, interest: Interest::ALL, registered: Registered::Before }]
}

/// Returns the interface of this system below libraries that choose one: the system's queue.
pub fn queue() -> Option<Interface> {
    if cfg!(any(target_os = "linux", target_os = "android")) {
        Some(Interface::Epoll)
    } else if cfg!(any(target_os = "illumos", target_os = "solaris")) {
        None
    } else {
        Some(Interface::Kqueue)
    }
}

/// The features of a poller with these modes, in which only one thread can wait, for this reason.
pub fn capabilities(modes: Vec<Mode>, one_waits: &'static str) -> Capabilities {
    Capabilities {
        modes,
        shared_wait: Err(one_waits),
        changes_seen_by_waiters: Ok(()),
        own_numbers: Ok(()),
        raw_records: false,
    }
}

/// Returns the names of the flags that are set.
pub fn names<const N: usize>(flags: [(bool, &str); N]) -> Record {
    Record::Names(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name.into()).collect())
}

/// Returns the errno of the error, or the errno that maps to its kind. [`Errno::UnknownErrno`] if there is
/// none.
pub fn errno(error: &io::Error) -> Errno {
    match (error.raw_os_error(), error.kind()) {
        (Some(raw), _) => Errno::from_raw(raw),
        (None, io::ErrorKind::AlreadyExists) => Errno::EEXIST,
        (None, io::ErrorKind::NotFound) => Errno::ENOENT,
        (None, io::ErrorKind::InvalidInput) => Errno::EINVAL,
        (None, _) => Errno::UnknownErrno,
    }
}

/// Converts the result of a call that changes a registration.
pub fn changed(result: io::Result<()>) -> Changed {
    result.map_err(|error| errno(&error)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_a_number_has_the_errno_of_its_kind() {
        assert_eq!(errno(&io::Error::from_raw_os_error(Errno::EPERM as i32)), Errno::EPERM);
        assert_eq!(errno(&io::ErrorKind::AlreadyExists.into()), Errno::EEXIST);
        assert_eq!(errno(&io::Error::other("no errno at all")), Errno::UnknownErrno);
        assert_eq!(changed(Err(io::ErrorKind::NotFound.into())), Changed::refused(Errno::ENOENT));
    }
}
