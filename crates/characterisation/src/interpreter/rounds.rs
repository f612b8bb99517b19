//! A line that is done many times, because the scheduler has a say in its answers.

use super::play_once;
use crate::verbs::Clause;
use crate::{Performance, Setting, Stopped};

/// Performs the clauses so many times, each time with everything made anew. Each answer is how often which one came.
pub(super) fn play(times: usize, clauses: &[Clause], setting: Setting) -> (Performance, Result<(), Stopped>) {
    let mut all = Performance::default();
    let mut rounds = Vec::new();
    for _ in 0..times {
        let (performance, ended) = play_once(clauses, setting);
        all.trace.extend(performance.trace);
        if ended.is_err() {
            all.observations = performance.observations;
            return (all, ended);
        }
        rounds.push(performance.observations);
    }
    all.observations = rounds.first().cloned().unwrap_or_default();
    for (place, observation) in all.observations.iter_mut().enumerate() {
        observation.answer = counted(rounds.iter().map(|round| round[place].answer.as_str()));
    }
    (all, Ok(()))
}

/// `wakes=1/8 x19, wakes=2/8 x1`
fn counted<'a>(answers: impl Iterator<Item = &'a str>) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for answer in answers {
        *counts.entry(answer).or_insert(0) += 1;
    }
    counts.iter().map(|(answer, count)| format!("{answer} x{count}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_counted() {
        assert_eq!(counted(["a", "b", "a"].into_iter()), "a x2, b x1");
        assert_eq!(counted(["a"; 20].into_iter()), "a x20");
    }
}
