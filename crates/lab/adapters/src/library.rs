//! The errno of a library's `io::Error`.

use std::io;

use nix::errno::Errno;
use selector::Changed;

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
