//! JUnit XML, for CI systems.

use std::collections::BTreeSet;
use std::time::Duration;

use metadata::{CellResult, Results, Status, one_line, visible};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Renders junit.xml: one test suite per target, backend and layer, and one test case per cell. A target that
/// was not run is a suite with one skipped case.
///
/// # Errors
/// None in practice: characters that XML cannot hold are escaped.
pub fn report(results: &Results) -> Result<String, quick_junit::SerializeError> {
    let mut report = Report::new("pollmatrix");
    let key = |cell: &'_ CellResult| (cell.target.clone(), cell.backend.clone(), !cell.is_contract());
    let suites: BTreeSet<_> = results.cells.iter().map(key).collect();
    for (target, backend, characterisation) in suites {
        let mut name = match results.has_several_targets() {
            true => format!("{target}/{backend}"),
            false => backend.clone(),
        };
        if characterisation {
            name.push_str(" (characterisation)");
        }
        let mut suite = TestSuite::new(one_line(&name).as_ref());
        suite.add_property(("target", one_line(&target).as_ref()));
        for run in results.runs.iter().filter(|run| run.target == target) {
            suite.add_property(("seed", run.seed.to_string().as_str()));
            if run.runner != "native" {
                suite.add_property(("runner", one_line(&run.runner_in_full()).as_ref()));
            }
        }
        if let Some(fault) = results.fault() {
            suite.add_property(("fault", one_line(fault).as_ref()));
        }
        if let Some(one_in) = results.inject_errors() {
            suite.add_property(("inject-errors", one_in.to_string().as_str()));
        }
        if let Some(milliseconds) = results.late_data() {
            suite.add_property(("late-data", milliseconds.to_string().as_str()));
        }
        let suite_key = (target, backend, characterisation);
        let cells = results.cells.iter().filter(|cell| key(cell) == suite_key);
        suite.add_test_cases(cells.map(case));
        report.add_test_suite(suite);
    }
    for not_run in &results.not_run {
        let mut status = TestCaseStatus::skipped();
        status.set_type(Status::NotRun.name()).set_message(one_line(&not_run.reason).as_ref());
        let target = one_line(&not_run.target);
        let mut suite = TestSuite::new(target.as_ref());
        suite.add_test_case(TestCase::new(target.as_ref(), status));
        report.add_test_suite(suite);
    }
    report.to_string()
}

fn case(cell: &CellResult) -> TestCase {
    let mut status = match cell.status {
        Status::Pass | Status::Permitted | Status::KnownFail => TestCaseStatus::success(),
        Status::Unsupported => TestCaseStatus::skipped(),
        // A broken cell and a missing result say nothing about the poller.
        Status::Broken | Status::NotRun => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    let reason = several_lines(cell.reason.as_deref().unwrap_or_default());
    if cell.status != Status::Pass {
        status
            .set_type(cell.status.name())
            .set_message(one_line(&format!("{}: {reason}", cell.status.label())).as_ref());
        status.set_description(format!("{reason}\n{}", several_lines(&cell.reproducer)));
    }
    let mut case = TestCase::new(one_line(&cell.id).as_ref(), status);
    case.set_classname(one_line(&cell.scenario).as_ref()).set_time(Duration::from_millis(cell.duration_ms));
    // JUnit has no message for a success.
    if matches!(cell.status, Status::Permitted | Status::KnownFail) {
        case.set_system_out(format!("{}: {reason}\n", cell.status.label()));
    }
    if !cell.stderr.is_empty() {
        case.set_system_err(several_lines(&cell.stderr));
    }
    case
}

/// Escapes the content of an element. Tabs become spaces, because XML readers normalise them.
fn several_lines(text: &str) -> String {
    visible(text).replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn characterisation_cells_have_a_separate_suite() {
        let mut results =
            samples::results("one", &[("a", "poll", Status::Pass), ("b", "poll", Status::Fail)]);
        results.cells[1].layer = metadata::Layer::Characterisation;
        let text = report(&results).unwrap();
        for suite in [
            "name=\"poll\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"0\"",
            "name=\"poll (characterisation)\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"1\"",
        ] {
            assert!(text.contains(suite), "{suite} is not in:\n{text}");
        }
    }

    #[test]
    fn each_target_has_a_separate_suite() {
        let of = |target| samples::results(target, &[("a", "poll", Status::Pass)]);
        let mut results = samples::merged_of(["one", "two"].map(of));
        results.not_run.push(samples::not_run("bsd"));
        let text = report(&results).unwrap();
        for suite in
            ["name=\"one/poll\" tests=\"1\"", "name=\"two/poll\" tests=\"1\"", "name=\"bsd\" tests=\"1\""]
        {
            assert!(text.contains(suite), "{suite} is not in:\n{text}");
        }
        assert!(text.contains("message=\"no machine\""), "{text}");
        let alone = report(&of("one")).unwrap();
        assert!(alone.contains("name=\"poll\" tests=\"1\""), "{alone}");
    }
}
