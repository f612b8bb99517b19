//! The files of a report directory.

use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, Builder};

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
    let write_pages = || {
        output::write_file(&dir.join(REPORT), &html::report(results))?;
        output::write_file(&dir.join("report.md"), &markdown::report(results))?;
        output::write_file(&dir.join("junit.xml"), &junit::report(results))
    };
    // The results of many targets have a hundred megabytes: on two processors at once.
    thread::scope(|scope| {
        let pages = Builder::new().spawn_scoped(scope, write_pages);
        let written = output::write_file(&dir.join(RESULTS), &results.to_json());
        // If there are no more threads, this one writes them.
        let pages = pages.map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        written.and(pages.unwrap_or_else(|_| write_pages()))
    })
}
