//! Waits with arguments that [`Selector::wait`](crate::Selector::wait) cannot express.

use std::time::Duration;

use nix::libc;

use crate::Event;

/// One argument of the system call that waits, passed unchanged. The other arguments are those of a wait
/// without a limit and with room for all events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RawArgument {
    /// The timeout of epoll_wait(2) and poll(2), in milliseconds.
    Milliseconds(i32),
    /// The timeout of epoll_pwait2(2), ppoll(2), pselect(2) and kevent(2).
    Timespec {
        /// `tv_sec`.
        seconds: i64,
        /// `tv_nsec`.
        nanoseconds: i64,
    },
    /// The timeout of select(2).
    Timeval {
        /// `tv_sec`.
        seconds: i64,
        /// `tv_usec`.
        microseconds: i64,
    },
    /// `maxevents` of epoll_wait(2), `nevents` of kevent(2). The timeout is zero, because no event could end
    /// a wait without room.
    Room(i32),
    /// `nfds` of poll(2) and of select(2). For poll(2) the array is extended by entries without a descriptor.
    /// The timeout is zero.
    Count(i32),
}

/// Returns the timeout of ppoll(2) and pselect(2): at most the longest one.
pub fn timespec(timeout: Duration) -> libc::timespec {
    let seconds = timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX);
    libc::timespec { tv_sec: seconds, tv_nsec: timeout.subsec_nanos() as _ }
}

/// The result of a wait with a [`RawArgument`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawWaited {
    /// The events, as [`Selector::wait`](crate::Selector::wait) returns them.
    pub events: Vec<Event>,
    /// Whether the call has changed the timeout. `None` if it never does.
    pub timeout_updated: Option<bool>,
}

/// The result of a wait that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inspected {
    /// The events, as [`Selector::wait`](crate::Selector::wait) returns them.
    pub events: Vec<Event>,
    /// The number that the call has returned, the wake-up included.
    pub returned: usize,
    /// What has become of the memory that holds no answer, part by part: `the entries behind are kept`.
    pub memory: Vec<&'static str>,
}
