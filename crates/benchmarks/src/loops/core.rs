//! fd-core, with one worker thread.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fd_core::{Handler, InsertOptions, ReadyGuard, Runtime};
use runner::backends::BACKENDS;

use crate::ring::{Ring, thread_time};
use crate::work::Poller;

/// Moves tokens on.
struct Place {
    ring: Arc<Ring>,
    index: usize,
    over: Sender<Duration>,
}

impl Handler for Place {
    fn ready(&self, _: &ReadyGuard<'_>) {
        if self.ring.ready(self.index) {
            let _ = self.over.send(thread_time());
        }
    }
}

pub fn run(mut ring: Ring, poller: Poller) -> io::Result<Duration> {
    let sources = std::mem::take(&mut ring.registered);
    let ring = Arc::new(ring);
    let names: &[_] = match poller {
        Poller::Kernel => &["epoll", "kqueue", "poll"],
        Poller::Poll => &["poll"],
        Poller::Select => &["select"],
    };
    let backend = BACKENDS.iter().find_map(|(name, backend)| backend.filter(|_| names.contains(name)));
    let backend = backend.ok_or(io::ErrorKind::Unsupported)?;
    let runtime = Runtime::builder().group(1).start(backend.core).map_err(io::Error::other)?;
    let core = Arc::clone(runtime.core());
    let id = core.threads().next().ok_or(io::ErrorKind::NotFound)?;
    let (over, ended) = channel();
    // The idle descriptors are copies of one pipe. The reads need no O_NONBLOCK: each event has one token.
    let options = InsertOptions { cloned: true, assume_nonblocking: true, ..InsertOptions::default() };
    for (index, source) in sources.into_iter().enumerate() {
        let place = Place { ring: Arc::clone(&ring), index, over: over.clone() };
        let handle = core
            .insert(source, place, id.group(), id.mask(), options)
            .map_err(|error| io::Error::other(error.reason))?;
        core.registration(handle).want_recv().map_err(io::Error::other)?;
    }
    let (started, begun) = channel();
    core.post(id, move |_| {
        let _ = started.send(thread_time());
        ring.start();
    })
    .map_err(io::Error::other)?;
    let (begin, end) = (begun.recv(), ended.recv());
    runtime.stop().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(end.map_err(io::Error::other)? - begin.map_err(io::Error::other)?)
}
