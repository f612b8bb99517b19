//! Random operations on the update list and the table, compared with sequential models of them.

use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::Arc;

use proptest::prelude::*;

use crate::entry::error::{DeleteError, InsertRefused, MoveError};
use crate::entry::owner::{OwnerId, Registered};
use crate::shared::handler::numbers::idle;
use crate::table::{Denied, FdHandle, FdTable, Live, NotTaken, Orphan, Scheduled};
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::sync::Ordering;
use crate::words::update_list::{Link, Links, Next, UpdateList};

struct TestLinks(Vec<Link>);

impl Links for TestLinks {
    fn link(&self, fd: usize) -> &Link {
        &self.0[fd]
    }
}

const ENTRIES: usize = 6;

proptest! {
    /// The list is an ordered set: an addition appends an entry that is not listed.
    #[test]
    fn the_update_list_is_an_ordered_set(ops in prop::collection::vec((any::<bool>(), 0..ENTRIES), 0..60)) {
        let (list, links) = (UpdateList::new(2), TestLinks((0..ENTRIES).map(|_| Link::new()).collect()));
        let mut model: Vec<usize> = Vec::new();
        let mut additions = 0;
        for (adds, fd) in ops {
            if adds {
                list.add(&links, fd);
                additions += 1;
                if !model.contains(&fd) {
                    model.push(fd);
                }
            } else {
                list.remove(&links, fd);
                model.retain(|other| *other != fd);
            }
            prop_assert_eq!(&list.check_whole(&links, ENTRIES), &model);
            prop_assert_eq!(list.head(), model.first().copied());
            prop_assert_eq!(list.epoch(), additions, "every addition is counted");
            for fd in 0..ENTRIES {
                let expected = match model.iter().position(|other| *other == fd) {
                    None => Next::Lost,
                    Some(at) => model.get(at + 1).map_or(Next::End, |next| Next::Fd(*next)),
                };
                prop_assert_eq!(list.after(&links, fd), expected);
            }
        }
    }
}

const NUMBERS: RawFd = 3;
const GROUPS: [usize; 2] = [3, 2];

/// An operation. `handle` selects one of all handles that were ever returned, modulo their number: most are
/// stale.
#[derive(Clone, Copy, Debug)]
enum Op {
    Insert { fd: RawFd, group: usize, mask: u64 },
    Delete { handle: usize, disown: bool },
    Enter { handle: usize, thread: usize },
    Exit { handle: usize, thread: usize },
    Takeover { handle: usize, thread: usize, right_owner: bool },
    Relocate { handle: usize, thread: usize },
    Schedule { handle: usize, thread: Option<usize> },
    ApplyUpdates { thread: usize },
}

fn op() -> impl Strategy<Value = Op> {
    let (handle, thread) = (0..64usize, 0..GROUPS.iter().sum::<usize>());
    prop_oneof![
        3 => (0..NUMBERS, 0..GROUPS.len(), 0..16u64).prop_map(|(fd, group, mask)| Op::Insert { fd, group, mask }),
        2 => (handle.clone(), any::<bool>()).prop_map(|(handle, disown)| Op::Delete { handle, disown }),
        3 => (handle.clone(), thread.clone()).prop_map(|(handle, thread)| Op::Enter { handle, thread }),
        3 => (handle.clone(), thread.clone()).prop_map(|(handle, thread)| Op::Exit { handle, thread }),
        3 => (handle.clone(), thread.clone(), prop::bool::weighted(0.8))
            .prop_map(|(handle, thread, right_owner)| Op::Takeover { handle, thread, right_owner }),
        2 => (handle.clone(), thread.clone()).prop_map(|(handle, thread)| Op::Relocate { handle, thread }),
        3 => (handle, prop::option::of(thread.clone())).prop_map(|(handle, thread)| Op::Schedule { handle, thread }),
        2 => thread.prop_map(|thread| Op::ApplyUpdates { thread }),
    ]
}

/// The model of a registration.
#[derive(Clone, Debug)]
struct Registration {
    handle: FdHandle,
    owner: OwnerId,
    group: usize,
    allowed: u64,
    running: u64,
    pending: u64,
    deleted: bool,
}

/// The table and its model.
struct World {
    table: FdTable,
    registrations: BTreeMap<RawFd, Registration>,
    /// The shared list of each group.
    listed: [Vec<RawFd>; GROUPS.len()],
    /// Every handle that an insertion has returned.
    handles: Vec<(FdHandle, OwnerId)>,
    /// The number of registrations of each number that have ended.
    ended: BTreeMap<RawFd, u32>,
}

fn group_id(index: usize) -> GroupId {
    GroupId::new(index + 1).unwrap()
}

/// The group and id of the thread `number`, counted through all groups.
fn thread(number: usize) -> (usize, ThreadId) {
    let group = usize::from(number >= GROUPS[0]);
    (group, ThreadId::new(group_id(group), number - group * GROUPS[0]).unwrap())
}

impl World {
    fn new() -> Self {
        Self {
            table: FdTable::new(NUMBERS as usize, &GROUPS).unwrap(),
            registrations: BTreeMap::new(),
            listed: Default::default(),
            handles: Vec::new(),
            ended: BTreeMap::new(),
        }
    }

    /// The selected handle, and the number of its registration if that has not ended.
    fn select(&self, handle: usize) -> Option<(FdHandle, OwnerId, Option<RawFd>)> {
        let (handle, owner) = *self.handles.get(handle % self.handles.len().max(1))?;
        let registration =
            self.registrations.get(&handle.number()).filter(|registration| registration.handle == handle);
        Some((handle, owner, registration.map(|_| handle.number())))
    }

    fn registration(&mut self, fd: RawFd) -> &mut Registration {
        self.registrations.get_mut(&fd).unwrap()
    }

    /// Ends the registration if there is an orphan: exactly if it was deleted and no thread is running.
    fn end(&mut self, fd: RawFd, orphan: Option<Orphan<'_>>) {
        let registration = &self.registrations[&fd];
        assert_eq!(
            orphan.is_some(),
            registration.deleted && registration.running == 0,
            "S4, L4: {registration:?}"
        );
        if let Some(orphan) = orphan {
            let retired = orphan.retire(|_, _, _, _, _| {});
            assert_eq!((retired.fd, retired.owner.id()), (fd, registration.owner));
            self.listed[registration.group].retain(|other| *other != fd);
            self.registrations.remove(&fd);
            *self.ended.entry(fd).or_default() += 1;
        }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Insert { fd, group, mask } => self.insert(fd, group, mask),
            Op::Delete { handle, disown } => self.delete(handle, disown),
            Op::Enter { handle, thread: number } => self.enter(handle, thread(number)),
            Op::Exit { handle, thread: number } => self.exit(handle, thread(number)),
            Op::Takeover { handle, thread: number, right_owner } => {
                self.takeover(handle, thread(number), right_owner);
            }
            Op::Relocate { handle, thread: number } => self.relocate(handle, thread(number)),
            Op::Schedule { handle, thread: number } => self.schedule(handle, number.map(thread)),
            Op::ApplyUpdates { thread: number } => self.apply_updates(thread(number)),
        }
    }

    fn delete(&mut self, handle: usize, disown: bool) {
        let Some((handle, _, registration)) = self.select(handle) else { return };
        let table = std::mem::replace(&mut self.table, FdTable::new(1, &[1]).unwrap());
        let pin = table.pin(handle);
        assert_eq!(pin.is_ok(), registration.is_some(), "S7");
        if let (Ok(pin), Some(fd)) = (pin, registration) {
            let deleted = pin.delete(disown);
            let registration = self.registration(fd);
            if registration.deleted {
                assert_eq!(deleted.err(), Some(DeleteError::AlreadyDeleted), "protocol 6.1");
            } else {
                (registration.deleted, registration.allowed) = (true, 0);
                self.end(fd, deleted.unwrap());
            }
        }
        self.table = table;
    }

    fn enter(&mut self, handle: usize, (group, id): (usize, ThreadId)) {
        let Some((handle, _, registration)) = self.select(handle) else { return };
        let Some(fd) = registration else { return assert!(self.table.pin(handle).is_err()) };
        let registration = self.registrations.get_mut(&fd).unwrap();
        let pin = self.table.pin(handle).unwrap();
        assert_eq!(pin.group(), group_id(registration.group), "S9");
        let bit = id.mask().bits();
        if group != registration.group || registration.running & bit != 0 {
            return;
        }
        drop(pin);
        match self.table.enter(handle, id) {
            Ok(live) => {
                assert_eq!(live.thread_mask().bits(), registration.allowed);
                assert!(registration.allowed & bit != 0, "S2");
                registration.running |= bit;
            }
            // No other thread changes the mask, so no race can be lost.
            Err(Denied::NotAllowed) => assert_eq!(registration.allowed & bit, 0),
            Err(_) => panic!("the registration is of this group, and no other thread changes it"),
        }
    }

    fn exit(&mut self, handle: usize, (group, id): (usize, ThreadId)) {
        let Some((handle, _, Some(fd))) = self.select(handle) else { return };
        let registration = self.registration(fd);
        if group != registration.group || registration.running & id.mask().bits() == 0 {
            return;
        }
        registration.running &= !id.mask().bits();
        let table = std::mem::replace(&mut self.table, FdTable::new(1, &[1]).unwrap());
        let live: Live<'_> = *table.pin(handle).unwrap();
        self.end(fd, live.exit(id.mask()));
        self.table = table;
    }

    fn takeover(&mut self, handle: usize, (group, id): (usize, ThreadId), right_owner: bool) {
        let Some((handle, owner, registration)) = self.select(handle) else { return };
        let Some(fd) = registration else { return assert!(self.table.pin(handle).is_err()) };
        let registration = self.registrations.get_mut(&fd).unwrap();
        if group != registration.group {
            return;
        }
        let other = Arc::new(0_u8);
        let expected = if right_owner { owner } else { OwnerId::of(&other) };
        let (taken, orphan) = self.table.takeover(handle, id, expected, |_| true, |_| ());
        let model = match () {
            () if !right_owner => Err(MoveError::WrongOwner),
            () if registration.running != 0 => Err(MoveError::Busy),
            () if registration.allowed == id.mask().bits() => Ok(()),
            () if registration.allowed.count_ones() > 1 => Err(MoveError::Shared),
            () => Ok(()),
        };
        assert_eq!(taken, model.map_err(NotTaken::Refused), "{registration:?}");
        if taken.is_ok() {
            registration.allowed = id.mask().bits();
        }
        assert!(orphan.is_none(), "the registration is in use or was not deleted, so it must not end");
    }

    fn relocate(&mut self, handle: usize, (group, id): (usize, ThreadId)) {
        let Some((handle, _, registration)) = self.select(handle) else { return };
        let moved = self.table.relocate(handle, id, None, false, |_, _, _, _, _| {});
        let Some(fd) = registration else {
            return assert_eq!(moved, Err(MoveError::Stale(handle.stale())));
        };
        let registration = self.registrations.get_mut(&fd).unwrap();
        assert_eq!(moved, if registration.running != 0 { Err(MoveError::Busy) } else { Ok(false) });
        if moved.is_ok() {
            registration.allowed = id.mask().bits();
            if registration.group != group {
                self.listed[registration.group].retain(|other| *other != fd);
                (registration.group, registration.pending) = (group, 0);
            }
        }
    }

    fn insert(&mut self, fd: RawFd, group: usize, mask: u64) {
        let registered = idle(fd);
        let owner = registered.id();
        let allowed = mask & ThreadMask::first(GROUPS[group]).bits();
        let inserted = self.table.insert(fd, registered, group_id(group), ThreadMask::from_bits(mask), 0);
        let refused = match () {
            () if allowed == 0 => Some(InsertRefused::NoThread { group: group_id(group) }),
            () if self.registrations.contains_key(&fd) => Some(InsertRefused::InUse { fd }),
            () => None,
        };
        match inserted {
            Err((reason, _)) => assert_eq!(Some(reason), refused),
            Ok(handle) => {
                assert_eq!(refused, None);
                let generation = self.ended.get(&fd).copied().unwrap_or(0);
                assert_eq!((handle.number(), handle.generation()), (fd, generation));
                let registration =
                    Registration { handle, owner, group, allowed, running: 0, pending: 0, deleted: false };
                self.registrations.insert(fd, registration);
                self.handles.push((handle, owner));
            }
        }
    }

    fn schedule(&mut self, handle: usize, caller: Option<(usize, ThreadId)>) {
        let Some((handle, _, Some(fd))) = self.select(handle) else { return };
        let registration = self.registrations.get_mut(&fd).unwrap();
        let scheduled = self.table.pin(handle).unwrap().schedule(caller.map(|(_, id)| id));
        let mine =
            caller.filter(|(group, _)| *group == registration.group).map_or(0, |(_, id)| id.mask().bits());
        let model = match () {
            () if mine != 0 && registration.allowed == mine => {
                let was_pending = registration.pending & mine != 0;
                registration.pending |= mine;
                if was_pending { Scheduled::Nothing } else { Scheduled::Private }
            }
            () if registration.allowed == 0 => Scheduled::Nothing,
            () => {
                registration.pending |= registration.allowed;
                let listed = &mut self.listed[registration.group];
                if !listed.contains(&fd) {
                    listed.push(fd);
                }
                Scheduled::Wake(ThreadMask::from_bits(registration.allowed & !mine))
            }
        };
        assert_eq!(scheduled, model, "L1, suspect 19: {registration:?}");
    }

    fn apply_updates(&mut self, (group, id): (usize, ThreadId)) {
        let mut visited = Vec::new();
        let dropped = self.table.walk_updates(id, false, |pin| visited.push(pin.fd())).dropped;
        let mut model = Vec::new();
        for fd in self.listed[group].clone() {
            let registration = self.registrations.get_mut(&fd).unwrap();
            if registration.pending & id.mask().bits() != 0 {
                model.push(fd);
                registration.pending &= !id.mask().bits();
            }
            if registration.pending == 0 {
                self.listed[group].retain(|other| *other != fd);
            }
        }
        assert_eq!((visited, dropped), (model, 0));
    }

    /// Asserts that the table and the model agree on everything that is visible.
    fn check(&self) {
        assert_eq!(self.table.used(), self.registrations.len() as u64);
        for registration in self.registrations.values() {
            let pin = self.table.pin(registration.handle).unwrap();
            assert_eq!(pin.group(), group_id(registration.group));
            assert_eq!(
                (pin.thread_mask().bits(), pin.running().bits()),
                (registration.allowed, registration.running)
            );
            assert_eq!(pin.entry().update_mask.load(Ordering::SeqCst), registration.pending);
            assert_eq!(pin.entry().group.peek().references(), 1, "S12: this pin alone");
            assert_eq!(pin.owner_id(), registration.owner);
        }
        for (index, listed) in self.listed.iter().enumerate() {
            let list = self.table.updates(group_id(index));
            let mut walked = Vec::new();
            let mut at = list.head();
            while let Some(fd) = at {
                walked.push(fd as RawFd);
                at = match list.after(&self.table, fd) {
                    Next::Fd(next) => Some(next),
                    Next::End => None,
                    Next::Lost => panic!("S13: {fd} is not linked"),
                };
            }
            assert_eq!(&walked, listed, "S13");
        }
    }
}

proptest! {
    /// Any calls in any order, by any thread, on current and stale handles.
    #[test]
    fn the_table_agrees_with_a_sequential_model(ops in prop::collection::vec(op(), 0..80)) {
        let mut world = World::new();
        for op in ops {
            world.apply(op);
            world.check();
        }
        // The remaining registrations are ended.
        for registration in world.registrations.values() {
            for index in 0..GROUPS[registration.group] {
                let id = ThreadId::new(group_id(registration.group), index).unwrap();
                if registration.running & id.mask().bits() == 0 {
                    continue;
                }
                let live: Live<'_> = *world.table.pin(registration.handle).unwrap();
                if let Some(orphan) = live.exit(id.mask()) {
                    drop(orphan.retire(|_, _, _, _, _| {}).owner);
                }
            }
            if let Ok(pin) = world.table.pin(registration.handle)
                && let Ok(Some(orphan)) = pin.delete(false)
            {
                drop(orphan.retire(|_, _, _, _, _| {}).owner);
            }
        }
        prop_assert_eq!(world.table.used(), 0);
    }
}
