//! The results as JUnit XML, which every CI system reads.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::cell::CellResult;
use crate::results::Results;
use crate::status::Status;

/// The text of junit.xml: one test suite per backend, one case per cell.
///
/// # Errors
/// None in practice: text that XML cannot hold is removed from it.
pub fn report(results: &Results) -> Result<String, quick_junit::SerializeError> {
    let mut report = Report::new("pollmatrix");
    let mut backends: Vec<_> = results.cells.iter().map(|cell| cell.backend.as_str()).collect();
    backends.sort_unstable();
    backends.dedup();
    for backend in backends {
        let mut suite = TestSuite::new(backend);
        suite.add_property(("target", results.run.target.as_str()));
        suite.add_property(("seed", results.run.seed.to_string().as_str()));
        if let Some(fault) = &results.run.fault {
            suite.add_property(("fault", fault.as_str()));
        }
        suite.add_test_cases(results.cells.iter().filter(|cell| cell.backend == backend).map(case));
        report.add_test_suite(suite);
    }
    report.to_string()
}

fn case(cell: &CellResult) -> TestCase {
    let mut status = match cell.status {
        Status::Pass | Status::Permitted | Status::KnownFail => TestCaseStatus::success(),
        Status::Unsupported => TestCaseStatus::skipped(),
        // A set-up that failed and a row that is missing say nothing about the subject.
        Status::Broken | Status::NotRun => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    if cell.status != Status::Pass {
        let reason = cell.reason.as_deref().unwrap_or_default();
        status.set_type(cell.status.name()).set_message(format!("{}: {reason}", cell.status));
        status.set_description(format!("{reason}\n{}", cell.reproducer));
    }
    let mut case = TestCase::new(cell.id.as_str(), status);
    case.set_classname(cell.scenario.as_str()).set_time(Duration::from_millis(cell.duration_ms));
    // A success has no message.
    if matches!(cell.status, Status::Permitted | Status::KnownFail) {
        let reason = cell.reason.as_deref().unwrap_or_default();
        case.set_system_out_lossy(format!("{}: {reason}\n", cell.status));
    }
    if !cell.stderr.is_empty() {
        case.set_system_err_lossy(&cell.stderr);
    }
    case
}
