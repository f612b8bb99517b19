//! Repeats scripts whose answers depend on the scheduler.

use metadata::Answer;

use super::run_once;
use crate::verbs::Clause;
use crate::{Setting, Stopped, Transcript};

/// Runs the clauses `times` times, each time with everything made anew. Each answer counts the answers of the
/// rounds.
pub(super) fn run(times: usize, clauses: &[Clause], setting: Setting) -> (Transcript, Result<(), Stopped>) {
    let mut all = Transcript::default();
    let mut rounds = Vec::new();
    for _ in 0..times {
        let (transcript, ended) = run_once(clauses, setting);
        all.trace.extend(transcript.trace);
        if ended.is_err() {
            all.observations = transcript.observations;
            if let Err(Stopped::Ended(_)) = &ended {
                // The other answers of this round are no counts.
                let first = all.observations.len().saturating_sub(1);
                all.observations.drain(..first);
            }
            return (all, ended);
        }
        rounds.push(transcript.observations);
    }
    all.observations = rounds.first().cloned().unwrap_or_default();
    for (index, observation) in all.observations.iter_mut().enumerate() {
        observation.answer = Answer::counted(rounds.iter().map(|round| round[index].answer.clone()));
    }
    (all, Ok(()))
}
