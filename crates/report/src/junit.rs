//! JUnit XML, for CI systems.

use std::collections::BTreeSet;
use std::fmt::Write;

use metadata::{CellResult, Results, Status, one_line, visible};

use crate::html::escaped;

/// Renders junit.xml: one test suite per target, backend and layer, and one test case per cell. A target that
/// was not run is a suite with one skipped case.
pub fn report(results: &Results) -> String {
    let mut suites = Vec::new();
    let key = |cell: &'_ CellResult| (cell.target.clone(), cell.backend.clone(), !cell.is_contract());
    let keys: BTreeSet<_> = results.cells.iter().map(key).collect();
    for (target, backend, characterisation) in keys {
        let mut name = match results.has_several_targets() {
            true => format!("{target}/{backend}"),
            false => backend.clone(),
        };
        if characterisation {
            name.push_str(" (characterisation)");
        }
        let mut properties = vec![("target", target.clone())];
        for run in results.runs.iter().filter(|run| run.target == target) {
            properties.push(("seed", run.seed.to_string()));
            if run.via != "native" {
                properties.push(("via", run.runner()));
            }
        }
        properties.extend(results.fault().map(|fault| ("fault", fault.to_owned())));
        properties.extend(results.inject_errors().map(|one_in| ("inject-errors", one_in.to_string())));
        properties.extend(results.late_data().map(|milliseconds| ("late-data", milliseconds.to_string())));
        let suite_key = (target, backend, characterisation);
        let cells = results.cells.iter().filter(|cell| key(cell) == suite_key);
        suites.push(Suite { name, properties, cases: cells.map(case).collect() });
    }
    for not_run in &results.not_run {
        let outcome = Some((Outcome::Skipped, Status::NotRun, not_run.reason.clone(), None));
        let case = Case { name: not_run.target.clone(), outcome, ..Case::default() };
        suites.push(Suite { name: not_run.target.clone(), properties: Vec::new(), cases: vec![case] });
    }
    let all: Vec<_> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<testsuites name=\"pollmatrix\"{}>", counts(all.iter().copied()));
    suites.iter().for_each(|suite| suite.write(&mut text));
    text + "</testsuites>\n"
}

struct Suite {
    name: String,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case>,
}

#[derive(Default)]
struct Case {
    name: String,
    /// The scenario and the duration in milliseconds, if it ran.
    ran: Option<(String, u64)>,
    /// What is not a success, the status, its message, and its description.
    outcome: Option<(Outcome, Status, String, Option<String>)>,
    system_out: String,
    system_err: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Success,
    Skipped,
    Failure,
    /// A set-up error or a missing result says nothing about the poller.
    Error,
}

/// Returns the attributes that count cases.
fn counts<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> String {
    let of = |wanted| {
        let is = |case: &&Case| case.outcome.as_ref().is_some_and(|(outcome, ..)| *outcome == wanted);
        cases.clone().filter(is).count()
    };
    let (skipped, errors, failures) = (of(Outcome::Skipped), of(Outcome::Error), of(Outcome::Failure));
    let tests = cases.clone().count();
    format!(" tests=\"{tests}\" skipped=\"{skipped}\" errors=\"{errors}\" failures=\"{failures}\"")
}

/// Returns the value of an attribute.
fn value(text: &str) -> String {
    escaped(&one_line(text))
}

impl Suite {
    fn write(&self, text: &mut String) {
        let counts = counts(self.cases.iter());
        let _ = writeln!(text, "  <testsuite name=\"{}\"{counts}>", value(&self.name));
        if !self.properties.is_empty() {
            let property = |(name, of): &(&str, String)| {
                format!("      <property name=\"{name}\" value=\"{}\"/>\n", value(of))
            };
            let properties: String = self.properties.iter().map(property).collect();
            let _ = writeln!(text, "    <properties>\n{properties}    </properties>");
        }
        self.cases.iter().for_each(|case| case.write(text));
        text.push_str("  </testsuite>\n");
    }
}

impl Case {
    fn write(&self, text: &mut String) {
        let _ = write!(text, "    <testcase name=\"{}\"", value(&self.name));
        if let Some((scenario, milliseconds)) = &self.ran {
            let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
            let _ = write!(text, " classname=\"{}\" time=\"{seconds}.{rest:03}\"", value(scenario));
        }
        let begun = text.len();
        text.push_str(">\n");
        let start = text.len();
        if let Some((outcome, status, message, description)) = &self.outcome {
            let element = match outcome {
                Outcome::Success => None,
                Outcome::Skipped => Some("skipped"),
                Outcome::Failure => Some("failure"),
                Outcome::Error => Some("error"),
            };
            if let Some(element) = element {
                let description = escaped(description.as_deref().unwrap_or_default());
                let _ = writeln!(
                    text,
                    "      <{element} type=\"{}\" message=\"{}\">{description}</{element}>",
                    status.name(),
                    value(message)
                );
            }
        }
        for (element, output) in [("system-out", &self.system_out), ("system-err", &self.system_err)] {
            if !output.is_empty() {
                let _ = writeln!(text, "      <{element}>{}</{element}>", escaped(output));
            }
        }
        if text.len() == start {
            text.truncate(begun);
            text.push_str("/>\n");
        } else {
            text.push_str("    </testcase>\n");
        }
    }
}

fn case(cell: &CellResult) -> Case {
    let outcome = match cell.status {
        Status::Pass | Status::Permitted | Status::KnownFail => Outcome::Success,
        Status::Unsupported => Outcome::Skipped,
        Status::Broken | Status::NotRun => Outcome::Error,
        _ => Outcome::Failure,
    };
    let reason = several_lines(cell.reason.as_deref().unwrap_or_default());
    let message = format!("{}: {reason}", cell.status.label());
    let description = format!("{reason}\n{}", several_lines(&cell.reproducer));
    // JUnit has no message for a success.
    let is_noted = matches!(cell.status, Status::Permitted | Status::KnownFail);
    Case {
        name: cell.id.clone(),
        ran: Some((cell.scenario.clone(), cell.duration_ms)),
        system_out: if is_noted { format!("{message}\n") } else { String::new() },
        outcome: Some((outcome, cell.status, message, Some(description))),
        system_err: several_lines(&cell.stderr),
    }
}

/// Escapes the content of an element. Tabs become spaces, because XML readers normalise them.
fn several_lines(text: &str) -> String {
    visible(text).replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use metadata::NotRun;

    use super::*;
    use crate::merge::{Input, Rules, merge};
    use crate::samples;

    #[test]
    fn characterisation_cells_have_a_separate_suite() {
        let mut results =
            samples::results("one", &[("a", "poll", Status::Pass), ("b", "poll", Status::Fail)]);
        results.cells[1].layer = metadata::Layer::Characterisation;
        let text = report(&results);
        for suite in [
            "name=\"poll\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"0\"",
            "name=\"poll (characterisation)\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"1\"",
        ] {
            assert!(text.contains(suite), "{suite} is not in:\n{text}");
        }
    }

    #[test]
    fn each_target_has_a_separate_suite() {
        let inputs = ["one", "two"].map(|target| Input {
            name: target.into(),
            results: samples::results(target, &[("a", "poll", Status::Pass)]),
        });
        let mut results = merge(inputs.into(), Rules::default()).unwrap().results;
        results.not_run.push(NotRun {
            target: "bsd".into(),
            os: "freebsd".into(),
            reason: "no machine".into(),
        });
        let text = report(&results);
        for suite in
            ["name=\"one/poll\" tests=\"1\"", "name=\"two/poll\" tests=\"1\"", "name=\"bsd\" tests=\"1\""]
        {
            assert!(text.contains(suite), "{suite} is not in:\n{text}");
        }
        assert!(text.contains("message=\"no machine\""), "{text}");
        let alone = report(&samples::results("one", &[("a", "poll", Status::Pass)]));
        assert!(alone.contains("name=\"poll\" tests=\"1\""), "{alone}");
    }
}
