//! The descriptors of the soak: the checks of their handlers, and the slots in which other threads find them.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{OnceLock, Weak};

use fd_core::poller::Trigger;
use fd_core::{FdCore, OwnerId};

use super::Shared;
use super::ring::Op;
use crate::prelude::*;
use crate::transport::{self, pair};

/// The most unread bytes of a descriptor: a write never blocks.
const MOST_UNREAD: u64 = 64;

/// The handler of one registration of a descriptor that one thread at a time may use.
pub(super) struct SoakHandler {
    shared: Weak<Shared>,
    slot: usize,
    handle: OnceLock<FdHandle>,
    /// Threads that run the handler or use the descriptor outside a report.
    users: AtomicU32,
    read: AtomicU64,
    pub(super) written: AtomicU64,
    /// The index of the thread that had the descriptor last, as far as is known: only a hint from which
    /// thread to take it.
    pub(super) at: AtomicU32,
}

impl SoakHandler {
    /// Returns whether a thread uses the descriptor.
    pub(super) fn is_in_use(&self) -> bool {
        self.users.load(Ordering::SeqCst) != 0
    }

    /// Returns whether all written data has been read.
    pub(super) fn is_read(&self) -> bool {
        self.read.load(Ordering::SeqCst) == self.written.load(Ordering::SeqCst)
    }

    /// Performs the checks that a report and a use outside a report share. No other thread may use the
    /// descriptor meanwhile.
    pub(super) fn check_use(&self, shared: &Shared, ready: &ReadyGuard<'_>) {
        let others = self.users.fetch_add(1, Ordering::SeqCst);
        let (thread, handle) = (ready.context().id(), ready.handle());
        shared.require(others == 0, || {
            format!("S1: thread {thread} uses fd {} at the same time as another thread", handle.number())
        });
        let own_handle = self.handle.get();
        shared.require(own_handle == Some(&handle), || {
            format!("S7: {handle:?} is reported to the handler of {own_handle:?}")
        });
        match ready.context().core().entry(handle) {
            Ok(entry) => {
                let allowed = entry.thread_mask == thread.mask() || entry.thread_mask.is_empty();
                shared.require(
                    entry.group == thread.group() && allowed && entry.running.contains(thread.mask()),
                    || format!("S2, S9: thread {thread} uses the descriptor\n{entry}"),
                );
            }
            Err(stale) => shared.violate(format!("S5: thread {thread} uses the descriptor: {stale}")),
        }
        self.read_bytes(shared, ready);
        self.users.fetch_sub(1, Ordering::SeqCst);
    }

    /// Reads and checks the data. The bytes count up from 0 in each registration: none is lost, duplicated,
    /// or from another registration.
    fn read_bytes(&self, shared: &Shared, ready: &ReadyGuard<'_>) {
        let mut bytes = Vec::new();
        let ended = transport::read_all(ready, &mut bytes);
        if let Err(error) = ended
            && error.raw_os_error() == Some(nix::libc::EBADF)
        {
            shared.violate(format!("S5: fd {} is closed under its handler", ready.handle().number()));
        }
        let read = self.read.load(Ordering::SeqCst);
        for (offset, byte) in bytes.iter().enumerate() {
            let expected = (read + offset as u64) as u8;
            shared.require(*byte == expected, || {
                format!("S1, S7: fd {} reads {byte} in place of {expected}", ready.handle().number())
            });
        }
        self.read.store(read + bytes.len() as u64, Ordering::SeqCst);
    }
}

impl Handler for SoakHandler {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let Some(shared) = self.shared.upgrade() else { return };
        self.check_use(&shared, ready);
        let context = ready.context();
        shared.note(context.id(), Op::Report, Some(ready.handle()), "done");
        if shared.resting.load(Ordering::SeqCst) {
            // The main thread now checks that every enabled interest is served.
            return;
        }
        match fastrand::u8(..64) {
            // Disables the interest until a thread enables it again.
            0..24 => drop(ready.registration().stop_recv()),
            24 => end(&shared, context.core(), self.slot, ready.handle(), false, |disown| match disown {
                false => ready.registration().delete().is_ok(),
                true => ready.registration().disown().is_ok(),
            }),
            _ => {}
        }
    }
}

impl Drop for SoakHandler {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let number = self.handle.get().map(|handle| handle.number());
        shared.require(!self.is_in_use(), || {
            format!("S5: the handler of fd {number:?} is dropped while in use")
        });
        shared.dropped.fetch_add(1, Ordering::SeqCst);
        shared.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The part of a registration that the workers use.
pub(super) struct Registration {
    pub(super) handle: FdHandle,
    pub(super) owner: OwnerId,
    /// Weak: only the table decides when the handler is dropped.
    pub(super) handler: Weak<SoakHandler>,
    far: FarEnd,
}

/// A slot for one registration at a time.
#[derive(Default)]
pub(super) struct Slot(Mutex<Option<Registration>>);

impl Slot {
    /// Returns the current registration, which may have ended when this returns.
    pub(super) fn get(&self) -> Option<(FdHandle, OwnerId, Weak<SoakHandler>)> {
        let registration = unpoisoned(&self.0);
        registration
            .as_ref()
            .map(|registration| (registration.handle, registration.owner, Weak::clone(&registration.handler)))
    }

    /// Writes the next byte to the current registration, unless many are unread. Returns the registration's
    /// handle.
    pub(super) fn write(&self) -> Option<FdHandle> {
        let mut registration = unpoisoned(&self.0);
        let registration = registration.as_mut()?;
        let handler = registration.handler.upgrade()?;
        let written = handler.written.load(Ordering::SeqCst);
        if written - handler.read.load(Ordering::SeqCst).min(written) >= MOST_UNREAD {
            return None;
        }
        // Counted before the write, so that the reader is never ahead. If the other end is closed, the
        // registration has ended, and the counts are not compared.
        handler.written.store(written + 1, Ordering::SeqCst);
        let _ = registration.far.write_all(&[written as u8]);
        Some(registration.handle)
    }

    /// Closes the other end of the last registration.
    pub(super) fn empty(&self) {
        *unpoisoned(&self.0) = None;
    }
}

/// Ends a registration in a slot by `end`, which receives `disown`. If that call ended it, begins the next
/// one there.
pub(super) fn end(
    shared: &Arc<Shared>,
    core: &Arc<FdCore>,
    slot: usize,
    handle: FdHandle,
    disown: bool,
    end: impl FnOnce(bool) -> bool,
) {
    if end(disown)
        && let Err(error) = begin(shared, core, slot)
    {
        shared.violate(format!("the next registration after {handle:?} cannot begin: {error}"));
    }
}

/// Begins a registration in a slot, for a random thread.
fn begin(shared: &Arc<Shared>, core: &Arc<FdCore>, slot: usize) -> io::Result<()> {
    let transport = if fastrand::bool() { Transport::Unix } else { Transport::Pipe };
    let ends = pair(transport)?;
    let at = fastrand::usize(..shared.threads.len());
    let thread = shared.threads[at].id;
    let handler = Arc::new(SoakHandler {
        shared: Arc::downgrade(shared),
        slot,
        handle: OnceLock::new(),
        users: AtomicU32::new(0),
        read: AtomicU64::new(0),
        written: AtomicU64::new(0),
        at: AtomicU32::new(at as u32),
    });
    shared.alive.fetch_add(1, Ordering::SeqCst);
    let trigger =
        if fastrand::bool() && core.backend().capabilities().edge { Trigger::Edge } else { Trigger::Level };
    let options = InsertOptions { trigger, ..InsertOptions::default() };
    let (owner, weak) = (OwnerId::of(&handler), Arc::downgrade(&handler));
    let owned = Arc::clone(&handler);
    let handle = core
        .insert(ends.near, handler, thread.group(), thread.mask(), options)
        .map_err(|error| io::Error::other(error.reason))?;
    let _ = owned.handle.set(handle);
    drop(owned);
    let registration = Registration { handle, owner, handler: weak, far: ends.far };
    let before = unpoisoned(&shared.slots[slot].0).replace(registration);
    // Dropped outside the lock: its close may wake other threads.
    drop(before);
    Ok(())
}

/// Begins a registration in every slot, and registers the listeners.
pub(super) fn fill(shared: &Arc<Shared>, core: &Arc<FdCore>) -> io::Result<()> {
    fastrand::seed(shared.soak.seed);
    (0..shared.slots.len()).try_for_each(|slot| begin(shared, core, slot))?;
    shared.listeners.iter().try_for_each(|listener| listener.begin(shared, core))
}
