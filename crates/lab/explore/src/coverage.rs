//! What a line has shown: the triples of state, verb and answer.

use std::collections::BTreeSet;

use raw::verbs::{Action, Call, Clause};

use crate::compare::without_numbers;
use crate::line::Line;
use crate::model::Model;
use crate::side::{Features, Runs};

/// A triple of state, verb and answer, as a hash.
pub type Triple = u64;

/// Returns the triples of a line, in the order of its clauses. The answers of both sides count as one answer.
pub fn triples(line: &Line, features: &Features, left: &Runs, right: &Runs) -> Vec<Triple> {
    let mut model = Model::new(line.transport, line.mode, features);
    let mut found = Vec::new();
    for (index, clause) in line.clauses().iter().enumerate() {
        let answers = |runs: &Runs| -> BTreeSet<String> {
            let answers = runs.iter().filter_map(|run| run.answers.get(index));
            answers.map(|answer| without_sizes(clause, answer)).collect()
        };
        let (left, right) = (answers(left), answers(right));
        if left.is_empty() && right.is_empty() {
            break;
        }
        let state = model.describe(clause);
        let head = format!("{} {}|{state}|{}", line.transport, line.mode, clause.action);
        found.push(hash(&format!("{head}|{left:?}|{right:?}")));
        let _ = model.advance(clause);
    }
    found
}

/// Returns the answer without the numbers that depend on the sizes of buffers.
fn without_sizes(clause: &Clause, answer: &str) -> String {
    match &clause.action {
        Action::Call(_, Call::Fills(_) | Call::Reads(_)) => without_numbers(answer),
        _ => answer.to_owned(),
    }
}

/// Returns FNV-1a of a text: the same on every machine and in every version.
pub fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use metadata::Mode;

    use super::*;
    use crate::compare::single;
    use crate::side::{End, Performed};

    fn shown(line: &str, answers: &[&str]) -> Vec<Triple> {
        let features = Features { modes: vec![Mode::Level], ..Features::default() };
        let answers = answers.iter().map(ToString::to_string).collect();
        let runs = single(Performed { answers, end: End::Performed });
        triples(&line.parse().unwrap(), &features, &runs, &runs)
    }

    #[test]
    fn another_state_verb_or_answer_is_another_triple() {
        let one = shown("unix level: own and peer are connected, add own?, wait", &["ok", "0", "OUT"]);
        let other = shown("unix level: own and peer are connected, add own?, wait", &["ok", "0", "IN"]);
        assert_eq!(one.len(), 3);
        assert_eq!((one[..2] == other[..2], one[2] == other[2]), (true, false));
        let sent = "unix level: own and peer are connected, add own?, peer sends 1?, wait";
        let sent = shown(sent, &["ok", "0", "1", "OUT"]);
        assert_ne!(one[2], sent[3], "the state is another one");
    }

    #[test]
    fn the_size_of_a_buffer_is_no_new_answer() {
        let line = "unix level: own and peer are connected, own fills?";
        assert_eq!(shown(line, &["ok", "219264 B: EAGAIN"]), shown(line, &["ok", "8192 B: EAGAIN"]));
        assert_ne!(shown(line, &["ok", "219264 B: EAGAIN"]), shown(line, &["ok", "0 B: EPIPE"]));
    }

    #[test]
    fn a_hash_never_changes() {
        assert_eq!(hash("pollmatrix"), 0x403f_4d00_5ccb_ff61);
    }
}
