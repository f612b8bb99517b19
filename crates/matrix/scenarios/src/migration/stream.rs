//! A connection that checks the order of its data, and detects concurrent readers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fd_core::poller::Trigger;

use crate::prelude::*;

/// A connection that receives numbered frames and counts concurrent readers.
#[derive(Default)]
pub(super) struct Connection {
    stream: Mutex<Stream>,
    is_reading: AtomicBool,
    overlaps: AtomicU64,
    /// Whether it may leave data unread until the next report.
    may_leave: bool,
    /// Its registration, after the insertion.
    pub(super) handle: OnceLock<FdHandle>,
}

#[derive(Default)]
struct Stream {
    /// The bytes of an unfinished frame.
    partial: Vec<u8>,
    next: u32,
    /// The first frame out of order: the expected number and the received one.
    wrong: Option<(u32, u32)>,
}

impl Connection {
    /// Creates a connection that has read nothing. Level-triggered, it may leave data unread until the next
    /// report.
    pub(super) fn new(trigger: Trigger) -> Arc<Self> {
        Arc::new(Self { may_leave: trigger == Trigger::Level, ..Self::default() })
    }

    /// Reads the available data, or a part of it.
    pub(super) fn read(&self, ready: &ReadyGuard<'_>) {
        // S1 makes the mutex superfluous. With it, the counts are correct even in a core that violates S1.
        if self.is_reading.swap(true, Ordering::SeqCst) {
            self.overlaps.fetch_add(1, Ordering::SeqCst);
        }
        if fastrand::u8(..4) == 0 {
            // Gives another thread the chance to enter, which would violate S1.
            std::thread::yield_now();
        }
        let mut stream = unpoisoned(&self.stream);
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
        self.is_reading.store(false, Ordering::SeqCst);
    }

    /// Returns the number of frames that it has read.
    pub(super) fn received(&self) -> u32 {
        unpoisoned(&self.stream).next
    }

    /// Returns whether a thread is reading.
    pub(super) fn has_reader(&self) -> bool {
        self.is_reading.load(Ordering::SeqCst)
    }

    /// Checks that it has read `frames` frames in order, by one thread at a time.
    pub(super) fn check(&self, test: &mut TestContext, label: &dyn Fn(&str) -> String, frames: u32) {
        let stream = unpoisoned(&self.stream);
        let wrong = format!("{:?}", stream.wrong);
        test.check_eq(label("frames"), frames, stream.next, "S3, L1: none lost, none duplicated");
        test.check_eq(label("bytes of an unfinished frame"), 0, stream.partial.len(), "S3");
        test.check_eq(label("first frame out of order"), "None".into(), wrong, "S1, S3");
        let overlaps = self.overlaps.load(Ordering::SeqCst);
        test.check_eq(label("reads while another thread was reading"), 0, overlaps, "S1, bug 66");
    }
}

impl Handler for Connection {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.read(ready);
    }
}
