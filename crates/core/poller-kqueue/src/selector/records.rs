//! From a kevent to a [`Record`].

use ::selector::{Filter, Record};
use nix::errno::Errno;

use super::sources::notes;

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
    if filter > Filter::Except {
        return Record::Source {
            filter,
            data: if error { 0 } else { data },
            notes: notes(filter, fflags),
            eof,
            error: error.then(|| Errno::from_raw(data as i32)),
            one_shot: one_shot && !one_shot_requested,
        };
    }
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

    /// `EV_EOF` of a process comes with notes and not with an errno (FreeBSD `filt_proc`).
    #[test]
    fn records_of_sources_have_their_notes_and_numbers() {
        let (t, p, s) = (raw(Filter::Timer, 3), raw(Filter::Process, 9), raw(Filter::Signal, 2));
        let (v, u) = (raw(Filter::File, 0), raw(Filter::User, 0));
        #[rustfmt::skip]
        let table = [
            (t,                                                  "T(data=3)"),
            (Raw { one_shot: true, ..t },                        "T(data=3)+ONESHOT"),
            (Raw { fflags: 0x8000_0000, eof: true, ..p },        "P(exit+data=9)+EOF"),
            (Raw { fflags: 0x8400_0000, ..p },                   "P(exit+data=9)"),
            (s,                                                  "S(data=2)"),
            (Raw { fflags: 6, ..v },                             "V(write+extend)"),
            (Raw { fflags: 1, eof: true, ..v },                  "V(delete)+EOF"),
            (Raw { fflags: 0x0100_0000, ..u },                   "U"),
            (Raw { error: true, data: Errno::EINVAL as i64, ..t }, "[T ERROR EINVAL]"),
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
