//! From an interest to calls for single filters, and from their results to the known filters.

use std::collections::BTreeMap;
use std::os::fd::RawFd;

use ::selector::{Changed, Filter, Interest, Mode, PollBits, Refusal, Unsupported};
use nix::errno::Errno;

/// One call of kevent(2), for one filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) filter: Filter,
    pub(crate) action: Action,
}

/// The change to a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// `EV_ADD`.
    Add(Trigger),
    /// `EV_ADD|EV_ENABLE|EV_DISPATCH`: `EV_ADD` alone leaves it disabled (measured).
    AddEnabled,
    /// `EV_DELETE`.
    Delete,
    /// `EV_ENABLE`.
    Enable,
    /// `EV_DISABLE`.
    Disable,
    /// No flag: the filter must exist.
    Touch,
}

/// The flag that goes with `EV_ADD`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trigger {
    /// None.
    Level,
    /// `EV_CLEAR`.
    Clear,
    /// `EV_ONESHOT`.
    OneShot,
    /// `EV_CLEAR` and `EV_ONESHOT`.
    ClearOneShot,
    /// `EV_DISPATCH`.
    Dispatch,
}

/// The modes that kqueue has.
pub(crate) const MODES: [Mode; 5] =
    [Mode::Level, Mode::Edge, Mode::OneShot, Mode::Dispatch, Mode::EdgeOneShot];

/// Returns the calls of an addition.
pub(crate) fn addition(interest: Interest, mode: Mode, has_except: bool) -> Result<Vec<Call>, Unsupported> {
    let trigger = trigger(mode)?;
    let add = |filter| Call { filter, action: Action::Add(trigger) };
    Ok(filters(interest, has_except)?.into_iter().map(add).collect())
}

/// Returns the calls of a modification: known filters that are not wanted are deleted, then the wanted ones
/// are added.
pub(crate) fn modification(
    known: &[Filter],
    interest: Interest,
    mode: Mode,
    has_except: bool,
) -> Result<Vec<Call>, Unsupported> {
    let action = match trigger(mode)? {
        Trigger::Dispatch => Action::AddEnabled,
        trigger => Action::Add(trigger),
    };
    let wanted = filters(interest, has_except)?;
    let unwanted = known.iter().filter(|filter| !wanted.contains(filter));
    let deletions = unwanted.map(|filter| Call { filter: *filter, action: Action::Delete });
    Ok(deletions.chain(wanted.iter().map(|filter| Call { filter: *filter, action })).collect())
}

/// Returns the calls of a removal.
pub(crate) fn removal(known: &[Filter]) -> Vec<Call> {
    let filters = if known.is_empty() { &[Filter::Read, Filter::Write] } else { known };
    filters.iter().map(|filter| Call { filter: *filter, action: Action::Delete }).collect()
}

/// Returns the calls that enable or disable the known filters.
pub(crate) fn enabling(known: &[Filter], enabled: bool) -> Vec<Call> {
    let action = if enabled { Action::Enable } else { Action::Disable };
    removal(known).into_iter().map(|call| Call { action, ..call }).collect()
}

/// Returns the call that adds the filter of a source, or changes it.
pub(crate) fn addition_of_source(filter: Filter, mode: Mode) -> Result<Call, Unsupported> {
    Ok(Call { filter, action: Action::Add(trigger(mode)?) })
}

/// Returns the call that changes the filter of a source, and enables it.
pub(crate) fn modification_of_source(filter: Filter, mode: Mode) -> Result<Call, Unsupported> {
    let calls = addition_of_source(filter, mode)?;
    Ok(match calls.action {
        Action::Add(Trigger::Dispatch) => Call { action: Action::AddEnabled, ..calls },
        _ => calls,
    })
}

/// Returns the filters of an interest. A part of the interest that has no filter is left out, unless it is
/// the only one.
fn filters(interest: Interest, has_except: bool) -> Result<Vec<Filter>, Unsupported> {
    if interest.bits != PollBits::NONE {
        return Err(Unsupported("kqueue has filters, and no names for bits".into()));
    }
    let all = [
        (interest.read, Filter::Read),
        (interest.write, Filter::Write),
        (interest.urgent && has_except, Filter::Except),
    ];
    let filters: Vec<_> = all.iter().filter(|(wanted, _)| *wanted).map(|(_, filter)| *filter).collect();
    if filters.is_empty() && interest != Interest::NONE {
        let reason =
            "this system's kqueue has no filter for urgent data, and none for a half-closed peer alone";
        return Err(Unsupported(reason.into()));
    }
    Ok(filters)
}

fn trigger(mode: Mode) -> Result<Trigger, Unsupported> {
    match mode {
        Mode::Level => Ok(Trigger::Level),
        Mode::Edge => Ok(Trigger::Clear),
        Mode::OneShot => Ok(Trigger::OneShot),
        Mode::Dispatch => Ok(Trigger::Dispatch),
        Mode::EdgeOneShot => Ok(Trigger::ClearOneShot),
        Mode::Exclusive | Mode::ExclusiveEdge => {
            Err(Unsupported("kqueue has no exclusive wake-up: every queue with the filter wakes".into()))
        }
    }
}

/// The filters that this poller has added and not deleted. The kernel may have deleted some of them since:
/// one-shot filters that fired, and the filters of a closed number.
#[derive(Default)]
pub(crate) struct Known(BTreeMap<(RawFd, Filter), Trigger>);

impl Known {
    /// Returns the known filters of a number.
    pub(crate) fn filters(&self, fd: RawFd) -> Vec<Filter> {
        self.of(fd).collect()
    }

    /// Returns whether the filter was added as one-shot.
    pub(crate) fn is_one_shot(&self, fd: RawFd, filter: Filter) -> bool {
        matches!(self.0.get(&(fd, filter)), Some(Trigger::OneShot | Trigger::ClearOneShot))
    }

    /// Removes the filters of a number.
    pub(crate) fn forget(&mut self, fd: RawFd) {
        self.0.retain(|(known, _), _| *known != fd);
    }

    /// Records the results of the calls, one per call, and returns them as one.
    pub(crate) fn settle(&mut self, fd: RawFd, calls: &[Call], results: &[Result<(), Errno>]) -> Changed {
        let mut refusals = Vec::new();
        for (Call { filter, action }, result) in calls.iter().zip(results) {
            match (action, result) {
                (Action::Add(trigger), Ok(())) => drop(self.0.insert((fd, *filter), *trigger)),
                (Action::AddEnabled, Ok(())) => drop(self.0.insert((fd, *filter), Trigger::Dispatch)),
                (Action::Enable | Action::Disable | Action::Touch, _) => {}
                // The filter is deleted or absent, or the kernel has refused its addition.
                (Action::Delete, _) | (_, Err(_)) => drop(self.0.remove(&(fd, *filter))),
            }
            refusals.extend(result.err().map(|errno| Refusal { filter: Some(*filter), errno }));
        }
        if refusals.is_empty() { Changed::Done } else { Changed::Refused(refusals) }
    }

    fn of(&self, fd: RawFd) -> impl Iterator<Item = Filter> {
        self.0.range((fd, Filter::Read)..=(fd, Filter::User)).map(|((_, filter), _)| *filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Interest = Interest::NONE;
    const R: Interest = Interest::READ;
    const W: Interest = Interest::WRITE;
    const RW: Interest = Interest { read: true, write: true, ..NONE };
    const URGENT: Interest = Interest { urgent: true, ..NONE };
    const HALF: Interest = Interest { peer_shut: true, ..NONE };

    /// `+R` level, `+R!` edge, `+R1` one-shot, `+R!1` both, `+R%` dispatch, `^R%` dispatch and enabled, `-R`
    /// deleted.
    fn written(calls: &[Call]) -> String {
        let word = |Call { filter, action }: &Call| match action {
            Action::Add(Trigger::Level) => format!("+{filter}"),
            Action::Add(Trigger::Clear) => format!("+{filter}!"),
            Action::Add(Trigger::OneShot) => format!("+{filter}1"),
            Action::Add(Trigger::ClearOneShot) => format!("+{filter}!1"),
            Action::Add(Trigger::Dispatch) => format!("+{filter}%"),
            Action::AddEnabled => format!("^{filter}%"),
            Action::Delete => format!("-{filter}"),
            Action::Enable => format!("e{filter}"),
            Action::Disable => format!("d{filter}"),
            Action::Touch => format!("={filter}"),
        };
        calls.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn known(interest: Interest) -> Vec<Filter> {
        filters(interest, true).unwrap()
    }

    #[test]
    fn an_addition_adds_what_is_wanted() {
        #[rustfmt::skip]
        let table = [
            (NONE, Mode::Level,    ""),
            (R,    Mode::Level,    "+R"),
            (W,    Mode::Level,    "+W"),
            (RW,   Mode::Level,    "+R +W"),
            (RW,   Mode::Edge,     "+R! +W!"),
            (RW,   Mode::OneShot,  "+R1 +W1"),
            (RW,   Mode::Dispatch, "+R% +W%"),
            (RW,   Mode::EdgeOneShot, "+R!1 +W!1"),
        ];
        for (interest, mode, expected) in table {
            assert_eq!(written(&addition(interest, mode, false).unwrap()), expected, "{interest:?} {mode:?}");
        }
    }

    #[test]
    fn a_modification_deletes_what_is_known_and_adds_all_that_is_wanted() {
        #[rustfmt::skip]
        let table = [
            (NONE, NONE, ""),      (NONE, R, "+R"),    (NONE, W, "+W"),    (NONE, RW, "+R +W"),
            (R,    NONE, "-R"),    (R,    R, "+R"),    (R,    W, "-R +W"), (R,    RW, "+R +W"),
            (W,    NONE, "-W"),    (W,    R, "-W +R"), (W,    W, "+W"),    (W,    RW, "+R +W"),
            (RW,   NONE, "-R -W"), (RW,   R, "-W +R"), (RW,   W, "-R +W"), (RW,   RW, "+R +W"),
        ];
        for (before, wanted, expected) in table {
            let calls = modification(&known(before), wanted, Mode::Level, false).unwrap();
            assert_eq!(written(&calls), expected, "{before:?} to {wanted:?}");
        }
        let rearm = |mode| written(&modification(&known(RW), R, mode, false).unwrap());
        assert_eq!(rearm(Mode::Edge), "-W +R!");
        assert_eq!(rearm(Mode::OneShot), "-W +R1");
        assert_eq!(rearm(Mode::Dispatch), "-W ^R%", "an addition alone would leave it disabled");
    }

    #[test]
    fn a_removal_deletes_what_is_known_or_else_both_directions() {
        assert_eq!(written(&removal(&known(R))), "-R");
        assert_eq!(written(&removal(&known(W))), "-W");
        assert_eq!(written(&removal(&known(RW))), "-R -W");
        assert_eq!(written(&removal(&[])), "-R -W");
    }

    #[test]
    fn urgent_data_has_a_filter_on_some_systems() {
        assert_eq!(written(&addition(Interest::ALL, Mode::Level, true).unwrap()), "+R +W +X");
        assert_eq!(written(&addition(Interest::ALL, Mode::Level, false).unwrap()), "+R +W");
        assert_eq!(written(&addition(URGENT, Mode::Edge, true).unwrap()), "+X!");
        assert_eq!(written(&modification(&known(URGENT), R, Mode::Level, true).unwrap()), "-X +R");
    }

    #[test]
    fn an_interest_without_a_filter_is_unsupported_alone() {
        assert!(addition(URGENT, Mode::Level, false).is_err());
        assert!(modification(&known(R), URGENT, Mode::Level, false).is_err());
        for has_except in [false, true] {
            assert!(addition(HALF, Mode::Level, has_except).is_err());
            for mode in [Mode::Exclusive, Mode::ExclusiveEdge] {
                assert!(addition(R, mode, has_except).is_err() && !MODES.contains(&mode));
            }
        }
        assert!(MODES.iter().all(|mode| addition(R, *mode, false).is_ok()));
    }

    const OK: Result<(), Errno> = Ok(());

    fn refusal(filter: Filter, errno: Errno) -> Refusal {
        Refusal { filter: Some(filter), errno }
    }

    /// Measured: the kernel refuses `W` for a pipe whose other end is closed, but not `R`.
    #[test]
    fn a_refused_filter_is_named_and_not_known() {
        let (mut known, calls) = (Known::default(), addition(RW, Mode::Level, false).unwrap());
        let changed = known.settle(3, &calls, &[OK, Err(Errno::EPIPE)]);
        assert_eq!(changed, Changed::Refused(vec![refusal(Filter::Write, Errno::EPIPE)]));
        assert_eq!(known.filters(3), [Filter::Read]);
        assert_eq!(written(&removal(&known.filters(3))), "-R");
    }

    /// Measured: `R:ENOENT W:0`, if `R` has fired and was deleted.
    #[test]
    fn each_call_has_its_own_answer() {
        let mut known = Known::default();
        known.settle(3, &addition(RW, Mode::OneShot, false).unwrap(), &[OK, OK]);
        assert!(known.is_one_shot(3, Filter::Read) && known.is_one_shot(3, Filter::Write));
        let calls = removal(&known.filters(3));
        let changed = known.settle(3, &calls, &[Err(Errno::ENOENT), OK]);
        assert_eq!(changed, Changed::Refused(vec![refusal(Filter::Read, Errno::ENOENT)]));
        assert_eq!(known.filters(3), []);
        assert!(!known.is_one_shot(3, Filter::Read));
    }

    #[test]
    fn additions_accumulate_for_each_number() {
        let mut known = Known::default();
        let add = |known: &mut Known, fd, interest, mode| {
            let calls = addition(interest, mode, true).unwrap();
            assert_eq!(known.settle(fd, &calls, &vec![OK; calls.len()]), Changed::Done);
        };
        add(&mut known, 3, W, Mode::Edge);
        add(&mut known, 3, R, Mode::OneShot);
        add(&mut known, 4, URGENT, Mode::Level);
        assert_eq!(known.filters(3), [Filter::Read, Filter::Write]);
        assert_eq!(known.filters(4), [Filter::Except]);
        assert_eq!((known.is_one_shot(3, Filter::Read), known.is_one_shot(3, Filter::Write)), (true, false));
        known.forget(3);
        assert_eq!((known.filters(3), known.filters(4)), (vec![], vec![Filter::Except]));
        assert_eq!(known.settle(4, &[], &[]), Changed::Done, "no call to make");
    }

    #[test]
    fn a_closed_number_has_no_known_filter_after_a_refusal() {
        let (mut known, calls) = (Known::default(), addition(RW, Mode::Level, false).unwrap());
        known.settle(3, &calls, &[OK, OK]);
        let again = modification(&known.filters(3), RW, Mode::Level, false).unwrap();
        let changed = known.settle(3, &again, &[Err(Errno::EBADF), Err(Errno::EBADF)]);
        assert_eq!(changed.to_string(), "R:EBADF W:EBADF");
        assert_eq!(known.filters(3), []);
    }
}
