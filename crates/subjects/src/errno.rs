//! Errors of libraries and programs as the errno that they stand for.

use std::io;

use nix::errno::Errno;
use selector::Changed;

/// The error's own errno, or the one that its kind is made of. [`Errno::UnknownErrno`] if there is none.
#[cfg(any(feature = "mio", feature = "polling"))]
pub fn of(error: &io::Error) -> Errno {
    match (error.raw_os_error(), error.kind()) {
        (Some(raw), _) => Errno::from_raw(raw),
        (None, io::ErrorKind::AlreadyExists) => Errno::EEXIST,
        (None, io::ErrorKind::NotFound) => Errno::ENOENT,
        (None, io::ErrorKind::InvalidInput) => Errno::EINVAL,
        (None, _) => Errno::UnknownErrno,
    }
}

/// What a call to change a registration came to.
#[cfg(any(feature = "mio", feature = "polling"))]
pub fn changed(result: io::Result<()>) -> Changed {
    result.map_err(|error| of(&error)).into()
}

/// The errno of this name: `EEXIST`.
pub fn named(name: &str) -> Option<Errno> {
    /// No system has numbers above it.
    const LAST: i32 = 4095;
    let is_meant = |errno: &Errno| *errno != Errno::UnknownErrno && format!("{errno:?}") == name;
    (1..=LAST).map(Errno::from_raw).find(is_meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_if_this_system_has_it() {
        for errno in [Errno::EPERM, Errno::EEXIST, Errno::EBADF, Errno::ELOOP] {
            assert_eq!(named(&format!("{errno:?}")), Some(errno));
        }
        for name in ["", "eexist", "EEXIST ", "UnknownErrno", "17"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[cfg(any(feature = "mio", feature = "polling"))]
    #[test]
    fn errors_without_a_number_are_what_their_kind_stands_for() {
        assert_eq!(of(&io::Error::from_raw_os_error(Errno::EPERM as i32)), Errno::EPERM);
        assert_eq!(of(&io::ErrorKind::AlreadyExists.into()), Errno::EEXIST);
        assert_eq!(of(&io::Error::other("no errno at all")), Errno::UnknownErrno);
        assert_eq!(changed(Err(io::ErrorKind::NotFound.into())), Changed::refused(Errno::ENOENT));
    }
}
