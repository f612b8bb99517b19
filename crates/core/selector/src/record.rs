//! The events of a poller in its own terms, and their notation.
//!
//! The notation is that of the published answers: docs/expectations.md.

use std::fmt;

use metadata::WORDLESS;
use nix::errno::Errno;

/// The bits of poll(2) and epoll_wait(2), by their POSIX and Linux names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Bits {
    /// `POLLIN`.
    pub input: bool,
    /// `POLLPRI`.
    pub urgent: bool,
    /// `POLLOUT`.
    pub output: bool,
    /// `POLLERR`.
    pub error: bool,
    /// `POLLHUP`.
    pub hang_up: bool,
    /// `POLLNVAL`.
    pub invalid: bool,
    /// `POLLRDHUP`.
    pub peer_shut: bool,
    /// `POLLRDNORM`, if it was requested.
    pub read_normal: bool,
    /// `POLLWRNORM`, if it was requested.
    pub write_normal: bool,
    /// `POLLRDBAND`.
    pub read_band: bool,
    /// `POLLWRBAND`.
    pub write_band: bool,
}

/// A filter of kqueue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Filter {
    /// `EVFILT_READ`.
    Read,
    /// `EVFILT_WRITE`.
    Write,
    /// `EVFILT_EXCEPT`.
    Except,
    /// `EVFILT_TIMER`.
    Timer,
    /// `EVFILT_PROC`.
    Process,
    /// `EVFILT_SIGNAL`.
    Signal,
    /// `EVFILT_VNODE`.
    File,
    /// `EVFILT_USER`.
    User,
}

/// The contents of one event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Record {
    /// The bits of poll and epoll.
    Bits(Bits),
    /// The sets of select that contain the descriptor after the call.
    Sets {
        /// The read set.
        read: bool,
        /// The write set.
        write: bool,
        /// The exception set.
        except: bool,
    },
    /// The event of one filter of kqueue.
    Filter {
        /// The filter.
        filter: Filter,
        /// `data`: the bytes to read, or the room to write. The room depends on the sizes of buffers, so the
        /// notation leaves it out.
        data: i64,
        /// `EV_EOF`.
        eof: bool,
        /// The errno in `fflags` that comes with `EV_EOF`.
        errno: Option<Errno>,
        /// The errno in `data` that comes with `EV_ERROR`.
        error: Option<Errno>,
        /// `EV_ONESHOT` is in the flags although the registration has not requested it.
        one_shot: bool,
    },
    /// The event of a filter of kqueue that is a source.
    Source {
        /// The filter.
        filter: Filter,
        /// `data`: expirations, deliveries, or the status of a process. 0 for files.
        data: i64,
        /// The names of the `NOTE_…` flags in `fflags`, in lower case.
        notes: Vec<&'static str>,
        /// `EV_EOF`.
        eof: bool,
        /// The errno in `data` that comes with `EV_ERROR`.
        error: Option<Errno>,
        /// `EV_ONESHOT` is in the flags although the registration has not requested it.
        one_shot: bool,
    },
    /// The names of an adapter or a library for its events: `readable`, `write_closed`.
    Names(Vec<String>),
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (self.input, "IN"),
            (self.urgent, "PRI"),
            (self.output, "OUT"),
            (self.error, "ERR"),
            (self.hang_up, "HUP"),
            (self.invalid, "NVAL"),
            (self.peer_shut, "RDHUP"),
            (self.read_normal, "RDNORM"),
            (self.write_normal, "WRNORM"),
            (self.read_band, "RDBAND"),
            (self.write_band, "WRBAND"),
        ];
        let set: Vec<_> = names.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
        f.write_str(if set.is_empty() { "-" } else { "" })?;
        f.write_str(&set.join("|"))
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "R",
            Self::Write => "W",
            Self::Except => "X",
            Self::Timer => "T",
            Self::Process => "P",
            Self::Signal => "S",
            Self::File => "V",
            Self::User => "U",
        })
    }
}

/// `IN|HUP`, `rw-`, `R(data=3)+EOF(ECONNRESET)`. `#` includes `+ONESHOT`: `W+EOF+ONESHOT`.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => bits.fmt(f),
            Self::Sets { read, write, except } => {
                let letters = [(read, 'r'), (write, 'w'), (except, 'x')];
                letters
                    .iter()
                    .try_for_each(|(set, letter)| write!(f, "{}", if **set { *letter } else { '-' }))
            }
            Self::Filter { filter, error: Some(errno), .. } => write!(f, "[{filter} ERROR {errno:?}]"),
            Self::Filter { filter, data, eof, errno, error: None, one_shot } => {
                filter.fmt(f)?;
                if *filter == Filter::Read {
                    write!(f, "(data={data})")?;
                }
                if *eof {
                    f.write_str("+EOF")?;
                }
                if let Some(errno) = errno {
                    write!(f, "({errno:?})")?;
                }
                f.write_str(if *one_shot && f.alternate() { "+ONESHOT" } else { "" })
            }
            Self::Source { filter, error: Some(errno), .. } => write!(f, "[{filter} ERROR {errno:?}]"),
            Self::Source { filter, data, notes, eof, error: None, one_shot } => {
                // The data of a file and of a user event are those of its registration.
                let has_data = !matches!(filter, Filter::File | Filter::User);
                let data = has_data.then(|| format!("data={data}"));
                let details: Vec<_> = notes.iter().map(ToString::to_string).chain(data).collect();
                match details.is_empty() {
                    true => filter.fmt(f)?,
                    false => write!(f, "{filter}({})", details.join("+"))?,
                }
                f.write_str(if *eof { "+EOF" } else { "" })?;
                f.write_str(if *one_shot && f.alternate() { "+ONESHOT" } else { "" })
            }
            Self::Names(names) if names.is_empty() => f.write_str(WORDLESS),
            Self::Names(names) => f.write_str(&names.join("|")),
        }
    }
}

impl Record {
    /// Sorts the filters of kqueue, whose order has no meaning. Other records stay in the order of the
    /// poller.
    pub fn sort(records: &mut [&Self]) {
        records.sort_by_key(|record| match record {
            Self::Filter { filter, .. } | Self::Source { filter, .. } => Some(*filter),
            _ => None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Bits = Bits {
        input: false,
        urgent: false,
        output: false,
        error: false,
        hang_up: false,
        invalid: false,
        peer_shut: false,
        read_normal: false,
        write_normal: false,
        read_band: false,
        write_band: false,
    };
    const IN: Bits = Bits { input: true, ..NONE };
    const OUT: Bits = Bits { output: true, ..NONE };
    const PRI: Bits = Bits { urgent: true, ..NONE };
    const ERR: Bits = Bits { error: true, ..NONE };
    const HUP: Bits = Bits { hang_up: true, ..NONE };
    const NVAL: Bits = Bits { invalid: true, ..NONE };
    const RDHUP: Bits = Bits { peer_shut: true, ..NONE };

    fn bits(of: &[Bits]) -> Record {
        Record::Bits(of.iter().fold(NONE, |all, one| Bits {
            input: all.input || one.input,
            urgent: all.urgent || one.urgent,
            output: all.output || one.output,
            error: all.error || one.error,
            hang_up: all.hang_up || one.hang_up,
            invalid: all.invalid || one.invalid,
            peer_shut: all.peer_shut || one.peer_shut,
            read_normal: all.read_normal || one.read_normal,
            write_normal: all.write_normal || one.write_normal,
            read_band: all.read_band || one.read_band,
            write_band: all.write_band || one.write_band,
        }))
    }

    fn sets(read: bool, write: bool, except: bool) -> Record {
        Record::Sets { read, write, except }
    }

    fn filter(filter: Filter, data: i64) -> Record {
        Record::Filter { filter, data, eof: false, errno: None, error: None, one_shot: false }
    }

    fn end(of: Filter, data: i64, reason: Option<Errno>) -> Record {
        Record::Filter { filter: of, data, eof: true, errno: reason, error: None, one_shot: false }
    }

    /// Every form of an answer without `#` in the published files.
    #[test]
    fn answers_are_written_as_they_are_published() {
        use Filter::{Except, Read, Write};
        let (reset, refused, aborted) =
            (Some(Errno::ECONNRESET), Some(Errno::ECONNREFUSED), Some(Errno::ECONNABORTED));
        #[rustfmt::skip]
        let table = [
            // poll and epoll
            (vec![bits(&[])], "-"),
            (vec![bits(&[IN])], "IN"),
            (vec![bits(&[OUT])], "OUT"),
            (vec![bits(&[ERR])], "ERR"),
            (vec![bits(&[HUP])], "HUP"),
            (vec![bits(&[NVAL])], "NVAL"),
            (vec![bits(&[PRI, OUT])], "PRI|OUT"),
            (vec![bits(&[IN, PRI, OUT])], "IN|PRI|OUT"),
            (vec![bits(&[IN, OUT])], "IN|OUT"),
            (vec![bits(&[IN, HUP])], "IN|HUP"),
            (vec![bits(&[IN, RDHUP])], "IN|RDHUP"),
            (vec![bits(&[IN, HUP, RDHUP])], "IN|HUP|RDHUP"),
            (vec![bits(&[IN, OUT, HUP])], "IN|OUT|HUP"),
            (vec![bits(&[IN, OUT, RDHUP])], "IN|OUT|RDHUP"),
            (vec![bits(&[IN, OUT, HUP, RDHUP])], "IN|OUT|HUP|RDHUP"),
            (vec![bits(&[IN, OUT, ERR, HUP])], "IN|OUT|ERR|HUP"),
            (vec![bits(&[IN, OUT, ERR, HUP, RDHUP])], "IN|OUT|ERR|HUP|RDHUP"),
            (vec![bits(&[IN, ERR, HUP])], "IN|ERR|HUP"),
            (vec![bits(&[OUT, HUP])], "OUT|HUP"),
            (vec![bits(&[OUT, ERR])], "OUT|ERR"),
            (vec![bits(&[OUT, ERR, HUP])], "OUT|ERR|HUP"),
            (vec![bits(&[ERR, HUP])], "ERR|HUP"),
            // select
            (vec![sets(false, false, false)], "---"),
            (vec![sets(true, false, false)], "r--"),
            (vec![sets(false, true, false)], "-w-"),
            (vec![sets(false, false, true)], "--x"),
            (vec![sets(true, true, false)], "rw-"),
            (vec![sets(true, false, true)], "r-x"),
            (vec![sets(false, true, true)], "-wx"),
            (vec![sets(true, true, true)], "rwx"),
            // kqueue
            (vec![filter(Write, 8192)], "W"),
            (vec![filter(Read, 1)], "R(data=1)"),
            (vec![filter(Read, 13)], "R(data=13)"),
            (vec![filter(Read, -100)], "R(data=-100)"),
            (vec![filter(Except, 0)], "X"),
            (vec![filter(Read, 0), filter(Write, 8192)], "R(data=0) W"),
            (vec![filter(Write, 8192), filter(Read, 3)], "R(data=3) W"),
            (vec![end(Write, 0, None)], "W+EOF"),
            (vec![end(Write, 8192, refused)], "W+EOF(ECONNREFUSED)"),
            (vec![end(Read, 0, None)], "R(data=0)+EOF"),
            (vec![end(Read, 3, None), filter(Write, 1)], "R(data=3)+EOF W"),
            (vec![end(Read, 0, None), end(Write, 1, None)], "R(data=0)+EOF W+EOF"),
            (vec![end(Read, 0, aborted)], "R(data=0)+EOF(ECONNABORTED)"),
            (vec![end(Read, 0, refused), end(Write, 1, refused)],
             "R(data=0)+EOF(ECONNREFUSED) W+EOF(ECONNREFUSED)"),
            (vec![end(Write, 1, reset), end(Read, 3, reset)],
             "R(data=3)+EOF(ECONNRESET) W+EOF(ECONNRESET)"),
            // libraries and adapters
            (vec![Record::Names(vec!["readable".into(), "write_closed".into()])], "readable|write_closed"),
            (vec![Record::Names(vec![])], "wordless"),
        ];
        for (records, written) in table {
            assert_eq!(sorted(&records).join(" "), written, "{records:?}");
        }
    }

    fn sorted(records: &[Record]) -> Vec<String> {
        let mut all: Vec<_> = records.iter().collect();
        Record::sort(&mut all);
        all.into_iter().map(ToString::to_string).collect()
    }

    /// Some behaviours record the kernel's own `EV_ONESHOT`; the tables of states leave it out.
    #[test]
    fn only_the_alternate_form_has_one_shot() {
        let last = Record::Filter {
            filter: Filter::Write,
            data: 0,
            eof: true,
            errno: None,
            error: None,
            one_shot: true,
        };
        assert_eq!((format!("{last:#}"), format!("{last}")), ("W+EOF+ONESHOT".into(), "W+EOF".into()));
    }

    #[test]
    fn an_event_with_an_error_has_its_own_form() {
        let failed = Record::Filter {
            filter: Filter::Write,
            data: 0,
            eof: false,
            errno: None,
            error: Some(Errno::ENOENT),
            one_shot: false,
        };
        assert_eq!(failed.to_string(), "[W ERROR ENOENT]");
    }
}
