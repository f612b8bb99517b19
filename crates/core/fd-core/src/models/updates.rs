//! M7 and parts of M8: a want ∥ the application of updates by the threads that must poll for it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::world::{Registration, World, group, spawn, thread};
use super::{Bound, model};
use crate::shared::context::Context;
use crate::words::ids::ThreadMask;
use crate::words::state;

const HOUR: Duration = Duration::from_secs(3600);

/// A world with one registration, in which no direction is active.
fn quiet(threads: &[usize], mask: u64, kernel_state: bool) -> (std::sync::Arc<World>, Registration) {
    let world = World::with(1, threads, kernel_state);
    let registration = world.insert_with(0, 1, mask, 0).unwrap();
    (world, registration)
}

/// Asserts L1 and L3 once all threads are done: an entry with a pending update is listed.
fn assert_pending_is_listed(world: &World, registration: &Registration) {
    let table = world.core.table();
    let pin = registration.pin();
    let pending = ThreadMask::from_bits(pin.entry().update_mask.load(Ordering::SeqCst));
    let listed = !table.updates(pin.group()).check_whole(table, table.capacity()).is_empty();
    assert!(
        pending.is_empty() || listed,
        "L3: pending for {pending:?}, and the entry is not listed (bug 40)"
    );
}

/// Asserts what holds for every allowed thread after it has applied its updates: L1, S11; and S9 in the
/// simulated poller.
fn assert_polled(world: &World, registration: &Registration, contexts: &[&Context]) {
    let wanted = registration.pin().state() & state::ACTIVE_R != 0;
    for context in contexts {
        world.apply_updates(context);
        assert_eq!(
            world.kernel.holds(context.id(), 0).recv,
            wanted,
            "L1: the poller of {:?} does not hold the wanted interest ({wanted})",
            context.id()
        );
    }
    let table = world.core.table();
    let listed = table.updates(thread(1, 0).group()).check_whole(table, 1);
    assert!(listed.is_empty(), "L3: listed, and pending for no thread");
    assert_eq!(registration.pin().entry().update_mask.load(Ordering::SeqCst), 0, "L3");
}

/// M7: a want by an outsider ∥ an iteration of the one allowed thread, which may be unlisting an older
/// update. L1, L2, L3.
#[test]
fn m7_want_and_iteration() {
    let model = model("m7_want_and_iteration", 2, Bound::of(3, 5));
    for older in [false, true] {
        model.check(move || {
            let (world, registration) = quiet(&[1], 0b01, true);
            if older {
                world.core.schedule(&registration.pin(), None);
            }
            let worker =
                spawn(&world, &registration, |world, _| world.iterate(&world.context(thread(1, 0)), None));
            registration.by_outsider().want_recv().unwrap();
            let slept = worker.join().unwrap();
            assert_pending_is_listed(&world, &registration);
            let held = world.kernel.holds(thread(1, 0), 0).recv;
            let woken = world.kernel.unread(thread(1, 0)) > 0;
            assert!(held || woken || !slept, "L1: active, and its only thread sleeps without a wake-up");
            assert_polled(&world, &registration, &[&world.context(thread(1, 0))]);
        });
    }
}

/// M7: a want by an outsider ∥ iterations of two allowed threads, each of which polls it or is woken for it.
/// The entry is already listed. L1, L3, L11.
#[test]
fn m7_want_and_two_walks() {
    model("m7_want_and_two_walks", 3, Bound::of(2, 3)).check(|| {
        let (world, registration) = quiet(&[2], 0b11, true);
        world.core.schedule(&registration.pin(), None);
        let workers = [0, 1].map(|index| {
            spawn(&world, &registration, move |world, _| {
                world.iterate(&world.context(thread(1, index)), None)
            })
        });
        registration.by_outsider().want_recv().unwrap();
        let slept = workers.map(|worker| worker.join().unwrap());
        assert_pending_is_listed(&world, &registration);
        for (index, slept) in slept.into_iter().enumerate() {
            let id = thread(1, index);
            let is_served = world.kernel.holds(id, 0).recv || world.kernel.unread(id) > 0 || !slept;
            assert!(is_served, "L1: active, and {id:?} sleeps without it");
        }
        assert_polled(&world, &registration, &[&world.context(thread(1, 0)), &world.context(thread(1, 1))]);
    });
}

/// M7: two outsiders, one that wants ∥ one that stops and wants, while their one thread sleeps (suspect
/// 19). L1.
#[test]
fn m7_two_outsiders() {
    model("m7_two_outsiders", 2, Bound::quick(3)).check(|| {
        let (world, registration) = quiet(&[1], 0b01, true);
        world.core.thread(thread(1, 0)).unwrap().sleep.announce();
        let other =
            spawn(&world, &registration, |_, registration| registration.by_outsider().want_recv().unwrap());
        registration.by_outsider().stop_recv().unwrap();
        registration.by_outsider().want_recv().unwrap();
        let notified = world.core.thread(thread(1, 0)).unwrap().sleep.is_notified();
        assert!(notified, "L1: active, and its only thread sleeps without a wake-up");
        other.join().unwrap();
        assert_polled(&world, &registration, &[&world.context(thread(1, 0))]);
    });
}

/// M7: a want by the owner ∥ a want in the other direction by an outsider: private and shared updates of
/// one entry. L1, L3.
#[test]
fn m7_private_and_shared() {
    model("m7_private_and_shared", 2, Bound::quick(3)).check(|| {
        let (world, registration) = quiet(&[1], 0b01, true);
        let owner = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            context.registration(registration.handle).want_recv().unwrap();
            world.apply_updates(&context);
        });
        registration.by_outsider().want_send().unwrap();
        owner.join().unwrap();
        assert_pending_is_listed(&world, &registration);
        let context = world.context(thread(1, 0));
        world.apply_updates(&context);
        assert_eq!(world.kernel.holds(thread(1, 0), 0), crate::poller::Interest::BOTH, "L1");
        assert_polled(&world, &registration, &[&context]);
    });
}

/// M7: takeover, want and application of updates by a second thread ∥ the same by the first thread, which
/// takes an edge-triggered descriptor back. The first thread's registration is older than the takeovers. It
/// is replaced, so that a consumed edge is reported again, whichever thread has cleared the mark (L1, suspect
/// 10).
#[test]
fn m7_apply_and_takeover_back() {
    model("m7_apply_and_takeover_back", 2, Bound::of(3, 4)).check(|| {
        let world = World::new(1, &[2]);
        let registration = world.insert_with(0, 1, 0b01, state::ACTIVE_R | state::EDGE).unwrap();
        let first = world.context(thread(1, 0));
        world.core.schedule(&registration.pin(), Some(&first));
        world.apply_updates(&first);
        let before = world.kernel.begun(thread(1, 0), 0);
        let second = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 1));
            // Refused while the first thread uses it.
            if context.takeover(registration.handle, registration.owner).is_ok() {
                context.registration(registration.handle).want_recv().unwrap();
            }
            world.apply_updates(&context);
        });
        let taken = first.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            first.registration(registration.handle).want_recv().unwrap();
            world.apply_updates(&first);
        }
        second.join().unwrap();
        // The second thread may have left an update, with a wake-up.
        world.apply_updates(&first);
        let owner = registration.pin().thread_mask();
        let takeovers = registration.pin().owner().takeovers().load(Ordering::SeqCst);
        if owner == thread(1, 0).mask() && takeovers == 2 {
            assert!(
                world.kernel.begun(thread(1, 0), 0) > before,
                "L1: a registration from before the takeover was not replaced"
            );
        }
        world.assert_at_rest(&registration);
    });
}

/// M7: takeover of an inactive registration ∥ a want by an outsider. The takeover deactivates what it sees,
/// or the new owner gets the update. L1.
#[test]
fn m7_want_and_takeover() {
    model("m7_want_and_takeover", 2, Bound::quick(3)).check(|| {
        let (world, registration) = quiet(&[2], 0b01, true);
        let outsider = spawn(&world, &registration, |_, registration| {
            registration.by_outsider().want_recv().unwrap();
        });
        let context = world.context(thread(1, 1));
        context.takeover(registration.handle, registration.owner).unwrap();
        outsider.join().unwrap();
        // The update may have been published for the old owner, with a state that the takeover has changed.
        world.apply_updates(&world.context(thread(1, 0)));
        assert_polled(&world, &registration, &[&context]);
        world.assert_at_rest(&registration);
    });
}

/// M7: takeover inside the group, want and application of updates by the new owner ∥ a report and
/// application by the old owner. L5 for the old owner; L1 for the new one, whose want may come while the old
/// owner applies an update.
#[test]
fn m7_takeover_and_old_apply() {
    model("m7_takeover_and_old_apply", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        world.poll(thread(1, 0), &registration);
        let old = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            let reported = world.report(&context, registration);
            world.apply_updates(&context);
            reported
        });
        let context = world.context(thread(1, 1));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            context.registration(registration.handle).want_recv().unwrap();
            world.apply_updates(&context);
        }
        let reported = old.join().unwrap();
        world.assert_at_rest(&registration);
        if taken.is_ok() {
            assert!(world.kernel.holds(thread(1, 1), 0).recv, "L1: active, and its poller does not hold it");
            let holds = world.kernel.holds(thread(1, 0), 0).recv;
            let is_migrated = reported == crate::shared::context::Reported::Migrated;
            assert!(
                !(holds && is_migrated),
                "L5: an event of another thread's descriptor, and the registration stays"
            );
        }
    });
}

/// M7: a report of an inactive direction ∥ a want by an outsider. The removal (L6) does not undo the want
/// (L1).
#[test]
fn m7_unwanted_report_and_want() {
    model("m7_unwanted_report_and_want", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        {
            let owner = world.context(thread(1, 0));
            world.core.schedule(&registration.pin(), Some(&owner));
            world.apply_updates(&owner);
            owner.registration(registration.handle).stop_recv().unwrap();
        }
        let owner = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            world.report(&context, registration);
            world.apply_updates(&context);
            let ran = registration.observed.ran.load(Ordering::SeqCst) > 0;
            assert!(ran || !context.has_updates(), "L6");
        });
        registration.by_outsider().want_recv().unwrap();
        owner.join().unwrap();
        assert_polled(&world, &registration, &[&world.context(thread(1, 0))]);
    });
}

/// M7: a report of an inactive direction. The direction is quiet after one application of updates (L6),
/// whatever another thread does to the state meanwhile. S18.
#[test]
fn m7_unwanted_report_is_quiet() {
    model("m7_unwanted_report_is_quiet", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        world.poll(thread(1, 0), &registration);
        let owner = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            context.registration(registration.handle).stop_recv().unwrap();
            world.report(&context, registration);
            world.apply_updates(&context);
        });
        registration.by_outsider().may_send().unwrap();
        owner.join().unwrap();
        assert_eq!(
            registration.observed.ran.load(Ordering::SeqCst),
            0,
            "S18: the handler runs although no direction is active"
        );
        let held = world.kernel.holds(thread(1, 0), 0);
        assert!(!held.recv, "L6: reported, inactive, and still held");
    });
}

/// M7: two threads apply updates of interest that they share (poll, select), the second one after it has
/// stopped one direction and enabled the other. The last write is of the latest state. L1.
#[test]
fn m7_shared_interest() {
    model("m7_shared_interest", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = quiet(&[2], 0b11, false);
        registration.by_outsider().want_recv().unwrap();
        let other =
            spawn(&world, &registration, |world, _| world.apply_updates(&world.context(thread(1, 0))));
        let context = world.context(thread(1, 1));
        context.registration(registration.handle).stop_recv().unwrap();
        context.registration(registration.handle).want_send().unwrap();
        world.apply_updates(&context);
        other.join().unwrap();
        let wanted = state::wanted(registration.pin().state());
        assert_eq!(
            world.kernel.holds(thread(1, 0), 0),
            wanted,
            "L1: the map does not hold the wanted interest"
        );
        assert!(world.listed(1).is_empty(), "L3: listed, and pending for no thread");
    });
}

/// M7: with shared interest, an update that the former owner applies ∥ takeover, want and application by
/// the new owner. At the end the polled masks name the new owner: a close by another thread ends the waits of
/// the threads that they name. L1, L5, S11.
#[test]
fn m7_shared_interest_and_takeover() {
    model("m7_shared_interest_and_takeover", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = quiet(&[2], 0b01, false);
        registration.by_outsider().want_recv().unwrap();
        let old = spawn(&world, &registration, |world, _| world.apply_updates(&world.context(thread(1, 0))));
        let context = world.context(thread(1, 1));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            context.registration(registration.handle).want_recv().unwrap();
            world.apply_updates(&context);
        }
        old.join().unwrap();
        let owner = thread(1, usize::from(taken.is_ok()));
        let (recv, send) = registration.pin().polled().load();
        assert_eq!((recv, send), (owner.mask().bits(), 0), "L5, S11: a close would not end {owner}'s wait");
        assert!(world.kernel.holds(thread(1, 0), 0).recv, "L1: the map does not hold the wanted interest");
    });
}

/// M7: with shared interest, an update that the former owner applies ∥ a takeover, a want, and the new
/// owner's iterations until it sleeps. It sleeps with the interest in its arrays, or with an unread wake-up.
/// The want is the new owner's own, or one of no thread, which wakes the new owner before the update is
/// applied. L1, L2.
#[test]
fn m7_shared_interest_and_sleep() {
    let model = model("m7_shared_interest_and_sleep", 2, Bound::of(2, 3));
    for wanted_by_owner in [false, true] {
        model.check(move || {
            let (world, registration) = quiet(&[2], 0b10, false);
            let former = world.context(thread(1, 1));
            former.registration(registration.handle).want_send().unwrap();
            former.registration(registration.handle).stop_send().unwrap();
            let owner = spawn(&world, &registration, move |world, registration| {
                let context = world.context(thread(1, 0));
                context.takeover(registration.handle, registration.owner).unwrap();
                if wanted_by_owner {
                    context.registration(registration.handle).want_recv().unwrap();
                } else {
                    registration.by_outsider().want_recv().unwrap();
                }
                while !world.iterate(&context, None) {}
            });
            world.apply_updates(&former);
            owner.join().unwrap();
            let polled = world.kernel.waits_for(thread(1, 0), 0).recv;
            let woken = world.kernel.unread(thread(1, 0)) > 0;
            assert!(polled || woken, "L1: active, and its owner sleeps without it");
        });
    }
}

/// M7: a thread starts and registers the descriptors of the table ∥ a want by an outsider. L1, S11.
#[test]
fn m7_boot_and_want() {
    model("m7_boot_and_want", 2, Bound::quick(3)).check(|| {
        let (world, registration) = quiet(&[1], 0b01, true);
        let boot = spawn(&world, &registration, |world, _| {
            let context = world.context(thread(1, 0));
            context.register_all();
            world.iterate(&context, None)
        });
        registration.by_outsider().want_recv().unwrap();
        let slept = boot.join().unwrap();
        let held = world.kernel.holds(thread(1, 0), 0).recv;
        assert!(
            held || !slept || world.kernel.unread(thread(1, 0)) > 0,
            "L1: active, and its only thread sleeps"
        );
        assert_polled(&world, &registration, &[&world.context(thread(1, 0))]);
    });
}

/// M7: a thread starts and registers the descriptors of the table ∥ a takeover by another thread. L1, S11.
#[test]
fn m7_boot_and_takeover() {
    model("m7_boot_and_takeover", 2, Bound::of(2, 4)).check(|| {
        let world = World::new(2, &[2]);
        let (registration, stays) = (world.insert(0, 1, 0b01), world.insert(1, 1, 0b01));
        let boot = spawn(&world, &registration, |world, _| {
            let context = world.context(thread(1, 0));
            context.register_all();
            world.apply_updates(&context);
        });
        let context = world.context(thread(1, 1));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            context.registration(registration.handle).want_recv().unwrap();
        }
        world.apply_updates(&context);
        boot.join().unwrap();
        let owner = usize::from(taken.is_ok());
        if !world.kernel.holds(thread(1, owner), 0).recv {
            // The other thread has found the mark of the takeover, and has put it back.
            let notified = world.core.thread(context.id()).unwrap().sleep.is_notified();
            assert!(notified, "L1: active, and its poller does not hold it");
            world.apply_updates(&context);
        }
        assert!(world.kernel.holds(thread(1, owner), 0).recv, "L1: active, and its poller does not hold it");
        assert!(
            world.kernel.holds(thread(1, 0), 1).recv,
            "L1: active before its thread started, and no thread polls it"
        );
        world.assert_at_rest(&registration);
        world.assert_at_rest(&stays);
    });
}

/// M7: a want by one of two allowed threads ∥ an iteration of the other one, which applies the update in this
/// iteration or is woken for it. L1, L3, L11.
#[test]
fn m7_member_wants() {
    model("m7_member_wants", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = quiet(&[2], 0b11, true);
        let other =
            spawn(&world, &registration, |world, _| world.iterate(&world.context(thread(1, 1)), None));
        let context = world.context(thread(1, 0));
        context.registration(registration.handle).want_recv().unwrap();
        world.apply_updates(&context);
        assert!(
            world.kernel.holds(thread(1, 0), 0).recv,
            "L1: active, and the caller's own poller does not hold it"
        );
        let slept = other.join().unwrap();
        assert_pending_is_listed(&world, &registration);
        let is_served =
            world.kernel.holds(thread(1, 1), 0).recv || world.kernel.unread(thread(1, 1)) > 0 || !slept;
        assert!(is_served, "L1: active, and the other thread sleeps without it");
        assert_polled(&world, &registration, &[&context, &world.context(thread(1, 1))]);
    });
}

/// M7: where interest is shared, a want by one of two allowed threads ∥ the other one, which runs iterations
/// until it sleeps. It sleeps with the descriptor, or gets a wake-up. L1, L11.
#[test]
fn m7_member_wants_shared_interest() {
    model("m7_member_wants_shared_interest", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = quiet(&[2], 0b11, false);
        let other = spawn(&world, &registration, |world, _| {
            let context = world.context(thread(1, 1));
            while !world.iterate(&context, None) {}
        });
        let context = world.context(thread(1, 0));
        context.registration(registration.handle).want_recv().unwrap();
        world.apply_updates(&context);
        other.join().unwrap();
        let polled = world.kernel.waits_for(thread(1, 1), 0).recv;
        let woken = world.kernel.unread(thread(1, 1)) > 0;
        assert!(polled || woken, "L1: active, and the other thread sleeps without it");
        assert!(world.listed(1).is_empty(), "L3: listed, and pending for no thread");
    });
}

/// Whether `context` looks at the timeout of number 0 by itself, after it has run its tasks.
fn looks_at_timeout(world: &World, context: &Context) -> bool {
    world.iterate(context, None);
    context.next_timer().is_some()
}

/// M7: a timeout is set by an outsider ∥ a takeover by another thread. The new owner looks at it. L12.
#[test]
fn m7_timeout_and_takeover() {
    model("m7_timeout_and_takeover", 2, Bound::of(3, 4)).check(|| {
        let (world, registration) = quiet(&[2], 0b01, true);
        let outsider = spawn(&world, &registration, |_, registration| {
            registration.by_outsider().set_timeout(Some(HOUR)).unwrap();
        });
        let context = world.context(thread(1, 1));
        context.takeover(registration.handle, registration.owner).unwrap();
        outsider.join().unwrap();
        assert!(
            looks_at_timeout(&world, &context),
            "L12: a timeout is set, and its owner does not look at it"
        );
        world.assert_at_rest(&registration);
    });
}

/// M7: a timeout that is over is reported ∥ it is moved to a later time. It is reported once or moved, and
/// the owner looks at the later one. L12.
#[test]
fn m7_timeout_reported_and_moved() {
    model("m7_timeout_reported_and_moved", 2, Bound::of(3, 4)).check(|| {
        let (world, registration) = quiet(&[1], 0b01, true);
        let registration_ref = registration.by_outsider();
        registration_ref.set_timeout(Some(Duration::ZERO)).unwrap();
        let owner = spawn(&world, &registration, |world, _| {
            let context = world.context(thread(1, 0));
            // The first iteration runs the task that announces it.
            (0..2).for_each(|_| _ = world.iterate(&context, None));
            looks_at_timeout(world, &context)
        });
        registration_ref.set_timeout(Some(HOUR)).unwrap();
        let looks = owner.join().unwrap();
        let announced = world.kernel.unread(thread(1, 0)) > 0
            || !world.core.thread(thread(1, 0)).unwrap().tasks.is_empty();
        assert!(looks || announced, "L12: a timeout is set, and its owner does not look at it");
        assert!(registration.observed.ran.load(Ordering::SeqCst) <= 1, "L12: reported twice");
    });
}

/// M8: three listed entries ∥ a walk, while the first entry is removed and appended again (suspect 9). The
/// walk reaches the other entries, wherever the first one leads it; it reaches the first one after a wake-up.
/// L3.
#[test]
fn m8_walk_led_astray() {
    model("m8_walk_led_astray", 2, Bound::of(2, 3)).check(|| {
        let world = World::new(3, &[2]);
        let registrations = [0, 1, 2].map(|fd| world.insert_with(fd, 1, 0b01, state::ACTIVE_R).unwrap());
        for registration in &registrations {
            world.core.schedule(&registration.pin(), None);
        }
        // Another thread's walk does this if it finds the entry without a pending update while an outsider
        // lists it again.
        let other = spawn(&world, &registrations[0], |world, _| {
            let table = world.core.table();
            table.updates(group(1)).remove(table, 0);
            table.updates(group(1)).add(table, 0);
        });
        let served = |world: &World, registration: &Registration| {
            let fd = registration.handle.fd;
            let listed = registration.pin();
            let pending = listed.entry().update_mask.load(Ordering::SeqCst) != 0;
            let is_served = !pending && world.kernel.holds(thread(1, 0), fd).recv;
            assert!(is_served, "L3: the walk has missed fd {fd}");
        };
        world.apply_updates(&world.context(thread(1, 0)));
        other.join().unwrap();
        registrations[1..].iter().for_each(|registration| served(&world, registration));
        world.apply_updates(&world.context(thread(1, 0)));
        served(&world, &registrations[0]);
    });
}

/// M8: a walk finds an entry without a pending update and unlists it ∥ an outsider schedules an update and
/// wakes its thread, which walks in between and sleeps. The thread is woken again once the entry is listed
/// again. L3.
#[test]
fn m8_listed_again_and_asleep() {
    model("m8_listed_again_and_asleep", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        {
            // Listed, and applied through the private list.
            let pin = registration.pin();
            world.core.schedule(&pin, None);
            pin.clear_update(thread(1, 0).mask());
        }
        let other =
            spawn(&world, &registration, |world, _| world.apply_updates(&world.context(thread(1, 1))));
        world.core.schedule(&registration.pin(), None);
        let owner = world.context(thread(1, 0));
        while !world.iterate(&owner, None) {}
        other.join().unwrap();
        let pin = registration.pin();
        let pending = pin.entry().update_mask.load(Ordering::SeqCst) != 0;
        assert!(!pending || world.kernel.unread(thread(1, 0)) > 0, "L3: listed again, and its thread sleeps");
    });
}
