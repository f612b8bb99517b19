//! The types that the core and a poller exchange.

use std::os::fd::RawFd;

/// Distinguishes the registrations of one descriptor number. It increases by one when a registration ends,
/// and wraps after 2³² registrations of the number.
pub type Generation = u32;

/// The directions in which a descriptor is polled.
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
    /// Reports a change to ready once (`EPOLLET`, `EV_CLEAR`). The handler must read or write until `EAGAIN`.
    Edge,
}

/// The set of events that a poller reports for one descriptor.
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
    /// An error is pending (`ERR`, `EV_EOF` on the write filter).
    pub const ERR: Self = Self(1 << 4);
    /// The number is not an open descriptor (`NVAL`, `EBADF`): it was closed without the table's knowledge.
    pub const INVALID: Self = Self(1 << 5);

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

    /// Returns `self` if `condition` holds, and the empty set otherwise. It makes a translation read like a
    /// table.
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = ["READY_R", "READY_W", "SHUT_R", "SHUT_W", "ERR", "INVALID"];
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
    /// The generation of the registration. The core drops the event if the number has another generation now
    /// (S7).
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
    /// `known` may be wrong, or an edge must be reported again. The poller removes the registration, if there
    /// is one (its absence is no error), and then adds what is wanted.
    pub force: bool,
}

impl Change {
    /// Whether the kernel's registration needs no change.
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
