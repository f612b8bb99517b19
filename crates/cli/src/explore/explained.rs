//! Which disagreements the catalogue explains.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use exploration::{Cluster, Question};
use metadata::{Seed, Status};
use runner::executable::Executable;
use runner::supervise::{self, Order};
use runner::{Environment, backends};

use crate::error::Error;
use crate::explore::limits::Limits;

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

    /// Returns whether every answer of the side to this question is known and expected. `None`: the
    /// exploration ended before.
    fn are_expected(&mut self, question: &Question, limits: &Limits<'_>) -> Option<bool> {
        if let Some(known) = self.known.get(question) {
            return Some(*known);
        }
        if limits.are_over() {
            return None;
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
        let attempt = supervise::attempt(&order, || limits.are_over())?;
        let expected =
            attempt.status == Status::Pass && attempt.counters.get("unknown").is_none_or(|count| *count == 0);
        self.known.insert(*question, expected);
        Some(expected)
    }
}

/// Removes the questions that do not explain a disagreement. A question explains it if both sides give the
/// answers that are expected of them: then the matrix knows that they differ. A question that could not be
/// asked before the end of the exploration explains nothing, and is moved to `unasked`.
pub fn explain(clusters: &mut [Cluster], sides: &mut [Cells<'_>], limits: &Limits<'_>) {
    for cluster in clusters {
        let mut unasked = BTreeSet::new();
        cluster.known.retain(|question| {
            for side in sides.iter_mut() {
                match side.are_expected(question, limits) {
                    Some(true) => {}
                    Some(false) => return false,
                    None => {
                        unasked.insert(*question);
                        return false;
                    }
                }
            }
            true
        });
        // One explanation is enough.
        cluster.unasked = if cluster.known.is_empty() { unasked } else { BTreeSet::new() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exploration::compare::{Contrast, Difference};
    use exploration::{Cause, Confirmed, Line, catalogue};

    fn cluster() -> Cluster {
        let line: Line = "pipe level: own and peer are connected, wait".parse().unwrap();
        let difference = Difference {
            clause: 1,
            left: "silent".into(),
            right: "IN".into(),
            what: Contrast::default(),
            is_end: false,
        };
        let poll = backends::named("poll").unwrap();
        let features = exploration::Features::of(&*(poll.selector)().unwrap());
        let known = catalogue::lines(&features).into_iter().take(2).map(|known| known.question).collect();
        Cluster {
            cause: Cause::of(&line, &difference),
            settings: BTreeSet::new(),
            line,
            difference,
            lines: 1,
            found_after: 1,
            tried: 0,
            confirmed: Confirmed::default(),
            known,
            unasked: BTreeSet::new(),
        }
    }

    #[test]
    fn what_was_not_asked_in_time_explains_nothing_and_is_named() {
        let executable = Executable::watch(&runner::executable::own().unwrap());
        let stop = runner::signals::Stop::install().unwrap();
        let over = Limits::of(&stop, Some(Duration::ZERO));
        let slow = NonZeroU32::MIN;
        let mut sides = ["poll", "select"].map(|name| Cells::of(name, name, &executable, slow).unwrap());
        let questions = cluster().known;
        let mut clusters = [cluster()];
        explain(&mut clusters, &mut sides, &over);
        assert!(clusters[0].known.is_empty());
        assert_eq!((questions.len(), &clusters[0].unasked), (2, &questions));

        // A known answer needs no time, and one explanation is enough.
        let first = *questions.first().unwrap();
        sides.iter_mut().for_each(|side| _ = side.known.insert(first, true));
        let mut clusters = [cluster()];
        explain(&mut clusters, &mut sides, &over);
        assert_eq!((clusters[0].known.len(), clusters[0].unasked.len()), (1, 0));
    }
}
