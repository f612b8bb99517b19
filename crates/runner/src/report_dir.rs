//! The files of a report directory.

use std::path::Path;

use metadata::Results;
use report::{html, junit, markdown};

use crate::error::Error;
use crate::output;

/// The file name of the results.
pub const RESULTS: &str = "results.json";
/// The file name of the HTML report.
pub const REPORT: &str = "report.html";

/// Writes every format of the report.
///
/// # Errors
/// A file cannot be written.
pub fn write(dir: &Path, results: &Results) -> Result<(), Error> {
    let junit = junit::report(results).map_err(|error| Error::Junit(error.to_string()))?;
    output::write_file(&dir.join(RESULTS), &results.to_json())?;
    output::write_file(&dir.join(REPORT), &html::report(results))?;
    output::write_file(&dir.join("report.md"), &markdown::report(results))?;
    output::write_file(&dir.join("junit.xml"), &junit)
}
