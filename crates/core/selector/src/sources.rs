//! Sources of events that are filters of a poller, and no descriptors.

use std::os::fd::RawFd;
use std::time::Duration;

use nix::errno::Errno;

/// A source of events that a poller has as a filter of its own: kqueue does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A timer. kqueue has no timer that is not set: the filter exists from the setting on.
    Timer(TimerSetting),
    /// The end of the process with this id.
    Process(i32),
    /// Deliveries of the signal with this number to this process.
    Signal(i32),
    /// Changes of the file that a descriptor has open.
    File,
    /// An event that the program itself triggers.
    UserEvent {
        /// Whether the next change of its registration triggers it.
        triggers: bool,
    },
}

/// The setting of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerSetting {
    /// It is not set.
    Unset,
    /// It expires in an hour.
    Long,
    /// It has expired once, and does not expire again.
    Expired,
    /// It expires in this period, and again and again.
    Repeating(Duration),
}

/// The sources of a poller. A number stands for each: its descriptor's, or one that no descriptor can have.
/// [`Selector::add`](crate::Selector::add), `modify` and `remove` with this number change the source's
/// filter, whatever the interest.
pub trait Sources {
    /// Makes a number stand for a source. It changes no registration.
    fn stands_for(&self, number: RawFd, source: Source);

    /// Makes the registration of a source follow its state. Returns `None` if the number is not registered,
    /// otherwise the result of the call.
    fn apply(&self, number: RawFd) -> Option<Result<(), Errno>>;
}
