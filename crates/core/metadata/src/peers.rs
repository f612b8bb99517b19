//! What the test suites of other projects ask of a poller, and what asks it here.

use serde::Serialize;

/// The suites, and the questions that no script asks yet.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// The open questions, each of which a case waits for.
    pub open: Vec<Open>,
    /// The suites.
    pub suites: Vec<Suite>,
}

/// A question that no script asks yet.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Open {
    /// `timer as a source`. Cases refer to it.
    pub name: &'static str,
    /// A sentence with a question mark.
    pub question: &'static str,
    /// What asking it needs: a script, or a verb that scripts do not have yet.
    pub needs: &'static str,
}

/// A test suite.
#[derive(Clone, Debug, Serialize)]
pub struct Suite {
    /// `epoll-shim`. A part of addresses.
    pub id: &'static str,
    /// Its proper name.
    pub name: &'static str,
    /// The repository and the commit.
    pub source: &'static str,
    /// The part of it that was read.
    pub read: &'static str,
    /// The number of its cases, as stated beside its name.
    pub stated: u32,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// Test functions of a suite with one verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// The number of test functions.
    pub count: u32,
    /// Their names, and what they ask if the names do not say it.
    pub name: &'static str,
    /// Whether it is asked here.
    pub verdict: Verdict,
    /// The behaviours, scripts and contract scenarios that ask it. None if it is missing or out.
    pub asked_by: &'static [&'static str],
    /// The names of the open questions. Empty if it is covered or out.
    pub open: Vec<&'static str>,
    /// Why it is out. Empty if it is not.
    pub reason: &'static str,
}

crate::named! {
    /// Whether a case is asked here.
    Verdict, "verdict":
    /// A script or a contract scenario asks it, with the same kind of descriptor, mode and threads.
    Covered = "covered",
    /// One of these differs.
    Partly = "partly",
    /// Nothing asks it.
    Missing = "missing",
    /// It asks a poller nothing.
    Out = "out",
}

/// Numbers of cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// The number of cases with each verdict: covered, partly, missing, out.
    pub of: [u32; 4],
}

impl Totals {
    fn count<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Self {
        let mut totals = Self::default();
        for case in cases {
            totals.of[case.verdict as usize] += case.count;
        }
        totals
    }

    /// Returns the number of all cases.
    pub fn cases(self) -> u32 {
        self.of.iter().sum()
    }

    /// Returns how many percent of the cases that ask a poller something are covered, rounded down.
    pub fn percent(self) -> u32 {
        let [covered, partly, missing, _] = self.of;
        (100 * covered).checked_div(covered + partly + missing).unwrap_or_default()
    }
}

impl Suite {
    /// Returns the numbers of its cases.
    pub fn totals(&self) -> Totals {
        Totals::count(&self.cases)
    }
}

impl Peers {
    /// Returns the numbers of the cases of all suites.
    pub fn totals(&self) -> Totals {
        Totals::count(self.suites.iter().flat_map(|suite| &suite.cases))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_leaves_out_what_asks_nothing_and_is_rounded_down() {
        assert_eq!(Totals { of: [199, 1, 0, 300] }.percent(), 99);
        assert_eq!(Totals { of: [1, 0, 0, 5] }.percent(), 100);
        assert_eq!(Totals { of: [0, 0, 0, 5] }.percent(), 0);
        assert_eq!(Totals { of: [1, 2, 3, 4] }.cases(), 10);
    }
}
