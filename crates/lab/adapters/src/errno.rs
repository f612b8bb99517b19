//! Error numbers as adapters write them.

use nix::errno::Errno;

/// Returns the errno with this name, `EEXIST`, or with this number, `17`.
pub fn named(name: &str) -> Option<Errno> {
    /// The highest number on any system.
    const LAST: i32 = 4095;
    let is_it = |(number, errno): &(i32, Errno)| {
        *errno != Errno::UnknownErrno && (format!("{errno:?}") == name || number.to_string() == name)
    };
    (1..=LAST).map(|number| (number, Errno::from_raw(number))).find(is_it).map(|(_, errno)| errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_if_this_system_has_it() {
        for errno in [Errno::EPERM, Errno::EEXIST, Errno::EBADF, Errno::ELOOP] {
            assert_eq!(named(&format!("{errno:?}")), Some(errno));
        }
        assert_eq!(named(&(Errno::ELOOP as i32).to_string()), Some(Errno::ELOOP));
        for name in ["", "eexist", "EEXIST ", "UnknownErrno", "0", "-2", "+2", "4095", "99999999999"] {
            assert_eq!(named(name), None, "{name}");
        }
    }
}
