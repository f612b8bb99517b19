//! Which disagreements the catalogue explains.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use exploration::{Cluster, Question};
use metadata::{Seed, Status};
use runner::executable::Executable;
use runner::signals::Stop;
use runner::supervise::{self, Order};
use runner::{Environment, backends};

use crate::error::Error;

/// The time limit of a cell. A cell that does not end explains nothing, so that a loaded machine needs more.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs cells of the matrix on one side.
pub struct Cells<'a> {
    environment: Environment,
    poller: String,
    executable: &'a Executable,
    slow: NonZeroU32,
    /// Whether each question gets the expected answers.
    known: BTreeMap<Question, bool>,
}

impl<'a> Cells<'a> {
    /// Runs cells of the poller that was typed, and is called `name`.
    pub fn of(typed: &str, name: &str, executable: &'a Executable, slow: NonZeroU32) -> Result<Self, Error> {
        let adapters = match backends::find(typed) {
            Some(_) => Vec::new(),
            None => vec![typed.to_owned()],
        };
        let environment = Environment::load(None, &adapters, false, slow)?;
        Ok(Self { environment, poller: name.to_owned(), executable, slow, known: BTreeMap::new() })
    }

    /// Returns whether every answer of the side to this question is known and expected.
    fn are_expected(&mut self, question: &Question, stop: &Stop) -> bool {
        if let Some(known) = self.known.get(question) {
            return *known;
        }
        let cell = format!("{}/{}@{}", question.scenario, question.variant, self.poller);
        let order = Order {
            environment: &self.environment,
            prefix: &[],
            executable: self.executable,
            matrix: None,
            cell: &cell,
            seed: Seed(1),
            fault: None,
            inject_errors: None,
            late_data: None,
            limit: LIMIT,
            slow: self.slow,
            patience: None,
        };
        let attempt = supervise::attempt(&order, || stop.requested());
        let expected = attempt.is_some_and(|attempt| {
            attempt.status == Status::Pass && attempt.counters.get("unknown").is_none_or(|count| *count == 0)
        });
        self.known.insert(*question, expected);
        expected
    }
}

/// Removes the questions that do not explain a disagreement. A question explains it if both sides give the
/// answers that are expected of them: then the matrix knows that they differ.
pub fn explain(clusters: &mut [Cluster], sides: &mut [Cells<'_>], stop: &Stop) {
    for cluster in clusters {
        cluster.known.retain(|question| sides.iter_mut().all(|side| side.are_expected(question, stop)));
    }
}
