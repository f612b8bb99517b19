//! The last operations of a thread: the part of the schedule that a violation shows.

use std::fmt;

use fd_core::FdHandle;

const CAPACITY: usize = 48;

macro_rules! ops {
    ($($(#[doc = $doc:literal])+ $op:ident = $name:literal,)*) => {
        /// The operations of a worker.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Op { $($(#[doc = $doc])+ $op,)* }

        impl Op {
            pub(super) const ALL: &'static [Self] = &[$(Self::$op,)*];

            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$op => $name,)* }
            }
        }
    };
}

ops! {
    /// Takes a descriptor over from another thread.
    Takeover = "takeovers tried",
    /// Moves a descriptor to a thread of any group.
    Migrate = "migrations",
    /// Enables read interest.
    Want = "wants",
    /// Disables read interest.
    Stop = "stops",
    /// Uses a descriptor outside a report.
    Enter = "enters",
    /// Writes to the other end of a descriptor.
    Write = "writes",
    /// Deletes a registration and inserts another one.
    Delete = "deletes",
    /// Disowns a registration and inserts another one.
    Disown = "disowns",
    /// Uses a handle of an ended registration.
    Stale = "stale uses",
    /// Starts or stops a listener.
    Flap = "flaps",
    /// Waits until another thread posts the next batch.
    Park = "parks",
    /// Lets other threads run.
    Yield = "yields",
    /// Handles a report.
    Report = "reports",
}

#[derive(Clone, Copy)]
struct Done {
    number: u64,
    op: Op,
    handle: Option<FdHandle>,
    outcome: &'static str,
}

/// The last operations of one thread, and the number of all of them.
pub(super) struct Ring {
    last: [Option<Done>; CAPACITY],
    number: u64,
    done: [u64; Op::ALL.len()],
}

impl Default for Ring {
    fn default() -> Self {
        Self { last: [None; CAPACITY], number: 0, done: [0; Op::ALL.len()] }
    }
}

impl Ring {
    pub(super) fn note(&mut self, op: Op, handle: Option<FdHandle>, outcome: &'static str) {
        self.last[self.number as usize % CAPACITY] = Some(Done { number: self.number, op, handle, outcome });
        self.number += 1;
        self.done[op as usize] += 1;
    }

    pub(super) fn done(&self, op: &Op) -> u64 {
        self.done[*op as usize]
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.number as usize % CAPACITY;
        for done in self.last[at..].iter().chain(&self.last[..at]).flatten() {
            write!(f, "  {:>8} {:15}", done.number, done.op.name())?;
            match done.handle {
                Some(handle) => write!(f, " fd {} registration {}", handle.number(), handle.generation())?,
                None => write!(f, " -")?,
            }
            writeln!(f, ": {}", done.outcome)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_operations_are_kept_in_order_and_all_are_counted() {
        let mut ring = Ring::default();
        for _ in 0..CAPACITY {
            ring.note(Op::Want, None, "done");
        }
        ring.note(Op::Stop, None, "stale");
        let text = ring.to_string();
        assert_eq!(text.lines().count(), CAPACITY);
        assert!(text.lines().next().is_some_and(|line| line.contains(" 1 wants")), "{text}");
        assert!(text.lines().last().is_some_and(|line| line.contains("stops") && line.contains(": stale")));
        assert_eq!((ring.done(&Op::Want), ring.done(&Op::Stop)), (CAPACITY as u64, 1));
    }
}
