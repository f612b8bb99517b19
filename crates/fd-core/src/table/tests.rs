//! Every transition of an entry, one thread at a time. `models` runs them against each other.

use std::sync::Arc;

use super::*;
use crate::entry::error::{DeleteError, InsertRefused, MoveError};
use crate::entry::owner::{OwnerId, Registered};
use crate::poller::DeregisterReason;
use crate::shared::handler::numbers::idle;
use crate::words::state;

fn group(number: usize) -> GroupId {
    GroupId::new(number).unwrap()
}

pub(super) fn thread(group_number: usize, index: usize) -> ThreadId {
    ThreadId::new(group(group_number), index).unwrap()
}

fn table() -> FdTable {
    FdTable::new(8, &[4, 2]).unwrap()
}

/// Registers `fd` in group 1 for the threads in `mask`.
pub(super) fn insert(table: &FdTable, fd: RawFd, mask: u64) -> (FdHandle, OwnerId) {
    let registered = idle(fd);
    let owner = registered.id();
    let inserted = table.insert(fd, registered, group(1), ThreadMask::from_bits(mask), 0);
    (inserted.map_err(|(refused, _)| refused).unwrap(), owner)
}

pub(super) fn refusal(table: &FdTable, fd: RawFd, group: GroupId, mask: u64) -> InsertRefused {
    table
        .insert(fd, idle(fd), group, ThreadMask::from_bits(mask), 0)
        .map_err(|(refused, _)| refused)
        .unwrap_err()
}

/// Ends a registration and returns what its pollers were told.
fn retire(orphan: Orphan<'_>) -> (GroupId, u64, u64, DeregisterReason) {
    let mut told = None;
    orphan.retire(|_, group, recv, send, reason| told = Some((group, recv.bits(), send.bits(), reason)));
    told.unwrap()
}

/// All that a failed operation must not have changed.
fn snapshot(table: &FdTable, handle: FdHandle) -> (u64, u64, u32, u64, GroupId, u64) {
    let pin = table.pin(handle).unwrap();
    let entry = pin.entry();
    (
        entry.thread_mask.load(Ordering::SeqCst),
        entry.running.load(Ordering::SeqCst),
        entry.state.load(Ordering::SeqCst),
        entry.update_mask.load(Ordering::SeqCst),
        pin.group(),
        entry.group.peek().references(),
    )
}

#[test]
fn the_entry_is_one_cache_line_and_a_number_outside_the_table_has_none() {
    assert_eq!((size_of::<Entry>(), align_of::<Entry>()), (64, 64));
    let table = table();
    assert!(table.entry(-1).is_none(), "bug 70: no entry for what is no descriptor");
    assert!(table.entry(8).is_none());
    assert_eq!(refusal(&table, 8, group(1), 1), InsertRefused::Capacity { fd: 8, capacity: 8 });
}

#[test]
fn an_impossible_shape_is_refused() {
    for threads in [&[][..], &[0], &[65], &[1; MAX_GROUPS + 1]] {
        assert!(FdTable::new(8, threads).is_err(), "{threads:?}");
    }
    assert!(FdTable::new(0, &[1]).is_err());
}

/// Bug 78: the mask was filtered with the caller's group. S19.
#[test]
fn insert_keeps_only_threads_of_the_target_group() {
    let table = table();
    let (handle, _) = insert(&table, 0, u64::MAX);
    assert_eq!(table.pin(handle).unwrap().thread_mask().bits(), 0b1111);
    assert_eq!(refusal(&table, 1, group(2), 0b1100), InsertRefused::NoThread { group: group(2) });
    assert_eq!(refusal(&table, 1, group(3), 1), InsertRefused::NoSuchGroup { group: group(3) });
    assert_eq!(refusal(&table, 0, group(1), 1), InsertRefused::InUse { fd: 0 });
}

#[test]
fn insert_starts_ready_inactive_unpolled_and_unlisted() {
    let table = table();
    let (handle, owner) = insert(&table, 3, 0b10);
    let pin = table.pin(handle).unwrap();
    assert_eq!(pin.state(), state::READY);
    assert_eq!(pin.polled().load(), (0, 0));
    assert_eq!(pin.owner_id(), owner);
    assert!(pin.entry().link.is_unlinked());
    assert_eq!(
        (table.used(), table.high_water()),
        (1, 4),
        "suspect 14: the bound includes the number itself"
    );
    assert_eq!(table.generation(group(1), 3), Some(0));
    assert_eq!(table.generation(group(2), 3), None);
    assert_eq!(table.poll_permission(thread(1, 1), 3), Some(0));
    assert_eq!(table.poll_permission(thread(1, 0), 3), None);
    assert_eq!(table.poll_permission(thread(2, 1), 3), None);
}

#[test]
fn deleting_an_idle_entry_ends_its_registration_at_once() {
    let table = table();
    let (handle, _) = insert(&table, 0, 1);
    let orphan = table.pin(handle).unwrap().delete(false).unwrap().expect("nobody uses it");
    assert_eq!(retire(orphan), (group(1), 0, 0, DeregisterReason::Close));
    assert!(table.pin(handle).is_err(), "S6");
    assert_eq!(table.used(), 0);
    let (next, _) = insert(&table, 0, 1);
    assert_eq!(next.generation(), handle.generation() + 1);
    assert!(table.pin(handle).is_err(), "S7: the old handle does not name the new registration");
}

#[test]
fn deleting_under_a_user_leaves_the_end_to_the_last_one() {
    let table = table();
    let (handle, _) = insert(&table, 0, 0b111);
    for index in [0, 1] {
        table.pin(handle).unwrap().enter(thread(1, index).mask()).unwrap();
    }
    assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none(), "S5");
    assert_eq!(table.pin(handle).unwrap().enter(thread(1, 2).mask()), Err(Denied::NotAllowed), "S6");
    let first = table.pin(handle).unwrap().exit(thread(1, 0).mask());
    assert!(first.is_ok(), "S5: the other one still uses it");
    drop(first);
    let Err(orphan) = table.pin(handle).unwrap().exit(thread(1, 1).mask()) else { panic!("L4") };
    retire(orphan);
    assert!(table.pin(handle).is_err());
}

#[test]
fn a_second_delete_is_refused_and_makes_no_second_token() {
    let table = table();
    let (handle, _) = insert(&table, 0, 1);
    table.pin(handle).unwrap().enter(thread(1, 0).mask()).unwrap();
    assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none());
    let again = table.pin(handle).unwrap().delete(true);
    assert_eq!(again.err(), Some(DeleteError::AlreadyDeleted));
    let state = table.pin(handle).unwrap().state();
    assert_eq!(state & state::DISOWN, 0, "the second delete changed nothing");
    assert_ne!(state & state::MUST_CLOSE, 0, "S14");
    let Err(orphan) = table.pin(handle).unwrap().exit(thread(1, 0).mask()) else { panic!("L4") };
    retire(orphan);
}

#[test]
fn the_end_of_a_registration_tells_the_pollers_why() {
    for (flags, disown, why) in [
        (0, false, DeregisterReason::Close),
        (state::CLONED, false, DeregisterReason::CloseCloned),
        (0, true, DeregisterReason::StaysOpen),
        (state::CLONED, true, DeregisterReason::StaysOpen),
    ] {
        let table = table();
        let (handle, _) = insert(&table, 0, 0b11);
        let pin = table.pin(handle).unwrap();
        pin.entry().state.fetch_or(flags, Ordering::SeqCst);
        pin.polled().set(0b10, true, false);
        pin.polled().set(0b01, false, true);
        let orphan = pin.delete(disown).unwrap().unwrap();
        assert_eq!(retire(orphan), (group(1), 0b10, 0b01, why));
        assert_eq!(table.polled[0].load(), (0, 0), "bug 34: the next user of the number starts unpolled");
    }
}

#[test]
fn a_takeover_makes_the_thread_the_only_one_and_stops_both_directions() {
    let table = table();
    let (handle, owner) = insert(&table, 0, 0b01);
    let pin = table.pin(handle).unwrap();
    pin.entry().state.fetch_or(state::ACTIVE | state::CLONED, Ordering::SeqCst);
    let (result, left) = pin.takeover(thread(1, 1).mask(), owner);
    assert_eq!(result, Ok(()));
    let pin = left.map_err(drop).unwrap();
    assert_eq!((pin.thread_mask().bits(), pin.running().bits()), (0b10, 0));
    assert_eq!(pin.state() & state::ACTIVE, 0, "bug 41");
    assert_eq!(pin.state() & (state::CLONED | state::REARM), state::CLONED | state::REARM, "suspect 10");
    assert_eq!(pin.entry().takeovers.load(Ordering::Relaxed), 1);
    // Again, before the first one's owner has looked.
    let (result, left) = pin.takeover(thread(1, 2).mask(), owner);
    assert_eq!(result, Ok(()));
    let pin = left.map_err(drop).unwrap();
    assert_eq!(pin.state() & state::REARM, state::REARM, "the mark stays until a poller takes it");
    assert_eq!((pin.thread_mask().bits(), pin.entry().takeovers.load(Ordering::Relaxed)), (0b100, 2));
}

/// Bug 41: a takeover that failed had stopped the reading of an FD that it did not get.
#[test]
fn a_failed_takeover_leaves_the_entry_as_it_was() {
    let table = table();
    // Kept: an identity is an address, and lasts as long as what it identifies.
    let kept = Arc::new(0_u8);
    let stranger = OwnerId::of(&kept);
    let (handle, owner) = insert(&table, 0, 0b01);
    let (shared, shared_owner) = insert(&table, 1, 0b11);
    table.pin(handle).unwrap().entry().state.fetch_or(state::ACTIVE, Ordering::SeqCst);
    let attempt = |handle, owner| {
        let before = snapshot(&table, handle);
        let (result, left) = table.pin(handle).unwrap().takeover(thread(1, 1).mask(), owner);
        assert!(left.is_ok());
        drop(left);
        assert_eq!(snapshot(&table, handle), before);
        result
    };
    assert_eq!(attempt(handle, stranger), Err(MoveError::WrongOwner));
    assert_eq!(attempt(shared, shared_owner), Err(MoveError::Shared));
    table.pin(handle).unwrap().enter(thread(1, 0).mask()).unwrap();
    assert_eq!(attempt(handle, owner), Err(MoveError::Busy), "S3");
    assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none());
    assert_eq!(attempt(handle, owner), Err(MoveError::Busy));
    // Between the two steps of its end: the mask is empty, and the last user is about to look who else is there.
    table.pin(handle).unwrap().entry().running.store(0, Ordering::SeqCst);
    let (result, left) = table.pin(handle).unwrap().takeover(thread(1, 1).mask(), owner);
    assert_eq!(result, Err(MoveError::Deleted), "never revived");
    assert!(left.is_err(), "the takeover was its last user");
    retire(left.err().unwrap());
}

#[test]
fn taking_over_what_one_has_changes_nothing() {
    let table = table();
    let (handle, owner) = insert(&table, 0, 0b01);
    let before = snapshot(&table, handle);
    let (result, left) = table.pin(handle).unwrap().takeover(thread(1, 0).mask(), owner);
    drop(left);
    assert_eq!((result, snapshot(&table, handle)), (Ok(()), before));
}

#[test]
fn a_change_of_group_takes_masks_list_and_pollers_along() {
    let table = table();
    let (handle, owner) = insert(&table, 0, 0b11);
    {
        let pin = table.pin(handle).unwrap();
        pin.entry().state.fetch_or(state::ACTIVE, Ordering::SeqCst);
        pin.polled().set(0b01, true, true);
        assert!(matches!(pin.schedule(None, 0), Scheduled::Wake(_)));
    }
    let mut told = vec![];
    let moved = table.relocate(handle, thread(2, 1), None, false, |_, group, recv, _, reason| {
        told.push((group, recv.bits(), reason))
    });
    assert_eq!(moved, Ok(()));
    assert_eq!(
        told,
        [(group(1), 0b01, DeregisterReason::StaysOpen)],
        "nothing is left in the old group's pollers"
    );
    let pin = table.pin(handle).unwrap();
    assert_eq!((pin.group(), pin.thread_mask().bits()), (group(2), 0b10));
    assert_eq!(pin.polled().load(), (0, 0), "suspect 7");
    assert_eq!(pin.entry().update_mask.load(Ordering::SeqCst), 0);
    assert!(pin.entry().link.is_unlinked(), "suspect 16");
    assert_eq!(pin.state() & state::ACTIVE, 0);
    assert_eq!(pin.owner_id(), owner);
    drop(pin);
    assert_eq!(snapshot(&table, handle).5, 1, "S12: only our own look");
}

/// Inside a group the kernel's registrations stay true, but interest that the group shares would be polled by the new
/// thread before it wants anything.
#[test]
fn a_move_inside_a_group_is_told_to_pollers_of_shared_interest_only() {
    for shared_interest in [false, true] {
        let table = table();
        let (handle, _) = insert(&table, 0, 0b01);
        table.pin(handle).unwrap().polled().set(0b01, true, false);
        let mut told = 0;
        let moved = table.relocate(handle, thread(1, 2), None, shared_interest, |_, _, _, _, _| told += 1);
        assert_eq!((moved, told), (Ok(()), i32::from(shared_interest)));
        let pin = table.pin(handle).unwrap();
        assert_eq!(pin.thread_mask().bits(), 0b100);
        assert_eq!(pin.polled().load().0 == 0, shared_interest);
    }
}

#[test]
fn a_move_that_fails_leaves_the_entry_as_it_was() {
    let table = table();
    let (handle, owner) = insert(&table, 0, 0b01);
    // Kept: an identity is an address, and lasts as long as what it identifies.
    let kept = Arc::new(0_u8);
    let stranger = OwnerId::of(&kept);
    let attempt = |target, expected| {
        let before = snapshot(&table, handle);
        let result = table.relocate(handle, target, expected, false, |_, _, _, _, _| panic!("nothing moved"));
        assert_eq!(snapshot(&table, handle), before);
        result
    };
    let nowhere = ThreadId::new(group(2), 2).unwrap();
    assert_eq!(attempt(nowhere, None), Err(MoveError::NoThread), "S19");
    assert_eq!(attempt(thread(2, 0), Some(stranger)), Err(MoveError::WrongOwner));
    let pin = table.pin(handle).unwrap();
    assert_eq!(attempt(thread(2, 0), Some(owner)), Err(MoveError::Busy), "a reference is held");
    drop(pin);
    table.pin(handle).unwrap().enter(thread(1, 0).mask()).unwrap();
    assert_eq!(attempt(thread(2, 0), Some(owner)), Err(MoveError::Busy), "S3");
    assert!(table.pin(handle).unwrap().exit(thread(1, 0).mask()).is_ok());
    let stale = table.handle(0, 9);
    let result = table.relocate(stale, thread(2, 0), None, false, |_, _, _, _, _| ());
    assert!(matches!(result, Err(MoveError::Stale(_))));
    let (shared, owner) = insert(&table, 1, 0b11);
    let relocate = |expected| table.relocate(shared, thread(2, 0), expected, false, |_, _, _, _, _| ());
    assert_eq!(relocate(Some(owner)), Err(MoveError::Shared), "a takeover is from one owner");
    assert_eq!(relocate(None), Ok(()), "a push is from all of them");
    table.pin(shared).unwrap().entry().thread_mask.store(0, Ordering::SeqCst);
    assert_eq!(relocate(None), Err(MoveError::Deleted), "never revived");
}

/// L7: a look takes a few instructions, so a change of group waits for its end. A handler takes as long as it likes.
#[test]
fn a_change_of_group_waits_for_looks_only_and_not_without_end() {
    let table = table();
    let (handle, _) = insert(&table, 0, 0b01);
    let mut looks = vec![table.pin(handle).unwrap(), table.pin(handle).unwrap(), table.pin(handle).unwrap()];
    assert!(table.lock(handle, || drop(looks.pop())).is_ok());
    assert_eq!(looks.len(), 0, "it was locked under a reference");

    let pin = table.pin(handle).unwrap();
    let mut waits = 0;
    assert_eq!(table.lock(handle, || waits += 1).err(), Some(MoveError::Busy));
    assert_eq!(waits, moving::LOCK_ROUNDS + 1);

    pin.enter(thread(1, 0).mask()).unwrap();
    assert_eq!(table.lock(handle, || panic!("it waits for a handler")).err(), Some(MoveError::Busy));
    let pin = pin.exit(thread(1, 0).mask()).ok().unwrap();
    drop(pin);
    assert_eq!(snapshot(&table, handle).5, 1, "S12");
}

#[test]
fn an_exclusive_owner_updates_privately_and_once() {
    let table = table();
    let (handle, _) = insert(&table, 0, 0b01);
    let pin = table.pin(handle).unwrap();
    for _ in 0..2 {
        assert_eq!(pin.schedule(Some(thread(1, 0)), 0), Scheduled::Private);
        assert_eq!(pin.schedule(Some(thread(1, 0)), 0), Scheduled::Nothing);
        assert!(pin.entry().link.is_unlinked());
        pin.clear_update(thread(1, 0).mask());
    }
}

#[test]
fn a_number_is_listed_for_nobody_once_its_registration_has_ended() {
    let table = table();
    insert(&table, 0, 0b01);
    for fd in [1, 2, 0] {
        table.updates(group(1)).add(&table, fd);
    }
    let walked = table.walk_updates(thread(1, 0), false, |_| panic!("no thread owes an update"));
    assert_eq!(walked.dropped, 2, "1 and 2 have no registration");
}

/// Bugs 8 and 20: an update of a shared descriptor reached one thread only.
#[test]
fn a_shared_update_is_owed_by_every_allowed_thread_until_each_has_seen_it() {
    let table = table();
    let (handle, _) = insert(&table, 0, 0b0111);
    assert_eq!(table.pin(handle).unwrap().schedule(Some(thread(1, 0)), 0), Scheduled::Nothing);
    let seen = |index| {
        let mut seen = 0;
        table.walk_updates(thread(1, index), false, |_| seen += 1);
        seen
    };
    assert_eq!((seen(0), seen(0), seen(3), seen(1)), (1, 0, 0, 1));
    assert!(!table.pin(handle).unwrap().entry().link.is_unlinked(), "L3: one thread still owes it");
    assert_eq!(seen(2), 1);
    assert!(table.pin(handle).unwrap().entry().link.is_unlinked(), "L3: unlisted after the last");
}

#[test]
fn one_visit_serves_all_where_interest_is_shared() {
    let table = table();
    let (handle, _) = insert(&table, 0, 0b0111);
    table.pin(handle).unwrap().schedule(None, 0);
    let mut seen = 0;
    table.walk_updates(thread(1, 1), true, |_| seen += 1);
    table.walk_updates(thread(1, 0), true, |_| seen += 1);
    assert_eq!(seen, 1);
    assert!(table.pin(handle).unwrap().entry().link.is_unlinked());
}

/// Suspect 19, and bug 58: whoever publishes wakes an allowed, enabled thread of the entry's own group.
#[test]
fn a_publisher_from_outside_the_mask_always_wakes_somebody_in_it() {
    let table = table();
    let (handle, _) = insert(&table, 0, 0b1010);
    let pin = table.pin(handle).unwrap();
    for pick in 0..20 {
        for caller in [None, Some(thread(1, 0)), Some(thread(2, 1))] {
            let Scheduled::Wake(woken) = pin.schedule(caller, pick) else { panic!("{caller:?} woke nobody") };
            assert!(woken == thread(1, 1) || woken == thread(1, 3));
        }
    }
    table.disable(thread(1, 1));
    assert_eq!(pin.schedule(None, 0), Scheduled::Wake(thread(1, 3)));
    table.disable(thread(1, 3));
    assert_eq!(pin.schedule(None, 0), Scheduled::Nothing);
}

/// Suspect 9: an entry that is removed and appended again under the walker takes it to the tail, past the others.
#[test]
fn a_walk_that_is_led_astray_misses_nothing() {
    let table = table();
    let handles = [0, 1, 2].map(|fd| insert(&table, fd, 0b01).0);
    for handle in handles {
        table.pin(handle).unwrap().schedule(None, 0);
    }
    let mut seen = vec![];
    table.walk_updates(thread(1, 0), false, |pin| {
        if seen.is_empty() {
            let list = table.updates(group(1));
            list.remove(&table, 1);
            list.add(&table, 1);
        }
        seen.push(pin.fd());
    });
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
}

/// Bug 68: bits of threads that have left kept entries listed.
#[test]
fn a_thread_that_left_keeps_nothing_listed() {
    let table = table();
    let (handle, _) = insert(&table, 0, 0b11);
    table.pin(handle).unwrap().schedule(None, 0);
    table.walk_updates(thread(1, 0), false, |_| ());
    table.disable(thread(1, 1));
    assert!(!table.pin(handle).unwrap().entry().link.is_unlinked());
    table.walk_updates(thread(1, 0), false, |_| panic!("thread 0 owes nothing"));
    assert!(table.pin(handle).unwrap().entry().link.is_unlinked());
}

/// Bugs 22 and 65: update bits and list places that outlived a registration.
#[test]
fn an_orphan_takes_its_updates_with_it() {
    let table = table();
    let (handle, _) = insert(&table, 0, 0b11);
    table.pin(handle).unwrap().schedule(None, 0);
    retire(table.pin(handle).unwrap().delete(false).unwrap().unwrap());
    assert_eq!(table.updates(group(1)).head(), None, "S13: a closed descriptor is in no list");
    let (next, _) = insert(&table, 0, 0b01);
    let pin = table.pin(next).unwrap();
    assert_eq!(pin.schedule(Some(thread(1, 0)), 0), Scheduled::Private, "bug 65: no bit was left behind");
}

#[test]
fn a_pin_for_a_group_does_not_reach_another_groups_entry() {
    let table = table();
    let (handle, _) = insert(&table, 0, 1);
    assert!(table.pin_in(group(2), 0).is_none());
    assert!(table.pin_in(group(1), 0).is_some());
    assert_eq!(table.pin_any(0).unwrap().handle(), handle);
    retire(table.pin(handle).unwrap().delete(false).unwrap().unwrap());
    let (handle, _) = insert(&table, 0, 1);
    let pin = table.pin_any(0).unwrap();
    assert_eq!((pin.generation(), pin.handle()), (1, handle));
    drop(pin);
    assert!(table.pin_any(1).is_none());
    assert_eq!(snapshot(&table, handle).5, 1, "S12");
}
