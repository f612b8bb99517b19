//! A table in the child of a fork: what the other threads were doing is played by this one, and left undone.

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

/// What the first thread of the first group, or no thread, finds after the fork: which numbers are to be closed.
fn after_fork(table: &FdTable, me: Option<ThreadId>) -> Vec<RawFd> {
    let mut told = vec![];
    let ended = table.after_fork(me, |fd, _, recv, send, _| told.push((fd, recv.bits(), send.bits())));
    let ended: Vec<_> = ended.into_iter().map(|retired| retired.fd).collect();
    assert_eq!(told, ended.iter().map(|fd| (*fd, 0, 0)).collect::<Vec<_>>(), "no poller here knows them");
    ended
}

fn child(table: &FdTable) -> Vec<RawFd> {
    after_fork(table, Some(thread(1, 0)))
}

/// Deletes and closes at once: nothing is left behind that would keep the registration.
fn ends_at_once(table: &FdTable, handle: FdHandle) {
    let orphan = table.pin(handle).unwrap().delete(false).unwrap().expect("B11: nobody uses it here");
    orphan.retire(|_, _, _, _, reason| assert_eq!(reason, DeregisterReason::Close));
    assert!(table.pin(handle).is_err());
    insert(table, handle.number(), ME);
}

#[test]
fn what_other_threads_use_or_look_at_is_free() {
    let table = table();
    let (handle, _) = insert(&table, 3, OTHER);
    table.pin(handle).unwrap().enter(ThreadMask::from_bits(OTHER)).unwrap();
    std::mem::forget(table.pin(handle).unwrap());
    std::mem::forget(table.pin(handle).unwrap());
    assert_eq!(child(&table), [0; 0]);
    let entry = &table.entries[3];
    assert_eq!((entry.running.load(Ordering::Acquire), entry.group.peek().references()), (0, 0));
    assert_eq!((table.used(), table.generation(handle_group(), 3)), (1, Some(handle.generation())));
    ends_at_once(&table, handle);
}

fn handle_group() -> GroupId {
    thread(1, 0).group()
}

#[test]
fn what_this_thread_uses_stays_in_use_and_ends_when_it_leaves() {
    for deleted in [false, true] {
        let table = table();
        let me = ThreadMask::from_bits(ME);
        let (handle, _) = insert(&table, 3, 0b11);
        for mask in [ME, OTHER] {
            table.pin(handle).unwrap().enter(ThreadMask::from_bits(mask)).unwrap();
        }
        if deleted {
            assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none());
        }
        assert_eq!(child(&table), [0; 0], "it is in use here");
        assert_eq!(table.pin(handle).unwrap().running(), me);
        let left = table.pin(handle).unwrap().exit(me);
        assert_eq!(left.is_err(), deleted, "S5, L4");
        left.map(drop).unwrap_or_else(|orphan| drop(orphan.retire(|_, _, _, _, _| ())));
    }
}

/// A thread of another group has the same bit.
#[test]
fn a_bit_of_another_group_is_not_this_threads() {
    let table = table();
    let there = thread(2, 0);
    let inserted = table.insert(3, idle(3), there.group(), there.mask(), 0);
    let handle = inserted.map_err(|(refused, _)| refused).unwrap();
    table.pin(handle).unwrap().enter(there.mask()).unwrap();
    assert_eq!(child(&table), [0; 0]);
    assert!(table.pin(handle).unwrap().running().is_empty());
}

/// The deleter is gone, or the last user is: at each step of either.
#[test]
fn what_was_deleted_and_not_closed_is_closed() {
    let gone = |stop: fn(&FdTable, FdHandle)| {
        let table = table();
        let (handle, _) = insert(&table, 3, 0b11);
        let (bystander, _) = insert(&table, 4, 0b11);
        table.pin(handle).unwrap().polled().set(0b11, true, true);
        stop(&table, handle);
        assert_eq!(child(&table), [3]);
        assert!(table.pin(handle).is_err() && table.pin(bystander).is_ok());
        assert_eq!(table.used(), 1);
        let (next, _) = insert(&table, 3, ME);
        assert_ne!(next, handle, "S7");
    };
    // Its last user was another thread.
    gone(|table, handle| {
        table.pin(handle).unwrap().enter(ThreadMask::from_bits(OTHER)).unwrap();
        assert!(table.pin(handle).unwrap().delete(false).unwrap().is_none());
    });
    // The token is set, the mask is not cleared.
    gone(|table, handle| {
        std::mem::forget(table.pin(handle).unwrap());
        table.entries[3].state.fetch_or(state::DELETED | state::MUST_CLOSE, Ordering::AcqRel);
    });
    // The token is won, the end has not begun.
    gone(|table, handle| {
        std::mem::forget(table.pin(handle).unwrap().delete(false).unwrap().unwrap());
    });
    // The end has begun: the slot is locked and nobody's.
    gone(|table, handle| {
        let orphan = table.pin(handle).unwrap().delete(false).unwrap().unwrap();
        std::mem::forget(orphan);
        table.entries[3].group.retire(handle_group());
    });
}

#[test]
fn a_slot_that_was_taken_and_not_given_away_is_free() {
    let table = table();
    insert(&table, 5, ME);
    table.entries[3].group.claim().unwrap();
    table.entries[3].state.store(state::READY, Ordering::Release);
    table.entries[3].thread_mask.store(OTHER, Ordering::Release);
    assert_eq!(refusal(&table, 3, handle_group(), ME), InsertRefused::InUse { fd: 3 });
    assert_eq!(child(&table), [0; 0]);
    assert_eq!(table.used(), 1, "the other one");
    let (handle, _) = insert(&table, 3, ME);
    ends_at_once(&table, handle);
}

#[test]
fn what_was_being_moved_is_not_locked_any_more() {
    let table = table();
    let (handle, _) = insert(&table, 3, ME);
    table.entries[3].group.lock(handle.generation()).unwrap();
    assert_eq!(child(&table), [0; 0]);
    assert_eq!(table.pin(handle).unwrap().group(), handle_group());
    ends_at_once(&table, handle);
}

#[test]
fn the_lists_are_empty_and_whole_whatever_was_linked_or_locked() {
    let table = table();
    let handles: Vec<_> = [0, 1, 2].iter().map(|fd| insert(&table, *fd, 0b11).0).collect();
    for handle in &handles {
        table.pin(*handle).unwrap().schedule(None, 0);
    }
    assert_eq!(table.updates(handle_group()).check_whole(&table, 8), [0, 1, 2]);
    assert_eq!(child(&table), [0; 0]);
    assert_eq!(table.updates(handle_group()).check_whole(&table, 8), [0usize; 0]);
    for handle in &handles {
        assert_eq!(table.pin(*handle).unwrap().entry().update_mask.load(Ordering::Acquire), 0);
        table.pin(*handle).unwrap().schedule(None, 0);
    }
    assert_eq!(table.updates(handle_group()).check_whole(&table, 8), [0, 1, 2]);
}

#[test]
fn without_a_worker_everything_is_free() {
    let table = table();
    let (handle, _) = insert(&table, 0, ME);
    table.pin(handle).unwrap().enter(ThreadMask::from_bits(ME)).unwrap();
    assert_eq!(after_fork(&table, None), [0; 0]);
    ends_at_once(&table, handle);
}
