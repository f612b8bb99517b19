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
    /// The interface below the poller: `epoll`. `None` if it is none of those with recorded answers, or not
    /// known.
    pub below: Option<String>,
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
    /// The answer of the interface below the poller, if one is recorded.
    pub beside: Option<Beside>,
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
    /// The words in which the answers differ: `hides hang-up`. May be empty.
    pub why: String,
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

/// How many of a poller's answers show those of the interface below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub(super) struct Shares {
    pub(super) shows: usize,
    pub(super) differs: usize,
    /// The answers below are not recorded, or the words cannot be compared.
    pub(super) unclear: usize,
}

impl Shares {
    pub(super) fn of<'a>(answers: impl IntoIterator<Item = &'a PollerAnswer>) -> Self {
        answers.into_iter().fold(Self::default(), |shares, answer| {
            let Self { shows, differs, unclear } = shares;
            match answer.beside.as_ref().map(|beside| beside.verdict) {
                Some(Comparison::Shows) => Self { shows: shows + 1, ..shares },
                Some(Comparison::Differs) => Self { differs: differs + 1, ..shares },
                Some(Comparison::CannotCompare) | None => Self { unclear: unclear + 1, ..shares },
            }
        })
    }

    /// Returns the verdict on all of them: one that differs hides something.
    pub(super) fn verdict(self) -> Comparison {
        match self {
            Self { differs: 1.., .. } => Comparison::Differs,
            Self { shows: 1.., .. } => Comparison::Shows,
            _ => Comparison::CannotCompare,
        }
    }
}
