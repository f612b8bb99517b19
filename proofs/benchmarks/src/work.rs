//! The works: how many descriptors, how many of them active.

use crate::loops::{LOOPS, Loop};

/// The system call below a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Poller {
    /// epoll on Linux, kqueue on the BSDs and macOS, poll(2) elsewhere.
    Kernel,
    /// poll(2).
    Poll,
    /// select(2).
    Select,
}

/// How tokens move. A handler takes a token from its descriptor and puts it into the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Each token goes round a ring of this many pipes.
    Pipes(usize),
    /// Each token goes to and fro between the ends of a socket pair.
    Pair,
    /// Each token stays in its eventfd. Linux.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    EventFd,
}

/// One row of the table.
#[derive(Debug)]
pub struct Work {
    /// The name.
    pub name: &'static str,
    /// The system call.
    pub poller: Poller,
    /// How tokens move.
    pub shape: Shape,
    /// The number of tokens: so many descriptors are ready at each wait.
    pub active: usize,
    /// The number of registered descriptors that are never ready.
    pub idle: usize,
}

impl Work {
    /// The loops that can do it, without fd-core's own.
    pub fn others(&self) -> impl Iterator<Item = Loop> {
        LOOPS.iter().copied().filter(|other| other.can(self))
    }

    /// The same work with few idle descriptors, if this one has many.
    pub fn with_few_idle(&self) -> Option<Self> {
        (self.idle > 1_000).then_some(Self { idle: 10, ..*self })
    }

    /// The number of descriptors that a sample opens at most, with some for the loop itself.
    pub fn descriptors(&self) -> usize {
        let places = match self.shape {
            Shape::Pipes(count) => 2 * count,
            Shape::Pair => 2,
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Shape::EventFd => 1,
        };
        self.active * places + self.idle + 50
    }
}

const KERNEL: Work = Work { name: "", poller: Poller::Kernel, shape: Shape::Pair, active: 1, idle: 0 };

/// Every work.
pub const WORKS: &[Work] = &[
    Work { name: "pipes-1-active-10-idle", shape: Shape::Pipes(11), ..KERNEL },
    Work { name: "ping-pong", ..KERNEL },
    #[cfg(any(target_os = "linux", target_os = "android"))]
    Work { name: "eventfd-1-active", shape: Shape::EventFd, ..KERNEL },
    Work { name: "pipes-50-active-10-idle", shape: Shape::Pipes(2), active: 50, idle: 10, ..KERNEL },
    Work { name: "pipes-50-active-19000-idle", shape: Shape::Pipes(2), active: 50, idle: 19_000, ..KERNEL },
    Work { name: "pipes-50-active-100000-idle", shape: Shape::Pipes(2), active: 50, idle: 100_000, ..KERNEL },
    Work {
        name: "poll-1-active-700-idle",
        poller: Poller::Poll,
        shape: Shape::Pipes(2),
        idle: 698,
        ..KERNEL
    },
    Work {
        name: "select-1-active-700-idle",
        poller: Poller::Select,
        shape: Shape::Pipes(2),
        idle: 698,
        ..KERNEL
    },
];
