//! `show fd`: one line per registered descriptor, and the same as data.

use std::fmt;

use crate::entry::error::Stale;
use crate::entry::owner::OwnerId;
use crate::shared::FdCore;
use crate::table::{self, FdHandle, Pin, TableId};
use crate::words::ids::{GroupId, ThreadMask};
use crate::words::state::{self, State};
use crate::words::sync::Ordering;

/// One entry as it was at one moment. The fields are read one after the other under one pin: they belong to
/// the same registration, but other threads may change them in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryInfo {
    /// Number and registration. Of a descriptor that is the runtime's own ([`State::INTERNAL`]), a handle
    /// that is refused everywhere.
    pub handle: FdHandle,
    /// The group that the masks are about.
    pub group: GroupId,
    /// The state.
    pub state: State,
    /// Threads that may use it.
    pub thread_mask: ThreadMask,
    /// Threads that use it.
    pub running: ThreadMask,
    /// Threads that owe it an update.
    pub update_mask: ThreadMask,
    /// Threads whose poller has it for receiving.
    pub polled_recv: ThreadMask,
    /// Threads whose poller has it for sending.
    pub polled_send: ThreadMask,
    /// References on the group word, without the one that was taken to look.
    pub references: u64,
    /// Changes of owner in this registration.
    pub takeovers: u32,
    /// The owner.
    pub owner: OwnerId,
}

impl EntryInfo {
    fn read(pin: &Pin<'_>) -> Self {
        let entry = pin.entry();
        let (recv, send) = pin.polled().load();
        let handle = pin.handle();
        let is_internal = pin.state() & state::INTERNAL != 0;
        fault!(WakePipeExposed: is_internal => false);
        Self {
            handle: if is_internal { FdHandle { table: TableId::default(), ..handle } } else { handle },
            group: pin.group(),
            state: State::from_bits(pin.state()),
            thread_mask: pin.thread_mask(),
            running: pin.running(),
            // No pair: for people.
            update_mask: ThreadMask::from_bits(entry.update_mask.load(Ordering::Acquire)),
            polled_recv: ThreadMask::from_bits(recv),
            polled_send: ThreadMask::from_bits(send),
            references: entry.group.peek().references().saturating_sub(1),
            takeovers: entry.takeovers.load(Ordering::Relaxed),
            owner: pin.owner_id(),
        }
    }

    /// Deleted, or wanted by nobody who could poll it.
    fn is_suspicious(&self) -> bool {
        self.thread_mask.is_empty()
    }
}

impl fmt::Display for EntryInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = |active: u32, ready: u32| {
            let letter = |bit: u32, letter: char| if self.state.bits() & bit != 0 { letter } else { '-' };
            format!("{}{}", letter(ready, 'R'), letter(active, 'A'))
        };
        write!(
            f,
            "{:6} : st={:#08x}({} W:{} R:{}) ref={} gid={} tmask={:#x} umask={:#x} rmask={:#x} prmsk={:#x} pwmsk={:#x} \
             owner={} gen={} tkov={}{}",
            self.handle.number(),
            self.state,
            state::letters(self.state.bits()),
            direction(state::ACTIVE_W, state::READY_W),
            direction(state::ACTIVE_R, state::READY_R),
            self.references,
            self.group,
            self.thread_mask,
            self.update_mask,
            self.running,
            self.polled_recv,
            self.polled_send,
            self.owner,
            self.handle.generation(),
            self.takeovers,
            if self.is_suspicious() { " !" } else { "" },
        )
    }
}

/// `show fd`.
#[derive(Debug)]
pub struct FdDump(pub Vec<EntryInfo>);

impl fmt::Display for FdDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

impl FdCore {
    /// One entry.
    ///
    /// # Errors
    /// [`Stale`].
    pub fn entry(&self, handle: FdHandle) -> Result<EntryInfo, Stale> {
        self.table().pin(handle).map(|pin| EntryInfo::read(&pin))
    }

    /// Every entry, lowest number first, printable as `show fd`. Stops nobody: each entry is pinned in turn.
    pub fn entries(&self) -> FdDump {
        let read = |pin: Pin<'_>| {
            fault!(DumpWaitsForUsers => table::mistakes::wait_for_users(&pin));
            EntryInfo::read(&pin)
        };
        FdDump(self.table().pin_each().map(read).collect())
    }
}
