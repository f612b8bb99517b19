//! The interest that the threads of a group share, for poll and select: [`GroupInterest`] itself.

use std::sync::Arc;

use loom::thread;

use super::{Bound, model};
use crate::poller::Interest;
use crate::poller::interest::GroupInterest;
use crate::shared::wake::Sleep;
use crate::words::state::{ACTIVE_R, ACTIVE_W, wanted};
use crate::words::sync::{AtomicBool, AtomicU32, Ordering};

const FD: i32 = 0;

/// Makes the chunk: loom does not look into the std lock that orders its creation.
fn created(map: &GroupInterest) {
    map.write(FD, Interest::BOTH);
    map.write(FD, Interest::NONE);
}

/// What `Worker::apply_for_all` does with the map and the state, without the polled masks, which order it as well.
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

/// Two threads apply updates of one descriptor, one of them after it has changed the state: the map ends as the state. L1, L6.
#[test]
fn m7_interest_and_state() {
    let model = model("m7_interest_and_state", 2, Bound::NONE);
    for (old, new) in [(0, ACTIVE_R), (ACTIVE_R, 0), (ACTIVE_R, ACTIVE_W)] {
        model.check(move || {
            let (map, state) = (Arc::new(GroupInterest::new(1)), Arc::new(AtomicU32::new(old)));
            created(&map);
            map.write(FD, wanted(old));
            let other = {
                let (map, state) = (map.clone(), state.clone());
                thread::spawn(move || apply(&map, &state))
            };
            state.swap(new, Ordering::AcqRel);
            apply(&map, &state);
            other.join().unwrap();
            assert_eq!(map.read(FD), wanted(new), "L1, L6: the map is not what the state wants");
        });
    }
}

/// A thread writes the first interest of a chunk and wakes ∥ a thread announces its sleep and scans: the scan finds the interest, or
/// the sleeper is woken. L2.
#[test]
fn m7_interest_and_sleep() {
    model("m7_interest_and_sleep", 2, Bound::NONE).check(|| {
        let (map, sleep) = (Arc::new(GroupInterest::new(1)), Arc::new(Sleep::new()));
        let sleeper = {
            let (map, sleep) = (map.clone(), sleep.clone());
            thread::spawn(move || {
                sleep.announce();
                let mut found = false;
                map.scan(|_, _| found = true);
                found
            })
        };
        map.write(FD, Interest::RECV);
        sleep.wake();
        let found = sleeper.join().unwrap();
        assert!(found || sleep.is_notified(), "L2: wanted, and the sleeper knows nothing of it");
    });
}

/// The interest in a closed number is swept away ∥ the number's next registration wants: its interest stays. L1.
#[test]
fn m7_interest_and_sweep() {
    let model = model("m7_interest_and_sweep", 2, Bound::NONE);
    for left_behind in [Interest::NONE, Interest::RECV] {
        model.check(move || {
            let (map, registered) = (Arc::new(GroupInterest::new(1)), Arc::new(AtomicBool::new(false)));
            created(&map);
            map.write(FD, left_behind);
            let next = {
                let (map, registered) = (map.clone(), registered.clone());
                thread::spawn(move || {
                    registered.store(true, Ordering::Release);
                    map.write(FD, Interest::SEND);
                })
            };
            map.sweep(FD, || !registered.load(Ordering::Acquire));
            next.join().unwrap();
            assert!(map.read(FD).send, "L1: wanted, and swept away");
        });
    }
}
