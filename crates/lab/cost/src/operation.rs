//! The operations that are measured.

use std::fmt;

/// An operation of a poller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operation {
    /// Registers another descriptor.
    Register,
    /// Changes the interest of a registered descriptor.
    Modify,
    /// Removes a registered descriptor.
    Remove,
    /// Removes a registered descriptor and closes it.
    Close,
    /// A wait while one of the descriptors is ready.
    WaitOne,
    /// A wait while all descriptors are ready; the cost of one event.
    WaitAll,
    /// Wakes a thread that waits, until it answers.
    Wake,
    /// Moves a descriptor from the poller of one thread to that of another one.
    HandOver,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 8] = [
        Self::Register,
        Self::Modify,
        Self::Remove,
        Self::Close,
        Self::WaitOne,
        Self::WaitAll,
        Self::Wake,
        Self::HandOver,
    ];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Modify => "modify",
            Self::Remove => "remove",
            Self::Close => "close",
            Self::WaitOne => "wait-one",
            Self::WaitAll => "wait-all",
            Self::Wake => "wake",
            Self::HandOver => "hand-over",
        }
    }

    /// Returns what is measured, and what its floor is.
    pub const fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Register => ("registers another descriptor", "fcntl(2) of it"),
            Self::Modify => ("changes the interest of a descriptor", "fcntl(2) of it"),
            Self::Remove => ("removes a descriptor", "fcntl(2) of it"),
            Self::Close => ("removes a descriptor and closes it", "close(2) of one that no poller has"),
            Self::WaitOne => ("a wait, one descriptor is ready", "poll(2) of that descriptor alone"),
            Self::WaitAll => {
                ("an event of a wait, all descriptors are ready", "poll(2) of all, per descriptor")
            }
            Self::Wake => ("wakes a thread that waits, until it answers", "the same over a pipe"),
            Self::HandOver => ("moves a descriptor to another poller", "two fcntl(2) of it"),
        }
    }

    /// Whether several threads can do it at once without meaning anything else.
    pub(crate) const fn is_of_one_poller(self) -> bool {
        !matches!(self, Self::Wake | Self::HandOver)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
