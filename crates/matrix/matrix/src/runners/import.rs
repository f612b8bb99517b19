//! The runner `import`: reads results that another machine produced.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::matrix_yml::Target;
use metadata::{CellResult, PATH_NAME_HELP, PathNames, Results, Run, read_at_most};

use crate::error::Error;
use crate::stream::{FORMAT, Line};
use crate::{diagnostics, json_lines};

/// The greatest size of a file, in bytes. The results of all cells are smaller.
const BYTES: u64 = 1 << 30;

/// The results of one target.
pub struct Imported {
    /// The provenance of the results.
    pub run: Run,
    /// The results, by the id of the cell.
    pub results: HashMap<String, CellResult>,
    /// Whether the results are complete.
    pub complete: bool,
}

/// Reads the output of an executor, with foreign text of a console between its lines, or a results.json. `-`
/// is standard input.
pub fn read(path: &Path, target: &Target) -> Result<Imported, Error> {
    let bytes = if path.as_os_str() == "-" {
        read_at_most(io::stdin(), BYTES)
    } else {
        File::open(path).and_then(|file| read_at_most(file, BYTES))
    };
    let bytes = bytes.map_err(Error::io("read", path, "give the file with the results"))?;
    let text = String::from_utf8_lossy(&bytes);
    let wrong = |Unfit { why, help }: Unfit| {
        let (path, target, help) = (path.to_path_buf(), target.id.clone(), help.into());
        Error::NoImport { path, target, why, help }
    };
    // A file with a line of an executor, whole or damaged, is not a results.json.
    let imported = if text.lines().any(|line| Line::find(line).0.is_some() || Line::is_cut(line)) {
        of_lines(path, &text)
    } else {
        match Results::read(&bytes) {
            Ok(results) => of_results(results, target),
            Err(error) => Err(Unfit {
                why: format!("line {}, column {}: {}", error.line, error.column, error.message),
                help: if error.help == PATH_NAME_HELP { PATH_NAME_HELP } else { HELP },
            }),
        }
    };
    let imported = imported.map_err(wrong)?;
    if imported.run.triple != target.triple {
        return Err(wrong(format!("they are of {}", imported.run.triple).into()));
    }
    Ok(imported)
}

/// Why a file is not imported, and the remedy.
struct Unfit {
    why: String,
    help: &'static str,
}

const HELP: &str =
    "give the output of `pollmatrix worker exec --all`, or the results.json of a run, of this target";

impl From<String> for Unfit {
    fn from(why: String) -> Self {
        Self { why, help: HELP }
    }
}

fn of_results(results: Results, target: &Target) -> Result<Imported, Unfit> {
    let Results { runs, cells, .. } = results;
    let names = runs.iter().map(|run| run.target.as_str()).collect::<Vec<_>>().join(", ");
    let run = runs.into_iter().find(|run| run.target == target.id);
    let run = run.ok_or_else(|| format!("they are of {names}"))?;
    let complete = !run.interrupted;
    let results = by_id(cells.into_iter().filter(|result| result.target == target.id));
    Ok(Imported { run, results, complete })
}

fn of_lines(path: &Path, text: &str) -> Result<Imported, Unfit> {
    let mut run = None;
    let mut results = Vec::new();
    let mut complete = false;
    let mut cut = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let found = Line::find(line).0;
        if let Some(Err(error)) = found.as_ref().map(PathNames::check_path_names) {
            return Err(Unfit { why: format!("line {}: {error}", index + 1), help: PATH_NAME_HELP });
        }
        match found {
            Some(Line::Begin { format: FORMAT, run: begun, .. }) => {
                // An executor that was restarted continues here.
                complete = false;
                run = Some(*begun);
            }
            Some(Line::Begin { format, .. }) => {
                return Err(format!("its executor writes format {format}, not {FORMAT}").into());
            }
            Some(Line::Cell(result)) => results.push(*result),
            // An attempt that was ordered by hand is no result of a cell.
            Some(Line::End { .. }) => complete = true,
            None if Line::is_cut(line) => cut.push(index + 1),
            None => {}
        }
    }
    if !cut.is_empty() {
        let (path, numbers) = (path.display(), json_lines::listed(&cut));
        diagnostics::warning(&format!(
            "{path}: {numbers} cannot be read: cells without another line have no result"
        ));
    }
    let run = run.ok_or_else(|| "it has no first line of an executor".to_owned())?;
    Ok(Imported { run, results: by_id(results.into_iter()), complete })
}

fn by_id(results: impl Iterator<Item = CellResult>) -> HashMap<String, CellResult> {
    results.map(|result| (result.id.clone(), result)).collect()
}
