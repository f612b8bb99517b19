//! Support for tests: runs a cell as a test, and lists the backends of this OS.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use fd_core::poller::MakeBackend;
use metadata::{Attempt, RunSpec, Seed, Status};

use crate::environment::Environment;
use crate::executable::Executable;
use crate::plan::Source;
use crate::schedule::{self, SLOW_VARIABLE};
use crate::supervise::{self, Order};
use crate::{backends, output};

/// Returns every backend that this OS has, by name.
pub fn backends() -> impl Iterator<Item = (&'static str, MakeBackend)> {
    backends::here().map(|backend| (backend.name, backend.core))
}

/// Runs the cells of the generated tests.
pub struct CellRunner {
    environment: Environment,
    executable: Executable,
}

impl CellRunner {
    /// Creates a runner that starts the `pollmatrix` executable at this path.
    pub fn new(environment: Environment, executable: &'static str) -> Self {
        let executable = Executable::watch(Path::new(executable));
        Self { environment, executable }
    }

    /// Runs one attempt of a cell in its own process, as `pollmatrix run` does.
    ///
    /// Prints and accepts the status `unsupported`, which the test harness cannot express at run time, and an
    /// known failure.
    ///
    /// # Panics
    /// If the cell does not pass, with its checks and its standard error.
    pub fn assert_cell(&self, scenario: &str, variant: &str, backend: &str, seconds: u64) {
        let cell = format!("{scenario}/{variant}@{backend}");
        if let Err(failure) = self.attempt(&cell, Duration::from_secs(seconds)) {
            panic!("{failure}");
        }
    }

    /// Runs one attempt of each of a scenario's cells on a backend, as [`assert_cell`](Self::assert_cell)
    /// does.
    ///
    /// # Panics
    /// If there is no such cell, or if cells do not pass, with the checks and the standard error of each.
    pub fn assert_scenario(&self, scenario: &str, backend: &str) {
        let source = Source::load(None, &self.environment).unwrap_or_else(|error| panic!("{error}"));
        let cells = source.matrix.cells();
        let of_scenario =
            cells.iter().filter(|cell| cell.id.scenario == scenario && cell.id.backend == backend);
        let attempts: Vec<_> =
            of_scenario.map(|cell| self.attempt(&cell.id.to_string(), cell.timeout)).collect();
        assert!(!attempts.is_empty(), "{scenario} has no cell on {backend}");
        let failures: Vec<_> = attempts.into_iter().filter_map(Result::err).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    }

    /// Makes one attempt. The error describes a cell that does not pass.
    fn attempt(&self, cell: &str, limit: Duration) -> Result<(), String> {
        // Tests are reproducible; `pollmatrix run` draws random seeds.
        let spec = RunSpec { slow: Some(slowness()), ..RunSpec::new(Seed(1)) };
        let order = Order {
            environment: &self.environment,
            prefix: &[],
            executable: &self.executable,
            matrix: None,
            cell,
            spec: &spec,
            limit,
            patience: None,
        };
        let attempt = supervise::attempt(&order, || false)
            .unwrap_or_else(|| panic!("the executable was replaced during the test"));
        let attempt = self.environment.judge(attempt);
        let reason = attempt.reason.as_deref().unwrap_or_default();
        match attempt.status {
            Status::Pass => {}
            Status::Permitted | Status::KnownFail => {
                output::print_in_test(&format!("{}: {cell}: {reason}", attempt.status));
            }
            Status::Unsupported => output::print_in_test(&format!("unsupported here: {cell}: {reason}")),
            _ => return Err(failure(&attempt)),
        }
        Ok(())
    }
}

/// Returns the slowness of this machine, from the environment variable.
fn slowness() -> NonZeroU32 {
    let value = std::env::var(SLOW_VARIABLE).ok();
    value.map_or(NonZeroU32::MIN, |text| {
        schedule::slowness(&text).unwrap_or_else(|error| panic!("{SLOW_VARIABLE} is '{text}': {error}"))
    })
}

fn failure(attempt: &Attempt) -> String {
    let reason = attempt.reason.as_deref().unwrap_or_default();
    let mut text = format!("{} {}: {reason}\n", attempt.status, attempt.cell);
    for check in attempt.checks.iter().filter(|check| !check.holds) {
        text.push_str(&format!(
            "  {}\n    expected: {}\n    observed: {}\n    source:   {}\n",
            check.what,
            check.expected.join(" | "),
            check.observed,
            check.source
        ));
    }
    if !attempt.stderr.is_empty() {
        text.push_str(&format!("the end of its standard error:\n{}\n", attempt.stderr));
    }
    text.push_str(&format!("rerun: pollmatrix run '{}' --seed {}", attempt.cell, attempt.seed));
    text
}
