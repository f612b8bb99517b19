//! M1 to M6 and M11: report, takeover, delete, the re-use of a number, and stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::world::{World, spawn, spawn_report, thread};
use super::{Bound, model};
use crate::entry::error::MoveError;
use crate::shared::context::Reported;
use crate::shared::handler::numbers::Number;
use crate::shared::ready::ReadyGuard;
use crate::table::{Denied, Live};
use crate::words::group_word::GroupWord;
use crate::words::ids::ThreadId;
use crate::words::state;

/// M1: report ∥ takeover by another thread of the group. S1, S2, S3, L9.
#[test]
fn m1_report_and_takeover() {
    model("m1_report_and_takeover", 2, Bound::quick(4)).check(|| {
        report_and_takeover(&[2], thread(1, 1));
    });
}

/// Runs a report by G1/T0 ∥ a takeover by `taker`, in a world with groups of the given numbers of threads.
pub(super) fn report_and_takeover(threads: &[usize], taker: ThreadId) {
    let (world, registration) = World::one(threads, 0b01);
    let reporter = spawn_report(&world, &registration, thread(1, 0));
    let taker = world.context(taker);
    let taken = taker.takeover(registration.handle, registration.owner);
    if taken.is_ok() {
        assert_eq!(
            registration.observed.inside.load(Ordering::Relaxed),
            0,
            "S3: taken under a running handler"
        );
        // S3: the old owner does not enter any more, although a direction is active.
        registration.observed.only(taker.id());
        taker.registration(registration.handle).want_recv().unwrap();
        world.report(&taker, &registration);
    } else {
        assert_eq!(taken, Err(MoveError::Busy));
    }
    reporter.join().unwrap();
    world.assert_at_rest(&registration);
    let group = registration.pin().group();
    let owner = if taken.is_ok() { taker.id() } else { thread(1, 0) };
    assert_eq!(group, owner.group(), "S9");
    // L9: no running bit remains, so nothing refuses another takeover.
    assert_eq!(
        taker.takeover(registration.handle, registration.owner),
        Ok(()),
        "L9: refused, although no thread uses it"
    );
    assert_eq!(
        world.report_as(thread(1, 0), &registration),
        Reported::Migrated,
        "S3: the old owner may enter"
    );
    world.assert_at_rest(&registration);
}

/// M2: report ∥ delete by another thread of the group. S4, S5, S6, L4.
#[test]
fn m2_report_and_delete() {
    model("m2_report_and_delete", 2, Bound::quick(5)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        let reporter = spawn_report(&world, &registration, thread(1, 0));
        world.context(thread(1, 1)).registration(registration.handle).delete().unwrap();
        // S6 applies to threads that set their running bit from now on. A thread that was allowed before may
        // still enter.
        reporter.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M3: two reports ∥ delete. Two late threads may both find that they are the last user. S4, S5, L4.
#[test]
fn m3_two_reports_and_delete() {
    model("m3_two_reports_and_delete", 3, Bound::of(1, 2)).check(|| {
        let (world, registration) = World::one(&[3], 0b11);
        let reporters = [0, 1].map(|index| spawn_report(&world, &registration, thread(1, index)));
        let deleter = spawn(&world, &registration, |world, registration| {
            world.context(thread(1, 2)).registration(registration.handle).delete().unwrap();
        });
        reporters.into_iter().for_each(|reporter| reporter.join().unwrap());
        deleter.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M3, without handlers: the exit of one user ∥ the late entry of another ∥ delete. The exiting thread
/// reads the zero mask that the deleter wrote, and must see the running bit of the late thread, which has not
/// seen the zero. S4, S5, L4.
#[test]
fn m3_exit_and_late_entry_and_delete() {
    model("m3_exit_and_late_entry_and_delete", 3, Bound::of(3, 4)).check(|| {
        let (world, registration) = World::one(&[3], 0b11);
        let exit = |world: &World, live: Live<'_>, index| {
            live.exit(thread(1, index).mask()).into_iter().for_each(|orphan| world.core.finish(orphan, None));
        };
        assert!(world.core.table().enter(registration.handle, thread(1, 0)).is_ok());
        let user = spawn(&world, &registration, move |world, registration| {
            let live: Live<'_> =
                *world.core.table().pin(registration.handle).expect("S5: ended under a user");
            exit(world, live, 0);
        });
        let late = spawn(&world, &registration, move |world, registration| {
            match world.core.table().enter(registration.handle, thread(1, 1)) {
                Ok(live) => {
                    // The handler: the others go on beside it, which is no preemption.
                    super::world::yield_now();
                    assert_eq!(live.owner_id(), registration.owner, "S5");
                    exit(world, live, 1);
                }
                Err(Denied::LostRace(Some(orphan))) => world.core.finish(orphan, None),
                Err(_) => {}
            }
        });
        registration.by_outsider().delete().unwrap();
        user.join().unwrap();
        late.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M4: report ∥ delete by a thread of another group, and by one of no group. S4, S5, L4.
#[test]
fn m4_report_and_foreign_delete() {
    let model = model("m4_report_and_foreign_delete", 2, Bound::quick(5));
    for is_outsider in [false, true] {
        model.check(move || {
            let (world, registration) = World::one(&[1, 1], 0b01);
            let reporter = spawn_report(&world, &registration, thread(1, 0));
            if is_outsider {
                registration.by_outsider().delete().unwrap();
            } else {
                world.context(thread(2, 0)).registration(registration.handle).delete().unwrap();
            }
            reporter.join().unwrap();
            world.assert_ended(&registration);
        });
    }
}

/// M4: two reports ∥ delete by a thread of another group. S4, S5, L4.
#[test]
fn m4_two_reports_and_foreign_delete() {
    model("m4_two_reports_and_foreign_delete", 3, Bound::of(1, 2)).check(|| {
        let (world, registration) = World::one(&[2, 1], 0b11);
        let reporters = [0, 1].map(|index| spawn_report(&world, &registration, thread(1, index)));
        let deleter = spawn(&world, &registration, |world, registration| {
            world.context(thread(2, 0)).registration(registration.handle).delete().unwrap();
        });
        reporters.into_iter().for_each(|reporter| reporter.join().unwrap());
        deleter.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M5: late report of the old owner ∥ takeover, then delete by the new owner (suspect 20). S4, S5, L4.
#[test]
fn m5_late_report_takeover_and_delete() {
    model("m5_late_report_takeover_and_delete", 2, Bound::quick(3)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        let reporter = spawn_report(&world, &registration, thread(1, 0));
        let taker = world.context(thread(1, 1));
        let _ = taker.takeover(registration.handle, registration.owner);
        taker.registration(registration.handle).delete().unwrap();
        reporter.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M5: takeover ∥ delete. A takeover must not revive the entry. S4, L4.
#[test]
fn m5_takeover_and_delete() {
    model("m5_takeover_and_delete", 2, Bound::quick(5)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        let taker = spawn(&world, &registration, |world, registration| {
            let _ = world.context(thread(1, 1)).takeover(registration.handle, registration.owner);
        });
        world.context(thread(1, 0)).registration(registration.handle).delete().unwrap();
        taker.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M5: two deletes ∥ takeover. One delete succeeds, and the registration ends once. S4, S14, L4.
#[test]
fn m5_two_deletes_and_takeover() {
    model("m5_two_deletes_and_takeover", 3, Bound::of(2, 3)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        let wins = Arc::new(AtomicUsize::new(0));
        let other = {
            let wins = wins.clone();
            spawn(&world, &registration, move |_, registration| {
                wins.fetch_add(usize::from(registration.by_outsider().delete().is_ok()), Ordering::SeqCst);
            })
        };
        let taker = spawn(&world, &registration, |world, registration| {
            let _ = world.context(thread(1, 1)).takeover(registration.handle, registration.owner);
        });
        wins.fetch_add(usize::from(registration.by_outsider().delete().is_ok()), Ordering::SeqCst);
        other.join().unwrap();
        taker.join().unwrap();
        assert_eq!(wins.load(Ordering::SeqCst), 1, "S14: two deletes of one registration succeed");
        world.assert_ended(&registration);
    });
}

/// M5: the end of a registration ∥ a scan, as by a dump or by a thread that starts. S5, S12.
#[test]
fn m5_delete_and_scan() {
    model("m5_delete_and_scan", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let scan = spawn(&world, &registration, |world, registration| {
            for pin in world.core.table().pin_each() {
                assert_eq!(
                    pin.owner_id(),
                    registration.owner,
                    "S5: the owner of another registration, or of none"
                );
            }
        });
        registration.by_outsider().delete().unwrap();
        scan.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M6: delete and the next registration of the number ∥ a scan, which reads the owner of the registration
/// that it has pinned. S5, S10.
#[test]
fn m6_reuse_and_scan() {
    model("m6_reuse_and_scan", 2, Bound::of(3, 5)).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let scan = spawn(&world, &registration, |world, registration| {
            for pin in world.core.table().pin_each() {
                let is_first = pin.handle() == registration.handle;
                assert_eq!(
                    pin.owner_id() == registration.owner,
                    is_first,
                    "S10: the owner of another registration"
                );
            }
        });
        registration.by_outsider().delete().unwrap();
        let next = world.insert(0, 1, 0b01);
        scan.join().unwrap();
        world.assert_ended(&registration);
        world.assert_at_rest(&next);
    });
}

/// M6: delete of a registration and of the next one of its number, in the same group or in another one ∥ a
/// late report of the first registration. Without a pin at the exit, the late thread closes under the deleter
/// of the next registration. S4, S5, S7, S10.
#[test]
fn m6_reuse_and_late_report() {
    let model = model("m6_reuse_and_late_report", 2, Bound::quick(3));
    for next_group in [1, 2] {
        model.check(move || {
            let (world, registration) = World::one(&[1, 1], 0b01);
            let reporter = spawn_report(&world, &registration, thread(1, 0));
            registration.by_outsider().delete().unwrap();
            // Only the thread that closes can make the number available again.
            if registration.observed.closed.load(Ordering::SeqCst) == 1 {
                let next = world.insert(0, next_group, 0b01);
                assert_ne!(next.handle, registration.handle, "S7: two registrations have the same handle");
                next.by_outsider().delete().unwrap();
                reporter.join().unwrap();
                world.assert_ended(&next);
                assert_eq!(
                    next.observed.ran.load(Ordering::SeqCst),
                    0,
                    "S7: an event of another registration is reported"
                );
            } else {
                reporter.join().unwrap();
            }
            world.assert_ended(&registration);
        });
    }
}

/// M6: delete of a registration, and the next one of its number, in the same group or in another one ∥ a late
/// takeover of the first registration, which has no pin. It changes nothing of the next one. S4, S5, S7, L4,
/// L9.
#[test]
fn m6_reuse_and_late_takeover() {
    let model = model("m6_reuse_and_late_takeover", 2, Bound::quick(3));
    for (next_group, is_deleted) in [(1, false), (1, true), (2, false), (2, true)] {
        model.check(move || {
            let (world, registration) = World::one(&[2, 1], 0b01);
            let taker = spawn(&world, &registration, |world, registration| {
                let taken = world.context(thread(1, 1)).takeover(registration.handle, registration.owner);
                assert!(!matches!(taken, Err(MoveError::WrongOwner | MoveError::Shared)), "S7: {taken:?}");
            });
            registration.by_outsider().delete().unwrap();
            // Only the thread that closes can make the number available again.
            if registration.observed.closed.load(Ordering::SeqCst) != 1 {
                taker.join().unwrap();
            } else if is_deleted {
                let next = world.insert(0, next_group, 0b01);
                next.by_outsider().delete().unwrap();
                taker.join().unwrap();
                world.assert_ended(&next);
            } else {
                let next = world.insert(0, next_group, 0b01);
                taker.join().unwrap();
                let pin = next.pin();
                assert_eq!((pin.thread_mask().bits(), pin.running().bits()), (0b01, 0), "S7: taken over");
                assert_eq!(pin.group(), thread(next_group, 0).group(), "S9");
                drop(pin);
                world.assert_at_rest(&next);
            }
            world.assert_ended(&registration);
        });
    }
}

/// M6: delete of a registration, and the next one of its number ∥ a stop of the first registration, which has
/// no pin. It changes nothing of the next one. S7.
#[test]
fn m6_reuse_and_stop() {
    model("m6_reuse_and_stop", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let caller = spawn(&world, &registration, |_, registration| {
            let _ = registration.by_outsider().stop_recv();
        });
        registration.by_outsider().delete().unwrap();
        let next = world.insert(0, 1, 0b01);
        caller.join().unwrap();
        let state = next.pin().state();
        assert_eq!(state, state::ACTIVE_R | state::READY, "S7: a call of an earlier registration");
        world.assert_ended(&registration);
        world.assert_at_rest(&next);
    });
}

/// M6: the exit of the last user ∥ delete, the next registration of the number, and its delete. The exiting
/// thread has no pin: what it reads after its running bit is cleared may belong to the next registration. S4,
/// S5, L4.
#[test]
fn m6_exit_and_reuse() {
    model("m6_exit_and_reuse", 3, Bound::of(2, 3)).check(|| {
        let (world, registration) = World::one(&[2, 1], 0b01);
        let reporter = spawn_report(&world, &registration, thread(1, 0));
        registration.by_outsider().delete().unwrap();
        // Only the thread that closes can make the number available again.
        let next =
            (registration.observed.closed.load(Ordering::SeqCst) == 1).then(|| world.insert(0, 1, 0b11));
        if let Some(next) = &next {
            let user = spawn_report(&world, next, thread(1, 1));
            next.by_outsider().delete().unwrap();
            user.join().unwrap();
        }
        reporter.join().unwrap();
        world.assert_ended(&registration);
        next.iter().for_each(|next| world.assert_ended(next));
    });
}

/// M6: the next registration of a number ∥ a late report, a stale delete and a stale takeover of the first
/// one. S7, S10, L9.
#[test]
fn m6_stale_calls() {
    model("m6_stale_calls", 2, Bound::quick(3)).check(|| {
        let (world, first) = World::one(&[2], 0b01);
        first.by_outsider().delete().unwrap();
        let late = spawn(&world, &first, |world, first| {
            let context = world.context(thread(1, 1));
            assert_eq!(
                world.report(&context, first),
                Reported::Stale,
                "S7: an event of another registration"
            );
            assert!(context.registration(first.handle).delete().is_err(), "S7: a stale delete");
            let taken = context.takeover(first.handle, first.owner);
            assert!(matches!(taken, Err(MoveError::Stale(_))), "S7: a stale takeover: {taken:?}");
        });
        let next = world.insert(0, 1, 0b11);
        world.report_as(thread(1, 0), &next);
        late.join().unwrap();
        assert_eq!(next.observed.ran.load(Ordering::SeqCst), 1, "S7");
        world.assert_at_rest(&next);
    });
}

/// M6: stale calls on a free slot ∥ the next insertion, which never waits for them. L7.
#[test]
fn m6_stale_calls_leave_no_trace() {
    model("m6_stale_calls_leave_no_trace", 2, Bound::NONE).check(|| {
        let word = Arc::new(GroupWord::new());
        let first = word.claim().unwrap();
        word.publish(super::world::group(1));
        word.pin(0, |_| true).unwrap();
        word.retire(super::world::group(1));
        word.free();
        let caller = {
            let word = Arc::clone(&word);
            loom::thread::spawn(move || {
                for _ in 0..2 {
                    assert!(word.pin(0, |word| word.generation() == first).is_none(), "S7");
                }
            })
        };
        assert_eq!(word.try_claim(), Ok(first + 1), "L7: an insertion waits for a stale call");
        word.publish(super::world::group(1));
        caller.join().unwrap();
        assert_eq!(word.peek().references(), 0, "S12");
    });
}

/// M2: an entry without a report ∥ delete by another thread. The thread inside may be the last user. S4,
/// S5, L4.
#[test]
fn m2_enter_and_delete() {
    model("m2_enter_and_delete", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        let user = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            let _ = context.enter(registration.handle, |_: &ReadyGuard<'_, Number>| {
                assert_eq!(registration.observed.closed.load(Ordering::SeqCst), 0, "S5: entered, and closed");
            });
        });
        world.context(thread(1, 1)).registration(registration.handle).delete().unwrap();
        user.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M11: an insertion ∥ a stop, which ends all registrations. The insertion is refused, or its registration
/// ends like the others. L8.
#[test]
fn m11_insert_and_stop() {
    model("m11_insert_and_stop", 2, Bound::NONE).check(|| {
        let world = World::new(1, &[1]);
        let inserter = {
            let world = Arc::clone(&world);
            loom::thread::spawn(move || world.insert_with(0, 1, 0b01, 0))
        };
        world.core.request_stop();
        let _ = world.core.clear();
        let inserted = inserter.join().unwrap();
        if let Some(registration) = inserted {
            assert_eq!(
                registration.observed.closed.load(Ordering::SeqCst),
                1,
                "L8: still registered after the stop"
            );
        }
        assert_eq!(world.core.table().used(), 0, "L8");
    });
}

/// M6: delete and the next registration ∥ applying updates, with an element of the first registration in
/// the private list or in the shared list. The next registration begins clean, and is polled for what it
/// wants. S8, S10, S11.
#[test]
fn m6_reuse_and_apply() {
    let model = model("m6_reuse_and_apply", 2, Bound::of(2, 4));
    for (shared, next_group) in [(false, 1), (true, 1), (true, 2)] {
        model.check(move || {
            let mask = if shared { 0b11 } else { 0b01 };
            let (world, registration) = World::one(&[2, 2], mask);
            let poller = spawn(&world, &registration, move |world, registration| {
                let context = world.context(thread(1, 0));
                if shared {
                    let pin = world.core.table().pin(registration.handle);
                    pin.into_iter().for_each(|pin| world.core.schedule(&pin, None));
                } else {
                    let _ = context.registration(registration.handle).want_recv();
                    context.push_update(registration.handle, false);
                }
                world.apply_updates(&context);
            });
            registration.by_outsider().delete().unwrap();
            world.assert_ended(&registration);
            // The insertion asserts that the slot is clean (S10).
            let next = world
                .insert_with(0, next_group, 0b10, 0)
                .expect("S10: the slot is free once the number is closed");
            let owner = world.context(thread(next_group, 1));
            owner.registration(next.handle).want_recv().unwrap();
            poller.join().unwrap();
            world.apply_updates(&owner);
            assert!(
                world.kernel.holds(owner.id(), 0).recv,
                "S8, L1: active, and its poller does not hold it"
            );
            assert!(
                world.kernel.holds(thread(1, 0), 0).is_none(),
                "S11: held by the poller of another thread"
            );
            world.assert_at_rest(&next);
        });
    }
}

/// M6: an insertion ∥ a scan, and ∥ a handle that was guessed early. No thread sees a partly written
/// entry. S10.
#[test]
fn m6_insert_and_scan() {
    model("m6_insert_and_scan", 2, Bound::NONE).check(|| {
        let world = World::new(1, &[1]);
        let early = super::world::Registration {
            core: world.core.clone(),
            handle: world.core.table().handle(0, 0),
            owner: crate::entry::owner::OwnerId::of(&Arc::new(0_u8)),
            observed: Arc::default(),
        };
        let scan = spawn(&world, &early, |world, early| {
            if let Ok(pin) = world.core.table().pin(early.handle) {
                assert_ne!(pin.owner_id(), early.owner);
                assert!(
                    !pin.thread_mask().is_empty(),
                    "S10: a registration is visible before its thread mask"
                );
            }
        });
        let registration = world.insert(0, 1, 0b01);
        scan.join().unwrap();
        world.assert_at_rest(&registration);
    });
}
