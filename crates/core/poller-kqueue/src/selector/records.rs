//! From a kevent to a [`Record`].

use ::selector::{Filter, Record};
use nix::errno::Errno;

/// The fields of a kevent that a [`Record`] depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Raw {
    pub(crate) filter: Filter,
    pub(crate) data: i64,
    pub(crate) fflags: u32,
    /// `EV_EOF`.
    pub(crate) eof: bool,
    /// `EV_ERROR`.
    pub(crate) error: bool,
    /// `EV_ONESHOT`.
    pub(crate) one_shot: bool,
}

/// Converts a kevent. `one_shot_requested` is whether the registration requested `EV_ONESHOT`.
pub(crate) fn record(raw: &Raw, one_shot_requested: bool) -> Record {
    let &Raw { filter, data, fflags, eof, error, one_shot } = raw;
    // With EVFILT_EXCEPT, `fflags` are notes and not an errno.
    let errno = (eof && fflags != 0 && filter != Filter::Except).then(|| Errno::from_raw(fflags as i32));
    Record::Filter {
        filter,
        data: if error { 0 } else { data },
        eof,
        errno,
        error: error.then(|| Errno::from_raw(data as i32)),
        one_shot: one_shot && !one_shot_requested,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(filter: Filter, data: i64) -> Raw {
        Raw { filter, data, fflags: 0, eof: false, error: false, one_shot: false }
    }

    /// The published forms of records of FreeBSD's kernel.
    #[test]
    fn records_are_written_as_they_are_published() {
        let reset = Errno::ECONNRESET as u32;
        let (r, w, x) = (raw(Filter::Read, 3), raw(Filter::Write, 8192), raw(Filter::Except, 0));
        #[rustfmt::skip]
        let table = [
            (r,                                              "R(data=3)"),
            (Raw { data: -100, ..r },                        "R(data=-100)"),
            (Raw { eof: true, ..r },                         "R(data=3)+EOF"),
            (Raw { eof: true, fflags: reset, ..r },          "R(data=3)+EOF(ECONNRESET)"),
            (w,                                              "W"),
            (Raw { eof: true, fflags: reset, ..w },          "W+EOF(ECONNRESET)"),
            (Raw { fflags: reset, ..w },                     "W"),
            (Raw { eof: true, one_shot: true, ..w },         "W+EOF+ONESHOT"),
            (Raw { error: true, data: Errno::ENOENT as i64, ..w }, "[W ERROR ENOENT]"),
            (Raw { eof: true, fflags: 2, ..x },              "X+EOF"),
        ];
        for (raw, written) in table {
            assert_eq!(format!("{:#}", record(&raw, false)), written, "{raw:?}");
        }
    }

    #[test]
    fn one_shot_is_recorded_unless_it_was_requested() {
        let once = Raw { one_shot: true, ..raw(Filter::Write, 1) };
        assert_eq!(format!("{:#}", record(&once, true)), "W");
        assert_eq!(format!("{:#}", record(&once, false)), "W+ONESHOT");
    }
}
