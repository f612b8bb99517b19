//! Error numbers by name.

use nix::errno::Errno;

/// Returns the errno with this name: `EEXIST`.
pub fn named(name: &str) -> Option<Errno> {
    /// The highest number on any system.
    const LAST: i32 = 4095;
    let has_name = |errno: &Errno| *errno != Errno::UnknownErrno && format!("{errno:?}") == name;
    (1..=LAST).map(Errno::from_raw).find(has_name)
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
