//! From a [`Change`] to calls of epoll_ctl(2), and from their results to the interest that is held.

use fd_core::poller::{Change, Interest, Trigger};
use nix::errno::Errno;

/// The maximum number of calls for one step. Each call may find another registration than the known one.
const CALLS_PER_STEP: usize = 4;

/// The maximum number of attempts at a removal that the core does not repeat.
const REMOVALS: usize = 64;

/// One call of epoll_ctl(2), with the events to request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Add(u32),
    Modify(u32),
    Delete,
}

/// The outcome of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The kernel holds the wanted registration.
    Done,
    /// The registration differs from the polled masks. This call is needed in place of the first one.
    Instead(Operation),
    /// The kernel does not poll this file: it is always ready.
    AlwaysReady,
    /// The kernel refused the call, for lack of memory or another transient reason (ENOSPC, ENOMEM, ELOOP).
    Refused,
    /// The number is not open.
    Invalid,
}

/// The outcome of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settled {
    /// The interest that the poller holds, including the interest that the poller reports in the kernel's
    /// place.
    pub(crate) held: Interest,
    /// The report that the poller makes in the kernel's place.
    pub(crate) substitute: Option<Substitute>,
}

/// A report that the poller makes in the kernel's place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Substitute {
    /// The descriptor is always ready.
    Ready,
    /// The number is not open.
    Invalid,
}

/// The registration of a number in the kernel.
#[derive(Clone, Copy)]
enum Registered {
    /// This interest, or none.
    Known(Interest),
    /// Any interest, or none.
    Unknown,
}

/// Returns the call that leads from the known interest to the wanted one.
pub(crate) fn operation(change: &Change) -> Option<Operation> {
    let wanted = interest(change);
    match (change.known.is_none(), change.wanted.is_none()) {
        (true, true) => change.force.then_some(Operation::Delete),
        (false, true) => Some(Operation::Delete),
        (true, false) => Some(Operation::Add(wanted)),
        // A MOD reports an edge again that is still ready. If the registration is missing, or belongs to
        // another open file, the answer is ENOENT.
        (false, false) => {
            (change.force || change.known != change.wanted).then_some(Operation::Modify(wanted))
        }
    }
}

/// Makes the calls of a change with `control`, and returns their outcome. `is_open` returns whether the
/// number is an open descriptor.
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
    if let Some(mut operation) = operation(change) {
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
                Outcome::AlwaysReady => {
                    return Settled { held: wanted, substitute: Some(Substitute::Ready) };
                }
                Outcome::Invalid => return Settled { held: wanted, substitute: Some(Substitute::Invalid) },
                Outcome::Refused => break,
            }
        }
    }
    let held = match registered {
        Registered::Known(held) => held,
        Registered::Unknown => wanted.anything_but(),
    };
    Settled { held, substitute: None }
}

/// Removes a registration with `control`, whether or not there is one. While the kernel refuses, it tries
/// again, a bounded number of times. A registration that stays behind causes stale events, and the core
/// replaces the poller.
pub(crate) fn remove(mut control: impl FnMut() -> Result<(), Errno>, is_open: impl Fn() -> bool) {
    for _ in 0..REMOVALS {
        if outcome(Operation::Delete, control(), &is_open) != Outcome::Refused {
            return;
        }
        std::thread::yield_now();
    }
}

/// Interprets the result of one call.
pub(crate) fn outcome(
    operation: Operation,
    result: Result<(), Errno>,
    is_open: impl Fn() -> bool,
) -> Outcome {
    match (operation, result) {
        (_, Ok(())) => Outcome::Done,
        // The number is open: the error says nothing about it.
        (_, Err(Errno::EBADF)) if is_open() => Outcome::Refused,
        // The registration is absent, the number is closed, or epoll never accepted the file: nothing is
        // registered.
        (Operation::Delete, Err(Errno::ENOENT | Errno::EBADF | Errno::EPERM)) => Outcome::Done,
        // An earlier registration of the number is left, or one from before a change of group and back.
        (Operation::Add(events), Err(Errno::EEXIST)) => Outcome::Instead(Operation::Modify(events)),
        (Operation::Modify(events), Err(Errno::ENOENT)) => Outcome::Instead(Operation::Add(events)),
        (_, Err(Errno::EBADF)) => Outcome::Invalid,
        (_, Err(Errno::EPERM)) => Outcome::AlwaysReady,
        (_, Err(_)) => Outcome::Refused,
    }
}

/// Returns the events to request. The kernel reports errors and hang-ups without a request.
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
            assert_eq!(operation(&change(known, wanted)), expected, "{known:?} to {wanted:?}");
        }
    }

    #[test]
    fn a_forced_change_is_one_call_whatever_is_known() {
        let forced = |known, wanted| operation(&Change { force: true, ..change(known, wanted) });
        for (wanted, events) in [(R, IN), (W, OUT), (RW, IN | OUT)] {
            assert_eq!(forced(NONE, wanted), Some(Add(events)));
            for known in [R, W, RW] {
                assert_eq!(forced(known, wanted), Some(Modify(events)));
                assert_eq!(forced(known, NONE), Some(Delete));
            }
        }
        assert_eq!(forced(NONE, NONE), Some(Delete));
    }

    #[test]
    fn every_call_requests_the_edge() {
        let edge = |known, wanted, force| {
            operation(&Change { trigger: Trigger::Edge, force, ..change(known, wanted) })
        };
        assert_eq!(edge(NONE, R, false), Some(Add(IN | ET)));
        assert_eq!(edge(R, RW, false), Some(Modify(IN | OUT | ET)));
        assert_eq!(edge(RW, W, true), Some(Modify(OUT | ET)));
        assert_eq!(edge(R, R, true), Some(Modify(IN | ET)));
    }

    const OPEN: fn() -> bool = || true;
    const CLOSED: fn() -> bool = || false;

    #[test]
    fn a_registration_that_is_not_as_known_is_repaired() {
        assert_eq!(outcome(Add(IN), Err(Errno::EEXIST), OPEN), Outcome::Instead(Modify(IN)));
        assert_eq!(outcome(Modify(OUT), Err(Errno::ENOENT), OPEN), Outcome::Instead(Add(OUT)));
    }

    #[test]
    fn a_removal_is_done_by_an_error_only_if_nothing_is_registered() {
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
            assert_eq!(
                outcome(operation, Err(Errno::EBADF), OPEN),
                Outcome::Refused,
                "of another descriptor"
            );
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
    fn a_report_in_the_kernels_place_counts_as_held() {
        let settled = |errno, is_open: fn() -> bool| settle(&change(NONE, R), |_| Err(errno), is_open);
        let substitute = |substitute| Settled { held: R, substitute: Some(substitute) };
        assert_eq!(settled(Errno::EPERM, OPEN), substitute(Substitute::Ready));
        assert_eq!(settled(Errno::EBADF, CLOSED), substitute(Substitute::Invalid));
        assert_eq!(settled(Errno::ENOSPC, OPEN), Settled { held: NONE, substitute: None });
    }

    #[test]
    fn a_removal_is_retried_a_bounded_number_of_times() {
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
        assert_eq!(calls(0, Err(Errno::EBADF), OPEN), REMOVALS, "of another descriptor");
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
        /// The results of the next calls, the last one first. All later calls succeed.
        refusals: Vec<Option<Errno>>,
    }

    impl Kernel {
        fn control(&mut self, operation: Operation) -> Result<(), Errno> {
            let refusal = self.refusals.pop().flatten().filter(|errno| match errno {
                // For a Delete it would be a success.
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

    /// Makes `first` with these refusals. Then makes the change from the held interest to `next` without
    /// refusals. Returns whether the first change led to the wanted interest.
    fn holds_after(registered: Interest, first: Change, refusals: &[Option<Errno>], next: Interest) -> bool {
        let mut kernel = Kernel { registered: events_of(registered), refusals: refusals.to_vec() };
        let held = settle(&first, |operation| kernel.control(operation), OPEN).held;
        let case = format!("{registered:?}: {first:?} with {refusals:?} leads to {held:?}");
        if held == first.wanted {
            assert_eq!(kernel.registered, events_of(held), "{case}");
        }
        kernel.refusals.clear();
        // The core applies a refused change again, forced.
        let second = Change { force: held != first.wanted, ..change(held, next) };
        let settled = settle(&second, |operation| kernel.control(operation), OPEN);
        assert_eq!(settled, Settled { held: next, substitute: None }, "{case}");
        assert_eq!(kernel.registered, events_of(next), "{case}, then {next:?}");
        held == first.wanted
    }

    /// Makes every change, from every registration, with every sequence of refusals. If the answer is
    /// `wanted`, it is true. After any other answer the next change leads to the interest that is wanted
    /// then.
    #[test]
    fn no_sequence_of_refusals_leaves_a_wrong_registration() {
        const ALL: [Interest; 4] = [NONE, R, W, RW];
        let results =
            [None, Some(Errno::ENOMEM), Some(Errno::EBADF), Some(Errno::EEXIST), Some(Errno::ENOENT)];
        let pairs = ALL.into_iter().flat_map(|first| ALL.into_iter().map(move |second| (first, second)));
        let mut refused = 0;
        for ((registered, known), (wanted, next)) in
            pairs.clone().flat_map(|one| pairs.clone().map(move |other| (one, other)))
        {
            for (force, sequence) in (0..1250).map(|n| (n % 2 == 1, n / 2)) {
                let refusals = [1, 5, 25, 125].map(|place| results[sequence / place % 5]);
                // A change that is not forced knows the registration, or adds interest where an old
                // registration is left.
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
