//! The conformance summary of a backend.

use std::collections::BTreeMap;
use std::fmt;

use metadata::{Results, Status};

use crate::grid::Tally;

/// The results of one backend on all targets of a report.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Conformance {
    /// The contract cells. Only these decide the verdict.
    pub contract: Tally,
    /// The characterisation cells. They record the backend's answers and do not affect the verdict.
    pub characterisation: Tally,
    /// The number of targets on which at least one cell of the backend was supported and has a result.
    pub targets: usize,
}

/// The summary of a backend's contract cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every cell is unsupported, or there is no cell.
    NoAnswer,
    /// Every supported cell passes, or differs in a documented way.
    Holds {
        /// The number of supported cells.
        cells: usize,
        /// The number of cells that differ in a documented way.
        documented: usize,
    },
    /// No cell fails, but some cells were not run or are broken.
    Incomplete {
        /// The number of cells without an answer.
        missing: usize,
        /// The number of supported cells.
        of: usize,
    },
    /// Some cells fail.
    Fails {
        /// The number of cells that fail.
        cells: usize,
        /// The number of supported cells.
        of: usize,
    },
}

/// Returns whether a status says nothing about the backend.
const fn is_inconclusive(status: Status) -> bool {
    matches!(status, Status::NotRun | Status::Broken)
}

impl Conformance {
    /// Returns the summaries of all backends in a report, by name.
    pub fn of(results: &Results) -> BTreeMap<&str, Self> {
        let mut backends: BTreeMap<&str, Self> = BTreeMap::new();
        let mut answers: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        for cell in &results.cells {
            let backend = backends.entry(&cell.backend).or_default();
            let tally =
                if cell.is_contract() { &mut backend.contract } else { &mut backend.characterisation };
            tally.count(cell.status);
            *answers.entry((&cell.backend, &cell.target)).or_default() |=
                cell.status != Status::Unsupported && !is_inconclusive(cell.status);
        }
        for ((backend, _), _) in answers.into_iter().filter(|(_, answers)| *answers) {
            backends.entry(backend).or_default().targets += 1;
        }
        backends
    }

    /// Returns the verdict on the contract cells.
    pub fn verdict(&self) -> Verdict {
        let of = self.contract.count_of(|status| status != Status::Unsupported);
        let missing = self.contract.count_of(is_inconclusive);
        let wrong = self.contract.count_of(|status| status.is_failure() && !is_inconclusive(status));
        let documented = self.contract.count_of(|status| status.is_pass() && status != Status::Pass);
        match () {
            () if of == 0 => Verdict::NoAnswer,
            () if wrong > 0 => Verdict::Fails { cells: wrong, of },
            () if missing > 0 => Verdict::Incomplete { missing, of },
            () => Verdict::Holds { cells: of, documented },
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer => f.write_str("no contract cell answers here"),
            Self::Holds { cells, documented: 0 } => write!(f, "all {cells} contract cells hold"),
            Self::Holds { cells, documented } => {
                write!(f, "all {cells} contract cells hold, {documented} of them as documented")
            }
            Self::Incomplete { missing, of } => {
                write!(f, "{missing} of {of} contract cells have no answer; none fails")
            }
            Self::Fails { cells, of } => write!(f, "{cells} of {of} contract cells do not hold"),
        }
    }
}

#[cfg(test)]
mod tests {
    use Status::{Broken, Fail, KnownFail, NotRun, Pass, Timeout, Unsupported};

    use super::*;
    use crate::samples;

    fn verdict(rows: &[(&str, &str, Status)]) -> String {
        let results = samples::results("here", rows);
        Conformance::of(&results)["poll"].verdict().to_string()
    }

    #[test]
    fn the_verdict_reports_the_worst_outcome() {
        let (pass, unsupported) = (("a", "poll", Pass), ("b", "poll", Unsupported));
        assert_eq!(verdict(&[pass, unsupported]), "all 1 contract cells hold");
        assert_eq!(verdict(&[unsupported]), "no contract cell answers here");
        let known = ("c", "poll", KnownFail);
        assert_eq!(verdict(&[pass, known]), "all 2 contract cells hold, 1 of them as documented");
        let (broken, missing) = (("d", "poll", Broken), ("e", "poll", NotRun));
        assert_eq!(verdict(&[pass, broken, missing]), "2 of 3 contract cells have no answer; none fails");
        let (fail, timeout) = (("f", "poll", Fail), ("g", "poll", Timeout));
        assert_eq!(
            verdict(&[pass, missing, fail, timeout, unsupported]),
            "2 of 4 contract cells do not hold"
        );
    }

    #[test]
    fn characterisation_does_not_affect_the_verdict() {
        let mut results = samples::results("here", &[("a", "poll", Pass), ("b", "poll", Fail)]);
        results.cells[1].layer = metadata::Layer::Characterisation;
        let backends = Conformance::of(&results);
        assert_eq!(backends["poll"].verdict(), Verdict::Holds { cells: 1, documented: 0 });
        assert_eq!(backends["poll"].characterisation.to_string(), "F1");
    }

    #[test]
    fn a_target_counts_if_one_of_its_cells_has_an_answer() {
        let mut results = samples::results("one", &[("a", "poll", Pass), ("a", "kqueue", Unsupported)]);
        results.cells.extend(samples::results("two", &[("a", "poll", Fail), ("b", "poll", NotRun)]).cells);
        results.cells.extend(samples::results("three", &[("a", "poll", NotRun)]).cells);
        let backends = Conformance::of(&results);
        assert_eq!((backends["poll"].targets, backends["kqueue"].targets), (2, 0));
    }
}
