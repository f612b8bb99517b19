//! What epoll is told: from a [`Change`] to the calls of epoll_ctl(2), and what they led to.

use fd_core::poller::{Change, Interest, Trigger};
use nix::errno::Errno;

/// How many calls one step may take: each may find that the registration is not what was known.
const CALLS_PER_STEP: usize = 4;

/// How often a removal is tried that the core does not ask for again.
const REMOVALS: usize = 64;

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
    /// The kernel did not do it, for lack of memory or another reason that may pass (ENOSPC, ENOMEM, ELOOP …).
    Refused,
    /// The number is not open.
    Invalid,
}

/// What a change led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settled {
    /// What the poller holds. What is reported in the kernel's place counts.
    pub(crate) held: Interest,
    /// What is reported in the kernel's place.
    pub(crate) instead: Option<Instead>,
}

/// A report that the kernel does not make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Instead {
    /// The descriptor is ready, and stays so.
    Ready,
    /// The number is not open.
    Invalid,
}

/// What the kernel has registered under a number.
#[derive(Clone, Copy)]
enum Registered {
    /// Nothing, or this interest.
    Known(Interest),
    /// Something or nothing.
    Unknown,
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

/// Makes the calls of a change with `control`, and says what they led to. `is_open` says whether the number is an open
/// descriptor.
pub(crate) fn settle(
    change: &Change,
    mut control: impl FnMut(Operation) -> Result<(), Errno>,
    is_open: impl Fn() -> bool,
) -> Settled {
    let wanted = change.wanted;
    let mut registered = match change.force {
        true => Registered::Unknown,
        false => Registered::Known(change.known),
    };
    for mut operation in operations(change) {
        for _ in 0..CALLS_PER_STEP {
            let result = control(operation);
            match outcome(operation, result, &is_open) {
                Outcome::Done => {
                    registered = Registered::Known(match operation {
                        Operation::Delete => Interest::NONE,
                        Operation::Add(_) | Operation::Modify(_) => wanted,
                    });
                    break;
                }
                Outcome::Instead(other) => {
                    registered = match operation {
                        Operation::Modify(_) => Registered::Known(Interest::NONE),
                        Operation::Add(_) | Operation::Delete => Registered::Unknown,
                    };
                    operation = other;
                }
                Outcome::AlwaysReady => return Settled { held: wanted, instead: Some(Instead::Ready) },
                Outcome::Invalid => return Settled { held: wanted, instead: Some(Instead::Invalid) },
                Outcome::Refused => break,
            }
        }
    }
    let held = match registered {
        Registered::Known(held) => held,
        Registered::Unknown => wanted.anything_but(),
    };
    Settled { held, instead: None }
}

/// Removes a registration with `control`, whether or not there is one. While the kernel refuses, it tries again, but not for
/// ever: what is left behind is then reported as stale, and the poller is replaced.
pub(crate) fn remove(mut control: impl FnMut() -> Result<(), Errno>, is_open: impl Fn() -> bool) {
    for _ in 0..REMOVALS {
        if outcome(Operation::Delete, control(), &is_open) != Outcome::Refused {
            return;
        }
        std::thread::yield_now();
    }
}

/// What the result of one call means.
pub(crate) fn outcome(
    operation: Operation,
    result: Result<(), Errno>,
    is_open: impl Fn() -> bool,
) -> Outcome {
    match (operation, result) {
        (_, Ok(())) => Outcome::Done,
        // Of a number that is open, it says nothing of the number.
        (_, Err(Errno::EBADF)) if is_open() => Outcome::Refused,
        // Absent, closed, or a file that was never accepted: gone, as wanted.
        (Operation::Delete, Err(Errno::ENOENT | Errno::EBADF | Errno::EPERM)) => Outcome::Done,
        // Left over from an earlier registration of the number, or from before a change of group and back.
        (Operation::Add(events), Err(Errno::EEXIST)) => Outcome::Instead(Operation::Modify(events)),
        (Operation::Modify(events), Err(Errno::ENOENT)) => Outcome::Instead(Operation::Add(events)),
        (_, Err(Errno::EBADF)) => Outcome::Invalid,
        (_, Err(Errno::EPERM)) => Outcome::AlwaysReady,
        (_, Err(_)) => Outcome::Refused,
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

    /// The table of protocol 12, complete.
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

    const OPEN: fn() -> bool = || true;
    const CLOSED: fn() -> bool = || false;

    #[test]
    fn a_registration_that_is_not_as_known_is_repaired() {
        assert_eq!(outcome(Add(IN), Err(Errno::EEXIST), OPEN), Outcome::Instead(Modify(IN)));
        assert_eq!(outcome(Modify(OUT), Err(Errno::ENOENT), OPEN), Outcome::Instead(Add(OUT)));
    }

    #[test]
    fn only_what_is_not_there_is_removed_by_an_error() {
        for absent in [Errno::ENOENT, Errno::EPERM] {
            assert_eq!(outcome(Delete, Err(absent), OPEN), Outcome::Done);
        }
        assert_eq!(outcome(Delete, Err(Errno::EBADF), CLOSED), Outcome::Done);
        for failed in [Errno::EBADF, Errno::ENOMEM, Errno::EINTR, Errno::EINVAL] {
            assert_eq!(outcome(Delete, Err(failed), OPEN), Outcome::Refused, "{failed}");
        }
    }

    #[test]
    fn a_file_without_readiness_is_always_ready_a_closed_number_invalid_and_a_full_kernel_refuses() {
        for operation in [Add(IN), Modify(IN)] {
            assert_eq!(outcome(operation, Err(Errno::EBADF), CLOSED), Outcome::Invalid);
            assert_eq!(outcome(operation, Err(Errno::EBADF), OPEN), Outcome::Refused, "of another number");
            assert_eq!(outcome(operation, Err(Errno::EPERM), OPEN), Outcome::AlwaysReady);
            for full in [Errno::ENOSPC, Errno::ENOMEM, Errno::ELOOP, Errno::EINVAL, Errno::EINTR] {
                assert_eq!(outcome(operation, Err(full), OPEN), Outcome::Refused);
            }
        }
        for operation in [Add(IN), Modify(IN), Delete] {
            assert_eq!(outcome(operation, Ok(()), OPEN), Outcome::Done);
        }
    }

    #[test]
    fn what_is_reported_in_the_kernels_place_is_held() {
        let settled = |errno, is_open: fn() -> bool| settle(&change(NONE, R), |_| Err(errno), is_open);
        assert_eq!(settled(Errno::EPERM, OPEN), Settled { held: R, instead: Some(Instead::Ready) });
        assert_eq!(settled(Errno::EBADF, CLOSED), Settled { held: R, instead: Some(Instead::Invalid) });
        assert_eq!(settled(Errno::ENOSPC, OPEN), Settled { held: NONE, instead: None });
    }

    #[test]
    fn a_removal_is_tried_until_the_kernel_has_done_it_and_not_for_ever() {
        let calls = |refusals: usize, last: Result<(), Errno>, is_open: fn() -> bool| {
            let mut calls = 0;
            let control = || {
                calls += 1;
                if calls <= refusals { Err(Errno::ENOMEM) } else { last }
            };
            remove(control, is_open);
            calls
        };
        assert_eq!(calls(0, Ok(()), OPEN), 1);
        assert_eq!(calls(3, Ok(()), OPEN), 4);
        assert_eq!(calls(3, Err(Errno::ENOENT), OPEN), 4, "absent");
        assert_eq!(calls(0, Err(Errno::EBADF), CLOSED), 1, "closed");
        assert_eq!(calls(0, Err(Errno::EBADF), OPEN), REMOVALS, "of another number");
        assert_eq!(calls(usize::MAX, Ok(()), OPEN), REMOVALS);
    }

    #[test]
    fn calls_that_contradict_each_other_end() {
        let mut calls = 0;
        let contradict = |operation| {
            calls += 1;
            Err(if matches!(operation, Add(_)) { Errno::EEXIST } else { Errno::ENOENT })
        };
        let settled = settle(&change(NONE, R), contradict, OPEN);
        assert_ne!(settled.held, R);
        assert_eq!(calls, CALLS_PER_STEP);
    }

    /// The registration of one number in a kernel that refuses calls.
    struct Kernel {
        registered: Option<u32>,
        /// What becomes of the next calls, the last one first. All further ones succeed.
        refusals: Vec<Option<Errno>>,
    }

    impl Kernel {
        fn control(&mut self, operation: Operation) -> Result<(), Errno> {
            let refusal = self.refusals.pop().flatten().filter(|errno| match errno {
                // That nothing is there to remove would be believed.
                Errno::EEXIST => matches!(operation, Add(_)),
                Errno::ENOENT => matches!(operation, Modify(_)),
                _ => true,
            });
            if let Some(errno) = refusal {
                return Err(errno);
            }
            match (operation, self.registered) {
                (Add(_), Some(_)) => Err(Errno::EEXIST),
                (Modify(_) | Delete, None) => Err(Errno::ENOENT),
                (Add(events) | Modify(events), _) => {
                    self.registered = Some(events);
                    Ok(())
                }
                (Delete, Some(_)) => {
                    self.registered = None;
                    Ok(())
                }
            }
        }
    }

    fn events_of(wanted: Interest) -> Option<u32> {
        (!wanted.is_none()).then(|| super::interest(&change(NONE, wanted)))
    }

    /// Makes `first` with these refusals and then, without any, the change from what is held to `next`. Returns whether
    /// the first one led to what was wanted.
    fn holds_after(registered: Interest, first: Change, refusals: &[Option<Errno>], next: Interest) -> bool {
        let mut kernel = Kernel { registered: events_of(registered), refusals: refusals.to_vec() };
        let held = settle(&first, |operation| kernel.control(operation), OPEN).held;
        let what = format!("{registered:?}: {first:?} with {refusals:?} leads to {held:?}");
        if held == first.wanted {
            assert_eq!(kernel.registered, events_of(held), "{what}");
        }
        kernel.refusals.clear();
        // The core applies it again, forced.
        let second = Change { force: held != first.wanted, ..change(held, next) };
        let settled = settle(&second, |operation| kernel.control(operation), OPEN);
        assert_eq!(settled, Settled { held: next, instead: None }, "{what}");
        assert_eq!(kernel.registered, events_of(next), "{what}, then {next:?}");
        held == first.wanted
    }

    /// Every change, from every registration, with every sequence of refusals: the answer `wanted` is true, and after any
    /// other answer the next change leads to what is wanted then.
    #[test]
    fn no_sequence_of_refusals_leaves_something_behind() {
        const ALL: [Interest; 4] = [NONE, R, W, RW];
        let fates = [None, Some(Errno::ENOMEM), Some(Errno::EBADF), Some(Errno::EEXIST), Some(Errno::ENOENT)];
        let pairs = ALL.into_iter().flat_map(|first| ALL.into_iter().map(move |second| (first, second)));
        let mut refused = 0;
        for ((registered, known), (wanted, next)) in
            pairs.clone().flat_map(|one| pairs.clone().map(move |other| (one, other)))
        {
            for (force, sequence) in (0..1250).map(|n| (n % 2 == 1, n / 2)) {
                let refusals = [1, 5, 25, 125].map(|place| fates[sequence / place % 5]);
                // What is not forced knows what is registered, or wants something where there is a leftover.
                let is_known = known == registered || known.is_none() && !wanted.is_none();
                if force || is_known {
                    let first = Change { force, ..change(known, wanted) };
                    refused += usize::from(!holds_after(registered, first, &refusals, next));
                }
            }
        }
        assert!(refused > 1000, "{refused}");
    }
}
