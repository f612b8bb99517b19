//! The submission of entries: the calls, their order, and the result of an entry whose call failed.

use std::io;
use std::os::fd::RawFd;

use fd_core::hooks::fault;
use nix::errno::Errno;

use crate::changes::{Action, Operation, Outcome, outcome};
use crate::mistakes;

/// The maximum number of attempts at an entry whose call is interrupted, and at a removal that the core does
/// not repeat.
const TRIES: usize = 64;

/// The result of an entry without a receipt, or whose call failed as a whole: it may be submitted again.
pub(crate) const NOT_ANSWERED: Errno = Errno::EAGAIN;

/// The system calls that the submission needs.
pub(crate) trait Kernel {
    /// Calls kevent(2) once with these entries and room for as many receipts. Appends the error number of
    /// each receipt, zero for success, and nothing for an event.
    ///
    /// # Errors
    /// The call failed as a whole.
    fn call(&mut self, operations: &[Operation], receipts: &mut Vec<i64>) -> Result<(), Errno>;

    /// Returns whether the number is an open descriptor.
    fn is_open(&self, fd: RawFd) -> bool;
}

/// Submits all entries, even if some fail, and replaces `results` by the result of each. `receipts` is passed
/// for its allocation.
pub(crate) fn submit(
    kernel: &mut impl Kernel,
    operations: &[Operation],
    receipts: &mut Vec<i64>,
    results: &mut Vec<Result<(), Errno>>,
) {
    results.clear();
    fault!(KqueueStopsAtFirstError => return mistakes::submit_up_to_error(kernel, operations, results));
    if submit_at_once(kernel, operations, receipts, results) {
        return;
    }
    // A call that failed as a whole does not tell which entries it applied. To repeat an entry does no harm:
    // an addition replaces, and a deletion may find nothing.
    results.extend(operations.iter().map(|operation| submit_one(kernel, operation)));
}

/// Submits the entries of a removal. Retries each while the kernel refuses it, a bounded number of times.
pub(crate) fn remove(kernel: &mut impl Kernel, removal: &[Operation]) {
    for operation in removal {
        let removed = |_: &usize| {
            let result = submit_one(kernel, operation);
            outcome(operation, result) != Outcome::Refused
        };
        (0..TRIES).find(removed);
    }
}

/// Submits the entries in one call, and returns whether the kernel answered each of them.
fn submit_at_once(
    kernel: &mut impl Kernel,
    operations: &[Operation],
    receipts: &mut Vec<i64>,
    results: &mut Vec<Result<(), Errno>>,
) -> bool {
    receipts.clear();
    if kernel.call(operations, receipts).is_err() || receipts.len() != operations.len() {
        return false;
    }
    let answered = operations.iter().zip(&*receipts);
    results.extend(answered.map(|(operation, receipt)| result_of(kernel, operation, *receipt)));
    true
}

/// Submits one entry in a call of its own. Retries if the call is interrupted.
pub(crate) fn submit_one(kernel: &mut impl Kernel, operation: &Operation) -> Result<(), Errno> {
    for _ in 0..TRIES {
        let mut receipts = Vec::with_capacity(1);
        match kernel.call(std::slice::from_ref(operation), &mut receipts) {
            Ok(()) => {
                let result = receipts.first().map(|receipt| result_of(kernel, operation, *receipt));
                return result.unwrap_or(Err(NOT_ANSWERED));
            }
            Err(Errno::EINTR) => {}
            Err(_) => break,
        }
    }
    Err(NOT_ANSWERED)
}

/// Returns the result of an operation from its receipt.
fn result_of(kernel: &impl Kernel, operation: &Operation, receipt: i64) -> Result<(), Errno> {
    match answer(receipt) {
        Err(Errno::EBADF) if kernel.is_open(operation.fd) => Err(match operation.action {
            // NetBSD answers EBADF for a pipe whose other end is closed (pipe_kqfilter in sys_pipe.c), where
            // the others answer EPIPE. EBADF must mean a number that is not open.
            Action::Add(_) => Errno::EPIPE,
            Action::Delete => NOT_ANSWERED,
        }),
        answer => answer,
    }
}

/// Converts the error number of a receipt.
pub(crate) fn answer(receipt: i64) -> Result<(), Errno> {
    match receipt {
        0 => Ok(()),
        errno => Err(Errno::from_raw(errno as i32)),
    }
}

/// The first entries of a new queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FirstEntry {
    /// Adds the user event.
    AddUserEvent,
    /// Adds a timer, which every kernel has.
    AddTimer,
    /// Deletes the timer.
    DeleteTimer,
}

/// Returns whether a new queue has a user event. `submit` calls kevent(2) once with the entry and room for
/// one receipt, and returns the receipt's error number, zero for success, or `None` without a receipt.
///
/// # Errors
/// `Unsupported` if the kernel has no `EV_RECEIPT`. Every kernel answers an entry that fails, so only the
/// answer to one that succeeds shows this: that to the timer if there are no user events. Other errors are
/// those of the calls.
pub(crate) fn first_answers(
    mut submit: impl FnMut(FirstEntry) -> Result<Option<i64>, Errno>,
) -> io::Result<bool> {
    const EINVAL: i64 = Errno::EINVAL as i64;
    const HELP: &str = "this kernel's kevent(2) has no EV_RECEIPT, which the backend kqueue needs \
                        (NetBSD 7 has none): use poll or select";
    let mut answer_to = |entry| loop {
        match submit(entry) {
            Err(Errno::EINTR) => {}
            // An old kernel has no such filter.
            Err(Errno::EINVAL) => break Ok(EINVAL),
            Ok(None) => break Err(io::Error::new(io::ErrorKind::Unsupported, HELP)),
            Ok(Some(errno)) => break Ok(errno),
            Err(errno) => break Err(errno.into()),
        }
    };
    if answer_to(FirstEntry::AddUserEvent)? == 0 {
        return Ok(true);
    }
    for entry in [FirstEntry::AddTimer, FirstEntry::DeleteTimer] {
        answer(answer_to(entry)?)?;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use fd_core::poller::Trigger;

    use super::*;
    use crate::changes::{Filter, removal};

    /// A kernel with prepared answers, which records the number of entries of each call.
    #[derive(Default)]
    struct Scripted {
        /// The answers to the next calls, the last one first: receipts, or the error of the call.
        answers: Vec<Result<Vec<i64>, Errno>>,
        calls: Vec<usize>,
        open: bool,
    }

    impl Kernel for Scripted {
        fn call(&mut self, operations: &[Operation], receipts: &mut Vec<i64>) -> Result<(), Errno> {
            self.calls.push(operations.len());
            let answer = self.answers.pop().unwrap_or_else(|| Ok(vec![0; operations.len()]));
            answer.map(|answer| receipts.extend(answer))
        }

        fn is_open(&self, _: RawFd) -> bool {
            self.open
        }
    }

    fn scripted<const N: usize>(answers: [Result<Vec<i64>, Errno>; N]) -> Scripted {
        Scripted { answers: answers.into_iter().rev().collect(), ..Scripted::default() }
    }

    fn additions(count: RawFd) -> Vec<Operation> {
        let action = Action::Add(Trigger::Level);
        (0..count).map(|fd| Operation { fd, generation: 1, filter: Filter::Read, action }).collect()
    }

    fn submitted(kernel: &mut Scripted, operations: &[Operation]) -> Vec<Result<(), Errno>> {
        // The contents of an earlier submission.
        let mut results = vec![Err(Errno::ENOTTY); 5];
        submit(kernel, operations, &mut vec![1; 3], &mut results);
        results
    }

    const EBADF: i64 = Errno::EBADF as i64;
    const ENOMEM: i64 = Errno::ENOMEM as i64;

    #[test]
    fn receipts_are_in_the_order_of_the_entries() {
        let mut kernel = scripted([Ok(vec![0, ENOMEM, EBADF])]);
        let expected = [Ok(()), Err(Errno::ENOMEM), Err(Errno::EBADF)];
        assert_eq!(submitted(&mut kernel, &additions(3)), expected);
        assert_eq!(kernel.calls, [3]);
    }

    #[test]
    fn entries_without_a_receipt_each_are_submitted_one_by_one() {
        for whole in [Err(Errno::EINTR), Err(Errno::ENOMEM), Ok(vec![]), Ok(vec![0]), Ok(vec![0, 0, 0])] {
            let mut kernel = scripted([whole, Ok(vec![0]), Ok(vec![ENOMEM])]);
            assert_eq!(submitted(&mut kernel, &additions(2)), [Ok(()), Err(Errno::ENOMEM)]);
            assert_eq!(kernel.calls, [2, 1, 1]);
        }
    }

    #[test]
    fn an_entry_without_a_receipt_has_not_succeeded() {
        let mut kernel = scripted([Ok(vec![]), Ok(vec![])]);
        assert_eq!(submitted(&mut kernel, &additions(1)), [Err(Errno::EAGAIN)]);
    }

    /// Every kernel answers an entry that fails. NetBSD 7 has no user events, and answers no other entry.
    #[test]
    fn a_kernel_without_receipts_is_refused_with_its_name_and_the_remedy() {
        use FirstEntry::{AddTimer, AddUserEvent, DeleteTimer};
        const EINVAL: Result<Option<i64>, Errno> = Ok(Some(Errno::EINVAL as i64));
        const OK: Result<Option<i64>, Errno> = Ok(Some(0));
        let asked = |answers: &[Result<Option<i64>, Errno>]| {
            let (mut answers, mut entries) = (answers.iter(), vec![]);
            let first = first_answers(|entry| {
                entries.push(entry);
                *answers.next().unwrap()
            });
            (first.map_err(|error| (error.kind(), error.raw_os_error())), entries)
        };
        let three = [AddUserEvent, AddTimer, DeleteTimer];
        let refused = Err((io::ErrorKind::Unsupported, None));
        assert_eq!(asked(&[OK]), (Ok(true), vec![AddUserEvent]), "FreeBSD, macOS");
        assert_eq!(asked(&[EINVAL, OK, OK]), (Ok(false), three.to_vec()), "OpenBSD 7.3");
        assert_eq!(asked(&[Err(Errno::EINVAL), OK, OK]), (Ok(false), three.to_vec()), "FreeBSD 7");
        assert_eq!(asked(&[EINVAL, Ok(None)]), (refused, three[..2].to_vec()), "NetBSD 7");
        assert_eq!(asked(&[Ok(None)]), (refused, three[..1].to_vec()), "user events without receipts");
        assert_eq!(asked(&[Err(Errno::EINTR), OK]).0, Ok(true));
        assert_eq!(asked(&[Err(Errno::ENOMEM)]).0.unwrap_err().1, Some(libc::ENOMEM));
        let error = first_answers(|_| Ok(None)).unwrap_err().to_string();
        assert!(error.contains("NetBSD 7") && error.contains("use poll or select"), "{error}");
    }

    #[test]
    fn a_failed_call_says_nothing_about_the_number() {
        let mut kernel = scripted([Err(Errno::EBADF), Err(Errno::EBADF), Ok(vec![0])]);
        assert_eq!(submitted(&mut kernel, &additions(2)), [Err(Errno::EAGAIN), Ok(())]);
        let refused = outcome(&additions(1)[0], Err(Errno::EAGAIN));
        assert_eq!(refused, Outcome::Refused, "and the core applies it again");
    }

    #[test]
    fn an_interrupted_call_is_retried_a_bounded_number_of_times() {
        let mut kernel =
            scripted([Err(Errno::ENOMEM), Err(Errno::EINTR), Err(Errno::EINTR), Ok(vec![ENOMEM])]);
        assert_eq!(submitted(&mut kernel, &additions(1)), [Err(Errno::ENOMEM)]);
        let mut kernel = Scripted { answers: vec![Err(Errno::EINTR); 10 * TRIES], ..Scripted::default() };
        assert_eq!(submitted(&mut kernel, &additions(1)), [Err(Errno::EAGAIN)]);
        assert_eq!(kernel.calls.len(), 1 + TRIES);
    }

    #[test]
    fn an_open_number_is_never_reported_as_closed() {
        let [add] = additions(1)[..] else { unreachable!() };
        let delete = Operation { action: Action::Delete, ..add };
        for (operation, open, expected) in [
            (add, false, Errno::EBADF),
            (add, true, Errno::EPIPE),
            (delete, false, Errno::EBADF),
            (delete, true, Errno::EAGAIN),
        ] {
            let mut kernel = Scripted { open, ..scripted([Ok(vec![EBADF])]) };
            assert_eq!(submitted(&mut kernel, &[operation]), [Err(expected)], "{operation:?} {open}");
        }
    }

    #[test]
    fn a_removal_is_retried_a_bounded_number_of_times() {
        let absent = Ok(vec![Errno::ENOENT as i64]);
        let mut kernel = scripted([Ok(vec![ENOMEM]), Err(Errno::EACCES), absent, Ok(vec![0])]);
        remove(&mut kernel, &removal(3));
        assert_eq!(kernel.calls.len(), 4, "three calls for the first filter, one for the second");
        let mut kernel = Scripted { answers: vec![Ok(vec![ENOMEM]); 10 * TRIES], ..Scripted::default() };
        remove(&mut kernel, &removal(3));
        assert_eq!(kernel.calls.len(), 2 * TRIES);
    }

    #[test]
    fn a_receipt_of_zero_is_a_success() {
        assert_eq!(answer(0), Ok(()));
        assert_eq!(answer(ENOMEM), Err(Errno::ENOMEM));
    }
}
