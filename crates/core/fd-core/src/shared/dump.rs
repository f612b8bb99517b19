//! Snapshots of entries, as data and as the lines of HAProxy's `show fd`.

use std::fmt;

use crate::entry::error::Stale;
use crate::entry::owner::OwnerId;
use crate::shared::FdCore;
use crate::table::{self, FdHandle, Pin, TableId};
use crate::words::ids::{GroupId, ThreadMask};
use crate::words::state::{self, State};
use crate::words::sync::Ordering;

/// A snapshot of one entry, from [`FdCore::entry`] or [`FdCore::entries`].
///
/// All fields belong to one registration. Other threads may change it between the reads of two fields.
/// `Display` gives a line of HAProxy's `show fd`.
///
/// ```
#[doc = include_str!("../doc/one_thread.txt")]
/// use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime, State};
///
/// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
/// let entry = core.entry(handle)?;
/// assert_eq!((entry.handle, entry.group, entry.thread_mask), (handle, id.group(), id.mask()));
/// assert!(entry.running.is_empty() && !entry.state.intersects(State::ACTIVE));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryInfo {
    /// The handle. Every call refuses the handle of a descriptor of the runtime itself ([`State::INTERNAL`]).
    pub handle: FdHandle,
    /// The group. All masks contain threads of this group.
    pub group: GroupId,
    /// The state.
    pub state: State,
    /// The threads that may use the descriptor.
    pub thread_mask: ThreadMask,
    /// The threads that use it at this moment.
    pub running: ThreadMask,
    /// The threads whose poller must still be compared with the state.
    pub update_mask: ThreadMask,
    /// The threads whose poller has it for receiving.
    pub polled_recv: ThreadMask,
    /// The threads whose poller has it for sending.
    pub polled_send: ThreadMask,
    /// The number of calls that read or change the entry at this moment, without this snapshot.
    pub references: u64,
    /// The number of takeovers and moves in this registration.
    pub takeovers: u32,
    /// The owner, which a takeover expects.
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
            // No pair: the copy is for people.
            update_mask: ThreadMask::from_bits(entry.update_mask.load(Ordering::Acquire)),
            polled_recv: ThreadMask::from_bits(recv),
            polled_send: ThreadMask::from_bits(send),
            references: entry.group.peek().references().saturating_sub(1),
            takeovers: pin.owner().takeovers().load(Ordering::Relaxed),
            owner: pin.owner_id(),
        }
    }

    /// Whether the entry was deleted and is still in use.
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

/// The snapshots of all entries, from [`FdCore::entries`]. Prints one line per entry, as HAProxy's `show fd`.
#[derive(Debug)]
pub struct FdDump(pub Vec<EntryInfo>);

impl fmt::Display for FdDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

impl FdCore {
    /// A snapshot of one entry. [`EntryInfo`] has an example.
    ///
    /// # Errors
    /// [`Stale`] if the registration has ended.
    pub fn entry(&self, handle: FdHandle) -> Result<EntryInfo, Stale> {
        self.table().pin(handle).map(|pin| EntryInfo::read(&pin))
    }

    /// The snapshots of all entries, lowest number first, with those of the runtime's own wake descriptors
    /// ([`State::INTERNAL`]). No thread has to wait: the call reads one entry after the other, so two
    /// snapshots may be of different moments.
    ///
    /// ```
    #[doc = include_str!("../doc/one_thread.txt")]
    /// let handle = core.insert(near, ignore, id.group(), id.mask(), InsertOptions::default())?;
    /// core.registration(handle).want_recv()?;
    /// for line in core.entries().to_string().lines() {
    ///     // "    13 : st=0x000023(-------- W:R- R:RA) ref=0 gid=1 tmask=0x1 umask=0x0 rmask=0x0 …"
    ///     assert!(line.contains("gid=1"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn entries(&self) -> FdDump {
        let read = |pin: Pin<'_>| {
            fault!(DumpWaitsForUsers => table::mistakes::wait_for_users(&pin));
            EntryInfo::read(&pin)
        };
        FdDump(self.table().pin_each().map(read).collect())
    }
}
