//! Waits with arguments that [`Selector::wait`](crate::Selector::wait) cannot express.

use crate::Event;

/// One argument of the system call that waits, passed unchanged. The other arguments are those of a wait
/// without a limit and with room for all events.
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
    /// `maxevents` of epoll_wait(2), `nevents` of kevent(2). The timeout is zero, because no event could end
    /// a wait without room.
    Room(i32),
    /// `nfds` of poll(2) and of select(2). For poll(2) the array is extended by entries without a descriptor.
    /// The timeout is zero.
    Count(i32),
}

/// The result of a wait with a [`RawArgument`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawWaited {
    /// The events, as [`Selector::wait`](crate::Selector::wait) returns them.
    pub events: Vec<Event>,
    /// Whether the call has changed the timeout. `None` if it never does.
    pub timeout_updated: Option<bool>,
}
