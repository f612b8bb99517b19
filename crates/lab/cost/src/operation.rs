//! The operations that are measured.

metadata::named! {
    /// An operation of a poller.
    Operation, "operation":
    /// Registers another descriptor.
    Register = "register",
    /// Changes the interest of a registered descriptor.
    Modify = "modify",
    /// Removes a registered descriptor.
    Remove = "remove",
    /// Removes a registered descriptor and closes it.
    Close = "close",
    /// A wait while one of the descriptors is ready.
    WaitOne = "wait-one",
    /// A wait while all descriptors are ready; the cost of one event.
    WaitAll = "wait-all",
    /// Wakes a thread that waits, until it answers.
    Wake = "wake",
    /// Moves a descriptor from the poller of one thread to that of another one.
    HandOver = "hand-over",
}

impl Operation {
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
