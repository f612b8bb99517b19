//! M9: an iteration of a worker ∥ threads that have work for it: the flags, the queues and the signals,
//! with a simulated wake descriptor.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::world::{World, spawn, thread};
use super::{Bound, model};
use crate::worker::signals::{self, Signals};

const SIGNAL: i32 = 10;

fn one_signal(handled: &Arc<AtomicUsize>) -> Arc<Signals> {
    let handled = Arc::clone(handled);
    let action = move |_: &crate::shared::context::Context| {
        handled.fetch_add(1, Ordering::SeqCst);
    };
    Arc::new(Signals::new(vec![(SIGNAL, Box::new(action))]))
}

/// M9: a task is posted ∥ an iteration of its thread. L2, S17.
#[test]
fn m9_post_and_iteration() {
    model("m9_post_and_iteration", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let ran = Arc::new(AtomicUsize::new(0));
        let written = Arc::new(crate::words::sync::AtomicU32::new(0));
        let worker =
            spawn(&world, &registration, |world, _| world.iterate(&world.context(thread(1, 0)), None));
        {
            let ran = ran.clone();
            written.store(1, Ordering::Relaxed);
            world
                .core
                .post(thread(1, 0), move |_| {
                    assert_eq!(
                        written.load(Ordering::Relaxed),
                        1,
                        "L2: a task does not see what preceded its post"
                    );
                    ran.fetch_add(1, Ordering::SeqCst);
                })
                .unwrap();
        }
        let slept = worker.join().unwrap();
        let unread = world.kernel.unread(thread(1, 0));
        let done = ran.load(Ordering::SeqCst) == 1;
        assert!(done || !slept || unread > 0, "L2: there is a task, and its thread sleeps without a wake-up");
        assert!(unread <= 1, "S17: {unread} unread wake-ups for one sleep");
        if !done {
            world.iterate(&world.context(thread(1, 0)), None);
            assert_eq!(ran.load(Ordering::SeqCst), 1, "L2: woken, and the task did not run");
        }
    });
}

/// M9: two wakers, one with a task and one with a signal ∥ two iterations. L2, S17.
#[test]
fn m9_two_wakers_and_iterations() {
    model("m9_two_wakers_and_iterations", 3, Bound::of(2, 3)).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let (ran, handled) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let worker = {
            let signals = one_signal(&handled);
            spawn(&world, &registration, move |world, _| {
                let context = world.context(thread(1, 0));
                world.iterate(&context, Some(signals.clone())) || world.iterate(&context, Some(signals))
            })
        };
        let caught = spawn(&world, &registration, |world, _| signals::note(&world.core, SIGNAL));
        {
            let ran = ran.clone();
            world
                .core
                .post(thread(1, 0), move |_| {
                    ran.fetch_add(1, Ordering::SeqCst);
                })
                .unwrap();
        }
        caught.join().unwrap();
        let slept = worker.join().unwrap();
        let unread = world.kernel.unread(thread(1, 0));
        let done = ran.load(Ordering::SeqCst) == 1 && handled.load(Ordering::SeqCst) == 1;
        assert!(done || !slept || unread > 0, "L2: there is work, and its thread sleeps without a wake-up");
        // Two sleeps were announced.
        assert!(unread <= 2, "S17: {unread} unread wake-ups for two sleeps");
    });
}

/// M9: two wakers ∥ one announced sleep: one write (S17).
#[test]
fn m9_two_wakers_and_a_sleeper() {
    model("m9_two_wakers_and_a_sleeper", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let sleep = |world: &World| world.core.thread(thread(1, 0)).unwrap().sleep.announce();
        sleep(&world);
        let other = spawn(&world, &registration, |world, _| world.core.wake(thread(1, 0)));
        world.core.wake(thread(1, 0));
        other.join().unwrap();
        assert_eq!(world.kernel.unread(thread(1, 0)), 1, "S17, L2: one write per sleep");
        // The next sleep gets a wake-up of its own.
        world.iterate(&world.context(thread(1, 0)), None);
        sleep(&world);
        world.core.wake(thread(1, 0));
        assert_eq!(world.kernel.unread(thread(1, 0)), 1, "L2: the next sleep is not ended");
    });
}

/// M9: a signal is caught ∥ an iteration of the thread that handles it. L2, L8.
#[test]
fn m9_signal_and_iteration() {
    model("m9_signal_and_iteration", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let handled = Arc::new(AtomicUsize::new(0));
        let signals = one_signal(&handled);
        let worker = {
            let signals = signals.clone();
            spawn(&world, &registration, move |world, _| {
                world.iterate(&world.context(thread(1, 0)), Some(signals))
            })
        };
        signals::note(&world.core, SIGNAL);
        let slept = worker.join().unwrap();
        let unread = world.kernel.unread(thread(1, 0));
        let done = handled.load(Ordering::SeqCst) == 1;
        assert!(
            done || !slept || unread > 0,
            "L2: a signal was caught, and its thread sleeps without a wake-up"
        );
        if !done {
            world.iterate(&world.context(thread(1, 0)), Some(signals));
            assert_eq!(handled.load(Ordering::SeqCst), 1, "L2: woken, and the signal was not handled");
        }
    });
}

/// M9: a stop is requested ∥ an iteration of a thread. L8.
#[test]
fn m9_stop_and_iteration() {
    model("m9_stop_and_iteration", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let worker = spawn(&world, &registration, |world, _| {
            let context = world.context(thread(1, 0));
            !world.core.is_stopping() && world.iterate(&context, None)
        });
        world.core.request_stop();
        let slept = worker.join().unwrap();
        assert!(
            !slept || world.kernel.unread(thread(1, 0)) > 0,
            "L8: a stop was requested, and a thread sleeps"
        );
    });
}

/// M9: a task is posted ∥ the end of its thread. The task is refused, or dropped with the tasks that did
/// not run. L8.
#[test]
fn m9_post_and_end() {
    model("m9_post_and_end", 2, Bound::NONE).check(|| {
        let (world, registration) = World::one(&[1], 0b01);
        let held = Arc::new(());
        let poster = {
            let held = Arc::clone(&held);
            spawn(&world, &registration, move |world, _| world.core.post(thread(1, 0), move |_| drop(held)))
        };
        let _ = world.core.thread(thread(1, 0)).unwrap().end_tasks();
        let accepted = poster.join().unwrap();
        assert_eq!(Arc::strong_count(&held), 1, "L8: a task remains in a thread that has ended");
        assert!(
            world.core.post(thread(1, 0), |_| ()).is_err(),
            "L8: accepted after the end of its thread ({accepted:?})"
        );
    });
}
