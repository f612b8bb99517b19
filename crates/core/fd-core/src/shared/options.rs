//! The options of an insertion.

use std::os::fd::{AsRawFd, BorrowedFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::entry::error::InsertRefused;
use crate::words::events::Trigger;
use crate::words::state;

/// Options of [`FdCore::insert`](crate::FdCore::insert).
///
/// ```
/// use pollmatrix_fd_core::InsertOptions;
/// use pollmatrix_fd_core::poller::Trigger;
///
/// let options = InsertOptions { trigger: Trigger::Edge, ..InsertOptions::default() };
/// assert!(!options.assume_nonblocking);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InsertOptions {
    /// Level-triggered or, if the backend supports it, edge-triggered.
    pub trigger: Trigger,
    /// The open file has another descriptor, see
    /// [`RegistrationRef::mark_cloned`](crate::RegistrationRef::mark_cloned). A
    /// [`Duplicate`](crate::Duplicate) does not need this option.
    pub cloned: bool,
    /// The source is a listener that may be handed to another process.
    pub exported: bool,
    /// The close resets the connection, see
    /// [`RegistrationRef::reset_on_close`](crate::RegistrationRef::reset_on_close).
    pub reset_on_close: bool,
    /// Accepts a source that is in blocking mode, which is refused otherwise: a call that blocks stops the
    /// worker thread. The caller ensures that the handler makes no call that can block. Regular files need
    /// this option, because they have no other mode.
    pub assume_nonblocking: bool,
}

impl InsertOptions {
    /// Refuses a descriptor in blocking mode, unless the caller vouches for its handler.
    #[inline]
    pub(crate) fn check_mode(self, fd: BorrowedFd<'_>) -> Result<(), InsertRefused> {
        if self.assume_nonblocking { Ok(()) } else { check_nonblocking(fd) }
    }

    /// The flags of the state that these options set.
    #[inline]
    pub(crate) fn flags(self) -> u32 {
        [
            (self.trigger == Trigger::Edge, state::EDGE),
            (self.cloned, state::CLONED),
            (self.exported, state::EXPORTED),
            (self.reset_on_close, state::LINGER_RISK),
        ]
        .into_iter()
        .filter(|(set, _)| *set)
        .fold(0, |flags, (_, bit)| flags | bit)
    }
}

fn check_nonblocking(fd: BorrowedFd<'_>) -> Result<(), InsertRefused> {
    let number = fd.as_raw_fd();
    let flags = fcntl(fd, FcntlArg::F_GETFL).map_err(|_| InsertRefused::NotOpen { fd: number })?;
    let is_nonblocking = OFlag::from_bits_retain(flags).contains(OFlag::O_NONBLOCK);
    is_nonblocking.then_some(()).ok_or(InsertRefused::Blocking { fd: number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_but_the_last_is_one_flag_of_the_state() {
        let options = |index| InsertOptions {
            trigger: if index == 0 { Trigger::Edge } else { Trigger::Level },
            cloned: index == 1,
            exported: index == 2,
            reset_on_close: index == 3,
            assume_nonblocking: index == 4,
        };
        let bits: Vec<_> = (0..6).map(|index| options(index).flags()).collect();
        assert_eq!(bits, [0x0008_0000, 0x0002_0000, 0x0010_0000, 0x0001_0000, 0, 0]);
    }
}
