//! From the records of an event list to [`Event`]s.

use std::os::fd::RawFd;

use fd_core::hooks::fault;
use fd_core::poller::{Event, Events, Generation, Trigger};

use crate::changes::Filter;

/// The fields of an event that this backend uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) fd: RawFd,
    pub(crate) generation: Generation,
    pub(crate) filter: Filter,
    /// Bytes to read, connections to accept, or room to write.
    pub(crate) data: i64,
    /// `EV_EOF`.
    pub(crate) eof: bool,
    /// `EV_ERROR`, which an event should not have.
    pub(crate) error: bool,
    /// `EV_ONESHOT`, which this backend never requests: the kernel has deleted the filter when it fired.
    /// Measured for the write filter of a pipe whose other end is closed.
    pub(crate) deleted: bool,
    /// Level, or edge (`EV_CLEAR`).
    pub(crate) trigger: Trigger,
}

/// Translates a record.
pub(crate) fn translate(record: &Record) -> Events {
    let events = match record.filter {
        Filter::Read => {
            // Without data and without end of file, the next call returns an error. UDP does this.
            let ready = record.data > 0 || !record.eof;
            fault!(KqueueEmptyReadIgnored: ready => record.data > 0);
            Events::READY_R.when(ready).or(Events::SHUT_R.when(record.eof))
        }
        Filter::Write => Events::READY_W.or(Events::ERR.when(record.eof)),
    };
    events.or(Events::ERR.when(record.error))
}

/// Returns the events that the poller must report from now on in the kernel's place, if the kernel has
/// deleted the filter. An edge is reported once in any case.
pub(crate) fn after_deletion(record: &Record) -> Option<Events> {
    fault!(KqueueSaidOnce => return None);
    (record.deleted && record.trigger == Trigger::Level).then(|| translate(record))
}

/// Appends the events of a record to a batch in which the events of this wait begin at `start`.
///
/// Two consecutive records of one descriptor become one event, so that the handler sees a failed connect or a
/// reset as a whole, as with the other backends. If another record is between them, or the batch is full,
/// they are two events. That is correct, too: each event is complete by itself.
pub(crate) fn append(batch: &mut Vec<Event>, start: usize, record: &Record) {
    let &Record { fd, generation, .. } = record;
    let events = translate(record);
    match batch[start..].last_mut() {
        Some(last) if (last.fd, last.generation) == (fd, generation) => last.events = last.events.or(events),
        _ => batch.push(Event { fd, generation, events }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(filter: Filter, data: i64, eof: bool) -> Record {
        Record {
            fd: 3,
            generation: 7,
            filter,
            data,
            eof,
            error: false,
            deleted: false,
            trigger: Trigger::Level,
        }
    }

    /// The table of protocol 14, for each filter.
    #[test]
    fn each_filter_means_what_the_table_says() {
        let (r, w) = (Events::READY_R, Events::READY_W);
        #[rustfmt::skip]
        let table = [
            (Filter::Read,  3,    false, r),
            (Filter::Read,  3,    true,  r.or(Events::SHUT_R)),
            // The core makes an end of file readable.
            (Filter::Read,  0,    true,  Events::SHUT_R),
            // A UDP socket with a pending error or an empty datagram.
            (Filter::Read,  0,    false, r),
            // A file whose offset is beyond its end (measured).
            (Filter::Read,  -100, false, r),
            (Filter::Write, 0,    false, w),
            (Filter::Write, 512,  false, w),
            (Filter::Write, 0,    true,  w.or(Events::ERR)),
            (Filter::Write, 512,  true,  w.or(Events::ERR)),
        ];
        for (filter, data, eof, expected) in table {
            let record = record(filter, data, eof);
            assert_eq!(translate(&record), expected, "{record:?}");
            let failed = translate(&Record { error: true, ..record });
            assert_eq!(failed, expected.or(Events::ERR));
        }
    }

    /// Measured: the write filter of a pipe fires once when the reader closes. The polled masks still contain
    /// it.
    #[test]
    fn a_level_filter_that_the_kernel_deletes_stays_reported() {
        let last = Record { deleted: true, ..record(Filter::Write, 0, true) };
        assert_eq!(after_deletion(&last), Some(Events::READY_W.or(Events::ERR)));
        assert_eq!(after_deletion(&Record { trigger: Trigger::Edge, ..last }), None);
        assert_eq!(after_deletion(&Record { deleted: false, ..last }), None);
    }

    #[test]
    fn neighbours_of_one_registration_are_one_event() {
        let read = record(Filter::Read, 0, true);
        let write = record(Filter::Write, 0, true);
        let (other, next_registration) = (Record { fd: 4, ..read }, Record { generation: 8, ..write });
        let batch_of = |records: &[Record], before: usize| {
            let earlier = Event { fd: 3, generation: 7, events: Events::NONE };
            let mut batch = vec![earlier; before];
            records.iter().for_each(|record| append(&mut batch, before, record));
            batch.split_off(before)
        };
        let whole = Event { fd: 3, generation: 7, events: translate(&read).or(translate(&write)) };
        assert_eq!(batch_of(&[read, write], 0), [whole]);
        assert_eq!(batch_of(&[write, read], 2), [whole], "earlier events are unchanged");
        assert_eq!(batch_of(&[read, other, write], 0).len(), 3);
        assert_eq!(batch_of(&[read, next_registration], 0).len(), 2);
    }
}
