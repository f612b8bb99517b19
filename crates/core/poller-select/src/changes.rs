//! From the [`Interest`] in a descriptor to the sets that contain it.

use fd_core::poller::Interest;

/// A set of select(2). The third set, for exceptional conditions, is not used: its meaning (urgent data, on
/// some systems a failed connect) is not portable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Set {
    Read,
    Write,
}

/// Returns the sets for an interest.
pub(crate) fn wanted(interest: Interest) -> impl Iterator<Item = Set> {
    let read = interest.recv.then_some(Set::Read);
    let write = interest.send.then_some(Set::Write);
    read.into_iter().chain(write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_has_its_set() {
        let table: [(_, &[Set]); 4] = [
            (Interest::NONE, &[]),
            (Interest::RECV, &[Set::Read]),
            (Interest::SEND, &[Set::Write]),
            (Interest::BOTH, &[Set::Read, Set::Write]),
        ];
        for (interest, sets) in table {
            assert_eq!(wanted(interest).collect::<Vec<_>>(), sets, "{interest:?}");
        }
    }
}
