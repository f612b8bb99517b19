//! The descriptors that are soaked: what their handlers check, and where the others find them.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::poller::Trigger;
use fd_core::{Context, FdCore, FdHandle, Handler, InsertOptions, OwnerId, ReadyGuard};
use metadata::Transport;

use super::Shared;
use super::ring::Op;
use crate::transport::{self, Address, Far, Listener, accept, pair};

/// At most so many bytes are under way to a descriptor: a write never waits.
const UNDER_WAY: u64 = 64;

/// The owner of one registration of a descriptor that one thread at a time has.
pub(super) struct Subject {
    shared: Weak<Shared>,
    slot: usize,
    handle: OnceLock<FdHandle>,
    /// Threads inside the handler, or using it outside a report.
    inside: AtomicU32,
    read: AtomicU64,
    pub(super) written: AtomicU64,
    /// Which thread had it last, as far as is known: an index. Only a hint of whom to take it from.
    pub(super) at: AtomicU32,
}

impl Subject {
    /// Whether some thread is inside.
    pub(super) fn is_inside(&self) -> bool {
        self.inside.load(Ordering::SeqCst) != 0
    }

    /// Whether everything written was read.
    pub(super) fn is_read(&self) -> bool {
        self.read.load(Ordering::SeqCst) == self.written.load(Ordering::SeqCst)
    }

    /// What a report and a use outside one have in common. Nobody else may be there.
    pub(super) fn used(&self, shared: &Shared, ready: &ReadyGuard<'_>) {
        let others = self.inside.fetch_add(1, Ordering::SeqCst);
        let (me, handle) = (ready.context().id(), ready.handle());
        shared
            .must(others == 0, || format!("S1: thread {me} is inside fd {} beside another", handle.number()));
        let mine = self.handle.get();
        shared.must(mine == Some(&handle), || format!("S7: {handle:?} is reported to the owner of {mine:?}"));
        match ready.context().core().entry(handle) {
            Ok(entry) => {
                let allowed = entry.thread_mask == me.mask() || entry.thread_mask.is_empty();
                shared
                    .must(entry.group == me.group() && allowed && entry.running.contains(me.mask()), || {
                        format!("S2, S9: thread {me} is inside\n{entry}")
                    });
            }
            Err(stale) => shared.violate(format!("S5: thread {me} is inside: {stale}")),
        }
        self.read_bytes(shared, ready);
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }

    /// The bytes count up from 0 in each registration: none is lost, doubled, or another registration's.
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
            shared.must(*byte == expected, || {
                format!("S1, S7: fd {} reads {byte} in place of {expected}", ready.handle().number())
            });
        }
        self.read.store(read + bytes.len() as u64, Ordering::SeqCst);
    }
}

impl Handler for Subject {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let Some(shared) = self.shared.upgrade() else { return };
        self.used(&shared, ready);
        let context = ready.context();
        shared.note(context.id(), Op::Report, Some(ready.handle()), "done");
        if shared.resting.load(Ordering::SeqCst) {
            // Whether a want that holds is served is what is looked at now.
            return;
        }
        match fastrand::u8(..64) {
            // Wanted until somebody writes again, in one way or the other.
            0..24 => drop(ready.registration().stop_recv()),
            24 => end(&shared, context.core(), self.slot, ready.handle(), false, |disown| match disown {
                false => ready.registration().delete().is_ok(),
                true => ready.registration().disown().is_ok(),
            }),
            _ => {}
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let number = self.handle.get().map(|handle| handle.number());
        shared.must(!self.is_inside(), || format!("S5: the owner of fd {number:?} is dropped under a user"));
        shared.dropped.fetch_add(1, Ordering::SeqCst);
        shared.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A registration as the workers see it.
pub(super) struct Registration {
    pub(super) handle: FdHandle,
    pub(super) owner: OwnerId,
    /// Weak: the table alone decides when the owner is dropped.
    pub(super) subject: Weak<Subject>,
    far: Far,
}

/// A place for one registration after the other.
#[derive(Default)]
pub(super) struct Slot(Mutex<Option<Registration>>);

impl Slot {
    /// What is there now. It may be over when this returns.
    pub(super) fn get(&self) -> Option<(FdHandle, OwnerId, Weak<Subject>)> {
        let registration = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        registration
            .as_ref()
            .map(|registration| (registration.handle, registration.owner, Weak::clone(&registration.subject)))
    }

    /// Writes the next byte to the registration that is there, unless many are under way. Returns to which.
    pub(super) fn write(&self) -> Option<FdHandle> {
        let mut registration = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let registration = registration.as_mut()?;
        let subject = registration.subject.upgrade()?;
        let written = subject.written.load(Ordering::SeqCst);
        if written - subject.read.load(Ordering::SeqCst).min(written) >= UNDER_WAY {
            return None;
        }
        // Before: the reader must not be ahead. If the other end is gone its registration is over, and nobody compares.
        subject.written.store(written + 1, Ordering::SeqCst);
        let _ = registration.far.write_all(&[written as u8]);
        Some(registration.handle)
    }

    /// Closes the other end of what was there last.
    pub(super) fn empty(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Ends a registration in a slot by `end`, told whether to disown; and if that did end it, begins the next one there.
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

/// Begins a registration in a slot, for a thread of its own choice.
fn begin(shared: &Arc<Shared>, core: &Arc<FdCore>, slot: usize) -> io::Result<()> {
    let transport = if fastrand::bool() { Transport::Unix } else { Transport::Pipe };
    let ends = pair(transport)?;
    let at = fastrand::usize(..shared.threads.len());
    let thread = shared.threads[at].id;
    let subject = Arc::new(Subject {
        shared: Arc::downgrade(shared),
        slot,
        handle: OnceLock::new(),
        inside: AtomicU32::new(0),
        read: AtomicU64::new(0),
        written: AtomicU64::new(0),
        at: AtomicU32::new(at as u32),
    });
    shared.alive.fetch_add(1, Ordering::SeqCst);
    let trigger =
        if fastrand::bool() && core.backend().capabilities().edge { Trigger::Edge } else { Trigger::Level };
    let options = InsertOptions { trigger, ..InsertOptions::default() };
    let (owner, weak) = (OwnerId::of(&subject), Arc::downgrade(&subject));
    let owned = Arc::clone(&subject);
    let handle = core
        .insert(ends.near, subject, thread.group(), thread.mask(), options)
        .map_err(|error| io::Error::other(error.reason))?;
    let _ = owned.handle.set(handle);
    drop(owned);
    let registration = Registration { handle, owner, subject: weak, far: ends.far };
    let before = shared.slots[slot].0.lock().unwrap_or_else(PoisonError::into_inner).replace(registration);
    // Outside the lock: its close may be felt elsewhere.
    drop(before);
    Ok(())
}

/// Begins a registration in every slot, and the listeners.
pub(super) fn fill(shared: &Arc<Shared>, core: &Arc<FdCore>) -> io::Result<()> {
    fastrand::seed(shared.soak.seed);
    (0..shared.slots.len()).try_for_each(|slot| begin(shared, core, slot))?;
    shared.listeners.iter().try_for_each(|listening| listening.begin(shared, core))
}

/// A listener that all threads of a group share.
pub(super) struct Listening {
    group: GroupId,
    address: Address,
    fd: Mutex<Option<std::os::fd::OwnedFd>>,
    handle: OnceLock<FdHandle>,
    pub(super) accepted: AtomicU64,
    pub(super) called: AtomicU64,
    clients: Mutex<Vec<Far>>,
}

impl Listening {
    pub(super) fn new(group: GroupId, folder: &Path) -> io::Result<Self> {
        let folder = folder.join(group.to_string());
        std::fs::create_dir(&folder)?;
        let Listener { fd, address } = Listener::new(Transport::Unix, &folder)?;
        Ok(Self {
            group,
            address,
            fd: Mutex::new(Some(fd)),
            handle: OnceLock::new(),
            accepted: AtomicU64::new(0),
            called: AtomicU64::new(0),
            clients: Mutex::default(),
        })
    }

    fn begin(&self, shared: &Arc<Shared>, core: &Arc<FdCore>) -> io::Result<()> {
        let fd = self.fd.lock().unwrap_or_else(PoisonError::into_inner).take();
        let fd = fd.ok_or(io::ErrorKind::NotFound)?;
        let (weak, group) = (Arc::downgrade(shared), self.group);
        let handler = move |ready: &ReadyGuard<'_>| {
            let Some(shared) = weak.upgrade() else { return };
            let listening = &shared.listeners[group.index()];
            let context: &Context = ready.context();
            shared.must(context.id().group() == group, || {
                format!("S9: thread {} accepts for group {group}", context.id())
            });
            while let Ok(Some(connection)) = accept(ready) {
                listening.accepted.fetch_add(1, Ordering::SeqCst);
                drop(connection);
            }
        };
        let handle = core
            .insert(fd, Arc::new(handler), self.group, ThreadMask::ALL, InsertOptions::default())
            .map_err(|error| io::Error::other(error.reason))?;
        let _ = self.handle.set(handle);
        core.registration(handle).want_recv().map_err(io::Error::other)
    }

    pub(super) fn handle(&self) -> Option<FdHandle> {
        self.handle.get().copied()
    }

    /// Whether every call was accepted.
    pub(super) fn is_served(&self) -> bool {
        self.accepted.load(Ordering::SeqCst) == self.called.load(Ordering::SeqCst)
    }

    /// Calls, unless several calls wait already.
    pub(super) fn call(&self) -> io::Result<()> {
        let waiting = self.called.load(Ordering::SeqCst) - self.accepted.load(Ordering::SeqCst);
        if waiting < 8 {
            // Before: the acceptor must not be ahead.
            self.called.fetch_add(1, Ordering::SeqCst);
            let client = self.address.connect()?;
            let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
            clients.push(client);
            if clients.len() > 16 {
                clients.remove(0);
            }
        }
        Ok(())
    }

    /// The connections that are kept open.
    pub(super) fn clients(&self) -> Vec<Far> {
        std::mem::take(&mut *self.clients.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    /// Notes what a worker has done.
    pub(super) fn note(&self, thread: ThreadId, op: Op, handle: Option<FdHandle>, outcome: &'static str) {
        if let Some(thread) = self.threads.iter().find(|known| known.id == thread) {
            thread.ring.lock().unwrap_or_else(PoisonError::into_inner).note(op, handle, outcome);
        }
    }
}
