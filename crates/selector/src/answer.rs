//! What a poller said, in its own words, and how that is written down.
//!
//! The notation is that of the published answers: docs/expectations.md.

use std::fmt;

use nix::errno::Errno;

/// The bits of poll(2) and epoll_wait(2), by their POSIX and Linux names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Bits {
    /// `POLLIN`, with or without `POLLRDNORM`.
    pub input: bool,
    /// `POLLPRI`.
    pub urgent: bool,
    /// `POLLOUT`, with or without `POLLWRNORM`.
    pub output: bool,
    /// `POLLERR`.
    pub error: bool,
    /// `POLLHUP`.
    pub hang_up: bool,
    /// `POLLNVAL`.
    pub invalid: bool,
    /// `POLLRDHUP`.
    pub peer_shut: bool,
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
}

/// What one event says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Record {
    /// poll and epoll.
    Bits(Bits),
    /// select: in which sets the descriptor was left.
    Sets {
        /// The read set.
        read: bool,
        /// The write set.
        write: bool,
        /// The exception set.
        except: bool,
    },
    /// kqueue: one filter's event.
    Filter {
        /// Which.
        filter: Filter,
        /// `data`, of the read filter; the write filter's is room, and depends on the sizes of buffers.
        data: i64,
        /// `EV_EOF`.
        eof: bool,
        /// The errno in `fflags` that comes with `EV_EOF`.
        errno: Option<Errno>,
        /// `EV_ERROR` and the errno in `data`.
        error: Option<Errno>,
        /// `EV_ONESHOT` is in the flags although the registration has not asked for it.
        one_shot: bool,
    },
    /// Somebody's own poller, in its own words: `readable`, `write_closed`.
    Names(Vec<String>),
}

/// Everything that one wait says about one registration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer(pub Vec<Record>);

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
        })
    }
}
