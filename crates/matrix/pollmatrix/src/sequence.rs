//! A script as a sequence diagram, from the parser.

use raw::verbs::{Action, Call, Change, Clause, FIRST, Script, Storm, Work};
use report::sequence::{Lane, LaneKind, Sequence, Step, StepKind};

/// Returns the diagram of a script. `answer` returns the recorded answer to the question of a state.
pub fn sequence(script: &Script, answer: impl Fn(Option<&str>) -> Option<String>) -> Sequence {
    let mut course = Course { drawn: Sequence::default(), pairs: Vec::new() };
    let mut state = None;
    for clause in &script.clauses {
        state = clause.state.as_deref().or(state);
        course.clause(clause);
        if let Some(last) = course.drawn.steps.last_mut().filter(|step| step.kind == StepKind::Bell) {
            last.answer = answer(state);
        }
    }
    course.drawn
}

struct Course<'a> {
    drawn: Sequence,
    /// The connected descriptors.
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Course<'a> {
    /// Returns the lifeline with this name, which is new if there is none.
    fn lane(&mut self, name: &str, kind: LaneKind) -> usize {
        let lanes = &mut self.drawn.lanes;
        lanes.iter().position(|lane| lane.name == name).unwrap_or_else(|| {
            lanes.push(Lane { name: name.to_owned(), kind });
            lanes.len() - 1
        })
    }

    fn poller(&mut self, name: &str) -> usize {
        self.lane(if name == FIRST { "poller" } else { name }, LaneKind::Poller)
    }

    fn descriptor(&mut self, name: &str) -> usize {
        self.lane(name, LaneKind::Descriptor)
    }

    fn partner(&self, name: &str) -> Option<&'a str> {
        let of = |(one, other): &(&'a str, &'a str)| match name {
            _ if *one == name => Some(*other),
            _ if *other == name => Some(*one),
            _ => None,
        };
        self.pairs.iter().rev().find_map(of)
    }

    fn clause(&mut self, clause: &'a Clause) {
        let text = clause.action.to_string();
        let mark = if clause.is_question { "?" } else { "" };
        let asks = if clause.is_question { StepKind::Question } else { StepKind::Fact };
        // The name of the lifeline is above: the label is the verb.
        let verb = |name: &str| text.strip_prefix(name).unwrap_or(&text).trim().to_owned() + mark;
        let (from, to, text, kind) = match &clause.action {
            Action::Make(name, _) => {
                let lane = self.descriptor(name);
                (lane, lane, verb(name), asks)
            }
            Action::Connect(one, other) => {
                self.pairs.push((one, other));
                let lanes = (self.descriptor(one), self.descriptor(other));
                (lanes.0, lanes.1, "connected".to_owned(), asks)
            }
            Action::Call(name, call) => {
                let lane = self.descriptor(name);
                let to = self.target(name, call).map_or(lane, |other| self.descriptor(other));
                (lane, to, verb(name), asks)
            }
            Action::Change(Change { descriptor, poller, .. }) => {
                let text = text.replacen(&format!(" {descriptor}"), "", 1) + mark;
                (self.descriptor(descriptor), self.poller(poller), text, asks)
            }
            Action::Take(poller) | Action::Wake { poller, .. } | Action::ClosePoller(poller) => {
                let lane = self.poller(poller);
                (lane, lane, text + mark, asks)
            }
            Action::Look { at, .. } => {
                let text = text.replacen(&format!(" at {at}"), "", 1);
                (self.poller(FIRST), self.descriptor(at), text, StepKind::Bell)
            }
            Action::Wait { poller, .. } | Action::Inspect(poller) => {
                let lane = self.poller(poller);
                (lane, lane, text, StepKind::Bell)
            }
            Action::ThreadWaits { thread, poller, .. } => {
                let lane = self.lane(thread, LaneKind::Thread);
                (lane, self.poller(poller), verb(thread), asks)
            }
            Action::Signal { thread, .. } => {
                let lane = self.lane(thread, LaneKind::Thread);
                (lane, lane, verb(thread), asks)
            }
            Action::ThreadAnswers(thread) => {
                let lane = self.lane(thread, LaneKind::Thread);
                (lane, lane, verb(thread), StepKind::Bell)
            }
            Action::Waiters { poller, .. } => (self.threads(), self.poller(poller), text, asks),
            Action::WorkerPool { poller, work, .. } => {
                let threads = self.threads();
                let to = match work {
                    Work::Accept(listener) => self.descriptor(listener),
                    Work::Storm(Storm::Remove(name) | Storm::Modify(name), _) => self.descriptor(name),
                    Work::Look(_) | Work::Collect | Work::Storm(Storm::Close, _) => self.poller(poller),
                };
                (threads, to, text, asks)
            }
            Action::Chain { over, outermost, .. } => {
                (self.descriptor(over), self.descriptor(outermost), text + mark, asks)
            }
            Action::ThreadsAnswer | Action::ThreadsShare => {
                let lane = self.threads();
                (lane, lane, text, StepKind::Bell)
            }
            Action::Clients { listener, .. } => {
                let lane = self.lane("clients", LaneKind::Descriptor);
                (lane, self.descriptor(listener), text, asks)
            }
            Action::ChildAnswers => {
                let lane = self.child();
                (lane, lane, text, StepKind::Bell)
            }
            Action::Fork
            | Action::ChildEnds
            | Action::ChildWaits(_)
            | Action::ChildTakesTerminal(_)
            | Action::ChildIsStopped => {
                let lane = self.child();
                (lane, lane, text, asks)
            }
            Action::Times(_)
            | Action::Title(_)
            | Action::MakePoller
            | Action::Limit(_)
            | Action::Pairs(_) => {
                let lane = self.lane("process", LaneKind::Thread);
                (lane, lane, text + mark, asks)
            }
        };
        let text = match clause.process.prefix().trim_end() {
            "" => text,
            process => format!("{process}: {text}"),
        };
        self.drawn.steps.push(Step { from, to, text, kind, answer: None });
    }

    fn threads(&mut self) -> usize {
        self.lane("threads", LaneKind::Thread)
    }

    fn child(&mut self) -> usize {
        self.lane("child", LaneKind::Child)
    }

    /// Returns the descriptor that a call has an effect on, if that is another one.
    fn target(&self, name: &str, call: &'a Call) -> Option<&'a str> {
        match call {
            Call::Connects(Some(other)) | Call::Reaches(other) | Call::Accepts(other) => Some(other),
            Call::Sends(_)
            | Call::SendsNothing
            | Call::SendsUrgent
            | Call::Fills(_)
            | Call::Shuts(_)
            | Call::Resets
            | Call::Closes => self.partner(name),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(script: &str) -> Vec<String> {
        let drawn = sequence(&script.parse().unwrap(), |state| Some(format!("in {}", state.unwrap_or("-"))));
        let name = |lane: usize| drawn.lanes[lane].name.as_str();
        let step = |step: &Step| {
            let answer = step.answer.as_deref().unwrap_or_default();
            format!("{}>{} {} {:?} {answer}", name(step.from), name(step.to), step.text, step.kind)
        };
        drawn.steps.iter().map(step).collect()
    }

    #[test]
    fn an_arrow_leads_to_what_a_clause_has_an_effect_on_and_a_bell_has_the_answer_of_its_state() {
        assert_eq!(
            steps(
                "own and peer are connected, watch own, peer sends 3, look at own as some, own reads?, peer closes, look at own"
            ),
            [
                "own>peer connected Fact ",
                "own>poller watch Fact ",
                "peer>own sends 3 Fact ",
                "poller>own look as some Bell in some",
                "own>own reads? Question ",
                "peer>own closes Fact ",
                "poller>own look Bell in some",
            ]
            .map(|line| line.replace("look as some", "look"))
        );
        assert_eq!(
            steps("own listens, add own for reading in second, t waits in second, c reaches own, t answers"),
            [
                "own>own listens Fact ",
                "own>second add for reading in second Fact ",
                "t>second waits in second Fact ",
                "c>own reaches own Fact ",
                "t>t answers Bell in -",
            ]
        );
    }

    /// A diagram has every clause, and no lifeline without one.
    #[test]
    fn every_script_of_the_catalogue_has_a_diagram() {
        for scripted in raw::scenarios() {
            let script: Script = scripted.script.parse().unwrap();
            let drawn = sequence(&script, |_| None);
            assert_eq!(drawn.steps.len(), script.clauses.len(), "{}", scripted.id);
            for lane in 0..drawn.lanes.len() {
                assert!(
                    drawn.steps.iter().any(|step| [step.from, step.to].contains(&lane)),
                    "{}",
                    scripted.id
                );
            }
        }
    }
}
