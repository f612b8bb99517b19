//! The time of what is measured, and the marks by which a tracer recognises it.

use std::time::{Duration, Instant};

/// The descriptors that one round registers, modifies, removes, closes or hands over.
pub(crate) const BATCH: usize = 16;

/// What a sample took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Sample {
    took: Duration,
    /// How often the operation was performed.
    pub(crate) operations: u64,
}

impl Sample {
    /// A sample of this many rounds, each of which performed the operation this many times.
    pub(crate) fn new(took: Duration, rounds: u32, in_each: usize) -> Self {
        Self { took, operations: u64::from(rounds) * in_each as u64 }
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { took: self.took + other.took, operations: self.operations + other.operations }
    }

    /// The mean time of one operation, in nanoseconds.
    pub(crate) fn nanoseconds(self) -> f64 {
        self.took.as_nanos() as f64 / self.operations as f64
    }
}

/// How a section is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    /// By the clock of this process.
    Here,
    /// By the poller, which is another process: the way to it is not measured.
    Program,
    /// Not at all: marks show a tracer where the section begins and ends.
    Marks,
}

impl Clock {
    /// Performs a section, and adds its time. `spent` returns the time that the poller has measured since its
    /// last call.
    pub(crate) fn time<T>(
        self,
        took: &mut Duration,
        spent: impl Fn() -> Duration,
        section: impl FnOnce() -> T,
    ) -> T {
        match self {
            Self::Here => {
                let begun = Instant::now();
                let result = section();
                *took += begun.elapsed();
                result
            }
            Self::Program => {
                spent();
                let result = section();
                *took += spent();
                result
            }
            Self::Marks => marked(section),
        }
    }
}

/// Performs a section between two marks.
pub(crate) fn marked<T>(section: impl FnOnce() -> T) -> T {
    mark();
    let result = section();
    mark();
    result
}

/// The id of no process: it is greater than any.
pub(crate) const MARK: i32 = 0x7057_4d4b;

/// Makes a system call that nothing else makes: it asks for the group of a process that cannot exist.
fn mark() {
    let _ = nix::unistd::getpgid(Some(nix::unistd::Pid::from_raw(MARK)));
}
