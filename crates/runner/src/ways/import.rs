//! Results that were made elsewhere.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use matrix::Target;
use metadata::{CellResult, Results, Run};

use crate::error::Error;
use crate::stream::{FORMAT, Line};
use crate::{lines, notes, pipes};

/// Every cell with all that it could say is less.
const BYTES: u64 = 1 << 30;

/// What a file holds of one target.
pub struct Imported {
    /// Where it was made.
    pub run: Run,
    /// By id.
    pub rows: HashMap<String, CellResult>,
    /// Whether nothing is missing.
    pub complete: bool,
}

/// Reads what an executor has printed, with whatever a console put between, or a results.json. `-` is standard input.
pub fn read(path: &Path, target: &Target) -> Result<Imported, Error> {
    let failed = |source| Error::Io {
        action: "read",
        path: path.to_path_buf(),
        source,
        help: "give the file with the results",
    };
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().take(BYTES + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(failed)?;
    if bytes.len() as u64 > BYTES {
        let why = format!("it is longer than {}", pipes::bytes(BYTES as usize));
        return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, why)));
    }
    let text = String::from_utf8_lossy(&bytes);
    let wrong = |why: String| Error::NoImport { path: path.to_path_buf(), target: target.id.clone(), why };
    // What begins like an executor's lines, or holds one, is no report.
    let imported = if text.lines().any(|line| Line::find(line).0.is_some() || Line::is_cut(line)) {
        of_lines(path, &text)
    } else {
        match Results::read(&bytes) {
            Ok(results) => of_results(results, target),
            Err(error) => Err(format!("line {}, column {}: {}", error.line, error.column, error.message)),
        }
    };
    let imported = imported.map_err(wrong)?;
    if imported.run.triple != target.triple {
        return Err(wrong(format!("they are of {}", imported.run.triple)));
    }
    Ok(imported)
}

fn of_results(results: Results, target: &Target) -> Result<Imported, String> {
    let Results { runs, cells, .. } = results;
    let names = runs.iter().map(|run| run.target.as_str()).collect::<Vec<_>>().join(", ");
    let run = runs.into_iter().find(|run| run.target == target.id);
    let run = run.ok_or_else(|| format!("they are of {names}"))?;
    let complete = !run.interrupted;
    let rows = by_id(cells.into_iter().filter(|row| row.target == target.id));
    Ok(Imported { run, rows, complete })
}

fn of_lines(path: &Path, text: &str) -> Result<Imported, String> {
    let mut run = None;
    let mut rows = Vec::new();
    let mut complete = false;
    let mut cut = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match Line::find(line).0 {
            Some(Line::Begin { format: FORMAT, run: begun, .. }) => {
                // An executor that was started again goes on.
                complete = false;
                run = Some(*begun);
            }
            Some(Line::Begin { format, .. }) => {
                return Err(format!("its executor speaks format {format}, not {FORMAT}"));
            }
            Some(Line::Cell(row)) => rows.push(*row),
            Some(Line::End { .. }) => complete = true,
            None if Line::is_cut(line) => cut.push(index + 1),
            None => {}
        }
    }
    if !cut.is_empty() {
        let (path, numbers) = (path.display(), lines::listed(&cut));
        notes::warning(&format!(
            "{path}: {numbers} cannot be read: cells that are in no other line have no result"
        ));
    }
    let run = run.ok_or("no line of it says where an executor has begun")?;
    Ok(Imported { run, rows: by_id(rows.into_iter()), complete })
}

fn by_id(rows: impl Iterator<Item = CellResult>) -> HashMap<String, CellResult> {
    rows.map(|row| (row.id.clone(), row)).collect()
}
