//! loom models of the table's protocol: this very code, under every interleaving of up to three preemptions (and every reordering that loom
//! knows) of two or three threads. Run with `RUSTFLAGS="--cfg loom" cargo test --release -p fd-core models`.
//!
//! The ghosts beside the table are plain std atomics: loom does not explore them, it only runs past them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{DeleteError, MoveError};
use crate::handler::{Handler, OwnerId};
use crate::ids::{GroupId, ThreadId, ThreadMask};
use crate::ready::Ready;
use crate::state;
use crate::table::{Denied, FdHandle, FdTable, Orphan, Pin, Scheduled};
use crate::update_list::{Link, Links, UpdateList};

const FD: i32 = 0;

/// A table with one registration, and what must be true of it.
struct World {
    table: FdTable,
    handle: FdHandle,
    owner: OwnerId,
    /// Threads inside the handler.
    inside: AtomicUsize,
    closed: AtomicUsize,
}

fn nobody(_: &Ready<'_>) {}

fn group(number: usize) -> GroupId {
    GroupId::new(number).unwrap()
}

fn thread(group_number: usize, index: usize) -> ThreadId {
    ThreadId::new(group(group_number), index).unwrap()
}

impl World {
    fn new(threads: &[usize], mask: u64) -> loom::sync::Arc<Self> {
        let table = FdTable::new(1, threads).unwrap();
        let handler: Arc<dyn Handler> = Arc::new(nobody);
        let owner = OwnerId::of(&handler);
        let handle =
            table.insert(FD, handler, group(1), ThreadMask::from_bits(mask), 0).map_err(drop).unwrap();
        loom::sync::Arc::new(Self {
            table,
            handle,
            owner,
            inside: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
        })
    }

    fn end_if_last(&self, left: Result<Pin<'_>, Orphan<'_>>) {
        if let Err(orphan) = left {
            self.close(orphan);
        }
    }

    fn close(&self, orphan: Orphan<'_>) {
        let retired = orphan.retire(|_, _, _, _, _| {});
        assert_eq!(self.inside.load(Ordering::SeqCst), 0, "S5: closed under a handler");
        self.closed.fetch_add(1, Ordering::SeqCst);
        drop(retired.owner);
    }

    /// What a report does, by thread `id`. Returns whether the handler ran.
    fn report(&self, id: ThreadId, exclusive: bool) -> bool {
        let Ok(pin) = self.table.pin(self.handle) else { return false };
        if pin.group() != id.group() {
            return false;
        }
        match pin.enter(id.mask()) {
            Ok(_) => drop(pin),
            Err(Denied::NotAllowed) => return false,
            Err(Denied::LostRace) => {
                self.end_if_last(pin.leave(id.mask()));
                return false;
            }
        }
        let before = self.inside.fetch_add(1, Ordering::SeqCst);
        assert!(!exclusive || before == 0, "S1: two threads inside the handler of an exclusive descriptor");
        assert_eq!(self.closed.load(Ordering::SeqCst), 0, "S5: the handler runs on a closed descriptor");
        loom::thread::yield_now();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        let pin = self.table.pin(self.handle).expect("S5: the life ended under its runner");
        self.end_if_last(pin.leave(id.mask()));
        true
    }

    fn delete(&self) -> Result<(), DeleteError> {
        if let Some(orphan) = self.table.pin(self.handle)?.delete(false)? {
            self.close(orphan);
        }
        Ok(())
    }

    fn takeover(&self, id: ThreadId) -> Result<(), MoveError> {
        let (result, left) = self.table.pin(self.handle)?.takeover(id.mask(), self.owner);
        self.end_if_last(left);
        result
    }

    /// S4 and L4 for a life that was deleted.
    fn assert_ended(&self) {
        assert_eq!(self.closed.load(Ordering::SeqCst), 1, "S4, L4: closed once, without any further event");
        assert!(self.table.pin(self.handle).is_err());
        assert_eq!(self.table.used(), 0);
    }
}

fn model(scene: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // Every schedule with this many preemptions; with two threads and these few steps that is nearly all.
    builder.preemption_bound = Some(3);
    builder.check(scene);
}

fn spawn(world: &loom::sync::Arc<World>, act: impl FnOnce(&World) + 'static) -> loom::thread::JoinHandle<()> {
    let world = world.clone();
    loom::thread::spawn(move || act(&world))
}

/// M1: report ∥ takeover. S1, S2, S3.
#[test]
fn m1_report_and_takeover() {
    model(|| {
        let world = World::new(&[2], 0b01);
        let reporter = spawn(&world, |world| {
            world.report(thread(1, 0), true);
        });
        let taken = world.takeover(thread(1, 1));
        if taken.is_ok() {
            assert_eq!(world.inside.load(Ordering::SeqCst), 0, "S3: taken under a running handler");
            world.report(thread(1, 1), true);
        } else {
            assert_eq!(taken, Err(MoveError::Busy));
        }
        reporter.join().unwrap();
        // L9: no running bit is left behind, so nothing refuses for ever.
        assert_eq!(world.takeover(thread(1, 1)), Ok(()));
        assert!(world.report(thread(1, 1), true));
        assert!(!world.report(thread(1, 0), true), "S3");
    });
}

/// M2: report ∥ delete. S4, S5, S6, L4.
#[test]
fn m2_report_and_delete() {
    model(|| {
        let world = World::new(&[2], 0b01);
        let reporter = spawn(&world, |world| {
            world.report(thread(1, 0), true);
        });
        world.delete().unwrap();
        reporter.join().unwrap();
        world.assert_ended();
    });
}

/// M3: two reports ∥ delete: two late wakers may both believe that they are the last.
#[test]
fn m3_two_reports_and_delete() {
    model(|| {
        let world = World::new(&[2], 0b11);
        let reporters = [0, 1].map(|index| {
            spawn(&world, move |world| {
                world.report(thread(1, index), false);
            })
        });
        world.delete().unwrap();
        reporters.into_iter().for_each(|reporter| reporter.join().unwrap());
        world.assert_ended();
    });
}

/// M5: late report of the old owner ∥ takeover, then delete by the new owner (suspect 20).
#[test]
fn m5_late_report_takeover_and_delete() {
    model(|| {
        let world = World::new(&[2], 0b01);
        let reporter = spawn(&world, |world| {
            world.report(thread(1, 0), true);
        });
        let _ = world.takeover(thread(1, 1));
        world.delete().unwrap();
        reporter.join().unwrap();
        world.assert_ended();
    });
}

/// Takeover ∥ delete: a takeover must not bring the orphan back to life.
#[test]
fn takeover_and_delete() {
    model(|| {
        let world = World::new(&[2], 0b01);
        let taker = spawn(&world, |world| {
            let _ = world.takeover(thread(1, 1));
        });
        world.delete().unwrap();
        taker.join().unwrap();
        world.assert_ended();
    });
}

/// Two deletes ∥ takeover: one of them wins, and the life ends once.
#[test]
fn two_deletes_and_takeover() {
    model(|| {
        let world = World::new(&[2], 0b01);
        let wins = Arc::new(AtomicUsize::new(0));
        let other = {
            let wins = wins.clone();
            spawn(&world, move |world| {
                wins.fetch_add(usize::from(world.delete().is_ok()), Ordering::SeqCst);
            })
        };
        let taker = spawn(&world, |world| {
            let _ = world.takeover(thread(1, 1));
        });
        wins.fetch_add(usize::from(world.delete().is_ok()), Ordering::SeqCst);
        other.join().unwrap();
        taker.join().unwrap();
        assert_eq!(wins.load(Ordering::SeqCst), 1);
        world.assert_ended();
    });
}

/// M6: delete, then the number's next life in another group ∥ late report of the first. S7, S10.
#[test]
fn m6_reuse_and_late_report() {
    model(|| {
        let world = World::new(&[1, 1], 0b01);
        let reporter = spawn(&world, |world| {
            world.report(thread(1, 0), true);
        });
        world.delete().unwrap();
        // Only the closer may hand the number out again.
        if world.closed.load(Ordering::SeqCst) == 1 {
            let handler: Arc<dyn Handler> = Arc::new(nobody);
            let next = world.table.insert(FD, handler, group(2), ThreadMask::ALL, 0).map_err(|(e, _)| e);
            let next = next.expect("S10: the slot is free once the number is closed");
            assert_ne!(next, world.handle);
            let pin = world.table.pin(next).unwrap();
            assert!(pin.running().is_empty() && !pin.thread_mask().is_empty());
            world.end_if_last(
                pin.delete(false)
                    .unwrap()
                    .map_or_else(|| Ok(world.table.pin(next).expect("nobody else has this life")), Err),
            );
            reporter.join().unwrap();
            assert_eq!(world.closed.load(Ordering::SeqCst), 2);
        } else {
            reporter.join().unwrap();
            world.assert_ended();
        }
    });
}

/// M10: move to another group ∥ report in the old one. S1, S9.
#[test]
fn m10_group_change_and_report() {
    model(|| {
        let world = World::new(&[1, 1], 0b01);
        let reporter = spawn(&world, |world| {
            world.report(thread(1, 0), true);
        });
        let moved =
            world.table.relocate(world.handle, thread(2, 0), Some(world.owner), false, |_, _, _, _, _| {});
        if moved.is_ok() {
            assert!(world.report(thread(2, 0), true));
        }
        reporter.join().unwrap();
        let pin = world.table.pin(world.handle).unwrap();
        assert!(pin.running().is_empty());
        assert_eq!(pin.group(), if moved.is_ok() { group(2) } else { group(1) });
    });
}

/// Move to another group ∥ delete.
#[test]
fn group_change_and_delete() {
    model(|| {
        let world = World::new(&[1, 1], 0b01);
        let mover = spawn(&world, |world| {
            let _ = world.table.relocate(world.handle, thread(2, 0), None, false, |_, _, _, _, _| {});
        });
        world.delete().unwrap();
        mover.join().unwrap();
        world.assert_ended();
    });
}

/// M7: an outsider wants ∥ the pass of the one allowed thread, which is just taking an older update off the list. L1:
/// the state is seen by that pass, or the update is still listed for the next, and the thread woken.
#[test]
fn m7_want_and_pass() {
    for older in [false, true] {
        model(move || {
            let world = World::new(&[1], 0b01);
            if older {
                world.table.pin(world.handle).unwrap().schedule(None, 0);
            }
            let seen = Arc::new(AtomicUsize::new(0));
            let pass = |world: &World, seen: &AtomicUsize| {
                world.table.walk_updates(thread(1, 0), false, |pin| {
                    let active = pin.state() & state::ACTIVE_R != 0;
                    seen.fetch_add(usize::from(active), Ordering::SeqCst);
                });
            };
            let poller = {
                let seen = seen.clone();
                spawn(&world, move |world| pass(world, &seen))
            };
            {
                let pin = world.table.pin(world.handle).unwrap();
                pin.entry().state.fetch_or(state::ACTIVE_R, crate::sync::Ordering::SeqCst);
                let woken = pin.schedule(None, 0);
                assert_eq!(woken, Scheduled::Wake(thread(1, 0)), "suspect 19: whatever the mask was");
            }
            poller.join().unwrap();
            {
                let pin = world.table.pin(world.handle).unwrap();
                let owed = pin.entry().update_mask.load(crate::sync::Ordering::SeqCst);
                assert!(owed == 0 || !pin.entry().link.is_unlinked(), "L3: owed, and in no list (bug 40)");
            }
            pass(&world, &seen);
            assert!(
                seen.load(Ordering::SeqCst) > 0,
                "L1: wanted, and no pass of the only thread has seen it"
            );
            let pin = world.table.pin(world.handle).unwrap();
            assert!(pin.entry().link.is_unlinked(), "L3: nobody owes it, so it is not listed");
        });
    }
}

/// M7: two outsiders, want and then stop-and-want, ∥ a pass (suspect 19).
#[test]
fn m7_two_outsiders() {
    model(|| {
        let world = World::new(&[1], 0b01);
        let want = |world: &World| {
            let pin = world.table.pin(world.handle).unwrap();
            pin.entry().state.fetch_or(state::ACTIVE_R, crate::sync::Ordering::SeqCst);
            assert_eq!(pin.schedule(None, 0), Scheduled::Wake(thread(1, 0)));
        };
        let other = spawn(&world, want);
        {
            let pin = world.table.pin(world.handle).unwrap();
            pin.entry().state.fetch_and(!state::ACTIVE_R, crate::sync::Ordering::SeqCst);
        }
        want(&world);
        other.join().unwrap();
        let mut active = false;
        world.table.walk_updates(thread(1, 0), false, |pin| active = pin.state() & state::ACTIVE_R != 0);
        assert!(active, "L1");
    });
}

struct Cells(Vec<Link>);

impl Links for Cells {
    fn link(&self, fd: usize) -> &Link {
        &self.0[fd]
    }
}

/// M8: every pair of operations on a list of up to three entries. S13.
#[test]
fn m8_list_grid() {
    #[derive(Clone, Copy, Debug)]
    enum Op {
        Add(usize),
        Remove(usize),
    }
    let ops = [Op::Add(0), Op::Add(1), Op::Add(2), Op::Remove(0), Op::Remove(1), Op::Remove(2)];
    for start in 0..=3 {
        for first in ops {
            for second in ops {
                eprintln!("{start} entries: {first:?} beside {second:?}");
                model(move || {
                    let world = loom::sync::Arc::new((
                        UpdateList::new(0),
                        Cells((0..3).map(|_| Link::new()).collect()),
                    ));
                    (0..start).for_each(|fd| world.0.add(&world.1, fd));
                    let act = |op, world: &(UpdateList, Cells)| match op {
                        Op::Add(fd) => world.0.add(&world.1, fd),
                        Op::Remove(fd) => world.0.remove(&world.1, fd),
                    };
                    let other = {
                        let world = world.clone();
                        loom::thread::spawn(move || act(first, &world))
                    };
                    act(second, &world);
                    other.join().unwrap();
                    let list = world.0.check_whole(&world.1, 3);
                    for fd in 0..3 {
                        let touched = |op| matches!(op, Op::Add(f) | Op::Remove(f) if f == fd);
                        let added = |op| matches!(op, Op::Add(f) if f == fd);
                        match (touched(first), touched(second)) {
                            (false, false) => assert_eq!(list.contains(&fd), fd < start),
                            (true, false) => assert_eq!(list.contains(&fd), added(first)),
                            (false, true) => assert_eq!(list.contains(&fd), added(second)),
                            (true, true) if added(first) == added(second) => {
                                assert_eq!(list.contains(&fd), added(first));
                            }
                            // Add and remove of one entry: either may be the last.
                            (true, true) => {}
                        }
                    }
                });
            }
        }
    }
}
