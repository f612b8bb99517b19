//! What the test suites of other projects ask of a poller, and what asks it here: `peers.tsv`.

use std::sync::LazyLock;

use metadata::peers::{Case, Open, Peers, Suite, Verdict};

use crate::tables::{entries, fields, words};

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
    let verdict: Verdict = word.parse()?;
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
        assert!(!asks("X10") && !asks("edges/none") && !asks("selftest/pass"));
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
}
