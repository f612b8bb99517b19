//! The history of defects, and the scenarios, models or tests that detect each: the bugs of HAProxy's FD core
//! since 2012, suspicious places of its present version, and the defects that were found in this core. One
//! line of `history.tsv` per defect.

/// The path of the file in the source tree.
pub const FILE: &str = "crates/matrix/scenarios/history.tsv";

/// A defect of the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect {
    /// The name by which scenarios cite it: `bug 66`, `suspect 20`, `core 5`.
    pub name: &'static str,
    /// The commits that fixed it in HAProxy. Empty for a suspect and for a defect of this core.
    pub commits: Vec<&'static str>,
    /// The defect, in one sentence without a full stop.
    pub description: &'static str,
    /// What detects it here.
    pub coverage: Coverage,
    /// The names of the scenarios, models or tests that detect it.
    pub names: Vec<&'static str>,
    /// Why there is no scenario. Empty if there is one.
    pub reason: &'static str,
}

/// What detects a defect if this core or a backend has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// Scenarios.
    Scenario,
    /// Exhaustive models.
    Model,
    /// Unit tests.
    UnitTest,
    /// Nothing, because this project has no such code.
    NotOurs,
}

impl Coverage {
    const ALL: [Self; 4] = [Self::Scenario, Self::Model, Self::UnitTest, Self::NotOurs];

    /// Returns the word in the file: `scenario`, `model`, `unit-test` or `not-ours`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Model => "model",
            Self::UnitTest => "unit-test",
            Self::NotOurs => "not-ours",
        }
    }
}

/// A line of the file that is no defect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// The number of the line.
    pub line: usize,
    /// The problem.
    pub message: &'static str,
    /// The remedy.
    pub help: &'static str,
}

/// Returns every defect: bugs, then suspects, then defects of this core, in the order of their numbers.
///
/// # Errors
/// The first malformed line of the built-in file.
pub fn history() -> Result<Vec<Defect>, Malformed> {
    parse(include_str!("../history.tsv"))
}

fn parse(text: &'static str) -> Result<Vec<Defect>, Malformed> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#'));
    let defect = |(line, text)| parse_line(text).map_err(|(message, help)| Malformed { line, message, help });
    lines.map(defect).collect()
}

fn parse_line(line: &'static str) -> Result<Defect, (&'static str, &'static str)> {
    let fields: Vec<_> = line.split('\t').map(|field| if field == "-" { "" } else { field }).collect();
    let [name, commits, description, word, names, reason] = fields[..] else {
        let message =
            "the line does not have the six fields defect, commits, description, coverage, names and reason";
        return Err((message, "separate them by one tab each, and write - for a field without a value"));
    };
    let is_numbered = |(kind, number): (&str, &str)| {
        ["bug", "suspect", "core"].contains(&kind) && number.parse::<u8>().is_ok()
    };
    if !name.split_once(' ').is_some_and(is_numbered) {
        return Err(("the first field names no defect", "write bug, suspect or core, and a number: bug 66"));
    }
    if commits.is_empty() == name.starts_with("bug") {
        return Err(("a bug has commits, and no other defect has any", "correct the second field"));
    }
    if description.is_empty() || description.ends_with('.') {
        return Err(("the description is no sentence without its full stop", "correct the third field"));
    }
    let Some(coverage) = Coverage::ALL.into_iter().find(|coverage| coverage.word() == word) else {
        return Err(("the coverage is not known", "write scenario, model, unit-test or not-ours"));
    };
    if names.is_empty() != (coverage == Coverage::NotOurs) {
        return Err(("a defect has names, or its coverage is not-ours", "correct the fifth field"));
    }
    if reason.is_empty() != (coverage == Coverage::Scenario) {
        return Err(("a defect has scenarios, or a reason why it has none", "correct the sixth field"));
    }
    let words = |field: &'static str| field.split_whitespace().collect();
    Ok(Defect { name, commits: words(commits), description, coverage, names: words(names), reason })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue::{catalogue, find};

    #[test]
    fn every_defect_is_listed_once_and_in_order() {
        let history = history().unwrap();
        let of_core = history.iter().filter(|defect| defect.name.starts_with("core ")).count();
        let expected: Vec<_> = [("bug", 92), ("suspect", 20), ("core", of_core)]
            .into_iter()
            .flat_map(|(kind, last)| (1..=last).map(move |number| format!("{kind} {number}")))
            .collect();
        assert_eq!(history.iter().map(|defect| defect.name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_malformed_line_is_refused_by_its_number() {
        for (text, problem) in [
            ("# a comment\n\n", "the line does not have the six fields"),
            ("#\nbug 1\tabc\tit broke\tscenario\ta/b", "the line does not have the six fields"),
            ("#\nbag 1\tabc\tit broke\tscenario\ta/b\t-", "the first field names no defect"),
            ("#\nbug\tabc\tit broke\tscenario\ta/b\t-", "the first field names no defect"),
            ("#\nbug 1\t-\tit broke\tscenario\ta/b\t-", "a bug has commits"),
            ("#\ncore 1\tabc\tit broke\tscenario\ta/b\t-", "a bug has commits"),
            ("#\nbug 1\tabc\tit broke.\tscenario\ta/b\t-", "the description is no sentence"),
            ("#\nbug 1\tabc\t-\tscenario\ta/b\t-", "the description is no sentence"),
            ("#\nbug 1\tabc\tit broke\tscenarios\ta/b\t-", "the coverage is not known"),
            ("#\nbug 1\tabc\tit broke\tscenario\t-\t-", "a defect has names"),
            ("#\nbug 1\tabc\tit broke\tnot-ours\ta/b\twhy", "a defect has names"),
            ("#\nbug 1\tabc\tit broke\tscenario\ta/b\twhy", "a defect has scenarios"),
            ("#\nbug 1\tabc\tit broke\tmodel\tm1\t-", "a defect has scenarios"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.line == 2 && error.message.starts_with(problem), "{text}: {error:?}");
        }
    }

    #[test]
    fn every_scenario_that_a_defect_names_is_in_the_catalogue() {
        for defect in history().unwrap().iter().filter(|defect| defect.coverage == Coverage::Scenario) {
            for id in &defect.names {
                assert!(find(id).is_some(), "{}: no scenario {id}", defect.name);
            }
        }
    }

    #[test]
    fn every_regression_scenario_is_named_by_a_defect() {
        let named: BTreeSet<_> = history().unwrap().iter().flat_map(|defect| defect.names.clone()).collect();
        for scenario in catalogue().filter(|scenario| scenario.id.starts_with("regression/")) {
            assert!(named.contains(scenario.id), "no defect of the history names {}", scenario.id);
        }
    }
}
