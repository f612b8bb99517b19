//! The history of defects, and the scenarios, models or tests that detect each: the bugs of HAProxy's FD core
//! since 2012, suspicious places of its present version, and the defects that were found in this core. The
//! table is history.tsv.

use std::sync::LazyLock;

/// A defect of the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Defect {
    /// Whether it is a bug, a suspect, or a defect of this core.
    pub kind: Kind,
    /// Its number, which starts at 1 in each kind.
    pub number: u8,
    /// The commits that fixed it in HAProxy. Empty for a suspect and for a defect of this core.
    pub commits: &'static [&'static str],
    /// The defect, in one sentence without a full stop.
    pub description: &'static str,
    /// The scenarios, models or tests that detect it here.
    pub coverage: Coverage,
}

/// The kind of a defect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A defect that HAProxy had.
    Bug,
    /// A place of HAProxy that looks wrong to a reader.
    Suspect,
    /// A defect that this core had.
    Core,
}

/// The scenarios, models or tests that detect a defect if this core or a backend has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// These scenarios.
    Scenario(&'static [&'static str]),
    /// These exhaustive models, and the reason why there is no scenario.
    Model(&'static [&'static str], &'static str),
    /// These unit tests, and the reason why there is no scenario.
    UnitTest(&'static [&'static str], &'static str),
    /// Nothing, because this project has no such code, for this reason.
    NotApplicable(&'static str),
}

impl Defect {
    /// Returns the name by which scenarios cite it: `bug 66`, `suspect 20`, `core 5`.
    pub fn name(&self) -> String {
        let kind = match self.kind {
            Kind::Bug => "bug",
            Kind::Suspect => "suspect",
            Kind::Core => "core",
        };
        format!("{kind} {}", self.number)
    }
}

impl Coverage {
    /// Returns the kind as text: `scenario`, `model`, `unit-test` or `not-ours`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scenario(_) => "scenario",
            Self::Model(..) => "model",
            Self::UnitTest(..) => "unit-test",
            Self::NotApplicable(_) => "not-ours",
        }
    }

    /// Returns the names of the scenarios, models or tests.
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            Self::Scenario(names) | Self::Model(names, _) | Self::UnitTest(names, _) => names,
            Self::NotApplicable(_) => &[],
        }
    }

    /// Returns the reason why there is no scenario, if there is none.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Scenario(_) => None,
            Self::Model(_, why) | Self::UnitTest(_, why) | Self::NotApplicable(why) => Some(why),
        }
    }
}

/// One line for each defect, below a line with the names of the columns.
const TABLE: &str = include_str!("history.tsv");

/// Returns every defect: bugs, then suspects, then defects of this core, in the order of their numbers.
pub fn history() -> &'static [Defect] {
    static HISTORY: LazyLock<Vec<Defect>> = LazyLock::new(|| {
        let lines = (1..).zip(TABLE.lines()).skip(1);
        let read = |(number, line)| defect(line).unwrap_or_else(|| panic!("history.tsv:{number}: {line}"));
        lines.map(read).collect()
    });
    &HISTORY
}

/// Reads a line of the table.
fn defect(line: &'static str) -> Option<Defect> {
    let [id, description, seen_by, names, why, commits] = line.split('\t').collect::<Vec<_>>()[..] else {
        return None;
    };
    let list = |text: &'static str| -> &'static [&'static str] {
        text.split(", ").filter(|word| !word.is_empty()).collect::<Vec<_>>().leak()
    };
    let (kind, number) = id.split_once(' ')?;
    let kind = match kind {
        "bug" => Kind::Bug,
        "suspect" => Kind::Suspect,
        "core" => Kind::Core,
        _ => return None,
    };
    let coverage = match seen_by {
        "scenario" if why.is_empty() => Coverage::Scenario(list(names)),
        "model" => Coverage::Model(list(names), why),
        "unit-test" => Coverage::UnitTest(list(names), why),
        "not-ours" if names.is_empty() => Coverage::NotApplicable(why),
        _ => return None,
    };
    Some(Defect { kind, number: number.parse().ok()?, commits: list(commits), description, coverage })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue::{catalogue, find};

    #[test]
    fn every_defect_is_listed_once_and_in_order() {
        let numbers: Vec<_> = history().iter().map(|defect| (defect.kind, defect.number)).collect();
        let of_core = numbers.iter().filter(|(kind, _)| *kind == Kind::Core).count() as u8;
        let expected: Vec<_> = (1..=85)
            .map(|number| (Kind::Bug, number))
            .chain((1..=20).map(|number| (Kind::Suspect, number)))
            .chain((1..=of_core).map(|number| (Kind::Core, number)))
            .collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn every_defect_has_a_description_its_commits_and_its_coverage() {
        for defect in history() {
            let name = defect.name();
            assert!(
                !defect.description.is_empty() && !defect.description.ends_with('.'),
                "{name}: the description is a sentence without its full stop"
            );
            assert_eq!(defect.commits.is_empty(), defect.kind != Kind::Bug, "{name}: only a bug has commits");
            assert_eq!(
                defect.coverage.names().is_empty(),
                matches!(defect.coverage, Coverage::NotApplicable(_)),
                "{name}: a defect without coverage names nothing"
            );
            assert!(
                defect.coverage.reason().is_none_or(|why| !why.is_empty()),
                "{name}: the reason why there is no scenario is empty"
            );
        }
    }

    #[test]
    fn every_scenario_that_a_defect_names_is_in_the_catalogue() {
        for defect in history() {
            if let Coverage::Scenario(ids) = defect.coverage {
                for id in ids {
                    assert!(find(id).is_some(), "{}: no scenario {id}", defect.name());
                }
            }
        }
    }

    #[test]
    fn every_regression_scenario_is_named_by_a_defect() {
        let named: BTreeSet<_> = history()
            .iter()
            .filter_map(|defect| match defect.coverage {
                Coverage::Scenario(ids) => Some(ids),
                _ => None,
            })
            .flatten()
            .collect();
        for scenario in catalogue().filter(|scenario| scenario.id.starts_with("regression/")) {
            assert!(named.contains(&scenario.id), "no defect of the history names {}", scenario.id);
        }
    }
}
