//! The table in a forked child. This thread performs the other threads' operations and leaves them
//! incomplete.

use super::tests::{insert, refusal, thread};
use super::*;
use crate::entry::error::InsertRefused;
use crate::poller::DeregisterReason;
use crate::shared::handler::numbers::idle;
use crate::words::state;

const ME: u64 = 0b01;
const OTHER: u64 = 0b10;

fn table() -> FdTable {
    FdTable::new(8, &[4, 2]).unwrap()
}

/// Runs `FdTable::after_fork` for a worker that uses these numbers. Returns the numbers that must be closed.
fn after_fork(table: &FdTable, worker: Option<(ThreadId, &[RawFd])>) -> Vec<RawFd> {
    let mut forgotten = vec![];
    let ended =
        table.after_fork(worker, |fd, _, recv, send, _| forgotten.push((fd, recv.bits(), send.bits())));
    let ended: Vec<_> = ended.into_iter().map(|retired| retired.fd).collect();
    let unpolled: Vec<_> = ended.iter().map(|fd| (*fd, 0, 0)).collect();
    assert_eq!(forgotten, unpolled, "no poller of the child has them");
    ended
}

fn after_fork_on_the_first_thread(table: &FdTable) -> Vec<RawFd> {
    after_fork(table, Some((thread(1, 0), &[])))
}

/// Asserts that a delete ends the registration at once, and that the number can be registered again.
fn ends_at_once(table: &FdTable, handle: FdHandle) {
    let orphan = table.pin(handle).unwrap().delete(false).unwrap().expect("no thread of the child uses it");
    orphan.retire(|_, _, _, _, reason| assert_eq!(reason, DeregisterReason::Close));
    assert!(table.pin(handle).is_err());
    insert(table, handle.number(), ME);
}

#[test]
fn bits_and_references_of_other_threads_are_released() {
    let table = table();
    let (handle, _) = insert(&table, 3, OTHER);
    assert!(table.enter(handle, thread(1, 1)).is_ok());
    std::mem::forget(table.pin(handle).unwrap());
    std::mem::forget(table.pin(handle).unwrap());
    assert_eq!(after_fork_on_the_first_thread(&table), [0; 0]);
    let entry = &table.entries[3];
    assert_eq!((entry.running.load(Ordering::Acquire), entry.group.peek().references()), (0, 0));
    assert_eq!((table.used(), table.generation(handle_group(), 3)), (1, Some(handle.generation())));
    ends_at_once(&table, handle);
}

fn handle_group() -> GroupId {
    thread(1, 0).group()
}

#[test]
fn a_running_bit_of_this_thread_survives_and_its_exit_ends_the_registration() {
    for deleted in [false, true] {
        let table = table();
        let me = ThreadMask::from_bits(ME);
        let (handle, _) = insert(&table, 3, 0b11);
        let live = table.enter(handle, thread(1, 0)).ok().unwrap();
        assert!(table.enter(handle, thread(1, 1)).is_ok());
        if deleted {
            assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none());
        }
        assert_eq!(after_fork(&table, Some((thread(1, 0), &[3]))), [0; 0], "this thread uses it");
        assert_eq!(table.pin(handle).unwrap().running(), me);
        let orphan = live.exit(me);
        assert_eq!(orphan.is_some(), deleted, "S5, L4");
        orphan.into_iter().for_each(|orphan| drop(orphan.retire(|_, _, _, _, _| ())));
    }
}

/// A thread of another group can have the same bit.
#[test]
fn a_bit_of_another_group_does_not_belong_to_this_thread() {
    let table = table();
    let there = thread(2, 0);
    let inserted = table.insert(3, idle(3), there.group(), there.mask(), 0);
    let handle = inserted.map_err(|(refused, _)| refused).unwrap();
    assert!(table.enter(handle, there).is_ok());
    assert_eq!(after_fork_on_the_first_thread(&table), [0; 0]);
    assert!(table.pin(handle).unwrap().running().is_empty());
}

/// At each step of a delete and of the last user's exit, the thread that performs it is lost.
#[test]
fn a_deleted_registration_without_users_is_closed() {
    let close_after = |stop: fn(&FdTable, FdHandle)| {
        let table = table();
        let (handle, _) = insert(&table, 3, 0b11);
        let (bystander, _) = insert(&table, 4, 0b11);
        table.pin(handle).unwrap().polled().set(0b11, true, true);
        stop(&table, handle);
        assert_eq!(after_fork_on_the_first_thread(&table), [3]);
        assert!(table.pin(handle).is_err() && table.pin(bystander).is_ok());
        assert_eq!(table.used(), 1);
        let (next, _) = insert(&table, 3, ME);
        assert_ne!(next, handle, "S7");
    };
    // The last user was another thread.
    close_after(|table, handle| {
        assert!(table.enter(handle, thread(1, 1)).is_ok());
        assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none());
    });
    // The registration was marked, the thread mask was not cleared.
    close_after(|table, handle| {
        std::mem::forget(table.pin(handle).unwrap());
        table.entries[3].state.fetch_or(state::DELETED, Ordering::AcqRel);
    });
    // No thread used it, the end had not begun.
    close_after(|table, handle| {
        std::mem::forget(table.pin(handle).unwrap().delete(false).unwrap().unwrap());
    });
    // The end had begun: the slot was locked, and had no group.
    close_after(|table, handle| {
        let orphan = table.pin(handle).unwrap().delete(false).unwrap().unwrap();
        std::mem::forget(orphan);
        table.entries[3].group.retire(handle_group());
    });
}

#[test]
fn a_slot_that_was_claimed_and_not_published_is_free() {
    let table = table();
    insert(&table, 5, ME);
    table.entries[3].group.claim().unwrap();
    table.entries[3].write_flags(state::READY);
    table.entries[3].thread_mask.store(OTHER, Ordering::Release);
    assert_eq!(refusal(&table, 3, handle_group(), ME), InsertRefused::InUse { fd: 3 });
    assert_eq!(after_fork_on_the_first_thread(&table), [0; 0]);
    assert_eq!(table.used(), 1, "the other registration");
    let (handle, _) = insert(&table, 3, ME);
    ends_at_once(&table, handle);
}

#[test]
fn an_entry_that_was_being_moved_is_unlocked() {
    let table = table();
    let (handle, _) = insert(&table, 3, ME);
    table.entries[3].group.lock(handle.generation()).unwrap();
    assert_eq!(after_fork_on_the_first_thread(&table), [0; 0]);
    assert_eq!(table.pin(handle).unwrap().group(), handle_group());
    ends_at_once(&table, handle);
}

/// A relocation writes the mask of the new group while the word still has the old one.
#[test]
fn an_entry_that_was_being_moved_belongs_to_threads_that_its_group_has() {
    let table = table();
    let (here, there) = (thread(2, 1), thread(1, 3));
    let inserted = table.insert(3, idle(3), here.group(), here.mask(), 0);
    let handle = inserted.map_err(|(refused, _)| refused).unwrap();
    table.entries[3].group.lock(handle.generation()).unwrap();
    table.entries[3].thread_mask.store(there.mask().bits(), Ordering::Release);
    assert_eq!(after_fork(&table, Some((thread(2, 0), &[]))), [0; 0]);
    let mask = table.pin(handle).unwrap().thread_mask();
    assert!(table.threads(here.group()).contains(mask) && !mask.is_empty(), "S19: {mask:?}");
    ends_at_once(&table, handle);
}

#[test]
fn lists_are_empty_and_whole_after_any_state_of_their_links() {
    let table = table();
    let handles: Vec<_> = [0, 1, 2].iter().map(|fd| insert(&table, *fd, 0b11).0).collect();
    for handle in &handles {
        table.pin(*handle).unwrap().schedule(None);
    }
    assert_eq!(table.updates(handle_group()).check_whole(&table, 8), [0, 1, 2]);
    assert_eq!(after_fork_on_the_first_thread(&table), [0; 0]);
    assert_eq!(table.updates(handle_group()).check_whole(&table, 8), [0usize; 0]);
    for handle in &handles {
        assert_eq!(table.pin(*handle).unwrap().entry().update_mask.load(Ordering::Acquire), 0);
        table.pin(*handle).unwrap().schedule(None);
    }
    assert_eq!(table.updates(handle_group()).check_whole(&table, 8), [0, 1, 2]);
}

#[test]
fn without_a_worker_every_bit_and_reference_is_released() {
    let table = table();
    let (handle, _) = insert(&table, 0, ME);
    assert!(table.enter(handle, thread(1, 0)).is_ok());
    assert_eq!(after_fork(&table, None), [0; 0]);
    ends_at_once(&table, handle);
}
