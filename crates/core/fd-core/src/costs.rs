//! The number of atomic read-modify-writes of each operation, without contention, and the cache lines that a
//! thread writes. These are most of its cost, and do not depend on the machine.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::poller::{Capabilities, Change, Event, Events, Interest, Poller};
use crate::shared::activity::Activity;
use crate::shared::clock::Clock;
use crate::shared::context::{Context, Reported};
use crate::shared::ready::ReadyGuard;
use crate::shared::{FdCore, SharedThread, options::InsertOptions};
use crate::table::{FdHandle, FdTable};
use crate::testing::{core_of, insert, one_thread, open, thread};
use crate::words::counted;
use crate::worker::Worker;

fn readable(handle: FdHandle) -> Event {
    Event { fd: handle.number(), generation: handle.generation(), events: Events::READY_R }
}

/// The state that an earlier report has left: a later one changes nothing.
fn reported(context: &Context) -> FdHandle {
    let handle = insert(context);
    context.registration(handle).want_recv().unwrap();
    assert_eq!(context.report(&readable(handle)), Reported::Done);
    handle
}

/// A thread counts each event. The other fields are written by threads that wake it.
#[test]
fn a_thread_counts_on_cache_lines_that_no_other_thread_writes() {
    use std::mem::offset_of;
    /// Some processors fetch lines of 64 bytes in pairs.
    const LINE: usize = 128;
    let counters = offset_of!(SharedThread, activity);
    let end = counters + size_of::<Activity>();
    assert_eq!((align_of::<SharedThread>(), counters % LINE, end % LINE), (LINE, 0, 0));
    for field in
        [offset_of!(SharedThread, sleep), offset_of!(SharedThread, tasks), offset_of!(SharedThread, signals)]
    {
        assert!(!(counters..end).contains(&field));
    }
}

/// Sets and clears the running bit.
#[test]
fn a_report_makes_two() {
    let context = one_thread();
    let handle = reported(&context);
    let made = counted::during(|| assert_eq!(context.report(&readable(handle)), Reported::Done));
    assert_eq!(made, 2);
}

/// A poller that reports the same events in each wait.
struct Repeats(Vec<Event>);

impl Poller for Repeats {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        Some(change.wanted)
    }

    fn wait(&mut self, _: &FdTable, _: Option<Duration>, batch: &mut Vec<Event>) -> std::io::Result<()> {
        batch.extend_from_slice(&self.0);
        Ok(())
    }

    fn rebuild(&mut self, _: bool) -> std::io::Result<()> {
        Ok(())
    }
}

/// Beside the reports: it announces its sleep.
#[test]
fn an_iteration_makes_one() {
    for count in [0, 1, 7] {
        let context = one_thread();
        let handles: Vec<_> = (0..count).map(|_| reported(&context)).collect();
        let poller = Repeats(handles.into_iter().map(readable).collect());
        let mut worker = Worker::new(&context, Box::new(poller), None);
        worker.iterate().unwrap();
        assert_eq!(counted::during(|| worker.iterate().unwrap()), 1 + 2 * count, "{count} events");
    }
}

#[test]
fn want_and_stop_make_four_and_one_outside_the_handler_and_two_and_one_inside() {
    let context = one_thread();
    let handle = insert(&context);
    let registration = context.registration(handle);
    // The pin and its release, the state, the update bit.
    assert_eq!(counted::during(|| registration.want_recv().unwrap()), 4);
    assert_eq!(counted::during(|| registration.want_recv().unwrap()), 2, "it is active already");
    assert_eq!(counted::during(|| registration.stop_recv().unwrap()), 1);
    assert_eq!(counted::during(|| registration.stop_recv().unwrap()), 0, "it is inactive already");
    let inside = |ready: &ReadyGuard<'_>| {
        let registration = ready.registration();
        assert_eq!(counted::during(|| registration.want_recv().unwrap()), 2);
        assert_eq!(counted::during(|| registration.want_recv().unwrap()), 0, "it is active already");
        assert_eq!(counted::during(|| registration.stop_recv().unwrap()), 1);
        assert_eq!(counted::during(|| registration.stop_recv().unwrap()), 0, "it is inactive already");
    };
    context.enter(handle, inside).unwrap();
}

/// The running bit twice and the thread mask; and the state, if there is something to deactivate.
#[test]
fn a_takeover_makes_three_and_four_of_an_active_registration() {
    let context = one_thread();
    let handle = insert(&context);
    let owner = context.registration(handle).owner().unwrap();
    let taker = Context::new(Arc::clone(context.core()), thread(1, 1));
    assert_eq!(counted::during(|| taker.takeover(handle, owner).unwrap()), 3);
    taker.registration(handle).want_recv().unwrap();
    assert_eq!(counted::during(|| context.takeover(handle, owner).unwrap()), 4);
}

/// So their rate grows with the processors.
#[test]
fn takeovers_of_different_descriptors_write_no_cache_line_in_common() {
    const LINE: usize = 64;
    let table = FdTable::new(64, &[3]).unwrap();
    let core = core_of(table, Capabilities::ALL, Clock::System).0;
    let lines = |taker: usize| {
        let [owner, taker] = [0, taker].map(|index| Context::new(Arc::clone(&core), thread(1, index)));
        let handle = insert(&owner);
        let owner = core.registration(handle).owner().unwrap();
        let written = counted::addresses(|| taker.takeover(handle, owner).unwrap());
        written.into_iter().map(|address| address / LINE).collect::<BTreeSet<_>>()
    };
    let (one, other) = (lines(1), lines(2));
    assert!(!one.is_empty() && one.is_disjoint(&other), "{one:?} and {other:?}");
}

#[test]
fn an_insertion_makes_two_and_a_delete_five() {
    let context = one_thread();
    // It raises the bound of the scans.
    insert(&context);
    let core: &FdCore = context.core();
    let (id, source) = (context.id(), open());
    let (number, handler) = (std::os::fd::AsRawFd::as_raw_fd(&source), crate::testing::handler());
    // A greater number.
    let other = source.try_clone().unwrap();
    let inserted = core.insert(other, Arc::clone(&handler), id.group(), id.mask(), InsertOptions::default());
    core.registration(inserted.unwrap()).delete().unwrap();
    let mut handle = None;
    let made = counted::during(|| {
        handle = core.insert(source, handler, id.group(), id.mask(), InsertOptions::default()).ok();
    });
    let handle = handle.unwrap();
    assert_eq!(handle.number(), number);
    // The claim and the publication.
    assert_eq!(made, 2);
    // The pin, the mark and the thread mask, the end of the generation, the free slot.
    assert_eq!(counted::during(|| context.registration(handle).delete().unwrap()), 5);
}
