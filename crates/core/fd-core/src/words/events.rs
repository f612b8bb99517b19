//! The types that the core and a poller exchange.

use std::os::fd::RawFd;

/// Distinguishes the registrations of one descriptor number. It increases by one when a registration ends,
/// and wraps after 2³² registrations of the number.
pub type Generation = u32;

/// The directions in which a descriptor is polled. The program enables them with
/// [`RegistrationRef::want_recv`](crate::RegistrationRef::want_recv) and `want_send`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Interest {
    /// Readable data, connections to accept, or end of file.
    pub recv: bool,
    /// Room to write, or a finished connect.
    pub send: bool,
}

impl Interest {
    /// Neither direction.
    pub const NONE: Self = Self { recv: false, send: false };
    /// Receiving only.
    pub const RECV: Self = Self { recv: true, send: false };
    /// Sending only.
    pub const SEND: Self = Self { recv: false, send: true };
    /// Both directions.
    pub const BOTH: Self = Self { recv: true, send: true };

    /// Whether neither direction is set.
    pub const fn is_none(self) -> bool {
        !self.recv && !self.send
    }

    /// Returns an interest that differs from `self` and from [`Interest::NONE`]. A poller answers with it if
    /// it does not know what it holds after a refused change.
    ///
    /// ```
    /// use pollmatrix_fd_core::poller::Interest;
    ///
    /// for wanted in [Interest::NONE, Interest::RECV, Interest::SEND, Interest::BOTH] {
    ///     let other = wanted.anything_but();
    ///     assert!(other != wanted && !other.is_none());
    /// }
    /// ```
    pub const fn anything_but(self) -> Self {
        if self.recv && self.send { Self::RECV } else { Self::BOTH }
    }
}

/// How a registration reports readiness.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Trigger {
    /// Reports readiness as long as it lasts.
    #[default]
    Level,
    /// Reports a change to ready once (`EPOLLET`, `EV_CLEAR`). The handler must read or write until `EAGAIN`:
    /// there is no second report of what it leaves. Neither `want_recv` nor `may_recv` repeats the report.
    /// Later data lead to another one, and so does a takeover or move.
    Edge,
}

/// The set of events that a poller reports for one descriptor.
///
/// ```
/// use pollmatrix_fd_core::poller::Events;
///
/// let events = Events::READY_R.or(Events::SHUT_R);
/// assert!(events.is_readable() && events.is_read_closed() && !events.is_hang_up());
/// assert_eq!(format!("{events:?}"), "READY_R|SHUT_R");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Events(u8);

impl Events {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// Receiving does not block.
    pub const READY_R: Self = Self(1 << 0);
    /// Sending does not block.
    pub const READY_W: Self = Self(1 << 1);
    /// The peer has stopped sending (`RDHUP`, `EV_EOF` on the read filter).
    pub const SHUT_R: Self = Self(1 << 2);
    /// Both directions are shut (`HUP`).
    pub const SHUT_W: Self = Self(1 << 3);
    /// An error is pending (`ERR`, `EV_EOF` on the write filter), or the kernel has refused to poll the
    /// descriptor for one second; see [`want_recv`](crate::RegistrationRef::want_recv).
    pub const ERR: Self = Self(1 << 4);
    /// The number is not an open descriptor (`NVAL`, `EBADF`): it was closed without the table's knowledge.
    pub const INVALID: Self = Self(1 << 5);
    /// The time of [`RegistrationRef::set_timeout`](crate::RegistrationRef::set_timeout) is over. The core
    /// reports it, and no poller does. It comes alone.
    pub const TIMEOUT: Self = Self(1 << 6);

    /// Whether receiving does not block: there is data, a connection to accept, or the peer's end of file.
    pub const fn is_readable(self) -> bool {
        self.intersects(Self::READY_R.or(Self::SHUT_R))
    }

    /// Whether sending does not block, or a connection was established.
    pub const fn is_writable(self) -> bool {
        self.intersects(Self::READY_W)
    }

    /// Whether the peer has stopped sending. Data that it sent before may be unread. A backend without
    /// [`read_shutdown`](crate::poller::Capabilities::read_shutdown) reports it as readable only.
    pub const fn is_read_closed(self) -> bool {
        self.intersects(Self::SHUT_R.or(Self::SHUT_W))
    }

    /// Whether both directions are shut.
    pub const fn is_hang_up(self) -> bool {
        self.intersects(Self::SHUT_W)
    }

    /// Whether an error is pending: the next call on the source returns it, unless the kernel refused to poll
    /// the descriptor.
    pub const fn is_error(self) -> bool {
        self.intersects(Self::ERR)
    }

    /// Whether the number is not open: other code closed it. Then [`Events::is_error`] holds, too, both
    /// directions are stopped, and there is no further report.
    pub const fn is_invalid(self) -> bool {
        self.intersects(Self::INVALID)
    }

    /// Whether the time of the registration's timeout is over.
    pub const fn is_timeout(self) -> bool {
        self.intersects(Self::TIMEOUT)
    }

    /// The union of the two sets.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether an event of `other` is in this set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The number of sets that a poller can report.
    pub(crate) const SETS: usize = 1 << 6;

    /// The index of the set among all sets, for tables.
    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize % Self::SETS
    }

    /// The set of this index.
    pub(crate) const fn at(index: usize) -> Self {
        Self(index as u8)
    }

    /// Returns `self` if `condition` holds, and the empty set otherwise. Backends translate the bits of their
    /// kernel with it.
    ///
    /// ```
    /// use pollmatrix_fd_core::poller::Events;
    ///
    /// let bits = libc::POLLIN | libc::POLLHUP;
    /// let events = Events::READY_R
    ///     .when(bits & libc::POLLIN != 0)
    ///     .or(Events::READY_W.when(bits & libc::POLLOUT != 0))
    ///     .or(Events::SHUT_W.when(bits & libc::POLLHUP != 0));
    /// assert_eq!(events, Events::READY_R.or(Events::SHUT_W));
    /// ```
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = ["READY_R", "READY_W", "SHUT_R", "SHUT_W", "ERR", "INVALID", "TIMEOUT"];
        let set: Vec<_> =
            names.iter().enumerate().filter(|(i, _)| self.0 & (1 << i) != 0).map(|(_, n)| *n).collect();
        f.write_str(if set.is_empty() { "NONE".into() } else { set.join("|") }.as_str())
    }
}

/// An event that a poller collected, with the generation under which the descriptor was registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The descriptor number.
    pub fd: RawFd,
    /// The generation of the registration. The core drops the event if the number has another generation now.
    pub generation: Generation,
    /// The reported events.
    pub events: Events,
}

/// A change of one thread's poller, from the interest that it holds to the interest that it should hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The descriptor. Its entry is pinned, so the number means the same open file until the poller has
    /// applied the change.
    pub fd: RawFd,
    /// The generation that every event must carry.
    pub generation: Generation,
    /// The interest that this thread's poller holds according to the polled masks.
    pub known: Interest,
    /// The interest that it should hold. [`Interest::NONE`] if the thread is not in the thread mask.
    pub wanted: Interest,
    /// Level or edge. A backend without [`Capabilities::edge`](crate::poller::Capabilities::edge) ignores it.
    pub trigger: Trigger,
    /// `known` may be wrong, or an edge must be reported again. The poller makes the registration what is
    /// wanted, whether or not there is one, and the kernel reports what is ready.
    pub force: bool,
}

impl Change {
    /// Whether the kernel's registration needs no change.
    ///
    /// ```
    /// use pollmatrix_fd_core::poller::{Change, Interest, Trigger};
    ///
    /// let (known, wanted) = (Interest::RECV, Interest::RECV);
    /// let change = Change { fd: 7, generation: 0, known, wanted, trigger: Trigger::Level, force: false };
    /// assert!(change.is_noop());
    /// assert!(!Change { force: true, ..change }.is_noop());
    /// assert!(!Change { wanted: Interest::NONE, ..change }.is_noop());
    /// ```
    pub fn is_noop(&self) -> bool {
        !self.force && self.known == self.wanted
    }
}

/// The reason why a descriptor is removed from the pollers that may hold it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeregisterReason {
    /// It is about to be closed, and this table has the only reference to the open file.
    Close,
    /// It is about to be closed, and another descriptor keeps the open file: the close does not end the
    /// kernel's registration.
    CloseCloned,
    /// It stays open: it was disowned, or moves to another group.
    StaysOpen,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_is_answered_by_its_own_events() {
        let all =
            [Events::READY_R, Events::READY_W, Events::SHUT_R, Events::SHUT_W, Events::ERR, Events::INVALID];
        let questions = [
            (all.map(Events::is_readable), [true, false, true, false, false, false]),
            (all.map(Events::is_writable), [false, true, false, false, false, false]),
            (all.map(Events::is_read_closed), [false, false, true, true, false, false]),
            (all.map(Events::is_hang_up), [false, false, false, true, false, false]),
            (all.map(Events::is_error), [false, false, false, false, true, false]),
            (all.map(Events::is_invalid), [false, false, false, false, false, true]),
            (all.map(Events::is_timeout), [false; 6]),
        ];
        for (index, (answers, expected)) in questions.into_iter().enumerate() {
            assert_eq!(answers, expected, "question {index}");
        }
        assert!(Events::TIMEOUT.is_timeout() && !Events::TIMEOUT.is_readable());
    }
}
