//! For tests: a cell as a test, and the backends of this OS.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use fd_core::poller::MakeBackend;
use metadata::{Attempt, Description, Seed, Status};

use crate::environment::Environment;
use crate::executable::Executable;
use crate::plan::Source;
use crate::schedule::{self, SLOW_VARIABLE};
use crate::supervise::{self, Order};
use crate::{backends, cell, output};

/// Every backend that this OS has, by name.
pub fn backends() -> impl Iterator<Item = (&'static str, MakeBackend)> {
    backends::here().map(|backend| (backend.name, backend.core))
}

/// Every scenario that a matrix file can name.
pub fn descriptions() -> Vec<Description> {
    cell::descriptions()
}

/// What a generated test runs its cell with.
pub struct Runner {
    environment: Environment,
    executable: Executable,
}

impl Runner {
    /// Runs cells with the `pollmatrix` executable at this path.
    pub fn new(executable: &'static str) -> Self {
        let executable = Executable::watch(Path::new(executable));
        Self { environment: Environment::default(), executable }
    }

    /// Runs one attempt of a cell in a process of its own, as `pollmatrix run` does.
    ///
    /// An answer of `unsupported` is printed and accepted: the test harness has no way to say it at run time. So is a
    /// failure that the expectations document.
    ///
    /// # Panics
    /// If the cell does not pass, with everything that is known about it.
    pub fn assert_cell(&self, scenario: &str, variant: &str, backend: &str, seconds: u64) {
        let cell = format!("{scenario}/{variant}@{backend}");
        if let Err(failure) = self.attempt(&cell, Duration::from_secs(seconds)) {
            panic!("{failure}");
        }
    }

    /// Runs one attempt of each of a scenario's cells on a backend, as [`assert_cell`](Self::assert_cell) does.
    ///
    /// # Panics
    /// If there is no such cell, or one does not pass: with everything that is known about all of those.
    pub fn assert_scenario(&self, scenario: &str, backend: &str) {
        let source = Source::load(None, &self.environment).unwrap_or_else(|error| panic!("{error}"));
        let cells = source.matrix.cells();
        let meant = cells.iter().filter(|cell| cell.id.scenario == scenario && cell.id.backend == backend);
        let attempts: Vec<_> = meant.map(|cell| self.attempt(&cell.id.to_string(), cell.timeout)).collect();
        assert!(!attempts.is_empty(), "{scenario} has no cell on {backend}: `pollmatrix generate`");
        let failures: Vec<_> = attempts.into_iter().filter_map(Result::err).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    }

    /// What is known about the cell if it does not pass.
    fn attempt(&self, cell: &str, limit: Duration) -> Result<(), String> {
        let order = Order {
            environment: &self.environment,
            prefix: &[],
            executable: &self.executable,
            matrix: None,
            cell,
            // Tests are to be the same each time; `pollmatrix run` is what draws seeds.
            seed: Seed(1),
            fault: None,
            inject_errors: None,
            limit,
            slow: slowness(),
            patience: None,
        };
        let attempt = supervise::attempt(&order, || false)
            .unwrap_or_else(|| panic!("the executable was replaced during the test"));
        let attempt = self.environment.judge(attempt);
        let reason = attempt.reason.as_deref().unwrap_or_default();
        match attempt.status {
            Status::Pass => {}
            Status::Permitted | Status::KnownFail => {
                output::say_in_test(&format!("{}: {cell}: {reason}", attempt.status));
            }
            Status::Unsupported => output::say_in_test(&format!("unsupported here: {cell}: {reason}")),
            _ => return Err(failure(&attempt)),
        }
        Ok(())
    }
}

/// As `--slow` would say it.
fn slowness() -> NonZeroU32 {
    let said = std::env::var(SLOW_VARIABLE).ok();
    said.map_or(NonZeroU32::MIN, |text| {
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
    text.push_str(&format!("again: pollmatrix run '{}' --seed {}", attempt.cell, attempt.seed));
    text
}
