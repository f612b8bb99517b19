//! The context of one thread, without a loop.

use super::*;
use crate::entry::error::DeleteError;
use crate::poller::testing::in_child;
use crate::poller::{Capabilities, Trigger};
use crate::shared::activity::ActivitySnapshot;
use crate::shared::handler::Handler;
use crate::shared::handler::numbers::idle;
use crate::shared::options::InsertOptions;
use crate::testing::{
    Time, context, core, group, handler, insert, insert_for, insert_with, one_thread, open, open_at, thread,
};
use crate::words::events::Interest;
use crate::words::ids::ThreadMask;

fn event(handle: FdHandle, events: Events) -> Event {
    Event { fd: handle.number(), generation: handle.generation(), events }
}

/// Whether the number is an open descriptor of this process.
fn is_registered(context: &Context, handle: FdHandle) -> bool {
    context.core().entry(handle).is_ok()
}

/// S7. The same handler and the same number, in another registration.
#[test]
fn a_stale_handle_is_refused_by_every_call_though_the_same_handler_is_registered_again() {
    let context = one_thread();
    let (core, options) = (context.core(), InsertOptions::default());
    let owner = handler();
    let expected = OwnerId::of(&owner);
    let register = |fd| core.insert(fd, Arc::clone(&owner), group(1), context.id().mask(), options).unwrap();
    let first = register(open_at(60));
    context.registration(first).delete().unwrap();
    let second = register(open_at(60));
    let before = core.entry(second).unwrap();
    assert!(matches!(context.takeover(first, expected), Err(MoveError::Stale(_))));
    assert!(matches!(context.registration(first).migrate_on(thread(1, 1)), Err(MoveError::Stale(_))));
    assert!(matches!(context.registration(first).migrate_on(thread(2, 0)), Err(MoveError::Stale(_))));
    assert!(matches!(context.enter(first, |_: &ReadyGuard<'_>| ()), Err(EnterError::Stale(_))));
    assert!(matches!(context.registration(first).delete(), Err(DeleteError::Stale(_))));
    assert!(
        context.registration(first).want_recv().is_err() && context.registration(first).duplicate().is_err()
    );
    assert_eq!(context.report(&event(first, Events::READY_R)), Reported::Stale);
    assert_eq!(core.entry(second).unwrap(), before, "the second registration has not changed");
}

/// B15. Both tables have a registration of the number in the same generation.
#[test]
fn a_handle_of_another_table_is_refused_by_every_call() {
    let (mine, other) = (one_thread(), one_thread());
    let options = InsertOptions::default();
    let handle = mine.core().insert(open_at(61), handler(), group(1), mine.id().mask(), options).unwrap();
    // Only the number is inserted: the descriptor belongs to the other registration.
    let table = other.core().table();
    let there = table.insert(61, idle(61), group(1), other.id().mask(), 0).map_err(|(why, _)| why).unwrap();
    assert_eq!((there.number(), there.generation()), (handle.number(), handle.generation()));
    let before = other.core().entry(there).unwrap();
    assert!(matches!(other.takeover(handle, before.owner), Err(MoveError::Stale(_))));
    assert!(matches!(other.registration(handle).migrate_on(thread(2, 0)), Err(MoveError::Stale(_))));
    assert!(matches!(other.enter(handle, |_: &ReadyGuard<'_>| ()), Err(EnterError::Stale(_))));
    assert!(other.registration(handle).delete().is_err() && other.registration(handle).disown().is_err());
    assert!(other.registration(handle).want_recv().is_err() && other.core().entry(handle).is_err());
    assert_eq!(other.core().entry(there).unwrap(), before);
    assert!(is_registered(&mine, handle));
}

/// The exit rule holds outside a report, too: after a delete, the thread inside is the last user.
#[test]
fn a_registration_that_is_deleted_while_it_is_entered_ends_at_the_exit() {
    let context = one_thread();
    let handle = insert(&context);
    let inside = context.enter(handle, |ready: &ReadyGuard<'_>| {
        ready.registration().delete().unwrap();
        nix::fcntl::fcntl(ready, nix::fcntl::FcntlArg::F_GETFD).is_ok()
    });
    assert_eq!(inside, Ok(true), "S5: open until it is left");
    assert!(!is_registered(&context, handle), "L4");
    assert_eq!((context.core().table().used(), context.core().registration_counts().closed), (0, 1));
}

#[test]
fn an_entry_without_permission_or_inside_another_one_is_refused() {
    let context = one_thread();
    let handle = insert(&context);
    let nested = context
        .enter(handle, |ready: &ReadyGuard<'_>| ready.context().enter(handle, |_: &ReadyGuard<'_>| ()))
        .unwrap();
    assert_eq!(nested, Err(EnterError::Nested));
    for other in [thread(1, 1), thread(2, 0)] {
        let other = Context::new(Arc::clone(context.core()), other);
        assert_eq!(other.enter(handle, |_: &ReadyGuard<'_>| ()), Err(EnterError::NotAllowed));
    }
    assert!(context.core().entry(handle).unwrap().running.is_empty());
    assert_eq!(context.enter(handle, |_: &ReadyGuard<'_>| 7), Ok(7));
}

/// B7. The panic of the handler is not lost with its registration.
#[test]
fn the_panic_of_a_handler_reaches_its_thread_whether_or_not_it_ended_its_registration() {
    for deletes in [false, true] {
        let context = one_thread();
        let handle = insert_with(&context, move |ready: &ReadyGuard<'_>| {
            if deletes {
                ready.registration().delete().unwrap();
            }
            panic!("on purpose");
        });
        context.registration(handle).want_recv().unwrap();
        let report = || context.report(&event(handle, Events::READY_R));
        let panic = catch_unwind(AssertUnwindSafe(report)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"), "deletes: {deletes}");
        assert_eq!(is_registered(&context, handle), !deletes);
        if !deletes {
            assert!(context.core().entry(handle).unwrap().running.is_empty(), "L9");
        }
    }
}

/// The handler panics, and then its drop. The first panic counts, and the descriptor is closed.
#[test]
fn the_first_of_two_panics_counts() {
    struct Fragile;
    impl Handler for Fragile {
        fn ready(&self, ready: &ReadyGuard<'_>) {
            ready.registration().delete().unwrap();
            panic!("handler");
        }
    }
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("drop");
        }
    }
    let context = one_thread();
    let handle = insert_with(&context, Fragile);
    context.registration(handle).want_recv().unwrap();
    let report = || context.report(&event(handle, Events::READY_R));
    let panic = catch_unwind(AssertUnwindSafe(report)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"handler"));
    assert_eq!((context.core().table().used(), context.core().registration_counts().closed), (0, 1));
}

#[test]
fn a_report_of_another_threads_descriptor_schedules_its_removal_whatever_the_masks_say() {
    let (core, _) = core(Capabilities::ALL, crate::shared::clock::Clock::System);
    for owner in [thread(1, 1), thread(2, 0)] {
        let context = Context::new(Arc::clone(&core), thread(1, 0));
        let handle = insert_for(&core, owner.group(), owner.mask());
        assert_eq!(context.report(&event(handle, Events::READY_R)), Reported::Migrated);
        let mut updates = vec![];
        context.swap_updates(&mut updates);
        assert_eq!(updates, [Update { handle, force: true }], "L5");
    }
}

#[test]
fn timers_run_in_the_order_of_their_times_and_then_of_their_calls() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let ran = std::rc::Rc::new(RefCell::new(vec![]));
    for (name, delay) in [("c", 30), ("a", 10), ("b1", 20), ("b2", 20), ("never", u64::MAX)] {
        let ran = std::rc::Rc::clone(&ran);
        context.after(Duration::from_millis(delay), move |_| ran.borrow_mut().push(name));
    }
    let due = |context: &Context| context.next_timer().map(|due| due.duration_since(context.now()));
    for (passed, expected, next) in [
        (9, &[][..], 1),
        (1, &["a"], 10),
        (15, &["a", "b1", "b2"], 5),
        (100, &["a", "b1", "b2", "c"], 100 * 365 * 24 * 60 * 60 * 1000 - 125),
    ] {
        time.pass(passed);
        context.run_timers();
        assert_eq!(*ran.borrow(), expected);
        assert_eq!(due(&context), Some(Duration::from_millis(next)));
    }
}

#[test]
fn timers_that_have_not_run_are_dropped_even_if_a_drop_panics() {
    struct Held(Arc<()>);
    impl Drop for Held {
        fn drop(&mut self) {
            assert!(Arc::strong_count(&self.0) != 3, "on purpose");
        }
    }
    let context = one_thread();
    let count = Arc::new(());
    for _ in 0..3 {
        let held = Held(Arc::clone(&count));
        context.after(Duration::from_secs(1), move |_| drop(held));
    }
    assert!(context.end_timers().panic().is_some(), "one drop panicked");
    assert_eq!((Arc::strong_count(&count), context.next_timer()), (1, None));
}

/// The update bits, and whether the private list and the shared list have an update.
fn scheduled(context: &Context, handle: FdHandle) -> (u64, bool, bool) {
    let pin = context.core().table().pin(handle).unwrap();
    let bits = pin.entry().update_mask.swap(0, Ordering::AcqRel);
    let mut updates = vec![];
    context.swap_updates(&mut updates);
    let listed = context.core().table().updates(pin.group()).head().is_some();
    (bits, updates == [Update { handle, force: false }], listed)
}

/// Suspect 19: only the exclusive owner may conclude from the state alone that its update is published.
#[test]
fn a_second_want_publishes_another_update_unless_the_owner_makes_it() {
    let context = one_thread();
    let (core, own) = (context.core(), insert(&context));
    context.registration(own).want_recv().unwrap();
    assert_eq!(scheduled(&context, own), (0b01, true, false));
    context.registration(own).want_recv().unwrap();
    assert_eq!(scheduled(&context, own), (0, false, false), "the update of the owner is published");
    core.registration(own).want_recv().unwrap();
    assert_eq!(scheduled(&context, own), (0b01, false, true), "the update of another thread may not be");

    let context = one_thread();
    let shared = insert_for(context.core(), group(1), ThreadMask::ALL);
    for _ in 0..2 {
        context.registration(shared).want_recv().unwrap();
        assert_eq!(scheduled(&context, shared), (0b11, false, true));
    }
    let context = one_thread();
    let elsewhere = insert_for(context.core(), group(2), context.id().mask());
    for _ in 0..2 {
        context.registration(elsewhere).want_recv().unwrap();
        assert_eq!(scheduled(&context, elsewhere), (0b01, false, true), "the same bit, in another group");
    }
}

#[test]
fn a_takeover_takes_an_unused_descriptor_of_any_group() {
    let (near, far) = (thread(1, 1), thread(2, 1));
    for (owner, is_held, expected) in
        [(near, true, (true, false)), (near, false, (false, false)), (far, false, (false, false))]
    {
        let context = one_thread();
        let handle = insert_for(context.core(), owner.group(), owner.mask());
        let expected_owner = context.core().entry(handle).unwrap().owner;
        context.core().table().pin(handle).unwrap().polled().set(context.id().mask().bits(), is_held, false);
        let stranger = OwnerId::of(&handler());
        assert_eq!(context.takeover(handle, stranger), Err(MoveError::WrongOwner));
        assert_eq!(context.takeover(handle, expected_owner), Ok(()));
        let entry = context.core().entry(handle).unwrap();
        assert_eq!((entry.group, entry.thread_mask), (group(1), context.id().mask()));
        assert_eq!((entry.takeovers, entry.running.is_empty()), (1, true));
        let counters = context.activity().snapshot();
        assert_eq!((counters.fd_takeover, counters.fd_takeover_fail), (1, 1));
        let (_, private, listed) = scheduled(&context, handle);
        assert_eq!((private, listed), expected, "an interest that the own poller holds is no longer wanted");
    }
}

#[test]
fn a_new_poller_gets_the_active_descriptors_that_this_thread_may_use() {
    let context = one_thread();
    let register = |id: ThreadId, mask: ThreadMask, wants: bool| {
        let handle = insert_for(context.core(), id.group(), mask);
        let pin = context.core().table().pin(handle).unwrap();
        pin.polled().set(0b11, true, true);
        if wants {
            pin.entry().state.fetch_or(state::ACTIVE_W, Ordering::AcqRel);
        }
        handle
    };
    let me = context.id();
    let mine = register(me, me.mask(), true);
    let shared = register(me, ThreadMask::ALL, true);
    let unwanted = register(me, me.mask(), false);
    let others = register(me, thread(1, 1).mask(), true);
    let elsewhere = register(thread(2, 0), me.mask(), true);
    context.register_all();
    let mut updates = vec![];
    context.swap_updates(&mut updates);
    // Other tests close descriptors meanwhile, so a later registration may have the smaller number.
    let mut expected = [mine, shared];
    expected.sort_by_key(|handle| handle.fd);
    assert_eq!(updates, expected.map(|handle| Update { handle, force: false }));
    assert!(!context.has_updates());
    let polled = |handle| {
        let entry = context.core().entry(handle).unwrap();
        (entry.polled_recv.bits(), entry.polled_send.bits())
    };
    assert_eq!(
        [mine, shared, unwanted, others].map(polled),
        [(0b10, 0b10); 4],
        "S11: the poller holds nothing yet"
    );
    assert_eq!(polled(elsewhere), (0b11, 0b11), "the masks of another group");
}

#[test]
fn the_process_that_started_the_runtime_notes_no_fork() {
    let context = one_thread();
    let handle = insert(&context);
    let other = thread(1, 1);
    let shared = insert_for(context.core(), group(1), other.mask());
    assert!(context.core().table().enter(shared, other).is_ok());
    context.forked();
    assert!(!context.take_forked());
    assert!(context.core().table().enabled(group(1)).contains(other.mask()));
    assert_eq!(context.core().entry(shared).unwrap().running, other.mask(), "the other thread uses it");
    assert!(context.core().post(other, |_| ()).is_ok() && is_registered(&context, handle));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn the_child_of_a_fork_notes_it_once() {
    let context = one_thread();
    assert!(in_child(|| {
        context.forked();
        context.take_forked() && !context.take_forked()
    }));
    assert!(!context.take_forked());
}

/// L6.
#[test]
fn unwanted_directions_are_removed_unless_the_registration_is_deleted() {
    let context = one_thread();
    let mine = insert(&context);
    let pin = context.core().table().pin(mine).unwrap();
    pin.polled().set(0b1, true, true);
    let report = |events| crate::shared::ready::Report { context: &context, live: *pin, events };
    context.stop_unwanted(&report(Events::READY_R), 0);
    assert!(!context.has_updates());
    context.stop_unwanted(&report(Events::READY_R.or(Events::READY_W)), state::ACTIVE);
    assert!(context.has_updates(), "L6");
    context.swap_updates(&mut Vec::new());
    pin.entry().thread_mask.store(0, Ordering::SeqCst);
    context.stop_unwanted(&report(Events::READY_R.or(Events::READY_W)), state::ACTIVE);
    assert!(!context.has_updates());
}

#[test]
fn a_context_prints_its_thread() {
    assert_eq!(format!("{:?}", one_thread()), format!("Context {{ id: {:?}, .. }}", thread(1, 0)));
}

#[test]
fn the_private_list_takes_any_number_of_updates() {
    let context = one_thread();
    let handle = insert(&context);
    assert!(!context.has_updates());
    for _ in 0..1000 {
        context.push_update(handle, false);
    }
    let mut updates = vec![];
    context.swap_updates(&mut updates);
    assert_eq!(updates.len(), 1000, "suspect 6");
}

/// One report and its circumstances.
struct Report {
    trigger: Trigger,
    /// The active directions before the report.
    active: u32,
    /// The directions that the own poller and another thread's poller hold before the report.
    held: Interest,
    others: Interest,
    events: Events,
    /// The directions that the handler enables.
    wants: u32,
}

fn after(report: &Report) -> (Option<bool>, ActivitySnapshot, u32) {
    let context = one_thread();
    let wants = report.wants;
    let handler: Arc<dyn Handler> = Arc::new(move |ready: &ReadyGuard<'_>| {
        ready.report.live.entry().state.fetch_or(wants, Ordering::AcqRel);
    });
    let options = InsertOptions { trigger: report.trigger, ..InsertOptions::default() };
    let handle = context.core().insert(open(), handler, group(1), context.id().mask(), options).unwrap();
    let pin = context.core().table().pin(handle).unwrap();
    pin.entry().state.fetch_or(report.active, Ordering::AcqRel);
    pin.polled().set(context.id().mask().bits(), report.held.recv, report.held.send);
    pin.polled().set(0b10, report.others.recv, report.others.send);
    drop(pin);
    assert_eq!(context.report(&event(handle, report.events)), Reported::Done);
    let mut updates = vec![];
    context.swap_updates(&mut updates);
    assert!(updates.len() <= 1 && updates.iter().all(|update| update.handle == handle));
    let state = context.core().entry(handle).unwrap().state.bits();
    (updates.first().map(|update| update.force), context.activity().snapshot(), state)
}

/// L6 and suspect 10. A direction that is reported without being active leaves the own poller. If its edge
/// was consumed, a new registration reports the edge again.
#[test]
fn an_unwanted_direction_leaves_the_poller_and_a_consumed_edge_is_registered_anew() {
    use crate::words::state::{ACTIVE_R, ACTIVE_W};
    const R: Interest = Interest::RECV;
    const W: Interest = Interest::SEND;
    const RW: Interest = Interest::BOTH;
    const NONE: Interest = Interest::NONE;
    let (level, edge) = (Trigger::Level, Trigger::Edge);
    let (read, write) = (Events::READY_R, Events::READY_W);
    #[rustfmt::skip]
    let table = [
        // trigger, active before, held, event, enabled by the handler, scheduled
        (level, 0,        R,    read,                     0,        Some(false)),
        (level, 0,        NONE, read,                     0,        Some(false)),
        (level, ACTIVE_R, R,    read,                     0,        None),
        (level, ACTIVE_R, RW,   write,                    0,        Some(false)),
        (level, ACTIVE_R, RW,   write,                    ACTIVE_W, None),
        (level, ACTIVE_W, RW,   read,                     0,        Some(false)),
        (level, ACTIVE_W, RW,   read,                     ACTIVE_R, None),
        (level, ACTIVE_R, R,    read.or(Events::ERR),     0,        Some(false)),
        (edge,  0,        R,    read,                     0,        Some(true)),
        (edge,  0,        NONE, read,                     0,        Some(false)),
        (edge,  0,        W,    read,                     0,        Some(true)),
        (edge,  ACTIVE_R, R,    read,                     0,        None),
        (edge,  ACTIVE_R, R,    write,                    0,        Some(false)),
        (edge,  ACTIVE_R, RW,   write,                    0,        Some(true)),
        (edge,  ACTIVE_R, RW,   write,                    ACTIVE_W, Some(true)),
        (edge,  ACTIVE_R, R,    write,                    ACTIVE_W, None),
        (edge,  ACTIVE_W, RW,   read,                     0,        Some(true)),
        (edge,  ACTIVE_W, RW,   read,                     ACTIVE_R, Some(true)),
        (edge,  ACTIVE_W, W,    read,                     0,        Some(false)),
        (edge,  ACTIVE_R, RW,   Events::INVALID,          0,        Some(false)),
    ];
    for (trigger, active, held, events, wants, expected) in table {
        for others in [NONE, RW] {
            let report = Report { trigger, active, held, others, events, wants };
            let (scheduled, ..) = after(&report);
            assert_eq!(
                scheduled, expected,
                "{trigger:?} {active:#x} {held:?} {events:?} {wants:#x} {others:?}"
            );
        }
    }
}

#[test]
fn a_handler_runs_once_for_active_directions_only() {
    let report = |active, events| {
        let (trigger, wants) = (Trigger::Level, 0);
        let (held, others) = (Interest::BOTH, Interest::NONE);
        let (_, counters, state) = after(&Report { trigger, active, held, others, events, wants });
        (counters.fd_run, counters.poll_inval, state)
    };
    let both = Events::READY_R.or(Events::READY_W);
    let ready = state::READY;
    let (recv, send) = (state::ACTIVE_R, state::ACTIVE_W);
    assert_eq!(report(0, both), (0, 0, ready | state::POLL_IN | state::POLL_OUT), "S18");
    assert_eq!(report(recv, both), (1, 0, ready | recv | state::POLL_IN | state::POLL_OUT));
    assert_eq!(report(recv | send, both), (1, 0, ready | recv | send | state::POLL_IN | state::POLL_OUT));
    assert_eq!(
        report(recv, Events::ERR),
        (1, 0, ready | recv | state::POLL_ERR),
        "an error is enough for a report"
    );
    // The number is not open. The handler gets one report of an error, and then no thread polls the number.
    assert_eq!(report(recv, Events::INVALID), (1, 1, ready | state::POLL_ERR));
    assert_eq!(report(0, Events::INVALID), (0, 1, ready | state::POLL_ERR));
}

/// A registration whose handler records the events of its reports.
fn recording(context: &Context, threads: ThreadMask) -> (FdHandle, Arc<std::sync::Mutex<Vec<Events>>>) {
    let reports = Arc::<std::sync::Mutex<Vec<Events>>>::default();
    let seen = Arc::clone(&reports);
    let handler = move |ready: &ReadyGuard<'_>| seen.lock().unwrap().push(ready.events());
    let handle = context.core().insert(open(), handler, group(1), threads, InsertOptions::default()).unwrap();
    (handle, reports)
}

const SECOND: Duration = Duration::from_secs(1);

/// L12. Neither direction is enabled.
#[test]
fn a_timeout_is_reported_once_and_not_before_its_last_time() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let (handle, reports) = recording(&context, context.id().mask());
    let registration = context.registration(handle);
    let count = |milliseconds| {
        time.pass(milliseconds);
        context.run_timers();
        reports.lock().unwrap().len()
    };
    registration.set_timeout(Some(SECOND)).unwrap();
    assert_eq!([count(500), count(499)], [0, 0], "early");
    registration.set_timeout(Some(SECOND)).unwrap();
    assert_eq!([count(1), count(998), count(1), count(5000)], [0, 0, 1, 1], "moved to a later time");
    assert_eq!(*reports.lock().unwrap(), [Events::TIMEOUT], "it comes alone");

    registration.set_timeout(Some(10 * SECOND)).unwrap();
    registration.set_timeout(Some(SECOND)).unwrap();
    assert_eq!([count(999), count(1), count(20_000)], [1, 2, 2], "moved to an earlier time");
    registration.set_timeout(Some(SECOND)).unwrap();
    registration.set_timeout(None).unwrap();
    assert_eq!(count(2000), 2, "cleared");
    assert_eq!(context.next_timer(), None, "nothing is left");
}

/// The next registration of the number has no timeout, or its own.
#[test]
fn a_timeout_ends_with_its_registration_and_leaves_one_look_for_the_number() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let reports: Vec<_> = (0..100)
        .map(|_| {
            let (handle, reports) = recording(&context, context.id().mask());
            context.registration(handle).set_timeout(Some(SECOND)).unwrap();
            context.registration(handle).delete().unwrap();
            reports
        })
        .collect();
    assert!(context.timers.borrow().len() <= 2, "one look for each number that was used");
    let (next, of_next) = recording(&context, context.id().mask());
    context.registration(next).set_timeout(Some(10 * SECOND)).unwrap();
    time.pass(2000);
    context.run_timers();
    assert!(reports.iter().all(|reports| reports.lock().unwrap().is_empty()));
    assert!(of_next.lock().unwrap().is_empty());
    time.pass(8000);
    context.run_timers();
    assert_eq!(*of_next.lock().unwrap(), [Events::TIMEOUT]);
}

#[test]
fn a_timeout_moves_with_its_registration() {
    let time = Time::new();
    let first = context(Capabilities::ALL, &time);
    for to in [thread(1, 1), thread(2, 0)] {
        let (handle, reports) = recording(&first, first.id().mask());
        let second = Context::new(Arc::clone(first.core()), to);
        first.registration(handle).set_timeout(Some(SECOND)).unwrap();
        second.takeover(handle, first.core().entry(handle).unwrap().owner).unwrap();
        time.pass(1000);
        first.run_timers();
        assert!(reports.lock().unwrap().is_empty(), "{to}: reported by the former owner");
        let mut tasks = std::collections::VecDeque::new();
        second.shared().tasks.take(&mut tasks);
        tasks.into_iter().for_each(|task| task(&second));
        second.run_timers();
        assert_eq!(*reports.lock().unwrap(), [Events::TIMEOUT], "{to}");
    }
}

#[test]
fn of_several_threads_one_reports_a_timeout() {
    let time = Time::new();
    let first = context(Capabilities::ALL, &time);
    let (handle, reports) = recording(&first, ThreadMask::ALL);
    first.registration(handle).set_timeout(Some(SECOND)).unwrap();
    let second = Context::new(Arc::clone(first.core()), thread(1, 1));
    for context in [&first, &second] {
        let mut tasks = std::collections::VecDeque::new();
        context.shared().tasks.take(&mut tasks);
        tasks.into_iter().for_each(|task| task(context));
    }
    time.pass(1000);
    second.run_timers();
    first.run_timers();
    assert_eq!(*reports.lock().unwrap(), [Events::TIMEOUT]);
}

/// A handler that sets its timeout anew, and one that deletes its registration and panics.
#[test]
fn the_handler_of_a_timeout_may_do_what_every_handler_may() {
    let time = Time::new();
    let context = context(Capabilities::ALL, &time);
    let handler = |ready: &ReadyGuard<'_>| {
        assert!(ready.events().is_timeout());
        ready.registration().set_timeout(Some(SECOND)).unwrap();
        if ready.context().core().entry(ready.handle()).unwrap().takeovers == 0
            && ready.context().activity().fd_run.get() == 2
        {
            ready.registration().delete().unwrap();
            panic!("on purpose");
        }
    };
    let handle = insert_with(&context, handler);
    context.registration(handle).set_timeout(Some(SECOND)).unwrap();
    time.pass(1000);
    context.run_timers();
    assert!(is_registered(&context, handle));
    time.pass(1000);
    let panic = catch_unwind(AssertUnwindSafe(|| context.run_timers())).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
    assert!(!is_registered(&context, handle), "L4");
}

#[test]
fn a_cancelled_timer_does_not_run_and_its_action_is_dropped_at_once() {
    let time = Time::new();
    let (context, other) = (context(Capabilities::ALL, &time), one_thread());
    let held = Arc::new(());
    let set = || {
        let held = Arc::clone(&held);
        context.after(SECOND, move |_| panic!("cancelled, and {} runs", Arc::strong_count(&held)))
    };
    let (first, second) = (set(), set());
    assert!(!other.cancel(first), "a timer of another runtime");
    assert!(context.cancel(first) && !context.cancel(first));
    assert_eq!(Arc::strong_count(&held), 2);
    assert!(context.cancel(second));
    time.pass(2000);
    context.run_timers();
    let ran = context.after(Duration::ZERO, |_| ());
    context.run_timers();
    assert!(!context.cancel(ran), "it has run");
}

/// Handler and source by their types. The wrong ones change nothing.
#[test]
fn a_takeover_with_an_action_lends_source_and_handler_or_changes_nothing() {
    struct Named(u32);
    impl Handler<std::os::fd::OwnedFd> for Named {
        fn ready(&self, _: &ReadyGuard<'_>) {}
    }
    let first = one_thread();
    let core = first.core();
    for (index, to) in [(1, thread(1, 1)), (2, thread(2, 0))] {
        let second = Context::new(Arc::clone(core), to);
        let handle = insert_with(&first, Named(index));
        let before = core.entry(handle).unwrap();
        let wrong_handler = |_: &ReadyGuard<'_>, _: &Arc<Named>| ();
        let wrong_source = |_: &ReadyGuard<'_, std::net::TcpStream>, _: &Other| ();
        assert_eq!(second.takeover_with(handle, before.owner, wrong_handler), Err(MoveError::WrongType));
        assert_eq!(second.takeover_with(handle, before.owner, wrong_source), Err(MoveError::WrongType));
        assert_eq!(core.entry(handle).unwrap(), before, "{to}");

        let action = |ready: &ReadyGuard<'_>, named: &Named| {
            ready.registration().want_recv().unwrap();
            let again = ready.context().enter(ready.handle(), |_: &ReadyGuard<'_>| ());
            assert_eq!(again, Err(EnterError::Nested), "the thread uses it already");
            (ready.context().id(), named.0)
        };
        assert_eq!(second.takeover_with(handle, before.owner, action), Ok((to, index)));
        let after = core.entry(handle).unwrap();
        assert_eq!((after.group, after.thread_mask, after.takeovers), (to.group(), to.mask(), 1));
        assert!(after.running.is_empty() && after.state.contains(crate::State::ACTIVE_R));
        assert_eq!(second.enter_with(handle, |_: &ReadyGuard<'_>, named: &Named| named.0), Ok(index));
        assert_eq!(second.enter_with(handle, wrong_handler), Err(EnterError::WrongType));

        let panics = |_: &ReadyGuard<'_>, _: &Named| panic!("on purpose");
        let taken = || second.takeover_with(handle, before.owner, panics);
        assert!(catch_unwind(AssertUnwindSafe(taken)).is_err());
        assert!(core.entry(handle).unwrap().running.is_empty(), "L9");
    }
}

/// A handler of another source.
struct Other;

impl Handler<std::net::TcpStream> for Other {
    fn ready(&self, _: &ReadyGuard<'_, std::net::TcpStream>) {}
}
