//! The entry points of the fuzz targets. tests/fuzzed.rs calls them, too, without a fuzzer.

use std::collections::BTreeSet;

use exploration::{Accepted, Corpus, MakeSide, Recorded, Recording, parse, parse_accepted};
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

/// Reads any text as a recording of `pollmatrix explore`. Checks that a valid one does not change when it is
/// written and read again, and that a side answers each of its lines from it.
pub fn recorded_answers_json(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match Recording::read(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(recording) => {
            let written = serde_json::to_string(&recording).expect("the types have no fallible parts");
            assert_eq!(Recording::read(&written).ok().as_ref(), Some(&recording));
            let recorded = Recorded::of(&recording).expect("a recording that was read has valid lines");
            let mut side = recorded.make();
            for line in recording.parsed().expect("a recording that was read has valid lines") {
                let answered = side.perform(&line);
                // A file can have a line twice: one of both answers.
                let own = |other: &&exploration::RecordedLine| {
                    other
                        .line
                        .parse()
                        .is_ok_and(|other: exploration::Line| other.to_string() == line.to_string())
                };
                let runs: Vec<_> = recording.lines.iter().filter(own).flat_map(|line| &line.runs).collect();
                assert!(runs.is_empty() || runs.contains(&&answered) || runs.len() > 1, "{line}");
            }
        }
    }
}

/// Parses any text as a file of a corpus, and as one of accepted disagreements. Checks that an error has a
/// place, or that the same lines are written.
pub fn corpus(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let name = "unix-level.txt";
    match parse(name, text) {
        Err(error) => assert!(error.line >= 1 && !error.message.is_empty() && error.file == name),
        Ok(lines) => {
            let mut corpus = Corpus::default();
            lines.iter().for_each(|line| corpus.pin(line));
            let files = corpus.files();
            let written = files.get(name).map(String::as_str).unwrap_or_default();
            let texts =
                |lines: &[exploration::Line]| lines.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
            let again = parse(name, written).expect("a written corpus is read");
            assert_eq!(texts(&again), texts(&lines));
            assert!(files.len() <= 1, "the lines of one file stay in it");
        }
    }
    match parse_accepted(name, text) {
        Err(error) => assert!(error.line >= 1 && !error.message.is_empty() && error.file == name),
        Ok(accepted) => {
            let texts = |accepted: &[Accepted]| accepted.iter().map(ToString::to_string).collect::<Vec<_>>();
            let again = parse_accepted(name, &texts(&accepted).join("\n")).expect("a written file is read");
            assert_eq!(texts(&again), texts(&accepted));
        }
    }
}
