//! M7: [`GroupInterest`], the interest that the threads of a group share with poll and select.

use std::sync::Arc;

use loom::thread;

use super::{Bound, model};
use crate::poller::Interest;
use crate::poller::interest::GroupInterest;
use crate::poller::thread_interest::ThreadInterest;
use crate::shared::wake::Sleep;
use crate::words::state::{ACTIVE_R, ACTIVE_W, wanted};
use crate::words::sync::{AtomicU32, Ordering};

const FD: i32 = 0;

/// Creates the map's only chunk. loom does not look into the std lock that orders this.
fn create_chunk(map: &GroupInterest) {
    map.write(FD, Interest::BOTH);
    map.write(FD, Interest::NONE);
}

/// The steps of `Worker::apply_for_all` on the map and the state, without the polled masks, which would also
/// order them.
fn apply(map: &GroupInterest, state: &AtomicU32) {
    let mut before = state.load(Ordering::Acquire);
    loop {
        map.write(FD, wanted(before));
        let now = state.load(Ordering::Acquire);
        if now == before {
            return;
        }
        before = now;
    }
}

/// M7: two threads apply updates of one descriptor, one of them after it has changed the state. The map
/// agrees with the state at the end. L1, L6.
#[test]
fn m7_interest_and_state() {
    let model = model("m7_interest_and_state", 2, Bound::NONE);
    for (old, new) in [(0, ACTIVE_R), (ACTIVE_R, 0), (ACTIVE_R, ACTIVE_W)] {
        model.check(move || {
            let (map, state) = (Arc::new(GroupInterest::new(1)), Arc::new(AtomicU32::new(old)));
            create_chunk(&map);
            map.write(FD, wanted(old));
            let other = {
                let (map, state) = (map.clone(), state.clone());
                thread::spawn(move || apply(&map, &state))
            };
            state.swap(new, Ordering::AcqRel);
            apply(&map, &state);
            other.join().unwrap();
            assert_eq!(map.read(FD), wanted(new), "L1, L6: the map does not agree with the state");
        });
    }
}

/// Builds the list for a wait, if it must, and returns whether the thread polls a descriptor.
fn finds(list: &mut ThreadInterest) -> bool {
    if !list.is_current() {
        list.build(|_| Some(1), |_, _| ());
    }
    list.report_order().count() > 0
}

/// M7: a thread writes an interest, then wakes ∥ a thread announces its sleep, then builds its list, unless
/// the one of its last wait is still right. The list has the interest, or the sleeper is woken, and then the
/// list of its next wait has it. L2.
#[test]
fn m7_interest_and_sleep() {
    model("m7_interest_and_sleep", 2, Bound::NONE).check(|| {
        let (map, sleep) = (Arc::new(GroupInterest::new(1)), Arc::new(Sleep::new()));
        let sleeper = {
            let (mut list, sleep) = (ThreadInterest::new(map.clone()), sleep.clone());
            list.build(|_| Some(1), |_, _| ());
            thread::spawn(move || {
                sleep.announce();
                (finds(&mut list), list)
            })
        };
        map.write(FD, Interest::RECV);
        sleep.wake();
        let (found, mut list) = sleeper.join().unwrap();
        assert!(found || sleep.is_notified(), "L2: active, and the sleeper is not woken");
        assert!(finds(&mut list), "L2: active, and a thread that was woken does not poll it");
    });
}
