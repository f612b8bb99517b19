//! The answers of pollers, with the raw words. docs/expectations.md describes their notation.

use std::collections::BTreeMap;
use std::fmt;

use crate::column::{Column, Interest, Meaning, Report, Said, is_errno};

/// The name of an event whose token no registration of the poller has had: `stale-token:IN`.
pub const STALE_TOKEN: &str = "stale-token";

/// The answer to one question: one outcome per wait or call. If a script was repeated, each different answer
/// has its count.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Answer(Vec<Round>);

/// The outcomes of one round, and the number of rounds with these outcomes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Round {
    outcomes: Vec<Outcome>,
    /// `20`, or a `*` in an expectation.
    times: Option<String>,
}

/// The outcome of one wait or one call.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// The parts of one wait's answer.
    Reported(Vec<Part>),
    /// A thread that waits still sleeps.
    NotWoken,
    /// A thread's wait ended without an event.
    Woken,
    /// A wait without an event ended at its timeout.
    TimedOut,
    /// A wait without an event ended before its timeout.
    Early,
    /// The poller's program computes, and does not answer.
    Spins,
    /// The poller's program was ended by a signal: `SIGABRT`.
    Aborted(String),
    /// The poller's program ended with this code.
    Exited(String),
    /// A call succeeded.
    Done,
    /// A call failed with this error.
    Failed(String),
    /// A change of several filters: the error of each, or `0`.
    Filters(Vec<(String, String)>),
    /// Anything else, such as a count, or words that the poller does not declare.
    Other(String),
}

/// A part of the answer of one wait.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// No event, in the poller's notation: `silent`, `-`, `---`.
    Silence(String),
    /// An event.
    Event {
        /// The name of its registration, if the poller has several, or [`STALE_TOKEN`].
        of: Option<String>,
        /// The raw words: `IN|HUP`.
        record: String,
    },
    /// A remark of the interpreter about a filter that was refused or failed: `[W add:EPIPE]`.
    Remark(String),
}

/// The notations of an answer without an event.
const SILENCES: [&str; 3] = ["silent", "-", "---"];

/// Returns whether a text is an answer without an event, in the notation of any poller.
pub fn is_silence(text: &str) -> bool {
    SILENCES.contains(&text)
}

impl Answer {
    /// Parses the answer of a poller with these words to a wait. What it does not declare is
    /// [`Outcome::Other`].
    pub fn of_wait(text: &str, column: &Column) -> Self {
        Self::parse(text, |text| Outcome::of_wait(text, column))
    }

    /// Parses the answer to a call.
    pub fn of_call(text: &str) -> Self {
        Self::parse(text, Outcome::of_call)
    }

    /// Parses the answer to a question: a wait has a trigger, another call has none.
    pub fn of(text: &str, trigger: Option<&str>, column: &Column) -> Self {
        if trigger.is_some() { Self::of_wait(text, column) } else { Self::of_call(text) }
    }

    fn parse(text: &str, outcome: impl Fn(&str) -> Outcome) -> Self {
        let round = |text: &str| {
            let counted = text.rsplit_once(" x");
            let is_count = |times: &str| {
                !times.is_empty() && times.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*')
            };
            let (text, times) = match counted.filter(|(_, times)| is_count(times)) {
                Some((text, times)) => (text, Some(times.to_owned())),
                None => (text, None),
            };
            Round { outcomes: text.split(" then ").map(&outcome).collect(), times }
        };
        Self(text.split(", ").map(round).collect())
    }

    /// Returns the answer of several waits in a row.
    pub fn of_outcomes(outcomes: Vec<Outcome>) -> Self {
        Self(vec![Round { outcomes, times: None }])
    }

    /// Returns the answer of several rounds, which are not counted.
    pub fn of_rounds(rounds: impl IntoIterator<Item = Outcome>) -> Self {
        Self(rounds.into_iter().map(|outcome| Round { outcomes: vec![outcome], times: None }).collect())
    }

    /// Counts the answers of several rounds.
    pub fn counted(rounds: impl IntoIterator<Item = Self>) -> Self {
        let mut counts: BTreeMap<String, (Self, usize)> = BTreeMap::new();
        for round in rounds {
            counts.entry(round.to_string()).or_insert((round, 0)).1 += 1;
        }
        let counted = counts.into_values().flat_map(|(mut answer, count)| {
            if let Some(last) = answer.0.last_mut() {
                last.times = Some(count.to_string());
            }
            answer.0
        });
        Self(counted.collect())
    }

    /// Returns the outcomes of each round.
    pub fn rounds(&self) -> impl Iterator<Item = &[Outcome]> {
        self.0.iter().map(|round| round.outcomes.as_slice())
    }

    /// Returns what the events of one wait mean, in one language for all pollers: `readable, hang-up`. `None`
    /// if they have no meaning that can be compared, or if there is no event.
    pub fn meaning(&self, column: &Column) -> Option<String> {
        let report = self.single()?.report(column)?;
        let said = Meaning::ALL.iter().zip(report).filter(|(_, said)| *said == Said::Yes);
        let names: Vec<_> = said.map(|(meaning, _)| meaning.name()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Returns the outcome, if there is one only.
    pub fn single(&self) -> Option<&Outcome> {
        match self.0.as_slice() {
            [Round { outcomes, times: None }] if outcomes.len() == 1 => outcomes.first(),
            _ => None,
        }
    }
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        Self::of_outcomes(vec![outcome])
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Round { outcomes, times }) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            joined(f, outcomes, " then ")?;
            if let Some(times) = times {
                write!(f, " x{times}")?;
            }
        }
        Ok(())
    }
}

impl Outcome {
    /// Returns the outcome of a wait without an event.
    pub fn silent() -> Self {
        Self::Reported(vec![Part::Silence(SILENCES[0].into())])
    }

    /// Parses the outcome of a wait.
    pub fn of_wait(text: &str, column: &Column) -> Self {
        let plain = |text: &str| match text {
            "not woken" => Some(Self::NotWoken),
            "woken" => Some(Self::Woken),
            "timed out" => Some(Self::TimedOut),
            "early" => Some(Self::Early),
            _ => Self::of_program(text),
        };
        let parts = || {
            let parts: Option<Vec<_>> = tokens(text).map(|token| Part::parse(token, column)).collect();
            parts.map(Self::Reported)
        };
        let is_declared = || column.words.contains_key(text);
        let failed = || (is_errno(text) && !is_declared()).then(|| Self::Failed(text.to_owned()));
        plain(text).or_else(failed).or_else(parts).unwrap_or_else(|| Self::Other(text.to_owned()))
    }

    /// Parses the outcome of a call.
    pub fn of_call(text: &str) -> Self {
        let is_result = |text: &str| text == "0" || is_errno(text);
        let filter = |token: &str| {
            let (filter, result) = token.split_once(':').filter(|(_, result)| is_result(result))?;
            Some((filter.to_owned(), result.to_owned()))
        };
        match text {
            _ if is_errno(text) => Self::Failed(text.to_owned()),
            _ => Self::of_program(text)
                .or_else(|| text.split(' ').map(filter).collect::<Option<Vec<_>>>().map(Self::Filters))
                .unwrap_or_else(|| Self::Other(text.to_owned())),
        }
    }

    fn of_program(text: &str) -> Option<Self> {
        let ended =
            |how: &str| text.strip_prefix(how)?.strip_prefix('(')?.strip_suffix(')').map(str::to_owned);
        match text {
            "0" => Some(Self::Done),
            "spins" => Some(Self::Spins),
            _ => ended("aborts").map(Self::Aborted).or_else(|| ended("exits").map(Self::Exited)),
        }
    }

    /// Returns whether the poller's program ended, or computes without an end.
    pub const fn ends(&self) -> bool {
        matches!(self, Self::Spins | Self::Aborted(_) | Self::Exited(_))
    }

    /// Returns the events, each with the name of its registration and its raw words.
    pub fn events(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        let parts = if let Self::Reported(parts) = self { parts.as_slice() } else { &[] };
        parts.iter().filter_map(|part| match part {
            Part::Event { of, record } => Some((of.as_deref(), record.as_str())),
            Part::Silence(_) | Part::Remark(_) => None,
        })
    }

    /// Returns what the one registration of the poller reports. `None` if it is no answer of one
    /// registration, or if a part of that was refused.
    pub fn report(&self, column: &Column) -> Option<Report> {
        let is_of_one = match self {
            Self::Reported(parts) => {
                parts.iter().all(|part| matches!(part, Part::Silence(_) | Part::Event { of: None, .. }))
            }
            _ => false,
        };
        is_of_one.then(|| column.report(self.events().map(|(_, record)| record), Interest::ALL))
    }

    /// Returns the errors of a call, none if it succeeded. `None` if it is no result of a call.
    pub fn errors(&self) -> Option<Vec<&str>> {
        match self {
            Self::Done => Some(Vec::new()),
            Self::Failed(errno) => Some(vec![errno]),
            Self::Filters(results) => Some(
                results.iter().map(|(_, result)| result.as_str()).filter(|result| *result != "0").collect(),
            ),
            _ => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reported(parts) => joined(f, parts, " "),
            Self::NotWoken => f.write_str("not woken"),
            Self::Woken => f.write_str("woken"),
            Self::TimedOut => f.write_str("timed out"),
            Self::Early => f.write_str("early"),
            Self::Spins => f.write_str("spins"),
            Self::Aborted(signal) => write!(f, "aborts({signal})"),
            Self::Exited(code) => write!(f, "exits({code})"),
            Self::Done => f.write_str("0"),
            Self::Filters(results) => {
                let results: Vec<_> =
                    results.iter().map(|(filter, result)| format!("{filter}:{result}")).collect();
                joined(f, &results, " ")
            }
            Self::Failed(text) | Self::Other(text) => f.write_str(text),
        }
    }
}

impl Part {
    /// Returns an event, or the remark about one that failed: `[W ERROR ENOENT]`.
    pub fn event(of: Option<&str>, record: String) -> Self {
        match record.starts_with('[') {
            true => Self::Remark(of.map(|of| format!("{of}:")).unwrap_or_default() + &record),
            false => Self::Event { of: of.map(str::to_owned), record },
        }
    }

    /// Parses a part of the answer of one wait. `None` if it has a word that the column does not declare.
    fn parse(token: &str, column: &Column) -> Option<Self> {
        if is_silence(token) {
            return Some(Self::Silence(token.to_owned()));
        }
        if token.contains('[') && token.ends_with(']') {
            return Some(Self::Remark(token.to_owned()));
        }
        let named = token.split_once(':').filter(|(name, _)| !name.contains(['(', '|']));
        let (of, record) = named.map_or((None, token), |(name, record)| (Some(name.to_owned()), record));
        let is_event = !record.is_empty() && column.undeclared(record).is_none();
        is_event.then(|| Self::Event { of, record: record.to_owned() })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event { of: Some(name), record } => write!(f, "{name}:{record}"),
            Self::Event { of: None, record } => f.write_str(record),
            Self::Silence(text) | Self::Remark(text) => f.write_str(text),
        }
    }
}

/// Splits at spaces outside of brackets: `[W ERROR ENOENT]` is one token.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ' ' && depth == 0
    })
}

fn joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, all: &[T], separator: &str) -> fmt::Result {
    for (index, one) in all.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { separator })?;
        one.fmt(f)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Interface;

    fn event(of: Option<&str>, record: &str) -> Part {
        Part::Event { of: of.map(str::to_owned), record: record.into() }
    }

    fn waited(interface: Interface, text: &str) -> Vec<Outcome> {
        let answer = Answer::of_wait(text, &Column::of(interface));
        assert_eq!(answer.to_string(), text);
        answer.rounds().flatten().cloned().collect()
    }

    #[test]
    fn each_form_of_an_answer_has_its_type() {
        use Interface::{Epoll, Kqueue, Poll, Select};
        let silence = |text: &str| Part::Silence(text.into());
        let reported = |parts: &[Part]| Outcome::Reported(parts.to_vec());
        #[rustfmt::skip]
        let table = [
            (Epoll, "silent", vec![reported(&[silence("silent")])]),
            (Poll, "-", vec![reported(&[silence("-")])]),
            (Select, "---", vec![reported(&[silence("---")])]),
            (Select, "rw-", vec![reported(&[event(None, "rw-")])]),
            (Epoll, "IN|HUP", vec![reported(&[event(None, "IN|HUP")])]),
            (Epoll, "own:IN copy:OUT", vec![reported(&[event(Some("own"), "IN"), event(Some("copy"), "OUT")])]),
            (Epoll, "stale-token:IN", vec![reported(&[event(Some(STALE_TOKEN), "IN")])]),
            (Kqueue, "R(data=1)+EOF [W add:EPIPE]",
             vec![reported(&[event(None, "R(data=1)+EOF"), Part::Remark("[W add:EPIPE]".into())])]),
            (Kqueue, "[W ERROR ENOENT]", vec![reported(&[Part::Remark("[W ERROR ENOENT]".into())])]),
            (Kqueue, "R(data=*)", vec![reported(&[event(None, "R(data=*)")])]),
            (Epoll, "IN then silent", vec![reported(&[event(None, "IN")]), Outcome::silent()]),
            (Epoll, "early x17, timed out x3", vec![Outcome::Early, Outcome::TimedOut]),
            (Epoll, "woken x20", vec![Outcome::Woken]),
            (Epoll, "not woken", vec![Outcome::NotWoken]),
            (Epoll, "EINTR", vec![Outcome::Failed("EINTR".into())]),
            (Epoll, "spins", vec![Outcome::Spins]),
            (Epoll, "aborts(SIGABRT)", vec![Outcome::Aborted("SIGABRT".into())]),
            (Epoll, "exits(3)", vec![Outcome::Exited("3".into())]),
            (Epoll, "0", vec![Outcome::Done]),
            (Epoll, "wakes=1/8 x19, wakes=2/8 x1",
             vec![Outcome::Other("wakes=1/8".into()), Outcome::Other("wakes=2/8".into())]),
            (Epoll, "first=IN second=silent(300ms)", vec![Outcome::Other("first=IN second=silent(300ms)".into())]),
            (Epoll, "readable", vec![Outcome::Other("readable".into())]),
        ];
        for (interface, text, outcomes) in table {
            assert_eq!(waited(interface, text), outcomes, "{text}");
        }
    }

    #[test]
    fn the_result_of_a_call_has_its_errors() {
        for (text, errors) in [
            ("0", Some(vec![])),
            ("EEXIST", Some(vec!["EEXIST"])),
            ("R:ENOENT W:0", Some(vec!["ENOENT"])),
            ("3 then 0", None),
            ("65536", None),
        ] {
            let answer = Answer::of_call(text);
            assert_eq!(answer.to_string(), text);
            assert_eq!(answer.single().and_then(Outcome::errors), errors, "{text}");
        }
    }

    #[test]
    fn a_report_has_the_meaning_of_the_events_of_one_registration() {
        use Said::{No, Nothing, Yes};
        let column = Column::of(Interface::Epoll);
        let report = |text: &str| Outcome::of_wait(text, &column).report(&column);
        assert_eq!(report("IN|HUP"), Some([Yes, Nothing, No, Nothing, No, Yes]));
        assert_eq!(report("silent"), Some([No; 6]));
        assert_eq!(report("own:IN copy:IN"), None);
        assert_eq!((report("EBADF"), report("silent [add:EPERM]")), (None, None));
        let meaning = |text: &str| Answer::of_wait(text, &column).meaning(&column);
        assert_eq!(meaning("IN|HUP|RDHUP").as_deref(), Some("readable, end, hang-up"));
        assert_eq!((meaning("silent"), meaning("EBADF")), (None, None));
    }

    #[test]
    fn the_answers_of_rounds_are_counted() {
        let counted = |rounds: &[&str]| {
            let column = Column::of(Interface::Poll);
            Answer::counted(rounds.iter().map(|text| Answer::of_wait(text, &column))).to_string()
        };
        assert_eq!(counted(&["IN", "-", "IN"]), "- x1, IN x2");
        assert_eq!(counted(&["woken"; 20]), "woken x20");
        // A remark is a round of its own.
        assert_eq!(counted(&["IN, the timeout is untouched"; 2]), "IN, the timeout is untouched x2");
    }
}
