//! An errno by its name.

use nix::errno::Errno;

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
}
