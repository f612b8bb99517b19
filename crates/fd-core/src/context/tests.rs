//! One thread's side, without a loop.

use super::*;
use crate::core::InsertOptions;
use crate::error::DeleteError;
use crate::handler::Handler;
use crate::poller::Capabilities;
use crate::testing::{Time, context, core, group, handler, insert, open, open_at, thread};

fn one_thread() -> Context {
    context(Capabilities::ALL, &Time::new())
}

fn event(handle: FdHandle, events: Events) -> Event {
    Event { fd: handle.number(), generation: handle.generation(), events }
}

/// Whether the number is an open descriptor of this process.
fn is_registered(context: &Context, handle: FdHandle) -> bool {
    context.core().entry(handle).is_ok()
}

/// S7: the owner is the same, the number is the same, and the registration is another one.
#[test]
fn a_stale_handle_is_refused_by_every_call_though_the_same_handler_is_registered_again() {
    let context = one_thread();
    let (core, options) = (context.core(), InsertOptions::default());
    let owner = handler();
    let expected = OwnerId::of(&owner);
    let register = |fd| core.insert(fd, Arc::clone(&owner), group(1), context.id().mask(), options).unwrap();
    let first = register(open_at(60));
    context.fd(first).delete().unwrap();
    let second = register(open_at(60));
    let before = core.entry(second).unwrap();
    assert!(matches!(context.takeover(first, expected), Err(MoveError::Stale(_))));
    assert!(matches!(context.fd(first).migrate_on(thread(1, 1)), Err(MoveError::Stale(_))));
    assert!(matches!(context.fd(first).migrate_on(thread(2, 0)), Err(MoveError::Stale(_))));
    assert!(matches!(context.enter(first, |_| ()), Err(EnterError::Stale(_))));
    assert!(matches!(context.fd(first).delete(), Err(DeleteError::Stale(_))));
    assert!(context.fd(first).want_recv().is_err() && context.fd(first).duplicate().is_err());
    assert_eq!(context.report(event(first, Events::READY_R)), Reported::Closed);
    assert_eq!(core.entry(second).unwrap(), before, "nothing of the second registration has changed");
}

/// B15: both tables have an entry for the number, in the same generation.
#[test]
fn a_handle_of_another_table_is_refused_by_every_call() {
    let (mine, other) = (one_thread(), one_thread());
    let options = InsertOptions::default();
    let handle = mine.core().insert(open_at(61), handler(), group(1), mine.id().mask(), options).unwrap();
    // Into the table alone: the descriptor is the other registration's.
    let table = other.core().table();
    let there = table.insert(61, handler(), group(1), other.id().mask(), 0).map_err(|(why, _)| why).unwrap();
    assert_eq!((there.number(), there.generation()), (handle.number(), handle.generation()));
    let before = other.core().entry(there).unwrap();
    assert!(matches!(other.takeover(handle, before.owner), Err(MoveError::Stale(_))));
    assert!(matches!(other.fd(handle).migrate_on(thread(2, 0)), Err(MoveError::Stale(_))));
    assert!(matches!(other.enter(handle, |_| ()), Err(EnterError::Stale(_))));
    assert!(other.fd(handle).delete().is_err() && other.fd(handle).disown().is_err());
    assert!(other.fd(handle).want_recv().is_err() && other.core().entry(handle).is_err());
    assert_eq!(other.core().entry(there).unwrap(), before);
    assert!(is_registered(&mine, handle));
}

/// The exit rule holds outside a report, too: the thread inside is the last user of what was deleted meanwhile.
#[test]
fn a_registration_that_is_deleted_while_it_is_entered_ends_when_it_is_left() {
    let context = one_thread();
    let handle = insert(&context);
    let inside = context.enter(handle, |ready| {
        ready.fd().delete().unwrap();
        nix::fcntl::fcntl(ready, nix::fcntl::FcntlArg::F_GETFD).is_ok()
    });
    assert_eq!(inside, Ok(true), "S5: open until it is left");
    assert!(!is_registered(&context, handle), "L4");
    assert_eq!((context.core().table().used(), context.core().lives().closed), (0, 1));
}

#[test]
fn entering_twice_or_without_permission_is_refused_and_leaves_nothing_behind() {
    let context = one_thread();
    let handle = insert(&context);
    let nested = context.enter(handle, |ready| ready.context().enter(handle, |_| ())).unwrap();
    assert_eq!(nested, Err(EnterError::Nested));
    for other in [thread(1, 1), thread(2, 0)] {
        let other = Context::new(Arc::clone(context.core()), other);
        assert_eq!(other.enter(handle, |_| ()), Err(EnterError::NotAllowed));
    }
    assert!(context.core().entry(handle).unwrap().running.is_empty());
    assert_eq!(context.enter(handle, |_| 7), Ok(7));
}

/// B7: what the handler panicked with is not lost with its registration.
#[test]
fn the_panic_of_a_handler_reaches_its_thread_whether_or_not_it_ended_its_registration() {
    for deletes in [false, true] {
        let context = one_thread();
        let handler: Arc<dyn Handler> = Arc::new(move |ready: &Ready<'_>| {
            if deletes {
                ready.fd().delete().unwrap();
            }
            panic!("on purpose");
        });
        let options = InsertOptions::default();
        let handle = context.core().insert(open(), handler, group(1), context.id().mask(), options).unwrap();
        context.fd(handle).want_recv().unwrap();
        let report = || context.report(event(handle, Events::READY_R));
        let panic = catch_unwind(AssertUnwindSafe(report)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"), "deletes: {deletes}");
        assert_eq!(is_registered(&context, handle), !deletes);
        if !deletes {
            assert!(context.core().entry(handle).unwrap().running.is_empty(), "L9");
        }
    }
}

/// Both panic: the handler, and then its drop. The first counts, and neither keeps the descriptor open.
#[test]
fn the_first_of_two_panics_counts() {
    struct Fragile;
    impl Handler for Fragile {
        fn ready(&self, ready: &Ready<'_>) {
            ready.fd().delete().unwrap();
            panic!("handler");
        }
    }
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("drop");
        }
    }
    let context = one_thread();
    let options = InsertOptions::default();
    let handle =
        context.core().insert(open(), Arc::new(Fragile), group(1), context.id().mask(), options).unwrap();
    context.fd(handle).want_recv().unwrap();
    let report = || context.report(event(handle, Events::READY_R));
    let panic = catch_unwind(AssertUnwindSafe(report)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"handler"));
    assert_eq!((context.core().table().used(), context.core().lives().closed), (0, 1));
}

/// Rule L6 and suspect 10, at the exit of a report.
#[test]
fn an_unwanted_report_schedules_a_removal_and_a_consumed_edge_a_new_registration() {
    for (trigger, forced) in [(crate::poller::Trigger::Level, false), (crate::poller::Trigger::Edge, true)] {
        let context = one_thread();
        let options = InsertOptions { trigger, ..InsertOptions::default() };
        let handle =
            context.core().insert(open(), handler(), group(1), context.id().mask(), options).unwrap();
        context.core().table().pin(handle).unwrap().polled().set(context.id().mask().bits(), true, false);
        assert_eq!(context.report(event(handle, Events::READY_R)), Reported::Done);
        assert_eq!(context.activity().snapshot().fd_run, 0, "S18");
        let mut updates = vec![];
        context.swap_updates(&mut updates);
        assert_eq!(updates, [Update { handle, force: forced }]);
    }
}

#[test]
fn a_report_of_another_threads_descriptor_schedules_its_removal_whatever_the_masks_say() {
    let (core, _) = core(Capabilities::ALL, crate::clock::Clock::System);
    for owner in [thread(1, 1), thread(2, 0)] {
        let context = Context::new(Arc::clone(&core), thread(1, 0));
        let options = InsertOptions::default();
        let handle = core.insert(open(), handler(), owner.group(), owner.mask(), options).unwrap();
        assert_eq!(context.report(event(handle, Events::READY_R)), Reported::Migrated);
        let mut updates = vec![];
        context.swap_updates(&mut updates);
        assert_eq!(updates, [Update { handle, force: true }], "L5");
    }
}
