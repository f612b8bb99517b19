//! Answers that are wrong in every reading.

use crate::named;

named! {
    /// What is wrong with an answer that no interface allows. It is a failure without an expectation.
    Defect, "defect":
    /// A wait without an event returned before its timeout.
    Early = "early",
    /// A registered descriptor had data, and a wait did not report it.
    DataNotReported = "data-not-reported",
    /// A wait reported an event of a registration that had ended, or of none.
    EndedRegistration = "ended-registration",
    /// The program of the poller computes, and does not answer.
    Spins = "spins",
    /// The program of the poller ended by itself.
    ProgramEnded = "program-ended",
}

impl Defect {
    /// Returns what is wrong, as the end of a sentence about an answer.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Early => "a wait returned before its timeout",
            Self::DataNotReported => "data of a registered descriptor was not reported",
            Self::EndedRegistration => "an event of a registration that has ended",
            Self::Spins => "the program computes without an answer",
            Self::ProgramEnded => "the program ended",
        }
    }
}
