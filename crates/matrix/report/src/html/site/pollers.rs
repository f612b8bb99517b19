//! The pollers of other people's libraries, and what they show of the interface below them.

use serde::Serialize;

/// A poller of somebody else, with its recorded answers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Poller {
    /// `mio`.
    pub name: String,
    /// Its answers on each system.
    pub systems: Vec<PollerOnSystem>,
}

/// The answers of a poller on a system.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PollerOnSystem {
    /// `linux`. The page of the system is `systems/linux.html`.
    pub system: String,
    /// `Linux`.
    pub name: String,
    /// The sources, with the version of the poller and of the system.
    pub sources: Vec<String>,
    /// The interface below the poller, or the closest one: `epoll`.
    pub below: Option<String>,
    /// Whether the poller says that it is built over that interface.
    pub is_over: bool,
    /// The answers, in the order of the catalogue.
    pub answers: Vec<PollerAnswer>,
}

/// An answer of a poller.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PollerAnswer {
    /// `V26`.
    pub behaviour: String,
    /// `pipe:read-end-drained`.
    pub state: String,
    /// `mio@edge`.
    pub asked: String,
    /// The recorded answers, in the poller's own words.
    pub allowed: Vec<String>,
    /// What each of them means: `readable, hang-up`. Empty if it has no meaning that can be compared.
    pub means: Vec<String>,
    /// Versions, reasons for variation, notes.
    pub remarks: Vec<String>,
    /// What no interface could answer.
    pub wrong: Option<Wrong>,
    /// The answer of the interface below the poller, if one is recorded.
    pub beside: Option<Beside>,
}

/// An answer that is no event, and wrong whatever the interface below answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(into = "&'static str")]
pub enum Wrong {
    /// A wait returned before its timeout.
    Early,
    /// The poller's program ended, or computes without an end.
    Ends,
}

impl Wrong {
    /// Returns what the poller does.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Early => "ends a wait before its timeout",
            Self::Ends => "ends or hangs the program",
        }
    }
}

impl From<Wrong> for &'static str {
    fn from(wrong: Wrong) -> Self {
        wrong.text()
    }
}

impl PollerAnswer {
    /// Returns whether it equals another answer, whatever their states are.
    fn is_like(&self, other: &Self) -> bool {
        self.asked == other.asked && self.beside == other.beside && self.is_like_in_mode(other)
    }

    /// Returns whether it equals another answer, whatever their states and modes are.
    fn is_like_in_mode(&self, other: &Self) -> bool {
        let Self { behaviour, state: _, asked, allowed, means, remarks, wrong, beside } = other;
        let without_mode = |beside: &Option<Beside>| {
            beside.clone().map(|of| Beside { asked: api_and_mode(&of.asked).0.to_owned(), ..of })
        };
        (&self.behaviour, &self.allowed, &self.means) == (behaviour, allowed, means)
            && (&self.remarks, &self.wrong) == (remarks, wrong)
            && api_and_mode(&self.asked).0 == api_and_mode(asked).0
            && without_mode(&self.beside) == without_mode(beside)
    }

    /// Returns whether it says something else than the interface below, or nothing more at all.
    pub(super) fn differs(&self) -> bool {
        self.wrong.is_some()
            || self.beside.as_ref().is_some_and(|beside| beside.verdict == Comparison::Differs)
    }
}

impl Poller {
    pub(super) fn answers(&self) -> usize {
        self.systems.iter().map(|on| on.answers.len()).sum()
    }
}

/// An answer of the interface below a poller to the same question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Beside {
    /// `epoll-add-before@edge`.
    pub asked: String,
    /// The recorded answers.
    pub allowed: Vec<String>,
    /// Whether the poller shows them.
    pub verdict: Comparison,
    /// What the poller does not say of it: `hang-up`.
    pub hides: Vec<String>,
    /// What the poller says beyond it.
    pub adds: Vec<String>,
}

/// Whether a poller shows the answer of the interface below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Both say the same.
    Shows,
    /// They say different things.
    Differs,
    /// One of the answers is no single event, or has words without a known meaning.
    CannotCompare,
}

/// Equal answers about some states of several kinds of descriptors, in several modes.
#[derive(Serialize)]
pub(super) struct Folded<'a> {
    /// `tcp, unix: peer-close; tcp: reset`.
    states: String,
    /// The modes besides that of the answer.
    modes: Vec<&'a str>,
    #[serde(flatten)]
    answer: &'a PollerAnswer,
}

/// Returns the kind of descriptor and the state of a name: `pipe` and `drained` of `pipe:drained`.
pub(super) fn parts(state: &str) -> (&str, &str) {
    state.split_once(':').unwrap_or((state, ""))
}

/// `mio` and `edge` of `mio@edge`.
fn api_and_mode(asked: &str) -> (&str, &str) {
    asked.split_once('@').unwrap_or((asked, ""))
}

/// Folds answers that differ in the kind of descriptor alone, then those that differ in the mode alone, and
/// then those of several states.
pub(super) fn folded<'a>(answers: &[&'a PollerAnswer]) -> Vec<Folded<'a>> {
    let mut all: Vec<(&'a PollerAnswer, Vec<&'a str>)> = Vec::new();
    for &answer in answers {
        let (kind, state) = parts(&answer.state);
        let is_equal = |(first, _): &&mut (&'a PollerAnswer, Vec<&'a str>)| {
            parts(&first.state).1 == state && first.is_like(answer)
        };
        match all.iter_mut().find(is_equal) {
            Some((_, kinds)) => kinds.push(kind),
            None => all.push((answer, vec![kind])),
        }
    }
    let mut folded: Vec<Folded<'a>> = Vec::new();
    for (answer, kinds) in all {
        let state = parts(&answer.state).1;
        let colon = if state.is_empty() { "" } else { ": " };
        let states = format!("{}{colon}{state}", kinds.join(", "));
        let is_equal =
            |known: &&mut Folded<'a>| known.states == states && known.answer.is_like_in_mode(answer);
        match folded.iter_mut().find(is_equal) {
            Some(known) => known.modes.push(api_and_mode(&answer.asked).1),
            None => folded.push(Folded { states, modes: Vec::new(), answer }),
        }
    }
    let mut rows: Vec<Folded<'a>> = Vec::new();
    for row in folded {
        let is_equal = |known: &&mut Folded<'a>| known.modes == row.modes && known.answer.is_like(row.answer);
        match rows.iter_mut().find(is_equal) {
            Some(known) => known.states += &format!("; {}", row.states),
            None => rows.push(row),
        }
    }
    rows
}
