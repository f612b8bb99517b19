//! The entries of a change list and of an event list, in types that every host has. `sys.rs` copies them from
//! and to the system's structure, and has the system's constants.

use std::os::fd::RawFd;
use std::time::Duration;

use fd_core::hooks::fault;
use fd_core::poller::{Generation, Trigger};

use crate::changes::{Action, Filter, Operation};
use crate::events::Record;

/// The values of the system's `EVFILT_…` and `EV_…` constants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codes {
    pub(crate) filter_read: i64,
    pub(crate) filter_write: i64,
    pub(crate) add: u64,
    pub(crate) delete: u64,
    pub(crate) clear: u64,
    pub(crate) receipt: u64,
    pub(crate) oneshot: u64,
    pub(crate) eof: u64,
    pub(crate) error: u64,
}

/// The fields of a kevent that this backend uses. Each type is wide enough for every system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) ident: usize,
    pub(crate) filter: i64,
    pub(crate) flags: u64,
    pub(crate) data: i64,
    pub(crate) udata: usize,
}

/// Returns the entry of the change list for an operation. It requests a receipt.
pub(crate) fn entry(codes: &Codes, operation: &Operation) -> Entry {
    let action = match operation.action {
        Action::Add(Trigger::Level) => codes.add,
        Action::Add(Trigger::Edge) => codes.add | codes.clear,
        Action::Delete => codes.delete,
    };
    Entry {
        ident: operation.fd as usize,
        filter: match operation.filter {
            Filter::Read => codes.filter_read,
            Filter::Write => codes.filter_write,
        },
        flags: action | codes.receipt,
        data: 0,
        udata: operation.generation as usize,
    }
}

/// Returns the record that an entry of the event list is. `None` for the user event.
pub(crate) fn record(codes: &Codes, entry: &Entry) -> Option<Record> {
    let filter = match entry.filter {
        filter if filter == codes.filter_read => Filter::Read,
        filter if filter == codes.filter_write => Filter::Write,
        _ => return None,
    };
    let has = |flag| entry.flags & flag != 0;
    Some(Record {
        fd: entry.ident as RawFd,
        generation: entry.udata as Generation,
        filter,
        data: entry.data,
        eof: has(codes.eof),
        error: has(codes.error),
        deleted: has(codes.oneshot),
        trigger: if has(codes.clear) { Trigger::Edge } else { Trigger::Level },
    })
}

/// Returns the error number of a receipt, zero for success. `None` if the entry is an event, which only a
/// kernel without `EV_RECEIPT` returns in a receipt's place: every receipt has `EV_ERROR`.
pub(crate) fn receipt(codes: &Codes, entry: &Entry) -> Option<i64> {
    (entry.flags & codes.error != 0).then_some(entry.data)
}

/// Returns the timeout in seconds and nanoseconds, exactly. Some systems refuse more than 10⁸ seconds.
pub(crate) fn timeout(timeout: Duration) -> (i64, i64) {
    const LONGEST: Duration = Duration::from_secs(100_000_000);
    let timeout = timeout.min(LONGEST);
    fault!(TimeoutRoundedDown: timeout => Duration::from_millis(timeout.as_millis() as u64));
    (timeout.as_secs() as i64, timeout.subsec_nanos().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants of FreeBSD's sys/event.h.
    const CODES: Codes = Codes {
        filter_read: -1,
        filter_write: -2,
        add: 0x1,
        delete: 0x2,
        clear: 0x20,
        receipt: 0x40,
        oneshot: 0x10,
        eof: 0x8000,
        error: 0x4000,
    };
    const USER: i64 = -11;

    #[test]
    fn an_operation_is_one_entry_that_requests_a_receipt() {
        let table = [
            (Filter::Read, Action::Add(Trigger::Level), -1, 0x41),
            (Filter::Read, Action::Add(Trigger::Edge), -1, 0x61),
            (Filter::Write, Action::Add(Trigger::Level), -2, 0x41),
            (Filter::Write, Action::Delete, -2, 0x42),
            (Filter::Read, Action::Delete, -1, 0x42),
        ];
        for (filter, action, code, flags) in table {
            for generation in [0, 7, Generation::MAX] {
                let operation = Operation { fd: 5, generation, filter, action };
                let expected = Entry { ident: 5, filter: code, flags, data: 0, udata: generation as usize };
                assert_eq!(entry(&CODES, &operation), expected, "{operation:?}");
            }
        }
    }

    #[test]
    fn each_flag_of_an_event_is_its_own_field() {
        let entry = |flags| Entry { ident: 5, filter: -2, flags, data: 9, udata: Generation::MAX as usize };
        let plain = Record {
            fd: 5,
            generation: Generation::MAX,
            filter: Filter::Write,
            data: 9,
            eof: false,
            error: false,
            deleted: false,
            trigger: Trigger::Level,
        };
        let table = [
            (0, plain),
            (0x8000, Record { eof: true, ..plain }),
            (0x4000, Record { error: true, ..plain }),
            (0x10, Record { deleted: true, ..plain }),
            (0x20, Record { trigger: Trigger::Edge, ..plain }),
            // EV_ADD and EV_RECEIPT have no meaning in an event.
            (0x41, plain),
        ];
        for (flags, expected) in table {
            assert_eq!(record(&CODES, &entry(flags)), Some(expected), "{flags:#x}");
        }
        let read = Entry { filter: -1, ..entry(0) };
        assert_eq!(record(&CODES, &read), Some(Record { filter: Filter::Read, ..plain }));
        assert_eq!(record(&CODES, &Entry { filter: USER, ..entry(0) }), None, "the user event is no record");
    }

    /// NetBSD 7 returned the third and the fourth one for an entry with `EV_RECEIPT`: 3 unread bytes, and an
    /// end with no data. Neither 3 nor 0 is an error number.
    #[test]
    fn an_event_is_no_receipt_whatever_its_data_are() {
        for (flags, data, expected) in
            [(0x4041, 0, Some(0)), (0x4000, 9, Some(9)), (0x1, 3, None), (0x8001, 0, None), (0x41, 0, None)]
        {
            let entry = Entry { ident: 5, filter: -1, flags, data, udata: 0 };
            assert_eq!(receipt(&CODES, &entry), expected, "{flags:#x} {data}");
        }
    }

    #[test]
    fn an_event_returns_the_registered_number_and_generation() {
        for (fd, generation) in [(0, 0), (1, Generation::MAX), (RawFd::MAX, 1)] {
            let operation =
                Operation { fd, generation, filter: Filter::Read, action: Action::Add(Trigger::Edge) };
            let record = record(&CODES, &entry(&CODES, &operation)).unwrap();
            assert_eq!((record.fd, record.generation), (fd, generation));
        }
    }

    #[test]
    fn a_timeout_is_exact_up_to_the_longest() {
        let table = [
            (Duration::ZERO, (0, 0)),
            (Duration::from_nanos(1), (0, 1)),
            (Duration::from_micros(1_500_001), (1, 500_001_000)),
            (Duration::new(100_000_000, 1), (100_000_000, 0)),
            (Duration::MAX, (100_000_000, 0)),
        ];
        for (given, expected) in table {
            assert_eq!(timeout(given), expected, "{given:?}");
        }
    }
}
