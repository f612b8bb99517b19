//! The listeners of the soak: one per group, shared by all threads of the group.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use fd_core::FdCore;
use fd_core::ids::{GroupId, ThreadMask};

use super::Shared;
use crate::prelude::*;
use crate::transport::{Address, Listener, accept};

/// A listener that all threads of a group share.
pub(super) struct SharedListener {
    group: GroupId,
    address: Address,
    fd: Mutex<Option<OwnedFd>>,
    handle: OnceLock<FdHandle>,
    pub(super) accepted: AtomicU64,
    pub(super) connected: AtomicU64,
    clients: Mutex<Vec<FarEnd>>,
}

impl SharedListener {
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
            connected: AtomicU64::new(0),
            clients: Mutex::default(),
        })
    }

    pub(super) fn begin(&self, shared: &Arc<Shared>, core: &Arc<FdCore>) -> io::Result<()> {
        let fd = unpoisoned(&self.fd).take();
        let fd = fd.ok_or(io::ErrorKind::NotFound)?;
        let (weak, group) = (Arc::downgrade(shared), self.group);
        let handler = move |ready: &ReadyGuard<'_>| {
            let Some(shared) = weak.upgrade() else { return };
            let listener = &shared.listeners[group.index()];
            let context: &Context = ready.context();
            shared.require(context.id().group() == group, || {
                format!("S9: thread {} accepts for group {group}", context.id())
            });
            while let Ok(Some(connection)) = accept(ready) {
                listener.accepted.fetch_add(1, Ordering::SeqCst);
                drop(connection);
            }
        };
        let handle = core
            .insert(fd, Arc::new(handler), self.group, ThreadMask::ALL, InsertOptions::default())
            .map_err(|error| io::Error::other(error.reason))?;
        let _ = self.handle.set(handle);
        core.registration(handle).want_recv().map_err(io::Error::other)
    }

    pub(super) fn group(&self) -> GroupId {
        self.group
    }

    pub(super) fn handle(&self) -> Option<FdHandle> {
        self.handle.get().copied()
    }

    /// Returns whether every connection was accepted.
    pub(super) fn is_served(&self) -> bool {
        self.accepted.load(Ordering::SeqCst) == self.connected.load(Ordering::SeqCst)
    }

    /// Connects, unless several connections wait already.
    pub(super) fn connect(&self) -> io::Result<()> {
        let waiting = self.connected.load(Ordering::SeqCst) - self.accepted.load(Ordering::SeqCst);
        if waiting < 8 {
            // Counted before the connect, so that the acceptor is never ahead.
            self.connected.fetch_add(1, Ordering::SeqCst);
            let client = self.address.connect()?;
            let mut clients = unpoisoned(&self.clients);
            clients.push(client);
            if clients.len() > 16 {
                clients.remove(0);
            }
        }
        Ok(())
    }

    /// Takes the connections that are kept open.
    pub(super) fn clients(&self) -> Vec<FarEnd> {
        std::mem::take(&mut *unpoisoned(&self.clients))
    }
}
