//! The questions of the catalogue as lines: the known differences, and the first lines of a corpus.

use std::collections::BTreeSet;
use std::fmt;

use metadata::{Mode, Variant};
use raw::verbs::{Action, Call, Change, ChangeKind, Clause, FIRST, Name, Script};

use crate::draw::{question, wait};
use crate::line::Line;
use crate::model::Model;
use crate::side::Features;

/// A question of the catalogue over one transport and in one mode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Question {
    /// The behaviour: `V26`.
    pub behaviour: &'static str,
    /// The id of the scenario: `readiness/pipe-writer-closed`.
    pub scenario: &'static str,
    /// The transport and the mode.
    pub variant: Variant,
}

/// `V26 readiness/pipe-writer-closed`
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.behaviour, self.scenario)
    }
}

/// A question as a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// The question.
    pub question: Question,
    /// The script in the verbs that the model has.
    pub line: Line,
}

/// Returns the questions of the catalogue that sides with these features can be asked in the verbs of the
/// model. The rest is left to the matrix, and so are races, whose answers differ from run to run.
pub fn lines(features: &Features) -> Vec<Known> {
    let mut known = Vec::new();
    for scenario in raw::scenarios() {
        let Ok(script) = scenario.script.parse::<Script>() else { continue };
        if is_race(&script) {
            continue;
        }
        for transport in scenario.transports {
            for mode in scenario.modes.iter().filter(|mode| features.modes.contains(mode)) {
                let script = Script { clauses: translate(&script, *mode) };
                let line = Line { transport: *transport, mode: *mode, script };
                if Model::allows(&line, features) {
                    let variant = Variant { transport: *transport, trigger: *mode, threads: 1, groups: 1 };
                    let question = Question { behaviour: scenario.behaviour, scenario: scenario.id, variant };
                    known.push(Known { question, line });
                }
            }
        }
    }
    known
}

/// Returns whether data that may have woken a thread are read before it answers: it looks before or after.
fn is_race(script: &Script) -> bool {
    let (mut waits, mut woken) = (false, false);
    script.clauses.iter().any(|clause| {
        match &clause.action {
            Action::ThreadWaits { .. } | Action::Waiters { .. } => waits = true,
            Action::ThreadAnswers(_) | Action::ThreadsAnswer => (waits, woken) = (false, false),
            Action::Call(_, Call::Sends(_) | Call::SendsUrgent) => woken = waits,
            Action::Call(_, Call::Reads(_) | Call::Drains | Call::ReceivesUrgent) => return woken,
            _ => {}
        }
        false
    })
}

/// Translates a script. A `watch` becomes an addition. A `look at` becomes a wait in the poller that watches
/// the descriptor, or in a new one.
fn translate(script: &Script, mode: Mode) -> Vec<Clause> {
    let mut clauses = Vec::new();
    // The poller in which each descriptor is watched.
    let mut watched: Vec<(Name, Name)> = Vec::new();
    let mut pollers = BTreeSet::new();
    for clause in &script.clauses {
        match &clause.action {
            Action::Title(_) | Action::Times(_) => {}
            Action::Take(poller) => {
                if mode != Mode::Level {
                    clauses.push(wait(poller));
                }
            }
            Action::Change(change) => {
                let kind = if change.kind == ChangeKind::Watch { ChangeKind::Add } else { change.kind };
                clauses.push(question(Action::Change(Change { kind, ..change.clone() })));
                if change.kind == ChangeKind::Watch {
                    watched.push((change.descriptor.clone(), change.poller.clone()));
                    if mode != Mode::Level {
                        clauses.push(wait(&change.poller));
                    }
                }
            }
            Action::Look { at, interest } => {
                let poller = watched.iter().find(|(name, _)| name == at).map(|(_, poller)| poller);
                match (poller, interest) {
                    (Some(poller), None) => clauses.push(wait(poller)),
                    _ => {
                        let poller = format!("{FIRST}-{}", pollers.len() + 2);
                        pollers.insert(poller.clone());
                        let change = Change {
                            kind: ChangeKind::Add,
                            descriptor: at.clone(),
                            interest: *interest,
                            mode: None,
                            poller: poller.clone(),
                            label: None,
                        };
                        clauses.push(question(Action::Change(change)));
                        clauses.push(wait(&poller));
                    }
                }
            }
            action => {
                let is_question = match action {
                    Action::Call(_, call) => !matches!(call, Call::Closes | Call::Listens { .. }),
                    _ => clause.is_question,
                };
                clauses.push(Clause { is_question, state: None, ..clause.clone() });
            }
        }
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_read_behind_a_woken_thread_are_a_race() {
        let race = |script: &str| is_race(&format!("own and peer are connected, {script}").parse().unwrap());
        assert!(race("add own, t waits, peer sends 1, own drains, t answers"));
        assert!(!race("add own, t waits, peer sends 1, t answers, own drains"));
        assert!(!race("own fills, add own, t waits, peer reads, t answers"), "room stays");
        let races = raw::scenarios().filter(|scenario| is_race(&scenario.script.parse().unwrap()));
        assert_eq!(races.map(|scenario| scenario.id).collect::<Vec<_>>(), ["waking/drained-before-the-look"]);
    }

    #[test]
    fn a_look_is_a_wait_in_the_poller_that_watches_or_in_a_new_one() {
        let script = "own and peer are connected, watch own, peer closes, look at own as end, look at peer";
        let translated = |mode| {
            let clauses = translate(&script.parse().unwrap(), mode);
            Script { clauses }.to_string()
        };
        assert_eq!(
            translated(Mode::Level),
            "own and peer are connected, add own?, peer closes, wait, add peer in first-2?, wait in first-2"
        );
        assert!(translated(Mode::Edge).contains("add own?, wait, peer closes, wait"));
    }

    #[test]
    fn most_of_the_catalogue_can_be_translated() {
        let features = Features::every(&[Mode::Level, Mode::Edge, Mode::OneShot]);
        let names: BTreeSet<_> = lines(&features).into_iter().map(|known| known.question.scenario).collect();
        assert!(names.len() > 60, "{}", names.len());
    }
}
