//! Mixes that are too large to explore: 3 to 5 threads on several numbers, in random orders, and in orders
//! that PCT chooses with a few changes of priority. shuttle knows interleavings only. Mistakes in the
//! ordering of one atomic are for loom to find.
//!
//! A failure prints its schedule. `FD_CORE_MODEL_SCHEDULE=… ci/models.sh --mixes NAME` runs that schedule
//! again.

use std::sync::Arc;
use std::sync::Mutex;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};

use super::world::{Registration, World, group, spawn, thread};
use super::{record, weaken};
use crate::shared::context::Context;
use crate::words::ids::ThreadId;

/// The variable with the number of schedules of each kind. Its default is the number of the quick set.
const ITERATIONS: &str = "FD_CORE_MODEL_ITERATIONS";
const QUICK_ITERATIONS: usize = 300;

/// The variable with a failed schedule to run again.
const SCHEDULE: &str = "FD_CORE_MODEL_SCHEDULE";

fn mix(name: &'static str, threads: usize, scene: fn()) {
    weaken();
    if let Ok(schedule) = std::env::var(SCHEDULE) {
        shuttle::replay(scene, &schedule);
        return;
    }
    let iterations =
        std::env::var(ITERATIONS).ok().map_or(QUICK_ITERATIONS, |number| number.parse().unwrap());
    run(name, threads, "random", iterations, RandomScheduler::new(iterations), scene);
    run(name, threads, "pct, 3 changes", iterations, PctScheduler::new(3, iterations), scene);
}

fn run(
    name: &str,
    threads: usize,
    kind: &str,
    iterations: usize,
    scheduler: impl Scheduler + 'static,
    scene: fn(),
) {
    struct Line<'a>([&'a str; 4]);
    impl Drop for Line<'_> {
        fn drop(&mut self) {
            let [name, threads, kind, iterations] = self.0;
            record(&[
                name,
                threads,
                kind,
                iterations,
                if std::thread::panicking() { "FAILED" } else { "holds" },
            ]);
        }
    }
    let (threads, iterations) = (threads.to_string(), iterations.to_string());
    let _line = Line([name, &threads, kind, &iterations]);
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::Print;
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(scene);
}

/// The registrations of all numbers. A thread that deletes a registration and finds its number free begins
/// the next one.
#[derive(Default)]
struct Registrations(Mutex<Vec<Registration>>);

impl Registrations {
    fn latest(&self, fd: i32) -> Option<Registration> {
        self.0.lock().unwrap().iter().rev().find(|registration| registration.handle.fd == fd).cloned()
    }

    /// Deletes the latest registration of a number, and inserts the next one in `group_number` if the number
    /// is closed.
    fn renew(&self, world: &World, context: &Context, fd: i32, group_number: usize, mask: u64) {
        if let Some(registration) = self.latest(fd) {
            let _ = context.registration(registration.handle).delete();
        }
        if let Some(next) = world.insert_with(fd, group_number, mask, 0) {
            let _ = context.registration(next.handle).want_recv();
            self.0.lock().unwrap().push(next);
        }
    }

    /// Deletes all registrations, and asserts what must hold afterwards.
    fn end(&self, world: &World) {
        let registrations = self.0.lock().unwrap().clone();
        for registration in &registrations {
            let _ = registration.by_outsider().delete();
        }
        for registration in &registrations {
            world.assert_ended(registration);
        }
        for number in world.core.table().groups() {
            assert!(world.core.table().updates(number).head().is_none(), "S13: a closed number is listed");
        }
    }
}

/// A random number. shuttle draws it, so that a schedule contains it, too.
fn draw(below: usize) -> usize {
    use shuttle::rand::Rng;
    shuttle::rand::thread_rng().gen_range(0..below)
}

/// One random step of a worker thread.
fn step(world: &World, context: &Context, registrations: &Registrations, numbers: i32) {
    let fd = draw(numbers as usize) as i32;
    let Some(registration) = registrations.latest(fd) else { return };
    let groups = world.core.table().groups().count();
    match draw(8) {
        0 => registrations.renew(world, context, fd, 1 + draw(groups), 0b01),
        1 => registrations.renew(world, context, fd, 1 + draw(groups), 0b11),
        2 | 3 => {
            if context.takeover(registration.handle, registration.owner).is_ok() {
                let _ = context.registration(registration.handle).want_recv();
            }
        }
        4 => drop(context.registration(registration.handle).want_send()),
        5 => world.apply_updates(context),
        _ => drop(world.report(context, &registration)),
    }
}

/// Runs the threads of `ids`, each with `steps` random steps, on `numbers` numbers.
fn storm(threads: &[usize], ids: &[ThreadId], numbers: i32, steps: usize) {
    let world = World::new(numbers as usize, threads);
    let registrations = Arc::new(Registrations::default());
    for fd in 0..numbers {
        registrations.0.lock().unwrap().push(world.insert(fd, 1, 0b01));
    }
    let first = registrations.latest(0).unwrap();
    let others: Vec<_> = ids
        .iter()
        .map(|&id| {
            let registrations = registrations.clone();
            spawn(&world, &first, move |world, _| {
                let context = world.context(id);
                for _ in 0..steps {
                    step(world, &context, &registrations, numbers);
                }
            })
        })
        .collect();
    others.into_iter().for_each(|other| other.join().unwrap());
    registrations.end(&world);
}

/// Three threads of one group, one number. S1, S3 to S5, S7, S10, S13, L4.
#[test]
fn mix_one_number() {
    mix("mix_one_number", 3, || storm(&[3], &[thread(1, 0), thread(1, 1), thread(1, 2)], 1, 6));
}

/// Four threads of two groups, two numbers.
#[test]
fn mix_two_groups() {
    mix("mix_two_groups", 4, || {
        storm(&[2, 2], &[thread(1, 0), thread(1, 1), thread(2, 0), thread(2, 1)], 2, 6);
    });
}

/// Five threads, three numbers.
#[test]
fn mix_five_threads() {
    mix("mix_five_threads", 5, || {
        let ids = [thread(1, 0), thread(1, 1), thread(1, 2), thread(2, 0), thread(2, 1)];
        storm(&[3, 2], &ids, 3, 5);
    });
}

/// Four threads that add to and remove from a list of three entries. S13.
#[test]
fn mix_list() {
    mix("mix_list", 4, || {
        let world = World::new(3, &[4]);
        let registrations = [0, 1, 2].map(|fd| world.insert(fd, 1, 0b01));
        let others = [(); 4].map(|()| {
            spawn(&world, &registrations[0], |world, _| {
                let table = world.core.table();
                for _ in 0..3 {
                    let (list, fd) = (table.updates(group(1)), draw(3));
                    if draw(2) == 0 { list.add(table, fd) } else { list.remove(table, fd) }
                }
            })
        });
        others.into_iter().for_each(|other| other.join().unwrap());
        world.core.table().updates(group(1)).check_whole(world.core.table(), 3);
    });
}

/// Three outsiders want and stop, two workers run iterations. At the end all active directions are polled
/// after one more application of updates. L1, L3.
#[test]
fn mix_wants() {
    mix("mix_wants", 5, || {
        let world = World::new(2, &[2]);
        let registrations = [0, 1].map(|fd| world.insert_with(fd, 1, 0b11, 0).unwrap());
        let outsiders = [(); 3].map(|()| {
            let registrations = registrations.clone();
            spawn(&world, &registrations[0].clone(), move |world, _| {
                for _ in 0..3 {
                    let fd = world.core.registration(registrations[draw(2)].handle);
                    let _ = if draw(3) == 0 { fd.stop_recv() } else { fd.want_recv() };
                }
            })
        });
        let workers = [0, 1].map(|index| {
            spawn(&world, &registrations[0], move |world, _| {
                let context = world.context(thread(1, index));
                // Until the thread is asleep, or three times.
                (0..3).any(|_| world.iterate(&context, None))
            })
        });
        outsiders.into_iter().for_each(|other| other.join().unwrap());
        let slept = workers.map(|worker| worker.join().unwrap());
        for registration in &registrations {
            let wanted = registration.pin().state() & crate::words::state::ACTIVE_R != 0;
            let served = |index: usize| {
                let id = thread(1, index);
                world.kernel.holds(id, registration.handle.fd).recv
                    || world.kernel.unread(id) > 0
                    || !slept[index]
            };
            assert!(
                !wanted || served(0) || served(1),
                "L1: active, and both of its threads sleep without a wake-up"
            );
        }
        for index in [0, 1] {
            let context = world.context(thread(1, index));
            world.apply_updates(&context);
            for registration in &registrations {
                let wanted = registration.pin().state() & crate::words::state::ACTIVE_R != 0;
                let held = world.kernel.holds(context.id(), registration.handle.fd).recv;
                assert!(held || !wanted, "L1: active, and its poller does not hold it");
            }
        }
        assert!(world.listed(1).is_empty(), "L3: listed, and pending for no thread");
    });
}
