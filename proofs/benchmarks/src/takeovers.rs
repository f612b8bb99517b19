//! How many takeovers the threads of a runtime make in a second.
//!
//! Each thread takes random descriptors over from the others as quickly as it can. Nothing else happens, so
//! this is the greatest rate, and the hardest case for the cache: nearly each entry was last written by
//! another thread.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fastrand::Rng;
use fd_core::{Context, FdHandle, Handler, InsertOptions, OwnerId, ReadyGuard, Runtime};

use crate::loops::BACKEND;

/// The owner of every descriptor.
struct Idle;

impl Handler for Idle {
    fn ready(&self, _: &ReadyGuard<'_>) {}
}

/// The number of changes of owners per second, with this number of threads.
///
/// # Errors
/// The error of a system call.
pub fn measure(threads: usize, descriptors: usize, time: Duration) -> io::Result<f64> {
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
    let handles: Arc<[FdHandle]> = (0..descriptors).map(insert).collect::<io::Result<_>>()?;

    let shared = Arc::new((Barrier::new(threads + 1), AtomicBool::new(false)));
    let (ended, all_ended) = channel();
    for thread in core.threads() {
        let (handles, shared, ended) = (Arc::clone(&handles), Arc::clone(&shared), ended.clone());
        let take = move |context: &Context| {
            let mut random = Rng::with_seed(context.id().index() as u64);
            shared.0.wait();
            while !shared.1.load(Ordering::Relaxed) {
                // Busy: another thread is in the middle of a takeover of it.
                let _ = context.takeover(handles[random.usize(..handles.len())], owner);
            }
            drop(ended);
        };
        core.post(thread, take).map_err(io::Error::other)?;
    }
    drop(ended);
    shared.0.wait();
    let begin = Instant::now();
    sleep(time);
    shared.1.store(true, Ordering::Relaxed);
    // It ends when every thread has dropped its sender.
    all_ended.into_iter().for_each(|()| ());
    let elapsed = begin.elapsed();
    let changes = |handle: &FdHandle| core.entry(*handle).map_or(0, |entry| u64::from(entry.takeovers));
    let rate = handles.iter().map(changes).sum::<u64>() as f64 / elapsed.as_secs_f64();
    runtime.stop().map_err(|error| io::Error::other(error.to_string()))?;
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
