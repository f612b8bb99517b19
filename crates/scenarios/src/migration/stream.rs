//! A connection that knows what it must read next, and notices who reads it at the same time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fd_core::poller::Trigger;
use fd_core::{FdHandle, Handler, ReadyGuard};

use crate::test_context::TestContext;
use crate::transport::read_all;

/// A connection: what it must read next, and who is reading.
pub(super) struct Connection {
    stream: Mutex<Stream>,
    inside: AtomicBool,
    overlaps: AtomicU64,
    /// Whether it may leave data for the next report.
    may_leave: bool,
    /// Its registration, once it has one.
    pub(super) handle: OnceLock<FdHandle>,
}

#[derive(Default)]
struct Stream {
    /// The beginning of a frame.
    partial: Vec<u8>,
    next: u32,
    /// The first frame that was not the next one.
    wrong: Option<(u32, u32)>,
}

impl Connection {
    /// One that has read nothing. Level-triggered, it may leave data for the next report.
    pub(super) fn new(trigger: Trigger) -> Arc<Self> {
        Arc::new(Self {
            stream: Mutex::default(),
            inside: AtomicBool::new(false),
            overlaps: AtomicU64::new(0),
            may_leave: trigger == Trigger::Level,
            handle: OnceLock::new(),
        })
    }

    /// Reads what there is, or some of it.
    pub(super) fn read(&self, ready: &ReadyGuard<'_>) {
        // S1 makes the mutex superfluous. It is there so that a core that breaks S1 is still counted correctly.
        if self.inside.swap(true, Ordering::SeqCst) {
            self.overlaps.fetch_add(1, Ordering::SeqCst);
        }
        if fastrand::u8(..4) == 0 {
            // Whoever takes it now, against the rules, meets somebody inside.
            std::thread::yield_now();
        }
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = std::mem::take(&mut stream.partial);
        let end = if self.may_leave && fastrand::bool() {
            let mut some = [0; 16];
            let count = nix::unistd::read(ready, &mut some);
            bytes.extend_from_slice(&some[..count.unwrap_or(0)]);
            count == Ok(0)
        } else {
            read_all(ready, &mut bytes).unwrap_or(true)
        };
        let mut frames = bytes.chunks_exact(4);
        for frame in &mut frames {
            let number = u32::from_le_bytes(frame.try_into().unwrap_or_default());
            if number != stream.next {
                let expected = stream.next;
                stream.wrong.get_or_insert((expected, number));
            }
            stream.next = stream.next.wrapping_add(1);
        }
        stream.partial = frames.remainder().to_vec();
        drop(stream);
        if end {
            let _ = ready.registration().stop_recv();
        }
        self.inside.store(false, Ordering::SeqCst);
    }

    /// How many frames it has read.
    pub(super) fn received(&self) -> u32 {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).next
    }

    /// Whether somebody is reading.
    pub(super) fn is_inside(&self) -> bool {
        self.inside.load(Ordering::SeqCst)
    }

    /// Checks that it has read `frames` frames in order, by one thread at a time.
    pub(super) fn account(&self, test: &mut TestContext, at: &dyn Fn(&str) -> String, frames: u32) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let wrong = format!("{:?}", stream.wrong);
        test.check_eq(at("frames"), frames, stream.next, "S3, L1: none lost, none doubled");
        test.check_eq(at("bytes of an unfinished frame"), 0, stream.partial.len(), "S3");
        test.check_eq(at("first frame out of order"), "None".into(), wrong, "S1, S3");
        let overlaps = self.overlaps.load(Ordering::SeqCst);
        test.check_eq(at("entries while another thread was inside"), 0, overlaps, "S1, bug 66");
    }
}

impl Handler for Connection {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.read(ready);
    }
}
