//! M7: who wants something ∥ the passes of the threads that must poll for it.

use std::sync::atomic::Ordering;

use super::world::{Registration, World, spawn, thread};
use super::{Bound, model};
use crate::shared::context::Context;
use crate::words::ids::ThreadMask;
use crate::words::state;

/// A world of one shared-list registration that nobody wants yet.
fn quiet(threads: &[usize], mask: u64, kernel_state: bool) -> (std::sync::Arc<World>, Registration) {
    let world = World::with(1, threads, kernel_state);
    let registration = world.insert_with(0, 1, mask, 0).unwrap();
    (world, registration)
}

/// L1, L3 when everybody is at rest: whoever is owed a look will get one.
fn assert_owed_is_listed(world: &World, registration: &Registration) {
    let table = world.core.table();
    let pin = table.pin(registration.handle).unwrap();
    let owed = ThreadMask::from_bits(pin.entry().update_mask.load(Ordering::SeqCst));
    let listed = !table.updates(pin.group()).check_whole(table, table.capacity()).is_empty();
    assert!(owed.is_empty() || listed, "L3: {owed:?} owe a look, and the entry is in no list (bug 40)");
}

/// What must hold of every allowed thread after its next pass. L1, S11; and S9 in the model's poller.
fn assert_polled(world: &World, registration: &Registration, contexts: &[&Context]) {
    let wanted = world.core.table().pin(registration.handle).unwrap().state() & state::ACTIVE_R != 0;
    for context in contexts {
        world.pass(context);
        assert_eq!(
            world.kernel.holds(context.id(), 0).recv,
            wanted,
            "L1: the poller of {:?} does not hold what is wanted ({wanted})",
            context.id()
        );
    }
    let table = world.core.table();
    let listed = table.updates(thread(1, 0).group()).check_whole(table, 1);
    assert!(listed.is_empty(), "L3: nobody owes it a look, and it is listed");
    assert_eq!(table.pin(registration.handle).unwrap().entry().update_mask.load(Ordering::SeqCst), 0, "L3");
}

/// M7: an outsider wants ∥ the turn of the one allowed thread, which may just be taking an older update off the list. L1, L2, L3.
#[test]
fn m7_want_and_iteration() {
    let model = model("m7_want_and_iteration", 2, Bound::of(3, 5));
    for older in [false, true] {
        model.check(move || {
            let (world, registration) = quiet(&[1], 0b01, true);
            if older {
                world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), None);
            }
            let worker =
                spawn(&world, &registration, |world, _| world.iterate(&world.context(thread(1, 0)), None));
            world.core.registration(registration.handle).want_recv().unwrap();
            let slept = worker.join().unwrap();
            assert_owed_is_listed(&world, &registration);
            let held = world.kernel.holds(thread(1, 0), 0).recv;
            let woken = world.kernel.unread(thread(1, 0)) > 0;
            assert!(held || woken || !slept, "L1: wanted, and its only thread sleeps without knowing");
            assert_polled(&world, &registration, &[&world.context(thread(1, 0))]);
        });
    }
}

/// M7: an outsider wants ∥ the passes of two allowed threads, with the entry already listed. L1, L3.
#[test]
fn m7_want_and_two_walks() {
    model("m7_want_and_two_walks", 3, Bound::of(2, 3)).check(|| {
        let (world, registration) = quiet(&[2], 0b11, true);
        world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), None);
        let workers = [0, 1].map(|index| {
            spawn(&world, &registration, move |world, _| {
                world.iterate(&world.context(thread(1, index)), None)
            })
        });
        world.core.registration(registration.handle).want_recv().unwrap();
        let slept = workers.map(|worker| worker.join().unwrap());
        assert_owed_is_listed(&world, &registration);
        let served = |index: usize| {
            let id = thread(1, index);
            world.kernel.holds(id, 0).recv || world.kernel.unread(id) > 0 || !slept[index]
        };
        assert!(served(0) || served(1), "L1: wanted, and both of its threads sleep without knowing");
        assert_polled(&world, &registration, &[&world.context(thread(1, 0)), &world.context(thread(1, 1))]);
    });
}

/// M7: two outsiders, want ∥ stop and want, with their one thread asleep (suspect 19). L1.
#[test]
fn m7_two_outsiders() {
    model("m7_two_outsiders", 2, Bound::quick(3)).check(|| {
        let (world, registration) = quiet(&[1], 0b01, true);
        world.core.thread(thread(1, 0)).unwrap().sleep.announce();
        let other = spawn(&world, &registration, |world, registration| {
            world.core.registration(registration.handle).want_recv().unwrap()
        });
        world.core.registration(registration.handle).stop_recv().unwrap();
        world.core.registration(registration.handle).want_recv().unwrap();
        let notified = world.core.thread(thread(1, 0)).unwrap().sleep.is_notified();
        assert!(notified, "L1: wanted, and its only thread is asleep");
        other.join().unwrap();
        assert_polled(&world, &registration, &[&world.context(thread(1, 0))]);
    });
}

/// M7: the owner's own want ∥ a want in the other direction by an outsider: private and shared updates of one entry. L1, L3.
#[test]
fn m7_private_and_shared() {
    model("m7_private_and_shared", 2, Bound::quick(3)).check(|| {
        let (world, registration) = quiet(&[1], 0b01, true);
        let owner = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            context.registration(registration.handle).want_recv().unwrap();
            world.pass(&context);
        });
        world.core.registration(registration.handle).want_send().unwrap();
        owner.join().unwrap();
        assert_owed_is_listed(&world, &registration);
        let context = world.context(thread(1, 0));
        world.pass(&context);
        assert_eq!(world.kernel.holds(thread(1, 0), 0), crate::poller::Interest::BOTH, "L1");
        assert_polled(&world, &registration, &[&context]);
    });
}

/// Takeover and pass of a second thread ∥ takeover back, want and pass of the first, whose registration is of the time before:
/// it is made anew, so that an edge which it has spent comes again (L1, suspect 10), whichever pass has taken the mark.
#[test]
fn m7_apply_and_takeover_back() {
    model("m7_apply_and_takeover_back", 2, Bound::of(3, 4)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        let first = world.context(thread(1, 0));
        world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), Some(&first));
        world.pass(&first);
        let before = world.kernel.begun(thread(1, 0), 0);
        let second = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 1));
            // Refused while the first thread is at it.
            let _ = context.takeover(registration.handle, registration.owner);
            world.pass(&context);
        });
        let taken = first.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            first.registration(registration.handle).want_recv().unwrap();
            world.pass(&first);
        }
        second.join().unwrap();
        // Woken, if the other pass has left it something.
        world.pass(&first);
        let owner = world.core.table().pin(registration.handle).unwrap().thread_mask();
        let takeovers =
            world.core.table().pin(registration.handle).unwrap().entry().takeovers.load(Ordering::SeqCst);
        if owner == thread(1, 0).mask() && takeovers == 2 {
            assert!(
                world.kernel.begun(thread(1, 0), 0) > before,
                "L1: a registration of the time before the takeover is believed"
            );
        }
        world.assert_at_rest(&registration);
    });
}

/// Takeover inside the group, want and pass of the new owner ∥ the old owner's report and pass: L5 for the old one, L1 for
/// the new one, whose want may come while an update of the old owner's is still under way.
#[test]
fn m7_takeover_and_old_apply() {
    model("m7_takeover_and_old_apply", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        {
            let old = world.context(thread(1, 0));
            world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), Some(&old));
            world.pass(&old);
        }
        let old = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            let reported = world.report(&context, registration);
            world.pass(&context);
            reported
        });
        let context = world.context(thread(1, 1));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            context.registration(registration.handle).want_recv().unwrap();
            world.pass(&context);
        }
        let reported = old.join().unwrap();
        world.assert_at_rest(&registration);
        if taken.is_ok() {
            assert!(world.kernel.holds(thread(1, 1), 0).recv, "L1: wanted, and its poller does not hold it");
            let still = world.kernel.holds(thread(1, 0), 0).recv;
            let told = reported == crate::shared::context::Reported::Migrated;
            assert!(
                !(still && told),
                "L5: an event of another thread's descriptor, and the registration stays"
            );
        }
    });
}

/// A report of what nobody wants any more ∥ a want by an outsider: the removal (L6) does not undo the want (L1).
#[test]
fn m7_unwanted_report_and_want() {
    model("m7_unwanted_report_and_want", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        {
            let owner = world.context(thread(1, 0));
            world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), Some(&owner));
            world.pass(&owner);
            owner.registration(registration.handle).stop_recv().unwrap();
        }
        let owner = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            world.report(&context, registration);
            world.pass(&context);
            let ran = registration.seen.ran.load(Ordering::SeqCst) > 0;
            assert!(ran || !context.has_updates(), "L6");
        });
        world.core.registration(registration.handle).want_recv().unwrap();
        owner.join().unwrap();
        assert_polled(&world, &registration, &[&world.context(thread(1, 0))]);
    });
}

/// A report of what nobody wants: quiet after one pass (L6), whatever another thread does to the
/// state meanwhile. S18.
#[test]
fn m7_unwanted_report_is_quiet() {
    model("m7_unwanted_report_is_quiet", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        {
            let owner = world.context(thread(1, 0));
            world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), Some(&owner));
            world.pass(&owner);
        }
        let owner = spawn(&world, &registration, |world, registration| {
            let context = world.context(thread(1, 0));
            context.registration(registration.handle).stop_recv().unwrap();
            world.report(&context, registration);
            world.pass(&context);
        });
        world.core.registration(registration.handle).may_send().unwrap();
        owner.join().unwrap();
        assert_eq!(
            registration.seen.ran.load(Ordering::SeqCst),
            0,
            "S18: the handler runs for what nobody wants"
        );
        let held = world.kernel.holds(thread(1, 0), 0);
        assert!(!held.recv, "L6: reported, not wanted, and held all the same");
    });
}

/// Two threads apply updates of interest that they share (poll, select), the second after it has stopped one direction and wanted
/// the other: the last to write has seen the last state. L1.
#[test]
fn m7_shared_interest() {
    model("m7_shared_interest", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = quiet(&[2], 0b11, false);
        world.core.registration(registration.handle).want_recv().unwrap();
        let other = spawn(&world, &registration, |world, _| world.pass(&world.context(thread(1, 0))));
        let context = world.context(thread(1, 1));
        context.registration(registration.handle).stop_recv().unwrap();
        context.registration(registration.handle).want_send().unwrap();
        world.pass(&context);
        other.join().unwrap();
        let wanted = state::wanted(world.core.table().pin(registration.handle).unwrap().state());
        assert_eq!(world.kernel.holds(thread(1, 0), 0), wanted, "L1: the map does not hold what is wanted");
        assert!(world.listed(1).is_empty(), "L3: nobody owes it a look, and it is listed");
    });
}

/// Interest that is shared: an update applied by the former owner ∥ takeover, want and pass of the new one. The polled masks name
/// the new owner at the end: a close by another thread ends the wait of those whom they name. L1, L5, S11.
#[test]
fn m7_shared_interest_and_takeover() {
    model("m7_shared_interest_and_takeover", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = quiet(&[2], 0b01, false);
        world.core.registration(registration.handle).want_recv().unwrap();
        let old = spawn(&world, &registration, |world, _| world.pass(&world.context(thread(1, 0))));
        let context = world.context(thread(1, 1));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            context.registration(registration.handle).want_recv().unwrap();
            world.pass(&context);
        }
        old.join().unwrap();
        let owner = thread(1, usize::from(taken.is_ok()));
        let (recv, send) = world.core.table().pin(registration.handle).unwrap().polled().load();
        assert_eq!((recv, send), (owner.mask().bits(), 0), "L5, S11: a close would not end {owner}'s wait");
        assert!(world.kernel.holds(thread(1, 0), 0).recv, "L1: the map does not hold what is wanted");
    });
}

/// A thread starts and registers what is in the table ∥ a want by an outsider. L1, S11.
#[test]
fn m7_boot_and_want() {
    model("m7_boot_and_want", 2, Bound::quick(3)).check(|| {
        let (world, registration) = quiet(&[1], 0b01, true);
        let boot = spawn(&world, &registration, |world, _| {
            let context = world.context(thread(1, 0));
            context.register_all();
            world.iterate(&context, None)
        });
        world.core.registration(registration.handle).want_recv().unwrap();
        let slept = boot.join().unwrap();
        let held = world.kernel.holds(thread(1, 0), 0).recv;
        assert!(
            held || !slept || world.kernel.unread(thread(1, 0)) > 0,
            "L1: wanted, and its only thread sleeps"
        );
        assert_polled(&world, &registration, &[&world.context(thread(1, 0))]);
    });
}

/// A thread starts and registers what is in the table ∥ another thread takes it over. L1, S11.
#[test]
fn m7_boot_and_takeover() {
    model("m7_boot_and_takeover", 2, Bound::of(2, 4)).check(|| {
        let world = World::new(2, &[2]);
        let (registration, stays) = (world.insert(0, 1, 0b01), world.insert(1, 1, 0b01));
        let boot = spawn(&world, &registration, |world, _| {
            let context = world.context(thread(1, 0));
            context.register_all();
            world.pass(&context);
        });
        let context = world.context(thread(1, 1));
        let taken = context.takeover(registration.handle, registration.owner);
        if taken.is_ok() {
            context.registration(registration.handle).want_recv().unwrap();
        }
        world.pass(&context);
        boot.join().unwrap();
        let owner = usize::from(taken.is_ok());
        if !world.kernel.holds(thread(1, owner), 0).recv {
            // The other thread has found the mark of the takeover, and given it back.
            let notified = world.core.thread(context.id()).unwrap().sleep.is_notified();
            assert!(notified, "L1: wanted, and its poller does not hold it");
            world.pass(&context);
        }
        assert!(world.kernel.holds(thread(1, owner), 0).recv, "L1: wanted, and its poller does not hold it");
        assert!(
            world.kernel.holds(thread(1, 0), 1).recv,
            "L1: wanted before its thread started, and nobody polls it"
        );
        world.assert_at_rest(&registration);
        world.assert_at_rest(&stays);
    });
}

/// M7: one of two allowed threads wants, from inside ∥ the turn of the other one, who learns of it in its next pass. L1, L3.
#[test]
fn m7_member_wants() {
    model("m7_member_wants", 2, Bound::of(2, 4)).check(|| {
        let (world, registration) = quiet(&[2], 0b11, true);
        let other =
            spawn(&world, &registration, |world, _| world.iterate(&world.context(thread(1, 1)), None));
        let context = world.context(thread(1, 0));
        context.registration(registration.handle).want_recv().unwrap();
        world.pass(&context);
        assert!(
            world.kernel.holds(thread(1, 0), 0).recv,
            "L1: wanted, and the caller's own poller does not hold it"
        );
        other.join().unwrap();
        assert_owed_is_listed(&world, &registration);
        assert_polled(&world, &registration, &[&context, &world.context(thread(1, 1))]);
    });
}

/// M8 and L3: three listed entries ∥ a walker, while the first one is taken off and appended again (suspect 9). The walker
/// serves the others, wherever the first one takes it; that one too once it is woken for it.
#[test]
fn m8_walk_led_astray() {
    model("m8_walk_led_astray", 2, Bound::of(2, 3)).check(|| {
        let world = World::new(3, &[2]);
        let registrations = [0, 1, 2].map(|fd| world.insert_with(fd, 1, 0b01, state::ACTIVE_R).unwrap());
        for registration in &registrations {
            world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), None);
        }
        // As another thread's pass does that finds it served while an outsider wants it again.
        let other = spawn(&world, &registrations[0], |world, _| {
            let table = world.core.table();
            table.updates(registration_group()).remove(table, 0);
            table.updates(registration_group()).add(table, 0);
        });
        let served = |world: &World, registration: &Registration| {
            let fd = registration.handle.fd;
            let listed = world.core.table().pin(registration.handle).unwrap();
            let owed = listed.entry().update_mask.load(Ordering::SeqCst) != 0;
            assert!(!owed && world.kernel.holds(thread(1, 0), fd).recv, "L3: the walk has missed fd {fd}");
        };
        world.pass(&world.context(thread(1, 0)));
        other.join().unwrap();
        registrations[1..].iter().for_each(|registration| served(&world, registration));
        world.pass(&world.context(thread(1, 0)));
        served(&world, &registrations[0]);
    });
}

/// M8 and L3: a pass that finds an entry owed by nobody takes it off the list ∥ an outsider wants it and wakes its thread,
/// which looks in between and sleeps: it is woken again when the entry is back.
#[test]
fn m8_listed_again_and_asleep() {
    model("m8_listed_again_and_asleep", 2, Bound::of(2, 3)).check(|| {
        let (world, registration) = World::one(&[2], 0b01);
        {
            // Listed, and served through the private list.
            let pin = world.core.table().pin(registration.handle).unwrap();
            world.core.schedule(&pin, None);
            pin.clear_update(thread(1, 0).mask());
        }
        let other = spawn(&world, &registration, |world, _| world.pass(&world.context(thread(1, 1))));
        world.core.schedule(&world.core.table().pin(registration.handle).unwrap(), None);
        let owner = world.context(thread(1, 0));
        while !world.iterate(&owner, None) {}
        other.join().unwrap();
        let owed =
            world.core.table().pin(registration.handle).unwrap().entry().update_mask.load(Ordering::SeqCst)
                != 0;
        assert!(!owed || world.kernel.unread(thread(1, 0)) > 0, "L3: listed again, and its thread sleeps");
    });
}

fn registration_group() -> crate::words::ids::GroupId {
    super::world::group(1)
}
