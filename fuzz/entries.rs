//! The entry points of the fuzz targets. tests/fuzzed.rs calls them, too, without a fuzzer.

use matrix::{Matrix, MatrixError};
use metadata::{CellId, Description, Results};
use report::{html, junit, markdown, terminal};

/// Terms in the messages of the YAML library.
const FOREIGN: [&str; 8] = [
    "while parsing",
    "while scanning",
    "did not find",
    "expected",
    "scalar",
    "mapping",
    "deserialize",
    "u64",
];

/// Parses any text as a matrix file with this catalogue. Checks that an error has a place and a help, or that
/// the ids of the cells read back.
pub fn matrix_yml(text: &[u8], catalogue: &[Description]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match Matrix::parse(text, "fuzzed", catalogue) {
        Err(error) => {
            assert!(!error.help().is_empty(), "{error}");
            if let MatrixError::Malformed { line, column, message, help, .. } = error {
                assert!(line >= 1 && column >= 1, "{line}:{column}");
                // Quotes come from the file.
                let own: String = format!("{message} {help}").split('\'').step_by(2).collect();
                assert!(!FOREIGN.iter().any(|words| own.contains(words)), "{message}\n{help}");
            }
        }
        Ok(matrix) => {
            let cells = matrix.cells();
            let mut ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
            for (cell, id) in cells.iter().zip(&ids) {
                assert_eq!(id.parse::<CellId>().ok().as_ref(), Some(&cell.id));
            }
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), cells.len(), "two cells have one id");
        }
    }
}

/// Reads any bytes as results. Checks that an error has a place and a help, or that the results render in
/// every format and do not change when they are written and read again.
pub fn results_json(text: &[u8]) {
    match Results::read(text) {
        Err(error) => assert!(error.line >= 1 && !error.message.is_empty() && !error.help.is_empty()),
        Ok(results) => {
            let written = results.to_json();
            match Results::read(written.as_bytes()) {
                Ok(again) => assert_eq!(again.to_json(), written),
                Err(error) => panic!("{}:{}: {}\n{written}", error.line, error.column, error.message),
            }
            let _ = terminal::matrix(&results, true);
            let _ = markdown::report(&results);
            let _ = junit::report(&results);
            // The page has two scripts and the data. No text of a result may close or open a script element.
            assert_eq!(html::report(&results).matches("</script").count(), 3);
        }
    }
}
