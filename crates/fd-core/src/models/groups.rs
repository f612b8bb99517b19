//! M10: a change of group ∥ the reports, passes, wants and deletes of both groups' threads.

use super::registration::report_and_takeover;
use super::world::{World, spawn, thread};
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
        world.core.registration(registration.handle).delete().unwrap();
        taker.join().unwrap();
        world.assert_ended(&registration);
    });
}

/// M10: takeover by a thread of another group, which then wants and polls ∥ the old owner's pass, with an update in its private
/// list and, or, in the shared one. Suspect 7: S9, S11; L1 for the new owner; L5 for the old one.
#[test]
fn m10_takeover_and_old_apply() {
    let model = model("m10_takeover_and_old_apply", 2, Bound::of(2, 3));
    for listed in [false, true] {
        model.check(move || {
            let (world, registration) = World::one(&[1, 1], 0b01);
            {
                let old = world.context(thread(1, 0));
                world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), Some(&old));
                world.pass(&old);
            }
            assert!(world.kernel.holds(thread(1, 0), 0).recv);
            if listed {
                world.core.registration(registration.handle).want_recv().unwrap();
            }
            let old = spawn(&world, &registration, |world, registration| {
                let context = world.context(thread(1, 0));
                context.push_update(registration.handle, false);
                world.pass(&context);
            });
            let context = world.context(thread(2, 0));
            let taken = context.takeover(registration.handle, registration.owner);
            if taken.is_ok() {
                let _ = context.registration(registration.handle).want_recv();
                world.pass(&context);
            }
            old.join().unwrap();
            world.assert_at_rest(&registration);
            if taken.is_ok() {
                assert!(
                    world.kernel.holds(thread(2, 0), 0).recv,
                    "L1: wanted, and its poller does not hold it"
                );
                assert!(
                    world.kernel.holds(thread(1, 0), 0).is_none(),
                    "S11, L5: the old group's poller holds it"
                );
            }
        });
    }
}

/// M10: takeover by a thread of another group ∥ the pass of a thread of the new group that has an old element of this number
/// in its private list (a round trip). Suspect 7: it must not read the old group's masks as its own. S8, S9, S11.
#[test]
fn m10_takeover_and_new_apply() {
    model("m10_takeover_and_new_apply", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = World::one(&[1, 2], 0b01);
        {
            let old = world.context(thread(1, 0));
            world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), Some(&old));
            world.pass(&old);
        }
        // Thread 0 of the new group has the bit that thread 0 of the old group has.
        let pass = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(2, 0));
            context.push_update(registration.handle, false);
            world.pass(&context);
        });
        let context = world.context(thread(2, 1));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            let _ = context.registration(registration.handle).want_recv();
            world.pass(&context);
        }
        pass.join().unwrap();
        world.assert_at_rest(&registration);
        if taken.is_ok() {
            assert!(world.kernel.holds(thread(2, 1), 0).recv, "L1: wanted, and its poller does not hold it");
            assert!(
                world.kernel.holds(thread(2, 0), 0).is_none(),
                "S11: held by a thread that may not use it"
            );
            assert!(
                world.kernel.holds(thread(1, 0), 0).is_none(),
                "S11, L5: the old group's poller holds it"
            );
        }
    });
}

/// M10: takeover by a thread of another group ∥ a want by an outsider, who lists the entry in the group that it sees. S13, L1.
#[test]
fn m10_takeover_and_want() {
    model("m10_takeover_and_want", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = World::one(&[1, 1], 0b01);
        let outsider = spawn(&world, &registration, |world, registration| {
            world.core.registration(registration.handle).want_recv().unwrap()
        });
        let taken = world.context(thread(2, 0)).takeover(registration.handle, registration.owner);
        outsider.join().unwrap();
        let (new, old) = if taken.is_ok() { (2, 1) } else { (1, 2) };
        let table = world.core.table();
        assert!(world.listed(old).is_empty(), "S13: listed in a group that it is not in");
        let listed = world.listed(new);
        let pin = table.pin(registration.handle).unwrap();
        let wanted = pin.state() & crate::words::state::ACTIVE_R != 0;
        drop(pin);
        // A takeover stops both directions: what was wanted before it is not wanted any more.
        assert!(listed.len() == 1 || taken.is_ok() && !wanted, "L1: wanted, and no pass will see it");
        let owner = world.context(thread(new, 0));
        world.pass(&owner);
        assert_eq!(
            world.kernel.holds(owner.id(), 0).recv,
            wanted,
            "L1: wanted, and its poller does not hold it"
        );
        world.assert_at_rest(&registration);
    });
}

/// M10: takeover by thread 1 of another group ∥ a late event at thread 0 of that group, which had it before: a bit of the old
/// group's mask is not taken for its own. S3, S9.
#[test]
fn m10_takeover_and_late_report_there() {
    model("m10_takeover_and_late_report_there", 2, Bound::of(3, 5)).check(|| {
        let (world, registration) = World::one(&[1, 2], 0b01);
        let late =
            spawn(&world, &registration, |world, registration| world.report_as(thread(2, 0), registration));
        let taken = world.context(thread(2, 1)).takeover(registration.handle, registration.owner);
        assert_eq!(late.join().unwrap(), crate::shared::context::Reported::Migrated, "S9");
        assert_eq!(
            registration.seen.ran.load(Ordering::SeqCst),
            0,
            "S3: a thread runs that is not the owner"
        );
        assert!(matches!(taken, Ok(()) | Err(MoveError::Busy)), "L9: {taken:?}");
        world.assert_at_rest(&registration);
    });
}

/// M10: two threads of different groups take it over at once ∥ the owner's report. S1, S9.
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
        let reporter = spawn(&world, &registration, |world, registration| {
            world.report_as(thread(1, 0), registration);
        });
        let context = world.context(thread(2, 0));
        let taken = context.takeover(registration.handle, registration.owner);
        world.report(&context, &registration);
        reporter.join().unwrap();
        let also = other.join().unwrap();
        world.assert_at_rest(&registration);
        let pin = world.core.table().pin(registration.handle).unwrap();
        assert_eq!(pin.thread_mask().len(), 1, "S1: one thread's descriptor");
        assert!(taken.is_ok() || also.is_ok() || taken == Err(MoveError::Busy), "L9: {taken:?}, {also:?}");
    });
}

/// migrate_on to a thread of another group ∥ report in the old one. S1, S9.
#[test]
fn m10_migrate_and_report() {
    model("m10_migrate_and_report", 2, Bound::quick(3)).check(|| {
        let (world, registration) = World::one(&[1, 1], 0b01);
        let reporter = spawn(&world, &registration, |world, registration| {
            world.report_as(thread(1, 0), registration);
        });
        let moved = world.core.registration(registration.handle).migrate_on(thread(2, 0));
        if moved.is_ok() {
            assert_eq!(
                registration.seen.inside.load(Ordering::SeqCst),
                0,
                "S3: moved under a running handler"
            );
            registration.seen.only(thread(2, 0));
            world.core.registration(registration.handle).want_recv().unwrap();
        }
        reporter.join().unwrap();
        world.assert_at_rest(&registration);
        assert_eq!(world.core.registration(registration.handle).migrate_on(thread(2, 0)), Ok(()), "L9");
    });
}
