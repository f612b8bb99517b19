//! How many takeovers the threads of a runtime make in a second.
//!
//! Each thread takes random descriptors over from the others as quickly as it can. Nothing else happens, so
//! this is the greatest rate, and the hardest case for the cache: nearly each entry was last written by
//! another thread.

use std::io;
use std::os::fd::OwnedFd;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use fastrand::Rng;
use fd_core::{Context, FdCore, FdHandle, Handler, InsertOptions, OwnerId, ReadyGuard, Runtime};

use crate::loops::BACKEND;

/// The owner of every descriptor.
struct Idle;

impl Handler for Idle {
    fn ready(&self, _: &ReadyGuard<'_>) {}
}

/// A runtime with idle descriptors, which all belong to the first thread.
struct Field {
    runtime: Runtime,
    handles: Arc<[FdHandle]>,
    owner: OwnerId,
}

impl Field {
    fn new(threads: usize, descriptors: usize) -> io::Result<Self> {
        let runtime = Runtime::builder().group(threads).start(BACKEND).map_err(io::Error::other)?;
        let core = runtime.core();
        let id = core.threads().next().ok_or(io::ErrorKind::NotFound)?;
        let handler = Arc::new(Idle);
        let owner = OwnerId::of(&handler);
        let options = InsertOptions { cloned: true, assume_nonblocking: true, ..InsertOptions::default() };
        let (reader, _writer) = io::pipe()?;
        let insert = |_| {
            let source = OwnedFd::from(reader.try_clone()?);
            core.insert(source, Arc::clone(&handler), id.group(), id.mask(), options)
                .map_err(|error| io::Error::other(error.reason))
        };
        let handles = (0..descriptors).map(insert).collect::<io::Result<_>>()?;
        Ok(Self { runtime, handles, owner })
    }

    fn core(&self) -> &Arc<FdCore> {
        self.runtime.core()
    }

    /// Runs an action on every thread at once, and returns the results.
    fn on_all<R: Send + 'static>(
        &self,
        action: impl Fn(&Context) -> R + Send + Sync + 'static,
    ) -> io::Result<Vec<R>> {
        let action = Arc::new(action);
        let begin = Arc::new(Barrier::new(self.core().threads().count()));
        let (sender, receiver) = channel();
        for thread in self.core().threads() {
            let (action, begin, sender) = (Arc::clone(&action), Arc::clone(&begin), sender.clone());
            let task = move |context: &Context| {
                begin.wait();
                let _ = sender.send(action(context));
            };
            self.core().post(thread, task).map_err(io::Error::other)?;
        }
        drop(sender);
        Ok(receiver.into_iter().collect())
    }

    /// How often the descriptors have changed their owner.
    fn changes(&self) -> u64 {
        let of = |handle: &FdHandle| self.core().entry(*handle).map_or(0, |entry| u64::from(entry.takeovers));
        self.handles.iter().map(of).sum()
    }

    fn end(self) -> io::Result<()> {
        self.runtime.stop().map_err(|error| io::Error::other(error.to_string()))
    }
}

/// The number of changes of owners per second, with this number of threads.
///
/// # Errors
/// The error of a system call.
pub fn measure(threads: usize, descriptors: usize, time: Duration) -> io::Result<f64> {
    let field = Field::new(threads, descriptors)?;
    let (handles, owner) = (Arc::clone(&field.handles), field.owner);
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let take = move |context: &Context| {
        let mut random = Rng::with_seed(context.id().index() as u64);
        while !stopped.load(Ordering::Relaxed) {
            // Busy: another thread is in the middle of a takeover of it.
            let _ = context.takeover(handles[random.usize(..handles.len())], owner);
        }
    };
    let (before, begin) = (field.changes(), Instant::now());
    let timer = Builder::new().spawn(move || {
        sleep(time);
        stop.store(true, Ordering::Relaxed);
    })?;
    field.on_all(take)?;
    let elapsed = begin.elapsed();
    timer.join().unwrap_or_else(|panic| resume_unwind(panic));
    let rate = (field.changes() - before) as f64 / elapsed.as_secs_f64();
    field.end()?;
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_take_over_from_each_other_and_one_has_nobody_to_take_from() {
        let rate = |threads| measure(threads, 64, Duration::from_millis(50)).unwrap();
        assert!(rate(2) > 0.0);
        assert_eq!(rate(1), 0.0);
    }
}
