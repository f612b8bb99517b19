//! From a [`Change`] to entries of the change list, and from their results to the interest that is held.

use std::os::fd::RawFd;

use fd_core::always_ready::AlwaysReady;
use fd_core::hooks::fault;
use fd_core::poller::{Change, Events, Generation, Interest, Trigger};
use nix::errno::Errno;

use crate::mistakes;

/// The filter of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Filter {
    Read,
    Write,
}

/// The change to a filter.
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

/// The outcome of one entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The kernel holds the wanted filter.
    Done,
    /// The kernel does not poll this descriptor: the poller reports these events from now on.
    AlwaysReady(Events),
    /// The kernel refused the entry, for lack of memory or another transient reason.
    Refused,
    /// The number is not open.
    Invalid,
}

/// Returns the entries that lead from the known interest to the wanted one: first the deletions, then the
/// additions.
pub(crate) fn operations(change: &Change) -> impl Iterator<Item = Operation> + use<> {
    let &Change { fd, generation, known, wanted, trigger, force } = change;
    // A descriptor without interest must have no filter, whatever the masks contain.
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

/// Returns the entries that remove a descriptor from a queue, whatever is registered.
pub(crate) fn removal(fd: RawFd) -> [Operation; 2] {
    [Filter::Read, Filter::Write].map(|filter| Operation {
        fd,
        generation: 0,
        filter,
        action: Action::Delete,
    })
}

/// Interprets the result of one entry.
pub(crate) fn outcome(operation: &Operation, result: Result<(), Errno>) -> Outcome {
    let Err(errno) = result else { return Outcome::Done };
    if operation.action == Action::Delete {
        return match errno {
            // The filter is absent, or the number is closed: nothing is registered.
            Errno::ENOENT | Errno::EBADF => Outcome::Done,
            _ => Outcome::Refused,
        };
    }
    match (operation.filter, errno) {
        (_, Errno::EBADF) => Outcome::Invalid,
        // The other end of the pipe is closed (measured). If it closes after the registration, this filter
        // reports EV_EOF, which leads to the same events.
        (Filter::Write, Errno::EPIPE) => Outcome::AlwaysReady(Events::READY_W.or(Events::ERR)),
        // The other side of the pseudo-terminal is closed (measured).
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

/// The changes since the last submission, and their entries.
#[derive(Default)]
pub(crate) struct ChangeList {
    pub(crate) queued: Vec<Queued>,
    /// In the order of the changes.
    pub(crate) operations: Vec<Operation>,
}

pub(crate) struct Queued {
    change: Change,
    /// The number of operations of this change.
    pub(crate) operations: usize,
}

impl ChangeList {
    /// Queues a change, or returns the interest if the poller holds it already.
    pub(crate) fn add(&mut self, change: &Change) -> Option<Interest> {
        // An earlier change of the same descriptor that is still queued makes the masks out of date.
        let before = self.queued.iter().rev().find(|queued| queued.change.fd == change.fd);
        let known = before.map_or(change.known, |queued| queued.change.wanted);
        // The outcome of the earlier change is unknown: the kernel may refuse one of its directions.
        let force = change.force || before.is_some() && known != change.wanted;
        let change = Change { known, force, ..*change };
        if before.is_none() && change.is_noop() {
            fault!(KqueueNoopDropsChanges => self.drop_operations());
            return Some(change.wanted);
        }
        fault!(KqueueChangesOverwritten => self.drop_operations());
        let earlier = self.operations.len();
        self.operations.extend(operations(&change));
        self.queued.push(Queued { change, operations: self.operations.len() - earlier });
        None
    }

    /// Returns the number of queued changes.
    pub(crate) fn len(&self) -> usize {
        self.queued.len()
    }

    /// Returns the entries to submit.
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Settles each change by the results of its entries, one result per entry, and empties the list.
    ///
    /// `always_ready` holds and reports the descriptors that the kernel does not poll. It also holds a closed
    /// number, and reports it once: if that did not count as held, every later update would retry and report
    /// again.
    pub(crate) fn settle(
        &mut self,
        results: &[Result<(), Errno>],
        always_ready: &mut AlwaysReady,
        settled: &mut dyn FnMut(RawFd, Interest),
    ) {
        let outcomes = self.operations.iter().zip(results);
        let mut outcomes = outcomes.map(|(operation, result)| (operation, outcome(operation, *result)));
        for (index, Queued { change, operations }) in self.queued.iter().enumerate() {
            let own: Vec<_> = outcomes.by_ref().take(*operations).collect();
            own.iter().for_each(|(operation, outcome)| keep_substitute(operation, *outcome, always_ready));
            // A change to the same interest has no entries: its outcome is that of the change before it.
            let is_repeated = own.is_empty() && self.queued[..index].iter().any(|q| q.change.fd == change.fd);
            if !is_repeated {
                settled(change.fd, held(change, &own));
            }
        }
        self.clear();
    }

    /// Removes all changes.
    pub(crate) fn clear(&mut self) {
        self.queued.clear();
        self.operations.clear();
    }
}

/// Returns the interest that is held after a change.
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
            // The filter may still be there, in an older mode.
            (Action::Delete, Outcome::Refused) => return wanted.anything_but(),
            (Action::Add(_), Outcome::Refused) => {}
            (action, _) => *direction = action != Action::Delete,
        }
    }
    held
}

/// Adds the reports that the kernel will not make to `always_ready`, and removes those that are no longer
/// wanted.
fn keep_substitute(operation: &Operation, outcome: Outcome, always_ready: &mut AlwaysReady) {
    let &Operation { fd, generation, action, .. } = operation;
    fault!(AlwaysReadyIgnored => if mistakes::is_ignored(operation, outcome) { return });
    match (outcome, action) {
        (Outcome::AlwaysReady(events), Action::Add(trigger)) => {
            always_ready.keep(fd, generation, events, trigger);
        }
        // As an edge, which is reported once: the poller cannot repair a close behind the table's back.
        (Outcome::Invalid, _) => always_ready.keep(fd, generation, Events::INVALID, Trigger::Edge),
        // A second change of the same descriptor removes the reports of the first one. It is forced and
        // deletes first, so that its additions put back the reports that are still wanted.
        (_, Action::Delete) => {
            always_ready.remove(fd);
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

    /// A second `EV_ADD` does not change the mode of a filter, so both filters are deleted first.
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
    fn every_addition_requests_the_edge() {
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
    fn a_deletion_is_done_by_an_error_only_if_nothing_is_registered() {
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

    /// An addition that fails on a healthy descriptor is a hang-up or a file without readiness. The
    /// descriptor never stays without a report.
    #[test]
    fn a_failed_addition_leads_to_events() {
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

    /// The filters of a kernel queue, and the descriptors that refuse them.
    #[derive(Default)]
    struct Kernel {
        filters: Vec<(RawFd, Filter)>,
        dead_pipe: Option<RawFd>,
        closed: Option<RawFd>,
        /// The results of the next entries, the last one first. All later entries succeed.
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

        /// Registers filters, as an earlier change did.
        fn register(&mut self, fd: RawFd, interest: Interest) {
            let filters = [(Filter::Read, interest.recv), (Filter::Write, interest.send)];
            self.filters.extend(filters.into_iter().filter(|(_, is)| *is).map(|(filter, _)| (fd, filter)));
        }

        /// Submits and settles the changes. Returns the interest that each was settled to.
        fn settle(
            &mut self,
            list: &mut ChangeList,
            always_ready: &mut AlwaysReady,
        ) -> Vec<(RawFd, Interest)> {
            let (results, mut settled) = (self.submit(list), vec![]);
            list.settle(&results, always_ready, &mut |fd, held| settled.push((fd, held)));
            settled
        }

        fn holds(&self, fd: RawFd) -> Interest {
            let has = |filter| self.filters.contains(&(fd, filter));
            Interest { recv: has(Filter::Read), send: has(Filter::Write) }
        }
    }

    fn reported(always_ready: &mut AlwaysReady) -> Vec<(RawFd, Events)> {
        let mut batch = Vec::with_capacity(16);
        always_ready.report(&mut batch);
        batch.iter().map(|event| (event.fd, event.events)).collect()
    }

    /// Bugs 21 and 23: the changes of one descriptor do not affect those of another, nor does a change to the
    /// same interest.
    #[test]
    fn each_descriptor_of_an_iteration_gets_its_interest() {
        let (mut kernel, mut list) = (Kernel::default(), ChangeList::default());
        let kinds = [(R, NONE), (NONE, R), (R, R), (R, RW), (RW, RW), (NONE, W)];
        let changes = |fd| {
            let (known, wanted) = kinds[fd as usize % kinds.len()];
            Change { fd, ..change(known, wanted) }
        };
        for change in (0..30).map(changes) {
            kernel.register(change.fd, change.known);
            let noop = change.known == change.wanted;
            assert_eq!(list.add(&change), noop.then_some(change.wanted));
        }
        kernel.settle(&mut list, &mut AlwaysReady::default());
        for change in (0..30).map(changes) {
            assert_eq!(kernel.holds(change.fd), change.wanted, "{change:?}");
        }
    }

    /// The deletion of an absent filter or a change of a closed number never hides the entries after it.
    #[test]
    fn each_change_is_settled_by_its_own_receipts() {
        let mut kernel = Kernel { dead_pipe: Some(5), closed: Some(6), ..Kernel::default() };
        let (mut list, mut always_ready) = (ChangeList::default(), AlwaysReady::default());
        let changes = [
            Change { fd: 4, ..change(W, R) },
            Change { fd: 5, ..change(NONE, RW) },
            Change { fd: 6, ..change(NONE, RW) },
            Change { fd: 7, force: true, ..change(RW, W) },
        ];
        assert!(changes.iter().all(|change| list.add(change).is_none()));
        assert_eq!(list.len(), 4);
        let settled = kernel.settle(&mut list, &mut always_ready);
        assert_eq!(settled, [(4, R), (5, RW), (6, RW), (7, W)]);
        assert_eq!((list.len(), list.operations().len()), (0, 0));
        let hangup = Events::READY_W.or(Events::ERR);
        assert_eq!(reported(&mut always_ready), [(5, hangup), (6, Events::INVALID)]);
        assert_eq!(reported(&mut always_ready), [(5, hangup)], "a closed number is reported once");
    }

    #[test]
    fn a_change_to_the_held_interest_is_not_queued() {
        let mut list = ChangeList::default();
        assert_eq!(list.add(&change(RW, RW)), Some(RW));
        assert_eq!(list.len(), 0);
    }

    /// A descriptor may have two changes in an iteration. The second one has the masks from before the first
    /// one. For every two changes, the last settled interest is held, and is the one that the second change
    /// wanted.
    #[test]
    fn a_second_change_starts_from_the_first_and_not_from_the_masks() {
        let all = [NONE, R, W, RW];
        let pairs = all.into_iter().flat_map(|first| all.map(|second| (first, second)));
        for (masks, dead_pipe) in all.into_iter().flat_map(|masks| [(masks, None), (masks, Some(3))]) {
            for (first, second) in pairs.clone() {
                let case = format!("{masks:?} {first:?} {second:?} {dead_pipe:?}");
                let mut kernel = Kernel { dead_pipe, ..Kernel::default() };
                kernel.register(3, masks);
                let (mut list, mut always_ready) = (ChangeList::default(), AlwaysReady::default());
                let mut last = list.add(&change(masks, first));
                last = list.add(&change(masks, second)).or(last);
                let settled = kernel.settle(&mut list, &mut always_ready);
                let last = settled.last().map(|(_, held)| *held).or(last);
                assert_eq!(last, Some(second), "{case}");
                let listed = !reported(&mut always_ready).is_empty();
                let holds = kernel.holds(3);
                assert_eq!(Interest { send: holds.send || listed, ..holds }, second, "{case}");
                assert!(!(holds.send && listed), "{case}");
            }
        }
    }

    /// Makes `change` with these refusals, and returns the settled interest.
    fn settled(kernel: &mut Kernel, change: &Change, refusals: &[Option<Errno>]) -> Interest {
        let (mut list, mut always_ready) = (ChangeList::default(), AlwaysReady::default());
        kernel.refusals = refusals.to_vec();
        let noop = list.add(change);
        let settled = kernel.settle(&mut list, &mut always_ready);
        assert_eq!(reported(&mut always_ready), [], "a refused descriptor is not ready");
        settled.last().map(|(_, held)| *held).or(noop).unwrap()
    }

    /// Makes every change, with every sequence of refusals. If the answer is `wanted`, it is true. If the
    /// answer is no interest, there is no filter. After any other answer the forced change leads to the
    /// interest that is wanted then.
    #[test]
    fn no_sequence_of_refusals_leaves_a_wrong_filter() {
        let all = [NONE, R, W, RW];
        let pairs = all.into_iter().flat_map(|first| all.map(|second| (first, second)));
        let results = [None, Some(Errno::ENOMEM)];
        let mut refused = 0;
        for ((known, wanted), (next, leftover)) in
            pairs.clone().flat_map(|one| pairs.clone().map(move |other| (one, other)))
        {
            for (force, sequence) in (0..32).map(|n| (n % 2 == 1, n / 2)) {
                let refusals = [1, 2, 4, 8].map(|place| results[sequence / place % 2]);
                let mut kernel = Kernel::default();
                // A forced change need not know the registered filters.
                let registered = if force { leftover } else { known };
                kernel.register(3, registered);
                let first = Change { force, ..change(known, wanted) };
                let held = settled(&mut kernel, &first, &refusals);
                let case = format!("{first:?} with {refusals:?} leads to {held:?}");
                if held == wanted {
                    assert_eq!(kernel.holds(3), wanted, "{case}");
                }
                assert!(!held.is_none() || kernel.holds(3).is_none(), "{case}");
                refused += usize::from(held != wanted);
                // The core applies a refused change again, forced.
                let again = Change { force: held != wanted, ..change(held, next) };
                assert_eq!(settled(&mut kernel, &again, &[]), next, "{case}");
                assert_eq!(kernel.holds(3), next, "{case}, then {next:?}");
            }
        }
        assert!(refused > 500, "{refused}");
    }

    #[test]
    fn a_change_to_the_same_interest_does_not_hide_a_refusal() {
        let mut kernel = Kernel { refusals: vec![Some(Errno::ENOMEM)], ..Kernel::default() };
        let mut list = ChangeList::default();
        list.add(&change(NONE, R));
        list.add(&change(NONE, R));
        let settled = kernel.settle(&mut list, &mut AlwaysReady::default());
        assert_eq!(settled.last(), Some(&(3, NONE)));
    }

    #[test]
    fn a_later_change_withdraws_the_report_of_an_earlier_one() {
        let mut kernel = Kernel { dead_pipe: Some(3), ..Kernel::default() };
        let (mut list, mut always_ready) = (ChangeList::default(), AlwaysReady::default());
        list.add(&change(NONE, W));
        list.add(&change(NONE, NONE));
        let settled = kernel.settle(&mut list, &mut always_ready);
        assert_eq!(settled, [(3, W), (3, NONE)]);
        assert_eq!(reported(&mut always_ready), []);
    }
}
