//! fd-core, with one worker thread.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fd_core::poller::{MakeBackend, Trigger};
use fd_core::{Context, Handler, InsertOptions, ReadyGuard, Runtime};

use crate::loops::BACKEND;
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

pub fn run(mut ring: Ring, poller: Poller, trigger: Trigger) -> io::Result<Duration> {
    let sources = std::mem::take(&mut ring.registered);
    let ring = Arc::new(ring);
    let runtime = Runtime::builder().group(1).start(backend(poller)).map_err(io::Error::other)?;
    let core = Arc::clone(runtime.core());
    let id = core.threads().next().ok_or(io::ErrorKind::NotFound)?;
    let (over, ended) = channel();
    // The idle descriptors are copies of one pipe. The reads need no O_NONBLOCK: each event has one token.
    // Nor does an edge: the next token comes after the read.
    let options =
        InsertOptions { trigger, cloned: true, assume_nonblocking: true, ..InsertOptions::default() };
    for (index, source) in sources.into_iter().enumerate() {
        let place = Place { ring: Arc::clone(&ring), index, over: over.clone() };
        let handle = core
            .insert(source, place, id.group(), id.mask(), options)
            .map_err(|error| io::Error::other(error.reason))?;
        core.registration(handle).want_recv().map_err(io::Error::other)?;
    }
    let (started, begun) = channel();
    // A task that a task posts runs in the next iteration, after the registrations: they do not count.
    let start = move |_: &Context| {
        let _ = started.send(thread_time());
        ring.start();
    };
    core.post(id, |context| _ = context.core().post(context.id(), start)).map_err(io::Error::other)?;
    let (begin, end) = (begun.recv(), ended.recv());
    runtime.stop().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(end.map_err(io::Error::other)? - begin.map_err(io::Error::other)?)
}

fn backend(poller: Poller) -> MakeBackend {
    match poller {
        Poller::Kernel => BACKEND,
        Poller::Poll => poller_poll::backend,
        Poller::Select => poller_select::backend,
    }
}
