//! The loops that are compared. Each registers the descriptors of a ring, lets the tokens go round, and
//! returns the processor time of its thread.

mod bare;
mod core;
#[cfg(feature = "libevent")]
mod libevent;
#[cfg(feature = "libuv")]
mod libuv;
mod peers;

use std::io;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use fd_core::poller::Trigger;

use crate::ring::Ring;
use crate::work::{Poller, Work};

pub use bare::kernel::BACKEND;

/// An event loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loop {
    /// fd-core, with one thread, level-triggered.
    FdCore,
    /// The same, edge-triggered.
    FdCoreEdge,
    /// The bare system call.
    Bare,
    /// mio, which is edge-triggered.
    Mio,
    /// polling, level-triggered.
    Polling,
    /// libevent 2.
    #[cfg(feature = "libevent")]
    Libevent,
    /// libuv's uv_poll_t.
    #[cfg(feature = "libuv")]
    Libuv,
}

/// The loops beside which fd-core is measured.
pub const LOOPS: &[Loop] = &[
    Loop::Bare,
    Loop::Mio,
    Loop::Polling,
    #[cfg(feature = "libevent")]
    Loop::Libevent,
    #[cfg(feature = "libuv")]
    Loop::Libuv,
];

/// The loop of this name, with hyphens for blanks.
///
/// # Errors
/// A list of the names.
pub fn named(name: &str) -> Result<Loop, String> {
    let all = || [Loop::FdCore, Loop::FdCoreEdge].into_iter().chain(LOOPS.iter().copied());
    let names = || all().map(Loop::argument).collect::<Vec<_>>().join(", ");
    all().find(|which| which.argument() == name).ok_or_else(|| format!("use one of: {}", names()))
}

impl Loop {
    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::FdCore => "fd-core",
            Self::FdCoreEdge => "fd-core, edge-triggered",
            Self::Bare => "bare call",
            Self::Mio => "mio",
            Self::Polling => "polling",
            #[cfg(feature = "libevent")]
            Self::Libevent => "libevent",
            #[cfg(feature = "libuv")]
            Self::Libuv => "libuv",
        }
    }

    /// The name on the command line.
    pub fn argument(self) -> String {
        self.name().replace(", ", "-").replace(' ', "-")
    }

    /// fd-core with this loop's trigger.
    pub fn counterpart(self) -> Self {
        if self == Self::Mio { Self::FdCoreEdge } else { Self::FdCore }
    }

    /// Whether the loop can use the work's system call.
    pub fn can(self, work: &Work) -> bool {
        match self {
            Self::FdCore | Self::FdCoreEdge | Self::Bare => true,
            #[cfg(feature = "libevent")]
            Self::Libevent => true,
            _ => work.poller == Poller::Kernel,
        }
    }

    /// Runs a sample in a thread of its own. Returns the processor time of the thread that ran the loop, from
    /// the first token to the last event.
    ///
    /// Each system call on a descriptor costs more in a process with several threads: the kernel counts its
    /// users, and the C library's function is a cancellation point. fd-core always has threads, so the
    /// other loops get one, too.
    ///
    /// # Errors
    /// The error of a system call.
    pub fn run(self, ring: Ring, poller: Poller) -> io::Result<Duration> {
        let sample = thread::Builder::new().spawn(move || self.run_here(ring, poller))?;
        sample.join().unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn run_here(self, ring: Ring, poller: Poller) -> io::Result<Duration> {
        match self {
            Self::FdCore => core::run(ring, poller, Trigger::Level),
            Self::FdCoreEdge => core::run(ring, poller, Trigger::Edge),
            Self::Bare => bare::run(&ring, poller),
            Self::Mio => peers::mio(&ring),
            Self::Polling => peers::polling(&ring),
            #[cfg(feature = "libevent")]
            Self::Libevent => libevent::run(&ring, poller),
            #[cfg(feature = "libuv")]
            Self::Libuv => libuv::run(&ring),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::WORKS;

    /// A sample ends only after its last event, so every loop delivers every event of every work. A work that
    /// needs more descriptors than the system allows differs from another only in their number.
    #[test]
    fn every_loop_ends_every_work() {
        let limit = crate::ring::raise_limit().unwrap();
        for work in WORKS.iter().filter(|work| work.descriptors() <= limit) {
            for which in work.others().flat_map(|other| [other, other.counterpart()]) {
                let ring = Ring::new(work, 1_000).unwrap();
                let time = which.run(ring, work.poller).unwrap();
                assert!(time > Duration::ZERO, "{} {}", work.name, which.name());
            }
        }
    }
}
