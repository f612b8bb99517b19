//! Results that were made elsewhere.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use matrix::Target;
use report::{CellResult, Results, Run};

use crate::error::{self, Error};
use crate::stream::{FORMAT, Line};

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
    if path.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut bytes).map_err(failed)?;
    } else {
        bytes = std::fs::read(path).map_err(failed)?;
    }
    let text = String::from_utf8_lossy(&bytes);
    let wrong = |why: String| Error::NoImport { path: path.to_path_buf(), target: target.id.clone(), why };
    let imported = match serde_json::from_str::<Results>(&text) {
        Ok(results) => of_results(results),
        Err(error) => of_lines(&text).map_err(|why| wrong(format!("{why}; as a results.json: {error}")))?,
    };
    if imported.run.triple != target.triple {
        return Err(wrong(format!("they are of {}", imported.run.triple)));
    }
    Ok(imported)
}

fn of_results(results: Results) -> Imported {
    let complete = !results.run.interrupted;
    Imported { run: results.run, rows: by_id(results.cells.into_iter()), complete }
}

fn of_lines(text: &str) -> Result<Imported, String> {
    let mut run = None;
    let mut rows = Vec::new();
    let mut complete = false;
    let mut cut = 0;
    for line in text.lines() {
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
            None => cut += usize::from(Line::is_cut(line)),
        }
    }
    if cut > 0 {
        error::warning(&format!("{cut} lines of the executor are not whole: their cells have no result"));
    }
    let run = run.ok_or("no line of it says where an executor has begun")?;
    Ok(Imported { run, rows: by_id(rows.into_iter()), complete })
}

fn by_id(rows: impl Iterator<Item = CellResult>) -> HashMap<String, CellResult> {
    rows.map(|row| (row.id.clone(), row)).collect()
}
