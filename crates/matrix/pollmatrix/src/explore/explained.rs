//! Which disagreements the catalogue explains.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use explore::{Cluster, Question};
use matrix::executable::Executable;
use matrix::supervise::{self, Order};
use matrix::{Environment, backends};
use metadata::{RunSpec, Seed, Status};
use raw::cell::NOT_QUERIED;

use crate::error::Error;
use crate::explore::limits::Limits;
use crate::lab;

/// The time limit of a cell. A cell that does not end explains nothing, so that a loaded machine needs more.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs cells of the matrix on one side.
pub struct Cells<'a> {
    /// The given expectations, if any, and the built-in ones: a folder can have the answers of one side
    /// alone.
    environments: Vec<Environment>,
    poller: String,
    executable: &'a Executable,
    slow: NonZeroU32,
    /// What each question was answered.
    known: BTreeMap<Question, Answered>,
}

/// What a side answers to a question of the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answered {
    /// Each answer is known and expected.
    AsExpected,
    /// An answer is not expected, or the question cannot be asked.
    Otherwise,
    /// Each known answer is expected, and the expectations lack one.
    Unknown,
    /// Nothing of this poller: poll(2) has no registrations that could be absent.
    Nothing,
}

impl<'a> Cells<'a> {
    /// Runs cells of the poller that was typed, and is called `name`. They are judged by the expectations in
    /// a folder, and, if those lack an answer, by the built-in ones.
    pub fn of(
        typed: &str,
        name: &str,
        expectations: Option<&Path>,
        executable: &'a Executable,
        slow: NonZeroU32,
    ) -> Result<Self, Error> {
        let adapters = match backends::find(typed) {
            Some(_) => Vec::new(),
            None => vec![typed.to_owned()],
        };
        let folders = expectations.map(Some).into_iter().chain([None]);
        let environments = folders
            .map(|folder| Ok::<_, Error>(Environment::load(lab::boxed(), folder, &adapters, false, slow)?));
        let environments = environments.collect::<Result<_, _>>()?;
        Ok(Self { environments, poller: name.to_owned(), executable, slow, known: BTreeMap::new() })
    }

    /// Asks the side this question. `None`: the exploration ended before.
    fn ask(&mut self, question: &Question, limits: &Limits<'_>) -> Option<Answered> {
        if let Some(known) = self.known.get(question) {
            return Some(*known);
        }
        if limits.are_over() {
            return None;
        }
        let mut answered = Answered::Unknown;
        for environment in &self.environments {
            answered = self.attempt(question, environment, limits)?;
            if answered != Answered::Unknown {
                break;
            }
        }
        self.known.insert(*question, answered);
        Some(answered)
    }

    /// Asks the side this question, and judges the answers by the expectations of an environment.
    fn attempt(
        &self,
        question: &Question,
        environment: &Environment,
        limits: &Limits<'_>,
    ) -> Option<Answered> {
        let cell = format!("{}/{}@{}", question.scenario, question.variant, self.poller);
        let spec = RunSpec { slow: Some(self.slow), ..RunSpec::new(Seed(1)) };
        let order = Order {
            environment,
            prefix: &[],
            executable: self.executable,
            matrix: None,
            cell: &cell,
            spec: &spec,
            limit: LIMIT,
            patience: None,
        };
        let attempt = supervise::attempt(&order, || limits.are_over())?;
        Some(match attempt.status {
            Status::Pass | Status::KnownFail
                if attempt.counters.get("unknown").is_some_and(|count| *count > 0) =>
            {
                Answered::Unknown
            }
            // An answer that is wrong in every reading, and recorded, is as expected.
            Status::Pass | Status::KnownFail => Answered::AsExpected,
            Status::Unsupported if attempt.reason.is_some_and(|why| why.starts_with(NOT_QUERIED)) => {
                Answered::Nothing
            }
            _ => Answered::Otherwise,
        })
    }
}

/// Removes the questions that do not explain a disagreement. A question explains it if both sides give the
/// answers that are expected of them, or one does and the question asks nothing of the other: then the matrix
/// knows that they differ. A question that could not be asked before the end of the exploration explains
/// nothing, and is moved to `unasked`. What was accepted needs no other explanation.
pub fn explain(clusters: &mut [Cluster], sides: &mut [Cells<'_>], limits: &Limits<'_>) {
    for cluster in clusters {
        if !cluster.accepted.is_empty() {
            cluster.known.clear();
            continue;
        }
        let mut unasked = BTreeSet::new();
        cluster.known.retain(|question| {
            let mut is_expected = false;
            for side in sides.iter_mut() {
                match side.ask(question, limits) {
                    Some(Answered::AsExpected) => is_expected = true,
                    Some(Answered::Nothing) => {}
                    Some(Answered::Otherwise | Answered::Unknown) => return false,
                    None => {
                        unasked.insert(*question);
                        return false;
                    }
                }
            }
            is_expected
        });
        // One explanation is enough.
        cluster.unasked = if cluster.known.is_empty() { unasked } else { BTreeSet::new() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::compare::{Contrast, Difference};
    use explore::{Cause, Confirmed, Line, catalogue};

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
        let features = explore::Features::of(&*(poll.selector)().unwrap());
        let known = catalogue::lines(&features).into_iter().take(2).map(|known| known.question).collect();
        Cluster {
            cause: Cause::of(&line, &difference),
            settings: BTreeMap::new(),
            line,
            difference,
            lines: 1,
            found_after: 1,
            tried: 0,
            confirmed: Confirmed::default(),
            known,
            accepted: BTreeSet::new(),
            undercut: BTreeSet::new(),
            unasked: BTreeSet::new(),
        }
    }

    #[test]
    fn what_was_not_asked_in_time_explains_nothing_and_is_named() {
        let executable = Executable::watch(&matrix::executable::own().unwrap());
        let stop = matrix::signals::Stop::install().unwrap();
        let over = Limits::of(&stop, Some(Duration::ZERO));
        let slow = NonZeroU32::MIN;
        let mut sides =
            ["poll", "select"].map(|name| Cells::of(name, name, None, &executable, slow).unwrap());
        let questions = cluster().known;
        let mut clusters = [cluster()];
        explain(&mut clusters, &mut sides, &over);
        assert!(clusters[0].known.is_empty());
        assert_eq!((questions.len(), &clusters[0].unasked), (2, &questions));

        // A known answer needs no time, and one explanation is enough.
        let first = *questions.first().unwrap();
        sides.iter_mut().for_each(|side| _ = side.known.insert(first, Answered::AsExpected));
        let mut clusters = [cluster()];
        explain(&mut clusters, &mut sides, &over);
        assert_eq!((clusters[0].known.len(), clusters[0].unasked.len()), (1, 0));
    }

    #[test]
    fn a_question_explains_if_no_side_answers_otherwise_and_one_is_asked() {
        use Answered::{AsExpected, Nothing, Otherwise, Unknown};
        let executable = Executable::watch(&matrix::executable::own().unwrap());
        let stop = matrix::signals::Stop::install().unwrap();
        let over = Limits::of(&stop, Some(Duration::ZERO));
        for (answered, explains) in [
            ([AsExpected, AsExpected], true),
            ([AsExpected, Nothing], true),
            ([Nothing, AsExpected], true),
            ([Nothing, Nothing], false),
            ([AsExpected, Otherwise], false),
            ([Otherwise, Nothing], false),
            ([AsExpected, Unknown], false),
        ] {
            let mut sides = ["poll", "select"]
                .map(|name| Cells::of(name, name, None, &executable, NonZeroU32::MIN).unwrap());
            let mut clusters = [cluster()];
            for question in &clusters[0].known {
                sides.iter_mut().zip(answered).for_each(|(side, answered)| {
                    side.known.insert(*question, answered);
                });
            }
            explain(&mut clusters, &mut sides, &over);
            assert_eq!(!clusters[0].known.is_empty(), explains, "{answered:?}");
        }
    }
}
