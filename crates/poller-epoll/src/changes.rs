//! What epoll is told: from a [`Change`] to the calls of epoll_ctl(2), and what becomes of those that fail.

use fd_core::poller::{Change, Trigger};
use nix::errno::Errno;

/// One call of epoll_ctl(2), with the events that it asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Add(u32),
    Modify(u32),
    Delete,
}

/// What one call led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The kernel holds what it should.
    Done,
    /// The registration was not what the polled masks said: this call instead.
    Instead(Operation),
    /// The kernel does not poll this file: it is ready, and stays so.
    AlwaysReady,
    /// The kernel could not take it (ENOSPC, ENOMEM, ELOOP …): not to report it would be a stall, to report it too
    /// often only costs time. For an edge too: others will come.
    Unpolled,
    /// The number is not open.
    Invalid,
}

/// The calls that lead from what is known to what is wanted, in order.
pub(crate) fn operations(change: &Change) -> impl Iterator<Item = Operation> + use<> {
    let wanted = interest(change);
    let (first, second) = match (change.known.is_none(), change.wanted.is_none()) {
        // Not a MOD: whatever is there may be another open file's leftover, or absent.
        (_, none) if change.force => (Some(Operation::Delete), (!none).then_some(Operation::Add(wanted))),
        (true, false) => (Some(Operation::Add(wanted)), None),
        (false, true) => (Some(Operation::Delete), None),
        (false, false) if change.known != change.wanted => (Some(Operation::Modify(wanted)), None),
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

/// What the result of one call means.
pub(crate) fn outcome(operation: Operation, result: Result<(), Errno>) -> Outcome {
    match (operation, result) {
        (_, Ok(())) => Outcome::Done,
        // Absent, closed, or a file that was never accepted: gone, as wanted.
        (Operation::Delete, Err(_)) => Outcome::Done,
        // Left over from an earlier life of the number, or from before a change of group and back.
        (Operation::Add(events), Err(Errno::EEXIST)) => Outcome::Instead(Operation::Modify(events)),
        (Operation::Modify(events), Err(Errno::ENOENT)) => Outcome::Instead(Operation::Add(events)),
        (_, Err(Errno::EBADF)) => Outcome::Invalid,
        (_, Err(Errno::EPERM)) => Outcome::AlwaysReady,
        (_, Err(_)) => Outcome::Unpolled,
    }
}

/// The events to ask for. Errors and hang-ups come unasked.
fn interest(change: &Change) -> u32 {
    let mut events = 0;
    if change.wanted.recv {
        events |= libc::EPOLLIN | libc::EPOLLRDHUP;
    }
    if change.wanted.send {
        events |= libc::EPOLLOUT;
    }
    if change.trigger == Trigger::Edge {
        events |= libc::EPOLLET;
    }
    events as u32
}

#[cfg(test)]
mod tests {
    use fd_core::poller::Interest;

    use super::Operation::{Add, Delete, Modify};
    use super::*;

    const NONE: Interest = Interest::NONE;
    const R: Interest = Interest::RECV;
    const W: Interest = Interest::SEND;
    const RW: Interest = Interest::BOTH;

    const IN: u32 = (libc::EPOLLIN | libc::EPOLLRDHUP) as u32;
    const OUT: u32 = libc::EPOLLOUT as u32;
    const ET: u32 = libc::EPOLLET as u32;

    fn change(known: Interest, wanted: Interest) -> Change {
        Change { fd: 3, generation: 7, known, wanted, trigger: Trigger::Level, force: false }
    }

    /// The table of the protocol's section 2.11, complete.
    #[test]
    fn each_step_is_the_smallest_call() {
        #[rustfmt::skip]
        let table = [
            (NONE, NONE, None),         (NONE, R, Some(Add(IN))),    (NONE, W, Some(Add(OUT))),    (NONE, RW, Some(Add(IN | OUT))),
            (R,    NONE, Some(Delete)), (R,    R, None),             (R,    W, Some(Modify(OUT))), (R,    RW, Some(Modify(IN | OUT))),
            (W,    NONE, Some(Delete)), (W,    R, Some(Modify(IN))), (W,    W, None),              (W,    RW, Some(Modify(IN | OUT))),
            (RW,   NONE, Some(Delete)), (RW,   R, Some(Modify(IN))), (RW,   W, Some(Modify(OUT))), (RW,   RW, None),
        ];
        for (known, wanted, expected) in table {
            let calls: Vec<_> = operations(&change(known, wanted)).collect();
            assert_eq!(calls, Vec::from_iter(expected), "{known:?} to {wanted:?}");
        }
    }

    #[test]
    fn a_forced_change_trusts_nothing() {
        for known in [NONE, R, W, RW] {
            for (wanted, add) in
                [(NONE, None), (R, Some(Add(IN))), (W, Some(Add(OUT))), (RW, Some(Add(IN | OUT)))]
            {
                let calls: Vec<_> = operations(&Change { force: true, ..change(known, wanted) }).collect();
                assert_eq!(calls, Vec::from_iter([Some(Delete), add].into_iter().flatten()));
            }
        }
    }

    #[test]
    fn an_edge_is_asked_for_with_every_registration() {
        let edge = |known, wanted, force| {
            let change = Change { trigger: Trigger::Edge, force, ..change(known, wanted) };
            operations(&change).collect::<Vec<_>>()
        };
        assert_eq!(edge(NONE, R, false), [Add(IN | ET)]);
        assert_eq!(edge(R, RW, false), [Modify(IN | OUT | ET)]);
        assert_eq!(edge(RW, W, true), [Delete, Add(OUT | ET)]);
    }

    #[test]
    fn a_registration_that_is_not_as_known_is_repaired() {
        assert_eq!(outcome(Add(IN), Err(Errno::EEXIST)), Outcome::Instead(Modify(IN)));
        assert_eq!(outcome(Modify(OUT), Err(Errno::ENOENT)), Outcome::Instead(Add(OUT)));
        for absent in [Errno::ENOENT, Errno::EBADF, Errno::EPERM] {
            assert_eq!(outcome(Delete, Err(absent)), Outcome::Done);
        }
    }

    #[test]
    fn what_epoll_refuses_is_always_ready_and_what_is_not_open_is_said() {
        for operation in [Add(IN), Modify(IN)] {
            assert_eq!(outcome(operation, Err(Errno::EBADF)), Outcome::Invalid);
            assert_eq!(outcome(operation, Err(Errno::EPERM)), Outcome::AlwaysReady);
            for full in [Errno::ENOSPC, Errno::ENOMEM, Errno::ELOOP, Errno::EINVAL] {
                assert_eq!(outcome(operation, Err(full)), Outcome::Unpolled);
            }
        }
        for operation in [Add(IN), Modify(IN), Delete] {
            assert_eq!(outcome(operation, Ok(())), Outcome::Done);
        }
    }
}
