//! What kqueue is told: from a [`Change`] to the entries of the change list, and what becomes of those that fail.

use std::os::fd::RawFd;

use fd_core::always_ready::AlwaysReady;
use fd_core::hooks::fault;
use fd_core::poller::{Change, Events, Generation, Interest, Trigger};
use nix::errno::Errno;

use crate::mistakes;

/// One direction's filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Filter {
    Read,
    Write,
}

/// What is done to a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// `EV_ADD`; with `EV_CLEAR` if edge-triggered.
    Add(Trigger),
    /// `EV_DELETE`.
    Delete,
}

/// One entry of the change list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operation {
    pub(crate) fd: RawFd,
    pub(crate) generation: Generation,
    pub(crate) filter: Filter,
    pub(crate) action: Action,
}

/// What one entry led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The kernel holds what it should.
    Done,
    /// The kernel does not poll this: this is what it would say, from now on.
    AlwaysReady(Events),
    /// The kernel did not do it, for lack of memory or another reason that may pass.
    Refused,
    /// The number is not open.
    Invalid,
}

/// The entries that lead from what is known to what is wanted, in order: all that is deleted, then all that is
/// added.
pub(crate) fn operations(change: &Change) -> impl Iterator<Item = Operation> + use<> {
    let &Change { fd, generation, known, wanted, trigger, force } = change;
    // A descriptor that leaves altogether leaves nothing behind, whatever the masks say.
    let both = force || wanted.is_none() && !known.is_none();
    let delete = [(Filter::Read, known.recv && !wanted.recv), (Filter::Write, known.send && !wanted.send)];
    let add = [
        (Filter::Read, wanted.recv && (force || !known.recv)),
        (Filter::Write, wanted.send && (force || !known.send)),
    ];
    let deletions = delete.into_iter().map(move |(filter, gone)| (filter, Action::Delete, both || gone));
    let additions = add.into_iter().map(move |(filter, new)| (filter, Action::Add(trigger), new));
    deletions.chain(additions).filter(|(_, _, needed)| *needed).map(move |(filter, action, _)| Operation {
        fd,
        generation,
        filter,
        action,
    })
}

/// The entries that take a descriptor out of a queue, whatever is known.
pub(crate) fn removal(fd: RawFd) -> [Operation; 2] {
    [Filter::Read, Filter::Write].map(|filter| Operation {
        fd,
        generation: 0,
        filter,
        action: Action::Delete,
    })
}

/// What the receipt of one entry means.
pub(crate) fn outcome(operation: &Operation, result: Result<(), Errno>) -> Outcome {
    let Err(errno) = result else { return Outcome::Done };
    if operation.action == Action::Delete {
        return match errno {
            // Absent, or closed: gone, as wanted.
            Errno::ENOENT | Errno::EBADF => Outcome::Done,
            _ => Outcome::Refused,
        };
    }
    match (operation.filter, errno) {
        (_, Errno::EBADF) => Outcome::Invalid,
        // The other end of a pipe is gone (measured). The same fact, known earlier, is EV_EOF on this filter:
        // the same events.
        (Filter::Write, Errno::EPIPE) => Outcome::AlwaysReady(Events::READY_W.or(Events::ERR)),
        // The other side of a pseudo-terminal is gone (measured).
        (Filter::Read, Errno::ENXIO) => {
            Outcome::AlwaysReady(Events::READY_R.or(Events::SHUT_R).or(Events::SHUT_W))
        }
        (Filter::Write, Errno::ENXIO) => {
            Outcome::AlwaysReady(Events::READY_W.or(Events::SHUT_W).or(Events::ERR))
        }
        // A file without readiness.
        (filter, Errno::ENODEV | Errno::EPERM | Errno::EINVAL | Errno::ENOTSUP) => {
            Outcome::AlwaysReady(ready(filter))
        }
        _ => Outcome::Refused,
    }
}

fn ready(filter: Filter) -> Events {
    match filter {
        Filter::Read => Events::READY_R,
        Filter::Write => Events::READY_W,
    }
}

/// The changes since the last submission, and the entries that they led to.
#[derive(Default)]
pub(crate) struct ChangeList {
    pub(crate) queued: Vec<Queued>,
    /// In the order of the changes.
    pub(crate) operations: Vec<Operation>,
}

pub(crate) struct Queued {
    change: Change,
    /// How many of the operations are this change's.
    pub(crate) operations: usize,
}

impl ChangeList {
    /// Queues a change, or says what is held already.
    pub(crate) fn add(&mut self, change: &Change) -> Option<Interest> {
        // Behind a change of the same descriptor that is still queued, the masks are out of date.
        let before = self.queued.iter().rev().find(|queued| queued.change.fd == change.fd);
        let known = before.map_or(change.known, |queued| queued.change.wanted);
        // And what the earlier one will have led to is not known: it may be refused in one direction.
        let force = change.force || before.is_some() && known != change.wanted;
        let change = Change { known, force, ..*change };
        if before.is_none() && change.is_noop() {
            fault!(KqueueNoopDropsChanges => self.drop_operations());
            return Some(change.wanted);
        }
        fault!(KqueueChangesOverwritten => self.drop_operations());
        let others = self.operations.len();
        self.operations.extend(operations(&change));
        self.queued.push(Queued { change, operations: self.operations.len() - others });
        None
    }

    /// How many changes are queued.
    pub(crate) fn len(&self) -> usize {
        self.queued.len()
    }

    /// What has to be submitted.
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Settles each change by the results of its entries, one each, and empties the list.
    ///
    /// What the kernel does not poll is held by `always`, which reports it in the kernel's place. So is a number that is
    /// not open, which is reported once: if it were not held, every later update would try, and report, again.
    pub(crate) fn settle(
        &mut self,
        results: &[Result<(), Errno>],
        always: &mut AlwaysReady,
        settled: &mut dyn FnMut(RawFd, Interest),
    ) {
        let outcomes = self.operations.iter().zip(results);
        let mut outcomes = outcomes.map(|(operation, result)| (operation, outcome(operation, *result)));
        for (index, Queued { change, operations }) in self.queued.iter().enumerate() {
            let own: Vec<_> = outcomes.by_ref().take(*operations).collect();
            own.iter().for_each(|(operation, outcome)| say_instead(operation, *outcome, always));
            // A change to what is wanted already has no entries: what it led to is what the one before it led to.
            let is_repeated = own.is_empty() && self.queued[..index].iter().any(|q| q.change.fd == change.fd);
            if !is_repeated {
                settled(change.fd, held(change, &own));
            }
        }
        self.clear();
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.queued.clear();
        self.operations.clear();
    }
}

/// What is held after a change.
fn held(change: &Change, outcomes: &[(&Operation, Outcome)]) -> Interest {
    let &Change { known, wanted, .. } = change;
    if outcomes.is_empty() {
        return wanted;
    }
    let mut held = known;
    for (operation, outcome) in outcomes {
        let direction = match operation.filter {
            Filter::Read => &mut held.recv,
            Filter::Write => &mut held.send,
        };
        match (operation.action, outcome) {
            // There may be something, in an older mode.
            (Action::Delete, Outcome::Refused) => return wanted.anything_but(),
            (Action::Add(_), Outcome::Refused) => {}
            (action, _) => *direction = action != Action::Delete,
        }
    }
    held
}

/// Puts what the kernel will not say on the list of what is said anyway.
fn say_instead(operation: &Operation, outcome: Outcome, always: &mut AlwaysReady) {
    let &Operation { fd, generation, action, .. } = operation;
    fault!(AlwaysReadyIgnored => if mistakes::is_ignored(operation, outcome) { return });
    match (outcome, action) {
        (Outcome::AlwaysReady(events), Action::Add(trigger)) => {
            always.keep(fd, generation, events, trigger);
        }
        // Once: nothing here can change what somebody did behind the table's back.
        (Outcome::Invalid, _) => always.keep(fd, generation, Events::INVALID, Trigger::Edge),
        // A second change of the same descriptor takes back what the first one had put there. It deletes first and
        // is forced, so that what is still wanted comes back.
        (_, Action::Delete) => {
            always.remove(fd);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Interest = Interest::NONE;
    const R: Interest = Interest::RECV;
    const W: Interest = Interest::SEND;
    const RW: Interest = Interest::BOTH;

    fn change(known: Interest, wanted: Interest) -> Change {
        Change { fd: 3, generation: 7, known, wanted, trigger: Trigger::Level, force: false }
    }

    /// `-R` deletes the read filter, `+W` adds the write filter, `+W!` with `EV_CLEAR`.
    fn written(operations: impl Iterator<Item = Operation>) -> String {
        let words = operations.map(|operation| {
            let name = match operation.filter {
                Filter::Read => "R",
                Filter::Write => "W",
            };
            match operation.action {
                Action::Delete => format!("-{name}"),
                Action::Add(Trigger::Level) => format!("+{name}"),
                Action::Add(Trigger::Edge) => format!("+{name}!"),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The table of protocol 12, complete.
    #[test]
    fn only_the_filters_that_change_are_touched() {
        #[rustfmt::skip]
        let table = [
            (NONE, NONE, ""),      (NONE, R, "+R"),    (NONE, W, "+W"),    (NONE, RW, "+R +W"),
            (R,    NONE, "-R -W"), (R,    R, ""),      (R,    W, "-R +W"), (R,    RW, "+W"),
            (W,    NONE, "-R -W"), (W,    R, "-W +R"), (W,    W, ""),      (W,    RW, "+R"),
            (RW,   NONE, "-R -W"), (RW,   R, "-W"),    (RW,   W, "-R"),    (RW,   RW, ""),
        ];
        for (known, wanted, expected) in table {
            assert_eq!(written(operations(&change(known, wanted))), expected, "{known:?} to {wanted:?}");
        }
    }

    /// The mode of a filter is not changed by a second `EV_ADD`, so all goes first.
    #[test]
    fn a_forced_change_trusts_nothing() {
        for known in [NONE, R, W, RW] {
            for (wanted, expected) in [(NONE, "-R -W"), (R, "-R -W +R"), (W, "-R -W +W"), (RW, "-R -W +R +W")]
            {
                let forced = Change { force: true, ..change(known, wanted) };
                assert_eq!(written(operations(&forced)), expected);
            }
        }
    }

    #[test]
    fn an_edge_is_asked_for_with_every_addition() {
        let edge = |known, wanted, force| {
            written(operations(&Change { trigger: Trigger::Edge, force, ..change(known, wanted) }))
        };
        assert_eq!(edge(NONE, RW, false), "+R! +W!");
        assert_eq!(edge(R, W, false), "-R +W!");
        assert_eq!(edge(RW, RW, true), "-R -W +R! +W!");
    }

    #[test]
    fn every_entry_names_the_descriptor_and_its_registration() {
        for operation in operations(&Change { force: true, ..change(RW, RW) }) {
            assert_eq!((operation.fd, operation.generation), (3, 7));
        }
        assert_eq!(written(removal(5).into_iter()), "-R -W");
        assert!(removal(5).iter().all(|operation| operation.fd == 5));
    }

    fn operation(filter: Filter, action: Action) -> Operation {
        Operation { fd: 3, generation: 7, filter, action }
    }

    #[test]
    fn only_what_is_absent_needs_no_deletion() {
        for filter in [Filter::Read, Filter::Write] {
            let delete = operation(filter, Action::Delete);
            for absent in [Errno::ENOENT, Errno::EBADF] {
                assert_eq!(outcome(&delete, Err(absent)), Outcome::Done);
            }
            for failed in [Errno::EINVAL, Errno::ENOMEM, Errno::EACCES, Errno::EAGAIN] {
                assert_eq!(outcome(&delete, Err(failed)), Outcome::Refused);
            }
        }
    }

    /// A registration that fails on a healthy descriptor is a hang-up or a file without readiness, never a
    /// descriptor that nobody polls.
    #[test]
    fn a_refused_addition_is_an_event() {
        use Outcome::{AlwaysReady, Done, Invalid, Refused};
        let (r, w) = (Events::READY_R, Events::READY_W);
        #[rustfmt::skip]
        let table = [
            (Filter::Read,  Ok(()),             Done),
            (Filter::Write, Ok(()),             Done),
            (Filter::Read,  Err(Errno::EBADF),  Invalid),
            (Filter::Write, Err(Errno::EBADF),  Invalid),
            (Filter::Write, Err(Errno::EPIPE),  AlwaysReady(w.or(Events::ERR))),
            (Filter::Read,  Err(Errno::ENXIO),  AlwaysReady(r.or(Events::SHUT_R).or(Events::SHUT_W))),
            (Filter::Write, Err(Errno::ENXIO),  AlwaysReady(w.or(Events::SHUT_W).or(Events::ERR))),
            (Filter::Read,  Err(Errno::ENODEV), AlwaysReady(r)),
            (Filter::Write, Err(Errno::EPERM),  AlwaysReady(w)),
            (Filter::Read,  Err(Errno::EINVAL), AlwaysReady(r)),
            (Filter::Write, Err(Errno::ENOMEM), Refused),
            (Filter::Read,  Err(Errno::EACCES), Refused),
            (Filter::Read,  Err(Errno::EAGAIN), Refused),
        ];
        for trigger in [Trigger::Level, Trigger::Edge] {
            for (filter, result, expected) in table {
                let operation = operation(filter, Action::Add(trigger));
                assert_eq!(outcome(&operation, result), expected, "{operation:?} {result:?}");
            }
        }
    }

    /// A kernel queue as far as changes go: which filters there are, and which descriptors refuse them.
    #[derive(Default)]
    struct Kernel {
        filters: Vec<(RawFd, Filter)>,
        dead_pipe: Option<RawFd>,
        closed: Option<RawFd>,
        /// What becomes of the next entries, the last one first. All further ones are taken.
        refusals: Vec<Option<Errno>>,
    }

    impl Kernel {
        fn submit(&mut self, list: &ChangeList) -> Vec<Result<(), Errno>> {
            let one = |operation: &Operation| {
                if let Some(errno) = self.refusals.pop().flatten() {
                    return Err(errno);
                }
                let key = (operation.fd, operation.filter);
                let was = self.filters.contains(&key);
                self.filters.retain(|filter| *filter != key);
                match operation.action {
                    _ if self.closed == Some(operation.fd) => Err(Errno::EBADF),
                    Action::Delete => was.then_some(()).ok_or(Errno::ENOENT),
                    Action::Add(_) if self.dead_pipe == Some(operation.fd) && key.1 == Filter::Write => {
                        Err(Errno::EPIPE)
                    }
                    Action::Add(_) => {
                        self.filters.push(key);
                        Ok(())
                    }
                }
            };
            list.operations().iter().map(one).collect()
        }

        fn holds(&self, fd: RawFd) -> Interest {
            let has = |filter| self.filters.contains(&(fd, filter));
            Interest { recv: has(Filter::Read), send: has(Filter::Write) }
        }
    }

    fn reported(always: &mut AlwaysReady) -> Vec<(RawFd, Events)> {
        let mut batch = Vec::with_capacity(16);
        always.report(&mut batch);
        batch.iter().map(|event| (event.fd, event.events)).collect()
    }

    /// Bugs 21 and 23: the changes of one descriptor take nothing from those of another, and no more does one with
    /// nothing to change.
    #[test]
    fn each_descriptor_of_a_pass_gets_what_it_wants() {
        let (mut kernel, mut list) = (Kernel::default(), ChangeList::default());
        let kinds = [(R, NONE), (NONE, R), (R, R), (R, RW), (RW, RW), (NONE, W)];
        let changes = |fd| {
            let (known, wanted) = kinds[fd as usize % kinds.len()];
            Change { fd, ..change(known, wanted) }
        };
        for change in (0..30).map(changes) {
            let held = [(Filter::Read, change.known.recv), (Filter::Write, change.known.send)];
            kernel.filters.extend(held.iter().filter(|held| held.1).map(|held| (change.fd, held.0)));
            let noop = change.known == change.wanted;
            assert_eq!(list.add(&change), noop.then_some(change.wanted));
        }
        let results = kernel.submit(&list);
        list.settle(&results, &mut AlwaysReady::default(), &mut |_, _| {});
        for change in (0..30).map(changes) {
            assert_eq!(kernel.holds(change.fd), change.wanted, "{change:?}");
        }
    }

    /// The deletion of an absent filter or a change of a closed number never hides what comes after it.
    #[test]
    fn each_change_is_settled_by_its_own_receipts() {
        let mut kernel = Kernel { dead_pipe: Some(5), closed: Some(6), ..Kernel::default() };
        let (mut list, mut always) = (ChangeList::default(), AlwaysReady::default());
        let changes = [
            Change { fd: 4, ..change(W, R) },
            Change { fd: 5, ..change(NONE, RW) },
            Change { fd: 6, ..change(NONE, RW) },
            Change { fd: 7, force: true, ..change(RW, W) },
        ];
        assert!(changes.iter().all(|change| list.add(change).is_none()));
        assert_eq!(list.len(), 4);
        let results = kernel.submit(&list);
        let mut settled = vec![];
        list.settle(&results, &mut always, &mut |fd, held| settled.push((fd, held)));
        assert_eq!(settled, [(4, R), (5, RW), (6, RW), (7, W)]);
        assert_eq!((list.len(), list.operations().len()), (0, 0));
        let hangup = Events::READY_W.or(Events::ERR);
        assert_eq!(reported(&mut always), [(5, hangup), (6, Events::INVALID)]);
        assert_eq!(reported(&mut always), [(5, hangup)], "a closed number is said once");
    }

    #[test]
    fn a_change_of_nothing_is_not_queued() {
        let mut list = ChangeList::default();
        assert_eq!(list.add(&change(RW, RW)), Some(RW));
        assert_eq!(list.len(), 0);
    }

    /// A descriptor may be listed twice in a pass: the second change knows the masks from before the first one.
    /// Whatever two changes are queued, what is settled last is what is held, and is what was wanted.
    #[test]
    fn a_second_change_starts_from_the_first_and_not_from_the_masks() {
        let all = [NONE, R, W, RW];
        let pairs = all.into_iter().flat_map(|first| all.map(|second| (first, second)));
        for (masks, dead_pipe) in all.into_iter().flat_map(|masks| [(masks, None), (masks, Some(3))]) {
            for (first, second) in pairs.clone() {
                let case = format!("{masks:?} {first:?} {second:?} {dead_pipe:?}");
                let mut kernel = Kernel { dead_pipe, ..Kernel::default() };
                let held = [(Filter::Read, masks.recv), (Filter::Write, masks.send)];
                kernel.filters.extend(held.into_iter().filter(|(_, is)| *is).map(|(filter, _)| (3, filter)));
                let (mut list, mut always) = (ChangeList::default(), AlwaysReady::default());
                let mut last = list.add(&change(masks, first));
                last = list.add(&change(masks, second)).or(last);
                let results = kernel.submit(&list);
                list.settle(&results, &mut always, &mut |_, held| last = Some(held));
                assert_eq!(last, Some(second), "{case}");
                let listed = !reported(&mut always).is_empty();
                let holds = kernel.holds(3);
                assert_eq!(Interest { send: holds.send || listed, ..holds }, second, "{case}");
                assert!(!(holds.send && listed), "{case}");
            }
        }
    }

    /// Makes `change` with these refusals, and says what is held and what the kernel has.
    fn settled(kernel: &mut Kernel, change: &Change, refusals: &[Option<Errno>]) -> Interest {
        let (mut list, mut always) = (ChangeList::default(), AlwaysReady::default());
        kernel.refusals = refusals.to_vec();
        let mut held = list.add(change);
        let results = kernel.submit(&list);
        list.settle(&results, &mut always, &mut |_, holds| held = Some(holds));
        assert_eq!(reported(&mut always), [], "what is refused is not ready");
        held.unwrap()
    }

    /// Every change, with every sequence of refusals: the answer `wanted` is true, nothing is held that the answer does
    /// not name, and after any other answer the forced change leads to what is wanted then.
    #[test]
    fn no_sequence_of_refusals_leaves_something_behind() {
        let all = [NONE, R, W, RW];
        let pairs = all.into_iter().flat_map(|first| all.map(|second| (first, second)));
        let fates = [None, Some(Errno::ENOMEM)];
        let mut refused = 0;
        for ((known, wanted), (next, leftover)) in
            pairs.clone().flat_map(|one| pairs.clone().map(move |other| (one, other)))
        {
            for (force, sequence) in (0..32).map(|n| (n % 2 == 1, n / 2)) {
                let refusals = [1, 2, 4, 8].map(|place| fates[sequence / place % 2]);
                let mut kernel = Kernel::default();
                // What is forced need not know what is registered.
                let registered = if force { leftover } else { known };
                let filters = [(Filter::Read, registered.recv), (Filter::Write, registered.send)];
                kernel
                    .filters
                    .extend(filters.into_iter().filter(|(_, is)| *is).map(|(filter, _)| (3, filter)));
                let first = Change { force, ..change(known, wanted) };
                let held = settled(&mut kernel, &first, &refusals);
                let what = format!("{first:?} with {refusals:?} leads to {held:?}");
                if held == wanted {
                    assert_eq!(kernel.holds(3), wanted, "{what}");
                }
                assert!(!held.is_none() || kernel.holds(3).is_none(), "{what}");
                refused += usize::from(held != wanted);
                // The core applies it again, forced.
                let again = Change { force: held != wanted, ..change(held, next) };
                assert_eq!(settled(&mut kernel, &again, &[]), next, "{what}");
                assert_eq!(kernel.holds(3), next, "{what}, then {next:?}");
            }
        }
        assert!(refused > 500, "{refused}");
    }

    #[test]
    fn a_change_to_what_is_wanted_already_does_not_hide_a_refusal() {
        let mut kernel = Kernel { refusals: vec![Some(Errno::ENOMEM)], ..Kernel::default() };
        let mut list = ChangeList::default();
        list.add(&change(NONE, R));
        list.add(&change(NONE, R));
        let results = kernel.submit(&list);
        let mut last = None;
        list.settle(&results, &mut AlwaysReady::default(), &mut |_, held| last = Some(held));
        assert_eq!(last, Some(NONE));
    }

    #[test]
    fn what_a_later_change_takes_back_is_not_reported() {
        let mut kernel = Kernel { dead_pipe: Some(3), ..Kernel::default() };
        let (mut list, mut always) = (ChangeList::default(), AlwaysReady::default());
        list.add(&change(NONE, W));
        list.add(&change(NONE, NONE));
        let results = kernel.submit(&list);
        let mut settled = vec![];
        list.settle(&results, &mut always, &mut |fd, held| settled.push((fd, held)));
        assert_eq!(settled, [(3, W), (3, NONE)]);
        assert_eq!(reported(&mut always), []);
    }
}
