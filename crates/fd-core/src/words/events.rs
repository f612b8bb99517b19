//! What goes between the core and a poller, in words that every backend has.

use std::os::fd::RawFd;

/// Which registration of a descriptor number is meant. It goes up each time a registration ends, and wraps after 2³²
/// lives of one number.
pub type Generation = u32;

/// The two directions of a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Interest {
    /// Readable data, connections to accept, end of file.
    pub recv: bool,
    /// Room to write, a finished connect.
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

    /// An interest that is neither this one nor nothing: for a poller that does not know what it holds after a refusal.
    pub const fn anything_but(self) -> Self {
        if self.recv && self.send { Self::RECV } else { Self::BOTH }
    }
}

/// When the kernel reports a descriptor again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Trigger {
    /// As long as it is ready.
    #[default]
    Level,
    /// When it becomes ready (`EPOLLET`, `EV_CLEAR`). The handler must go on until `EAGAIN`.
    Edge,
}

/// What a poller saw on one descriptor: the arguments of `update_events`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Events(u8);

impl Events {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Receiving will not block.
    pub const READY_R: Self = Self(1 << 0);
    /// Sending will not block.
    pub const READY_W: Self = Self(1 << 1);
    /// The peer has stopped sending (`RDHUP`, `EV_EOF` on the read filter).
    pub const SHUT_R: Self = Self(1 << 2);
    /// Both ways are shut (`HUP`).
    pub const SHUT_W: Self = Self(1 << 3);
    /// An error is pending (`ERR`, `EV_EOF` on the write filter).
    pub const ERR: Self = Self(1 << 4);
    /// The number is not an open descriptor (`NVAL`, `EBADF`): somebody closed it behind the table's back.
    pub const INVALID: Self = Self(1 << 5);

    /// Whether receiving does not block: there is data, a connection to accept, or the peer's end of file.
    pub const fn is_readable(self) -> bool {
        self.intersects(Self::READY_R.or(Self::SHUT_R))
    }

    /// Whether sending does not block, or a connection was established.
    pub const fn is_writable(self) -> bool {
        self.intersects(Self::READY_W)
    }

    /// Whether the peer has stopped sending. Data that it sent before may be unread. A backend without
    /// [`Capabilities::read_shutdown`](crate::poller::Capabilities::read_shutdown) reports it as readable only.
    pub const fn is_read_closed(self) -> bool {
        self.intersects(Self::SHUT_R.or(Self::SHUT_W))
    }

    /// Whether both directions are shut.
    pub const fn is_hang_up(self) -> bool {
        self.intersects(Self::SHUT_W)
    }

    /// Whether an error is pending: the next call on the source returns it.
    pub const fn is_error(self) -> bool {
        self.intersects(Self::ERR)
    }

    /// Whether the number is not open: other code closed it. Then [`Events::is_error`] holds, too, both directions
    /// are stopped, and there is no further report.
    pub const fn is_invalid(self) -> bool {
        self.intersects(Self::INVALID)
    }

    /// The events in either set.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether some event of `other` is in this set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether nothing was seen.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// `self` if `condition`, else nothing: for translations that read as a table.
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

/// One descriptor as harvested from the kernel, with the generation under which it had been registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The descriptor number.
    pub fd: RawFd,
    /// The registration that was registered. The core drops the event if the number lives another one by now (S7).
    pub generation: Generation,
    /// What was seen.
    pub events: Events,
}

/// One step from what a thread's poller holds to what it should hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The descriptor; pinned, so that the number means the same file until the poller is done with it.
    pub fd: RawFd,
    /// The registration to hand back with every event.
    pub generation: Generation,
    /// What the polled masks say this thread's poller holds.
    pub known: Interest,
    /// What it should hold. Nothing, if the thread is not in the thread mask.
    pub wanted: Interest,
    /// Level or edge. Without [`Capabilities::edge`](crate::poller::Capabilities::edge) it is ignored.
    pub trigger: Trigger,
    /// `known` is not to be trusted, or an edge has to be replayed: remove whatever is there (an absent
    /// registration is no error), then add what is wanted.
    pub force: bool,
}

impl Change {
    /// Whether the kernel has nothing to be told.
    pub fn is_noop(&self) -> bool {
        !self.force && self.known == self.wanted
    }
}

/// Why a descriptor leaves pollers that may still know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeregisterReason {
    /// It is about to be closed, and this table holds the only reference to the open file.
    Close,
    /// It is about to be closed, but the open file lives on elsewhere: the kernel will not forget it.
    CloseCloned,
    /// It stays open: disowned, or moved to another group.
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
        ];
        for (index, (answers, expected)) in questions.into_iter().enumerate() {
            assert_eq!(answers, expected, "question {index}");
        }
    }
}
