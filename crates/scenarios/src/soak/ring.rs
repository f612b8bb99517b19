//! The last operations of a thread: what a violation shows of the schedule.

use std::fmt;

use fd_core::FdHandle;

const KEPT: usize = 48;

macro_rules! ops {
    ($($(#[doc = $doc:literal])+ $op:ident = $name:literal,)*) => {
        /// What a worker does.
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
    /// Takes a descriptor from another thread.
    Takeover = "takeovers tried",
    /// Gives one to a thread of any group.
    Migrate = "migrations",
    /// Wants to receive.
    Want = "wants",
    /// Stops wanting.
    Stop = "stops",
    /// Uses it outside a report.
    Enter = "enters",
    /// Writes to its other end.
    Write = "writes",
    /// Deletes it and inserts another one.
    Delete = "deletes",
    /// The same without closing.
    Disown = "disowns",
    /// Uses a handle whose registration is over.
    Stale = "stale uses",
    /// Wants or stops a listener of the group.
    Flap = "flaps",
    /// Waits for another thread.
    Park = "parks",
    /// Lets the others run.
    Yield = "yields",
    /// A report was handled.
    Report = "reports",
}

#[derive(Clone, Copy)]
struct Done {
    number: u64,
    op: Op,
    handle: Option<FdHandle>,
    outcome: &'static str,
}

/// See the module.
pub(super) struct Ring {
    last: [Option<Done>; KEPT],
    number: u64,
    done: [u64; Op::ALL.len()],
}

impl Default for Ring {
    fn default() -> Self {
        Self { last: [None; KEPT], number: 0, done: [0; Op::ALL.len()] }
    }
}

impl Ring {
    pub(super) fn note(&mut self, op: Op, handle: Option<FdHandle>, outcome: &'static str) {
        self.last[self.number as usize % KEPT] = Some(Done { number: self.number, op, handle, outcome });
        self.number += 1;
        self.done[op as usize] += 1;
    }

    pub(super) fn done(&self, op: &Op) -> u64 {
        self.done[*op as usize]
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.number as usize % KEPT;
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
        for _ in 0..KEPT {
            ring.note(Op::Want, None, "done");
        }
        ring.note(Op::Stop, None, "stale");
        let text = ring.to_string();
        assert_eq!(text.lines().count(), KEPT);
        assert!(text.lines().next().is_some_and(|line| line.contains(" 1 wants")), "{text}");
        assert!(text.lines().last().is_some_and(|line| line.contains("stops") && line.contains(": stale")));
        assert_eq!((ring.done(&Op::Want), ring.done(&Op::Stop)), (KEPT as u64, 1));
    }
}
