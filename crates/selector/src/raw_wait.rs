//! Waits with arguments that [`Selector::wait`](crate::Selector::wait) has no words for.

use crate::Event;

/// One argument of the system call that waits, as it is. The others are those of a wait without an end and with room
/// for everything.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RawArgument {
    /// The timeout of epoll_wait(2) and poll(2), in milliseconds.
    Milliseconds(i32),
    /// The timeout of epoll_pwait2(2), ppoll(2) and kevent(2).
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
    /// `maxevents` of epoll_wait(2), `nevents` of kevent(2). The timeout is zero: without room nothing could end the
    /// wait.
    Room(i32),
    /// `nfds` of poll(2), which is filled up with entries of no descriptor, and of select(2). The timeout is zero.
    Count(i32),
}

/// What such a wait answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawWaited {
    /// As those of a wait.
    pub events: Vec<Event>,
    /// Whether the call has written to the timeout, if it may.
    pub timeout_updated: Option<bool>,
}
