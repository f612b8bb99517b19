//! What the test suites of other projects ask of a poller, and what asks it here: `peers.tsv`.

use std::sync::LazyLock;

use crate::tables::{entries, fields, words};

/// The suites, and the questions that no script asks yet.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// The open questions, each of which a case waits for.
    pub open: Vec<Open>,
    /// The suites.
    pub suites: Vec<Suite>,
}

/// A question that no script asks yet.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// `timer as a source`. Cases refer to it.
    pub name: &'static str,
    /// A sentence with a question mark.
    pub question: &'static str,
    /// What asking it needs: a script, or a verb that scripts do not have yet.
    pub needs: &'static str,
}

/// A test suite.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
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

/// Whether a case is asked here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A script or a contract scenario asks it, with the same kind of descriptor, mode and threads.
    Covered,
    /// One of these differs.
    Partly,
    /// Nothing asks it.
    Missing,
    /// It asks a poller nothing.
    Out,
}

impl Verdict {
    const ALL: [Self; 4] = [Self::Covered, Self::Partly, Self::Missing, Self::Out];

    /// Returns the word in the file: `covered`, `partly`, `missing` or `out`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::Partly => "partly",
            Self::Missing => "missing",
            Self::Out => "out",
        }
    }
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

/// Returns the suites of other projects.
///
/// # Panics
/// If the built-in file has a malformed line; a test reads all of them.
pub fn peers() -> &'static Peers {
    static PEERS: LazyLock<Peers> = LazyLock::new(|| {
        let mut peers = Peers::default();
        for line in entries("peers.tsv", include_str!("../peers.tsv"), line) {
            match line {
                Line::Open(open) => peers.open.push(open),
                Line::Suite(suite) => peers.suites.push(suite),
                Line::Case(case) => match peers.suites.last_mut() {
                    Some(suite) => suite.cases.push(case),
                    None => panic!("crates/lab/raw/peers.tsv: {}: no suite is above it", case.name),
                },
            }
        }
        peers
    });
    &PEERS
}

#[derive(Debug)]
enum Line {
    Open(Open),
    Suite(Suite),
    Case(Case),
}

fn line(line: &'static str) -> Result<Line, String> {
    if line.split('\t').any(str::is_empty) {
        return Err("a field is empty".into());
    }
    let kind = line.split('\t').next().unwrap_or_default();
    match kind {
        "open" => {
            let [_, name, question, needs] = fields(line)?;
            Ok(Line::Open(Open { name, question, needs }))
        }
        "suite" => {
            let [_, id, stated, name, source, read] = fields(line)?;
            let (stated, cases) = (number(stated)?, Vec::new());
            Ok(Line::Suite(Suite { id, name, source, read, stated, cases }))
        }
        _ => case(kind, line).map(Line::Case),
    }
}

fn case(word: &str, line: &'static str) -> Result<Case, String> {
    let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.word() == word);
    let verdict = verdict.ok_or_else(|| {
        format!("unknown verdict '{word}': a line begins with open, suite, covered, partly, missing or out")
    })?;
    let (count, name, asked_by, why) = match verdict {
        Verdict::Covered => {
            let [_, count, name, asked_by] = fields(line)?;
            (count, name, asked_by, "")
        }
        Verdict::Partly => {
            let [_, count, name, asked_by, open] = fields(line)?;
            (count, name, asked_by, open)
        }
        Verdict::Missing | Verdict::Out => {
            let [_, count, name, why] = fields(line)?;
            (count, name, "-", why)
        }
    };
    let (open, reason) = match verdict {
        Verdict::Covered => (Vec::new(), ""),
        Verdict::Partly | Verdict::Missing => (why.split(", ").collect(), ""),
        Verdict::Out => (Vec::new(), why),
    };
    Ok(Case { count: number(count)?, name, verdict, asked_by: words(asked_by)?, open, reason })
}

fn number(field: &str) -> Result<u32, String> {
    match field.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err(format!("'{field}' is no number of cases")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::expectations::title;
    use crate::{find, scenarios};

    fn cases() -> impl Iterator<Item = (&'static str, &'static Case)> {
        peers().suites.iter().flat_map(|suite| suite.cases.iter().map(|case| (suite.id, case)))
    }

    /// A behaviour that no script asks for covers nothing.
    fn asks(id: &str) -> bool {
        let is_contract = || {
            let contract = ::scenarios::find(id);
            contract.is_some_and(|scenario| scenario.layer == metadata::Layer::Contract)
        };
        match title(id) {
            Some(_) => scenarios().any(|scenario| scenario.behaviour == id),
            None => find(id).is_some() || is_contract(),
        }
    }

    #[test]
    fn every_cited_behaviour_script_or_scenario_asks_something() {
        let unknown: Vec<_> = cases()
            .flat_map(|(suite, case)| case.asked_by.iter().map(move |id| (suite, case.name, id)))
            .filter(|(_, _, id)| !asks(id))
            .collect();
        assert!(unknown.is_empty(), "peers.tsv cites what asks nothing: {unknown:#?}");
        assert!(cases().any(|(_, case)| case.asked_by.contains(&"deletion/cloned-scm-rights")));
        assert!(!asks("X06") && !asks("edges/none") && !asks("selftest/pass"));
    }

    #[test]
    fn what_covers_a_case_is_named_and_a_dash_is_no_name() {
        let unnamed = cases().filter(|(_, case)| {
            matches!(case.verdict, Verdict::Covered | Verdict::Partly) == case.asked_by.is_empty()
        });
        assert_eq!(unnamed.map(|(suite, case)| (suite, case.name)).collect::<Vec<_>>(), []);
    }

    #[test]
    fn the_open_questions_are_those_that_cases_wait_for() {
        let awaited: BTreeSet<_> = cases().flat_map(|(_, case)| case.open.iter().copied()).collect();
        let open: BTreeSet<_> = peers().open.iter().map(|open| open.name).collect();
        let unlisted: Vec<_> = awaited.difference(&open).collect();
        assert!(unlisted.is_empty(), "peers.tsv has no line 'open' of {unlisted:?}, which cases wait for");
        let unused: Vec<_> = open.difference(&awaited).collect();
        assert!(unused.is_empty(), "no case of peers.tsv waits for {unused:?}: remove the line 'open'");
        assert_eq!(open.len(), peers().open.len(), "an open question is listed twice");
        for Open { name, question, .. } in &peers().open {
            assert!(question.ends_with('?'), "{name}: {question}");
        }
    }

    #[test]
    fn the_cases_of_each_suite_add_up_to_the_stated_number() {
        for suite in &peers().suites {
            assert_eq!(suite.totals().cases(), suite.stated, "{}", suite.id);
        }
        let ids: BTreeSet<_> = peers().suites.iter().map(|suite| suite.id).collect();
        assert_eq!(ids.len(), peers().suites.len(), "a suite is listed twice");
        assert!(ids.len() > 30 && peers().totals().cases() > 1900);
    }

    #[test]
    fn a_malformed_line_is_refused_with_its_problem() {
        for (text, problem) in [
            ("coverd\t1\ta\tV05", "unknown verdict 'coverd'"),
            ("", "a field is empty"),
            ("covered\t1\ta\t", "a field is empty"),
            ("covered\t1\ta", "3 fields are separated by tabs, not 4"),
            ("covered\t1\ta\tV05\ttimer", "5 fields are separated by tabs, not 4"),
            ("covered\t1\ta\tV05  V06", "an empty word"),
            ("covered\t0\ta\tV05", "'0' is no number of cases"),
            ("partly\t1\ta\tV05", "4 fields are separated by tabs, not 5"),
            ("missing\t1\ta", "3 fields are separated by tabs, not 4"),
            ("out\tmany\ta\tWindows", "'many' is no number of cases"),
            ("open\ta\tb?", "3 fields are separated by tabs, not 4"),
            ("suite\ta\t5\tA\tb", "5 fields are separated by tabs, not 6"),
        ] {
            let found = line(text).unwrap_err();
            assert!(found.contains(problem), "{text}: {found}");
        }
    }

    #[test]
    fn a_percentage_leaves_out_what_asks_nothing_and_is_rounded_down() {
        assert_eq!(Totals { of: [199, 1, 0, 300] }.percent(), 99);
        assert_eq!(Totals { of: [1, 0, 0, 5] }.percent(), 100);
        assert_eq!(Totals { of: [0, 0, 0, 5] }.percent(), 0);
        assert_eq!(Totals { of: [1, 2, 3, 4] }.cases(), 10);
    }
}
