//! Every transition of an entry, one thread at a time. `models` explores the interleavings of several
//! threads.

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

/// A table with one registration, of number 0.
fn one(mask: u64) -> (FdTable, FdHandle, OwnerId) {
    let table = table();
    let (handle, owner) = insert(&table, 0, mask);
    (table, handle, owner)
}

pub(super) fn refusal(table: &FdTable, fd: RawFd, group: GroupId, mask: u64) -> InsertRefused {
    table
        .insert(fd, idle(fd), group, ThreadMask::from_bits(mask), 0)
        .map_err(|(refused, _)| refused)
        .unwrap_err()
}

/// Ends a registration and returns the arguments that `forget` got.
fn retire(orphan: Orphan<'_>) -> (GroupId, u64, u64, DeregisterReason) {
    let mut forgotten = None;
    orphan.retire(|_, group, recv, send, reason| forgotten = Some((group, recv.bits(), send.bits(), reason)));
    forgotten.unwrap()
}

/// The values that a failed operation must not change.
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
    assert!(table.entry(-1).is_none(), "bug 70: a negative number has no entry");
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

fn enter(table: &FdTable, handle: FdHandle, me: ThreadId) {
    assert!(table.enter(handle, me).is_ok());
}

/// Ends the use of a registration by `me`, which has entered it.
fn exit(table: &FdTable, handle: FdHandle, me: ThreadId) -> Option<Orphan<'_>> {
    let live: Live<'_> = *table.pin(handle).unwrap();
    live.exit(me.mask())
}

/// A thread that loses its race looks like a user for a moment, so it exits as one.
#[test]
fn an_entry_that_loses_against_a_delete_ends_the_registration() {
    let (table, handle, _) = one(1);
    let me = thread(1, 0).mask();
    table.pin(handle).unwrap().entry().running.fetch_or(me.bits(), Ordering::AcqRel);
    assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none(), "S5: a thread uses it");
    retire(table.leave(0, me).expect("L4"));
    assert!(table.pin(handle).is_err());
    assert!(table.leave(0, me).is_none(), "the number has no registration");
}

#[test]
fn an_entry_that_is_denied_touches_no_running_bit() {
    let (table, handle, _) = one(0b01);
    enter(&table, handle, thread(1, 0));
    assert!(matches!(table.enter(handle, thread(2, 0)), Err(Denied::Elsewhere)), "S9");
    assert!(matches!(table.enter(handle, thread(1, 1)), Err(Denied::NotAllowed)), "S3");
    let stale = table.handle(0, 9);
    assert!(matches!(table.enter(stale, thread(1, 1)), Err(Denied::Stale)), "S7");
    assert_eq!(table.pin(handle).unwrap().running(), thread(1, 0).mask());
}

#[test]
fn deleting_an_idle_entry_ends_its_registration_at_once() {
    let (table, handle, _) = one(1);
    let orphan = table.pin(handle).unwrap().delete(false).unwrap().expect("no thread uses it");
    assert_eq!(retire(orphan), (group(1), 0, 0, DeregisterReason::Close));
    assert!(table.pin(handle).is_err(), "S6");
    assert_eq!(table.used(), 0);
    let (next, _) = insert(&table, 0, 1);
    assert_eq!(next.generation(), handle.generation() + 1);
    assert!(table.pin(handle).is_err(), "S7: the old handle does not name the new registration");
}

#[test]
fn the_last_user_of_a_deleted_entry_ends_its_registration() {
    let (table, handle, _) = one(0b111);
    for index in [0, 1] {
        enter(&table, handle, thread(1, index));
    }
    assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none(), "S5");
    assert!(matches!(table.enter(handle, thread(1, 2)), Err(Denied::NotAllowed)), "S6");
    assert!(exit(&table, handle, thread(1, 0)).is_none(), "S5: the other thread still uses it");
    retire(exit(&table, handle, thread(1, 1)).expect("L4"));
    assert!(table.pin(handle).is_err());
}

#[test]
fn a_second_delete_is_refused_and_sets_no_second_token() {
    let (table, handle, _) = one(1);
    enter(&table, handle, thread(1, 0));
    assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none());
    let second = table.pin(handle).unwrap().delete(true);
    assert_eq!(second.err(), Some(DeleteError::AlreadyDeleted));
    let state = table.pin(handle).unwrap().state();
    assert_eq!(state & state::DISOWN, 0, "the second delete changed nothing");
    assert_ne!(state & state::MUST_CLOSE, 0, "S14");
    retire(exit(&table, handle, thread(1, 0)).expect("L4"));
}

#[test]
fn pollers_get_the_deregister_reason() {
    for (flags, disown, reason) in [
        (0, false, DeregisterReason::Close),
        (state::CLONED, false, DeregisterReason::CloseCloned),
        (0, true, DeregisterReason::StaysOpen),
        (state::CLONED, true, DeregisterReason::StaysOpen),
    ] {
        let (table, handle, _) = one(0b11);
        let pin = table.pin(handle).unwrap();
        pin.entry().state.fetch_or(flags, Ordering::SeqCst);
        pin.polled().set(0b10, true, false);
        pin.polled().set(0b01, false, true);
        let orphan = pin.delete(disown).unwrap().unwrap();
        assert_eq!(retire(orphan), (group(1), 0b10, 0b01, reason));
        assert_eq!(table.polled[0].load(), (0, 0), "bug 34: the next registration starts unpolled");
    }
}

/// Takes over as a thread of the first group.
fn takeover(
    table: &FdTable,
    handle: FdHandle,
    index: usize,
    owner: OwnerId,
) -> (Result<(), MoveError>, Option<Orphan<'_>>) {
    let (result, orphan) = table.takeover(handle, thread(1, index), owner, |_| true, |_| ());
    let refused = |not_taken| match not_taken {
        NotTaken::Refused(refused) => refused,
        NotTaken::Elsewhere => panic!("it is in the first group"),
    };
    (result.map_err(refused), orphan)
}

#[test]
fn a_takeover_leaves_one_allowed_thread_and_no_active_direction() {
    let (table, handle, owner) = one(0b01);
    table.pin(handle).unwrap().entry().state.fetch_or(state::ACTIVE | state::CLONED, Ordering::SeqCst);
    let taken = |index| {
        let (result, orphan) = takeover(&table, handle, index, owner);
        assert!(result.is_ok() && orphan.is_none());
        table.pin(handle).unwrap()
    };
    let pin = taken(1);
    assert_eq!((pin.thread_mask().bits(), pin.running().bits()), (0b10, 0));
    assert_eq!(pin.state() & state::ACTIVE, 0, "bug 41");
    assert_eq!(pin.state() & (state::CLONED | state::REARM), state::CLONED | state::REARM, "suspect 10");
    assert_eq!(pin.owner().takeovers().load(Ordering::Relaxed), 1);
    // A second takeover, before the first new owner has applied its update.
    let pin = taken(2);
    assert_eq!(pin.state() & state::REARM, state::REARM, "the mark stays until a poller takes it");
    assert_eq!((pin.thread_mask().bits(), pin.owner().takeovers().load(Ordering::Relaxed)), (0b100, 2));
}

/// Bug 41: a failed takeover had deactivated receiving of a descriptor that it did not get.
#[test]
fn a_failed_takeover_leaves_the_entry_as_it_was() {
    let table = table();
    // Kept, because an identity is an address and must not be re-used.
    let kept = Arc::new(0_u8);
    let stranger = OwnerId::of(&kept);
    let (handle, owner) = insert(&table, 0, 0b01);
    let (shared, shared_owner) = insert(&table, 1, 0b11);
    table.pin(handle).unwrap().entry().state.fetch_or(state::ACTIVE, Ordering::SeqCst);
    let attempt = |handle, owner| {
        let before = snapshot(&table, handle);
        let (result, orphan) = takeover(&table, handle, 1, owner);
        assert!(orphan.is_none());
        assert_eq!(snapshot(&table, handle), before);
        result
    };
    assert_eq!(attempt(handle, stranger), Err(MoveError::WrongOwner));
    assert_eq!(attempt(shared, shared_owner), Err(MoveError::Shared));
    enter(&table, handle, thread(1, 0));
    assert_eq!(attempt(handle, owner), Err(MoveError::Busy), "S3");
    assert_eq!(attempt(handle, stranger), Err(MoveError::WrongOwner), "a busy one, too");
    assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none());
    assert_eq!(attempt(handle, owner), Err(MoveError::Busy));
    // Between two steps of the end: the thread mask is zero, and the last user is about to read the running
    // mask.
    table.pin(handle).unwrap().entry().running.store(0, Ordering::SeqCst);
    let (result, orphan) = takeover(&table, handle, 1, owner);
    assert_eq!(result, Err(MoveError::Deleted), "a takeover never revives an entry");
    retire(orphan.expect("the takeover was the last user"));
    assert_eq!(takeover(&table, handle, 1, owner).0, Err(MoveError::Stale(handle.stale())));
    let (elsewhere, _) =
        table.takeover(shared, thread(2, 0), shared_owner, |_| true, |_| panic!("not taken"));
    assert!(matches!(elsewhere, Err(NotTaken::Elsewhere)));
}

#[test]
fn a_takeover_by_the_owner_changes_nothing() {
    let (table, handle, owner) = one(0b01);
    let before = snapshot(&table, handle);
    let (result, orphan) = takeover(&table, handle, 0, owner);
    assert!(orphan.is_none());
    assert_eq!((result, snapshot(&table, handle)), (Ok(()), before));
}

#[test]
fn a_change_of_group_clears_masks_list_and_pollers() {
    let (table, handle, owner) = one(0b11);
    {
        let pin = table.pin(handle).unwrap();
        pin.entry().state.fetch_or(state::ACTIVE, Ordering::SeqCst);
        pin.polled().set(0b01, true, true);
        assert!(matches!(pin.schedule(None), Scheduled::Wake(_)));
    }
    let mut forgotten = vec![];
    let moved = table.relocate(handle, thread(2, 1), None, false, |_, group, recv, _, reason| {
        forgotten.push((group, recv.bits(), reason))
    });
    assert_eq!(moved, Ok(false));
    assert_eq!(
        forgotten,
        [(group(1), 0b01, DeregisterReason::StaysOpen)],
        "the old group's pollers keep no registration"
    );
    let pin = table.pin(handle).unwrap();
    assert_eq!((pin.group(), pin.thread_mask().bits()), (group(2), 0b10));
    assert_eq!(pin.polled().load(), (0, 0), "suspect 7");
    assert_eq!(pin.entry().update_mask.load(Ordering::SeqCst), 0);
    assert!(pin.entry().link.is_unlinked(), "suspect 16");
    assert_eq!(pin.state() & state::ACTIVE, 0);
    assert_eq!(pin.owner_id(), owner);
    drop(pin);
    assert_eq!(snapshot(&table, handle).5, 1, "S12: only the reference of the snapshot");
}

/// Inside a group, the kernel's registrations stay correct. Interest that the group shares would be polled by
/// the new thread before that thread enables any.
#[test]
fn a_move_inside_a_group_is_forgotten_only_where_interest_is_shared() {
    for shared_interest in [false, true] {
        let (table, handle, _) = one(0b01);
        table.pin(handle).unwrap().polled().set(0b01, true, false);
        let mut forgotten = 0;
        let moved =
            table.relocate(handle, thread(1, 2), None, shared_interest, |_, _, _, _, _| forgotten += 1);
        assert_eq!((moved, forgotten), (Ok(false), i32::from(shared_interest)));
        let pin = table.pin(handle).unwrap();
        assert_eq!(pin.thread_mask().bits(), 0b100);
        assert_eq!(pin.polled().load().0 == 0, shared_interest);
    }
}

#[test]
fn a_move_that_fails_leaves_the_entry_as_it_was() {
    let (table, handle, owner) = one(0b01);
    // Kept, because an identity is an address and must not be re-used.
    let kept = Arc::new(0_u8);
    let stranger = OwnerId::of(&kept);
    let attempt = |target, expected| {
        let before = snapshot(&table, handle);
        let result = table.relocate(handle, target, expected, false, |_, _, _, _, _| panic!("it moved"));
        assert_eq!(snapshot(&table, handle), before);
        result
    };
    let nowhere = ThreadId::new(group(2), 2).unwrap();
    assert_eq!(attempt(nowhere, None), Err(MoveError::NoThread), "S19");
    assert_eq!(attempt(thread(2, 0), Some(stranger)), Err(MoveError::WrongOwner));
    let pin = table.pin(handle).unwrap();
    assert_eq!(attempt(thread(2, 0), Some(owner)), Err(MoveError::Busy), "a reference is held");
    drop(pin);
    enter(&table, handle, thread(1, 0));
    assert_eq!(attempt(thread(2, 0), Some(owner)), Err(MoveError::Busy), "S3");
    assert!(exit(&table, handle, thread(1, 0)).is_none());
    let stale = table.handle(0, 9);
    let result = table.relocate(stale, thread(2, 0), None, false, |_, _, _, _, _| ());
    assert!(matches!(result, Err(MoveError::Stale(_))));
    let (shared, owner) = insert(&table, 1, 0b11);
    let relocate = |expected| table.relocate(shared, thread(2, 0), expected, false, |_, _, _, _, _| ());
    assert_eq!(relocate(Some(owner)), Err(MoveError::Shared), "a takeover needs one owner");
    assert_eq!(relocate(None), Ok(false), "migrate_on takes a descriptor from several threads");
    table.pin(shared).unwrap().entry().thread_mask.store(0, Ordering::SeqCst);
    assert_eq!(relocate(None), Err(MoveError::Deleted), "a relocation never revives an entry");
}

/// L7: a pin lasts a few instructions, so a change of group waits for it. A handler can take any time.
#[test]
fn a_change_of_group_waits_for_pins_only_and_a_bounded_number_of_times() {
    let (table, handle, _) = one(0b01);
    let mut pins = vec![table.pin(handle).unwrap(), table.pin(handle).unwrap(), table.pin(handle).unwrap()];
    assert!(table.lock(handle, || drop(pins.pop())).is_ok());
    assert_eq!(pins.len(), 0, "it was locked under a reference");

    let pin = table.pin(handle).unwrap();
    let mut waits = 0;
    assert_eq!(table.lock(handle, || waits += 1).err(), Some(MoveError::Busy));
    assert_eq!(waits, moving::LOCK_ROUNDS + 1);

    enter(&table, handle, thread(1, 0));
    assert_eq!(table.lock(handle, || panic!("it waits for a handler")).err(), Some(MoveError::Busy));
    assert!(exit(&table, handle, thread(1, 0)).is_none());
    drop(pin);
    assert_eq!(snapshot(&table, handle).5, 1, "S12");
}

#[test]
fn an_exclusive_owner_updates_privately_and_once() {
    let (table, handle, _) = one(0b01);
    let pin = table.pin(handle).unwrap();
    for _ in 0..2 {
        assert_eq!(pin.schedule(Some(thread(1, 0))), Scheduled::Private);
        assert_eq!(pin.schedule(Some(thread(1, 0))), Scheduled::Nothing);
        assert!(pin.entry().link.is_unlinked());
        pin.clear_update(thread(1, 0).mask());
    }
}

#[test]
fn a_listed_number_without_a_registration_is_dropped() {
    let table = table();
    insert(&table, 0, 0b01);
    for fd in [1, 2, 0] {
        table.updates(group(1)).add(&table, fd);
    }
    let walked = table.walk_updates(thread(1, 0), false, |_| panic!("no thread has a pending update"));
    assert_eq!(walked.dropped, 2, "1 and 2 have no registration");
}

/// Bugs 8 and 20: an update of a shared descriptor reached one thread only.
#[test]
fn a_shared_update_stays_pending_until_each_allowed_thread_has_applied_it() {
    let (table, handle, _) = one(0b0111);
    let others = Scheduled::Wake(ThreadMask::from_bits(0b0110));
    assert_eq!(table.pin(handle).unwrap().schedule(Some(thread(1, 0))), others);
    let seen = |index| {
        let mut seen = 0;
        table.walk_updates(thread(1, index), false, |_| seen += 1);
        seen
    };
    assert_eq!((seen(0), seen(0), seen(3), seen(1)), (1, 0, 0, 1));
    assert!(!table.pin(handle).unwrap().entry().link.is_unlinked(), "L3: it is still pending for one thread");
    assert_eq!(seen(2), 1);
    assert!(table.pin(handle).unwrap().entry().link.is_unlinked(), "L3: the last thread unlists it");
}

#[test]
fn one_visit_serves_all_where_interest_is_shared() {
    let (table, handle, _) = one(0b0111);
    table.pin(handle).unwrap().schedule(None);
    let mut seen = 0;
    table.walk_updates(thread(1, 1), true, |_| seen += 1);
    table.walk_updates(thread(1, 0), true, |_| seen += 1);
    assert_eq!(seen, 1);
    assert!(table.pin(handle).unwrap().entry().link.is_unlinked());
}

/// Suspect 19 and bug 58: every publisher wakes the allowed, enabled threads of the entry's own group, but
/// not itself.
#[test]
fn a_publisher_always_wakes_every_other_allowed_thread() {
    let (table, handle, _) = one(0b1010);
    let pin = table.pin(handle).unwrap();
    let woken = |caller| match pin.schedule(caller) {
        Scheduled::Wake(threads) => threads.bits(),
        other => panic!("{caller:?}: {other:?}"),
    };
    for _ in 0..2 {
        for outsider in [None, Some(thread(1, 0)), Some(thread(2, 1))] {
            assert_eq!(woken(outsider), 0b1010, "{outsider:?}");
        }
        assert_eq!((woken(Some(thread(1, 1))), woken(Some(thread(1, 3)))), (0b1000, 0b0010));
    }
    table.disable(thread(1, 1));
    assert_eq!(woken(None), 0b1000);
    table.disable(thread(1, 3));
    assert_eq!(woken(None), 0);
}

/// Suspect 9: an entry that is removed and appended again under the walk leads it to the tail, past other
/// entries.
#[test]
fn a_walk_that_is_led_astray_misses_nothing() {
    let table = table();
    let handles = [0, 1, 2].map(|fd| insert(&table, fd, 0b01).0);
    for handle in handles {
        table.pin(handle).unwrap().schedule(None);
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

/// Bug 68: bits of threads that had ended kept entries listed.
#[test]
fn a_thread_that_has_ended_keeps_no_entry_listed() {
    let (table, handle, _) = one(0b11);
    table.pin(handle).unwrap().schedule(None);
    table.walk_updates(thread(1, 0), false, |_| ());
    table.disable(thread(1, 1));
    assert!(!table.pin(handle).unwrap().entry().link.is_unlinked());
    table.walk_updates(thread(1, 0), false, |_| panic!("thread 0 has no pending update"));
    assert!(table.pin(handle).unwrap().entry().link.is_unlinked());
}

/// Bugs 22 and 65: update bits and places in the list outlived a registration.
#[test]
fn updates_of_a_registration_end_with_it() {
    let (table, handle, _) = one(0b11);
    table.pin(handle).unwrap().schedule(None);
    retire(table.pin(handle).unwrap().delete(false).unwrap().unwrap());
    assert_eq!(table.updates(group(1)).head(), None, "S13: a closed descriptor is not listed");
    let (next, _) = insert(&table, 0, 0b01);
    let pin = table.pin(next).unwrap();
    assert_eq!(pin.schedule(Some(thread(1, 0))), Scheduled::Private, "bug 65: no bit remains");
}

#[test]
fn a_pin_for_a_group_does_not_reach_another_groups_entry() {
    let (table, handle, _) = one(1);
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
