//! What was asked of a run.

use std::num::{NonZeroU32, NonZeroUsize};

use serde::{Deserialize, Serialize};

use super::{Attempt, Run, Seed};

/// What was asked of the attempts of a run, from the command line to the process of a cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunSpec {
    /// The seed of each first attempt. Each further attempt adds one.
    pub seed: Seed,
    /// The fault to switch on.
    pub fault: Option<String>,
    /// One in this many system calls below the core's pollers fails.
    #[serde(default)]
    pub inject_errors: Option<NonZeroU32>,
    /// The scenarios' data arrive up to this many milliseconds late.
    #[serde(default)]
    pub late_data: Option<NonZeroU32>,
    /// The number of attempts per cell.
    pub repeat: u32,
    /// Whether passing attempts keep their timelines, too.
    #[serde(skip)]
    pub timeline: bool,
    /// How many times slower than an ordinary machine the one that runs the cells is. `None`: as fast, or
    /// measured by an executor.
    #[serde(skip)]
    pub slow: Option<NonZeroU32>,
    /// The number of cells to run in parallel. `None`: the number of processors.
    #[serde(skip)]
    pub jobs: Option<NonZeroUsize>,
}

impl RunSpec {
    /// Creates a description of one undisturbed attempt per cell.
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            fault: None,
            inject_errors: None,
            late_data: None,
            repeat: 1,
            timeline: false,
            slow: None,
            jobs: None,
        }
    }

    /// Returns the description of one of the attempts at a cell, counted from 0.
    pub fn attempt(&self, number: u32) -> Self {
        Self { seed: Seed(self.seed.0.wrapping_add(number.into())), ..self.clone() }
    }

    /// Returns how many times slower the machine is, 1 if that is not known.
    pub fn slowness(&self) -> NonZeroU32 {
        self.slow.unwrap_or(NonZeroU32::MIN)
    }

    /// Returns the options that switch on the fault, inject errors and delay data.
    pub fn disturbance_options(&self) -> Vec<String> {
        let fault = self.fault.iter().flat_map(|fault| ["--fault".to_owned(), fault.clone()]);
        let errors = self.inject_errors.map(|one_in| format!("--inject-errors={one_in}"));
        let late = self.late_data.map(|milliseconds| format!("--late-data={milliseconds}"));
        fault.chain(errors).chain(late).collect()
    }

    /// Returns whether a run has this seed, this number of attempts, and these disturbances.
    pub fn is_of_run(&self, run: &Run) -> bool {
        let disturbance = (run.fault.as_deref(), run.inject_errors, run.late_data);
        (self.seed, self.repeat, self.disturbance()) == (run.seed, run.repeat, disturbance)
    }

    /// Returns whether an attempt has this seed and these disturbances.
    pub fn is_of_attempt(&self, attempt: &Attempt) -> bool {
        let disturbance = (attempt.fault.as_deref(), attempt.inject_errors, attempt.late_data);
        (self.seed, self.disturbance()) == (attempt.seed, disturbance)
    }

    fn disturbance(&self) -> (Option<&str>, Option<NonZeroU32>, Option<NonZeroU32>) {
        (self.fault.as_deref(), self.inject_errors, self.late_data)
    }
}
