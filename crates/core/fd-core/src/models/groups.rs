//! M10: a change of group ∥ reports, applied updates, wants and deletes by the threads of both groups.

use super::registration::report_and_takeover;
use super::world::{World, spawn, spawn_report, thread};
use super::{Bound, model};
use crate::entry::error::MoveError;
use std::sync::atomic::Ordering;

/// M10: takeover by a thread of another group ∥ report in the old one. S1, S3, S9, L9.
#[test]
fn m10_takeover_and_report() {
    model("m10_takeover_and_report", 2, Bound::quick(3)).check(|| {
        report_and_takeover(&[1, 1], thread(2, 0));
    });
}

/// M10: takeover by a thread of another group ∥ delete. S4, L4.
#[test]
fn m10_takeover_and_delete() {
    model("m10_takeover_and_delete", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[1, 1], 0b01);
        let taker = spawn(&world, &registration, |world, registration| {
            let _ = world.context(thread(2, 0)).takeover(registration.handle, registration.owner);
        });
        registration.by_outsider().delete().unwrap();
        taker.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M10: takeover, want and application by a thread of another group ∥ application by the old owner, with an
/// update in its private list and possibly in the shared list (suspect 7). S9, S11; L1 for the new owner; L5
/// for the old one.
#[test]
fn m10_takeover_and_old_apply() {
    let model = model("m10_takeover_and_old_apply", 2, Bound::of(2, 3));
    for listed in [false, true] {
        model.check(move || {
            let (world, registration) = World::one(&[1, 1], 0b01);
            world.poll(thread(1, 0), &registration);
            assert!(world.kernel.holds(thread(1, 0), 0).recv);
            if listed {
                registration.by_outsider().want_recv().unwrap();
            }
            let old = spawn(&world, &registration, |world, registration| {
                let context = world.context(thread(1, 0));
                context.push_update(registration.handle, false);
                world.apply_updates(&context);
            });
            let context = world.context(thread(2, 0));
            let taken = context.takeover(registration.handle, registration.owner);
            if taken.is_ok() {
                let _ = context.registration(registration.handle).want_recv();
                world.apply_updates(&context);
            }
            old.join().unwrap();
            world.assert_at_rest(&registration);
            if taken.is_ok() {
                assert!(
                    world.kernel.holds(thread(2, 0), 0).recv,
                    "L1: active, and its poller does not hold it"
                );
                assert!(
                    world.kernel.holds(thread(1, 0), 0).is_none(),
                    "S11, L5: the old group's poller holds it"
                );
            }
        });
    }
}

/// M10: takeover by a thread of another group ∥ application by another thread of the new group, which has
/// an old element of this number in its private list, as after a round trip. It must not read the old group's
/// masks as its own (suspect 7). S8, S9, S11.
#[test]
fn m10_takeover_and_new_apply() {
    model("m10_takeover_and_new_apply", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = World::one(&[1, 2], 0b01);
        world.poll(thread(1, 0), &registration);
        // Thread 0 of the new group has the same bit as thread 0 of the old group.
        let other = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(2, 0));
            context.push_update(registration.handle, false);
            world.apply_updates(&context);
        });
        let context = world.context(thread(2, 1));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            let _ = context.registration(registration.handle).want_recv();
            world.apply_updates(&context);
        }
        other.join().unwrap();
        world.assert_at_rest(&registration);
        if taken.is_ok() {
            assert!(world.kernel.holds(thread(2, 1), 0).recv, "L1: active, and its poller does not hold it");
            assert!(
                world.kernel.holds(thread(2, 0), 0).is_none(),
                "S11: held by a thread that is not allowed"
            );
            assert!(
                world.kernel.holds(thread(1, 0), 0).is_none(),
                "S11, L5: the old group's poller holds it"
            );
        }
    });
}

/// M10: takeover by a thread of another group ∥ a want by an outsider, which lists the entry in the group
/// that it has pinned. S13, L1.
#[test]
fn m10_takeover_and_want() {
    model("m10_takeover_and_want", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = World::one(&[1, 1], 0b01);
        let outsider =
            spawn(&world, &registration, |_, registration| registration.by_outsider().want_recv().unwrap());
        let taken = world.context(thread(2, 0)).takeover(registration.handle, registration.owner);
        outsider.join().unwrap();
        let (new, old) = if taken.is_ok() { (2, 1) } else { (1, 2) };
        assert!(world.listed(old).is_empty(), "S13: listed in a group that the entry does not belong to");
        let listed = world.listed(new);
        let pin = registration.pin();
        let wanted = pin.state() & crate::words::state::ACTIVE_R != 0;
        drop(pin);
        // A takeover deactivates both directions, so it cancels an earlier want.
        assert!(listed.len() == 1 || taken.is_ok() && !wanted, "L1: active, and no walk will reach it");
        let owner = world.context(thread(new, 0));
        world.apply_updates(&owner);
        assert_eq!(
            world.kernel.holds(owner.id(), 0).recv,
            wanted,
            "L1: active, and its poller does not hold it"
        );
        world.assert_at_rest(&registration);
    });
}

/// M10: takeover by thread 1 of another group ∥ a late event at thread 0 of that group, which owned the
/// descriptor before. Thread 0 does not take a bit of the old group's mask for its own. S3, S9.
#[test]
fn m10_takeover_and_late_report_there() {
    model("m10_takeover_and_late_report_there", 2, Bound::of(3, 5)).check(|| {
        let (world, registration) = World::one(&[1, 2], 0b01);
        let late =
            spawn(&world, &registration, |world, registration| world.report_as(thread(2, 0), registration));
        let taken = world.context(thread(2, 1)).takeover(registration.handle, registration.owner);
        assert_eq!(late.join().unwrap(), crate::shared::context::Reported::Migrated, "S9");
        assert_eq!(
            registration.observed.ran.load(Ordering::SeqCst),
            0,
            "S3: a thread that is not the owner runs the handler"
        );
        assert!(matches!(taken, Ok(()) | Err(MoveError::Busy)), "L9: {taken:?}");
        world.assert_at_rest(&registration);
    });
}

/// M10: takeovers by two threads of different groups ∥ a report by the owner. S1, S9.
#[test]
fn m10_two_takeovers_and_report() {
    model("m10_two_takeovers_and_report", 3, Bound::THREE_WAIT).check(|| {
        let (world, registration) = World::one(&[2, 1], 0b01);
        let other = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 1));
            let taken = context.takeover(registration.handle, registration.owner);
            let _ = context.registration(registration.handle).want_recv();
            world.report(&context, registration);
            taken
        });
        let reporter = spawn_report(&world, &registration, thread(1, 0));
        let context = world.context(thread(2, 0));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            // Only this thread may run the handler from now on.
            let inside = registration.observed.inside.load(Ordering::SeqCst);
            assert_eq!(inside, 0, "S3: taken under a running handler");
        }
        world.report(&context, &registration);
        reporter.join().unwrap();
        let other_taken = other.join().unwrap();
        world.assert_at_rest(&registration);
        let pin = registration.pin();
        assert_eq!(pin.thread_mask().len(), 1, "S1: the descriptor has one owner");
        assert!(
            taken.is_ok() || other_taken.is_ok() || taken == Err(MoveError::Busy),
            "L9: {taken:?}, {other_taken:?}"
        );
    });
}

/// M10: takeover by a thread of the group ∥ migrate_on inside the group, to another group, and there and
/// back. The taker has no pin. The mask belongs to the group in the end, and one of the two succeeds. S1, S3,
/// S9, L9.
#[test]
fn m10_takeover_and_migrate() {
    let model = model("m10_takeover_and_migrate", 2, Bound::quick(3));
    let (start, inside, outside) = (thread(1, 0), thread(1, 2), thread(2, 0));
    for route in [vec![inside], vec![outside], vec![outside, inside]] {
        model.check(move || {
            let (world, registration) = World::one(&[3, 1], 0b01);
            let taker = thread(1, 1);
            let taken = spawn(&world, &registration, move |world, registration| {
                world.context(taker).takeover(registration.handle, registration.owner)
            });
            let migrate = |target: &&_| registration.by_outsider().migrate_on(**target).is_ok();
            let moved: Vec<_> = route.iter().take_while(migrate).collect();
            let taken = taken.join().unwrap();
            world.assert_at_rest(&registration);
            assert!(matches!(taken, Ok(()) | Err(MoveError::Busy)), "S9: {taken:?}");
            assert!(taken.is_ok() || !moved.is_empty(), "L9: {taken:?}, {moved:?}");
            let last = **moved.last().unwrap_or(&&start);
            let possible = [(taken.is_ok(), taker), (taken.is_err() || !moved.is_empty(), last)];
            let pin = registration.pin();
            let owner = (pin.group(), pin.thread_mask());
            let is_owner = |id: crate::words::ids::ThreadId| owner == (id.group(), id.mask());
            let is_possible = possible.into_iter().any(|(may_be, id)| may_be && is_owner(id));
            assert!(is_possible, "S9: {owner:?} after {taken:?}, {moved:?}");
        });
    }
}

/// M10: migrate_on to a thread of another group ∥ a report in the old one. S1, S9.
#[test]
fn m10_migrate_and_report() {
    model("m10_migrate_and_report", 2, Bound::quick(3)).check(|| {
        let (world, registration) = World::one(&[1, 1], 0b01);
        let reporter = spawn_report(&world, &registration, thread(1, 0));
        let moved = registration.by_outsider().migrate_on(thread(2, 0));
        if moved.is_ok() {
            assert_eq!(
                registration.observed.inside.load(Ordering::SeqCst),
                0,
                "S3: moved under a running handler"
            );
            registration.observed.only(thread(2, 0));
            registration.by_outsider().want_recv().unwrap();
        }
        reporter.join().unwrap();
        world.assert_at_rest(&registration);
        assert_eq!(registration.by_outsider().migrate_on(thread(2, 0)), Ok(()), "L9");
    });
}

/// M10: migrate_on to another group and back to another thread ∥ a report by the old owner. Between the moves
/// the thread mask has its bit, which means a thread of the other group. S3, S9.
#[test]
fn m10_round_trip_and_report() {
    model("m10_round_trip_and_report", 2, Bound::quick(3)).check(|| {
        let (world, registration) = World::one(&[2, 1], 0b01);
        let reporter = spawn_report(&world, &registration, thread(1, 0));
        let moved = |target| registration.by_outsider().migrate_on(target).is_ok();
        if moved(thread(2, 0)) && moved(thread(1, 1)) {
            registration.observed.only(thread(1, 1));
            registration.by_outsider().want_recv().unwrap();
        }
        reporter.join().unwrap();
        world.assert_at_rest(&registration);
    });
}

/// M10: migrate_on to a thread of another group ∥ reports by the old owner and by the thread of the same
/// index in the new group. Both set the same running bit: the one that came too late takes it back, and the
/// other one waits. S1, S3, S9, L4, L9.
#[test]
fn m10_migrate_and_two_reports() {
    model("m10_migrate_and_two_reports", 3, Bound::of(1, 2)).check(|| {
        let (world, registration) = World::one(&[1, 1], 0b01);
        let reporters = [1, 2].map(|group| spawn_report(&world, &registration, thread(group, 0)));
        if registration.by_outsider().migrate_on(thread(2, 0)).is_ok() {
            registration.observed.only(thread(2, 0));
            registration.by_outsider().want_recv().unwrap();
        }
        registration.by_outsider().delete().unwrap();
        reporters.into_iter().for_each(|reporter| reporter.join().unwrap());
        world.assert_ended(&registration);
    });
}
