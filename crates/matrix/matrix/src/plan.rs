//! The plan of a run: the selected cells, and which of them the target can run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::matrix_yml::{Cell, Matrix, MatrixError, Selection, Target};
use metadata::{PlannedCell, RunSpec, did_you_mean, nearest};
use sha2::{Digest, Sha256};

use crate::environment::Environment;
use crate::error::Error;
use crate::provenance::{TRIPLE, hex};
use crate::{backends, faults};

/// The built-in matrix file.
pub const BUILT_IN: &str = include_str!("../matrix.yml");

/// The matrix file in use, and the environment.
pub struct Source<'e> {
    /// The global options.
    pub environment: &'e Environment,
    /// The contents of the matrix file, with a column per adapter.
    pub matrix: Matrix,
    /// The absolute path of the file, which cells get, too. `None` for the built-in file.
    pub path: Option<PathBuf>,
    /// SHA-256 of the file.
    pub hash: String,
}

impl<'e> Source<'e> {
    /// Reads the matrix file, or the built-in one.
    ///
    /// # Errors
    /// The file cannot be read, or is malformed.
    pub fn load(path: Option<&Path>, environment: &'e Environment) -> Result<Self, Error> {
        let (mut matrix, text) = match path {
            Some(path) => read(path, environment)?,
            None => {
                let matrix = Matrix::parse(BUILT_IN, "matrix.yml", &environment.descriptions())?;
                (matrix, BUILT_IN.to_owned())
            }
        };
        backends::add_library(&mut matrix);
        if let Some(behaviours) = environment.behaviours() {
            behaviours.add_to(&mut matrix);
        }
        environment.add_columns(&mut matrix);
        let path = path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
        Ok(Self { environment, matrix, path, hash: hex(&Sha256::digest(text.as_bytes())) })
    }

    /// Returns the target that is native to this program.
    pub fn target(&self) -> Result<&Target, Error> {
        self.matrix.native_target(TRIPLE).ok_or(Error::NoTarget(TRIPLE))
    }

    /// Returns the target of this id, or the native one if there is no id.
    pub fn target_or_own(&self, id: Option<&str>) -> Result<&Target, Error> {
        let Some(id) = id else { return self.target() };
        self.matrix.target(id).ok_or_else(|| {
            let ids = self.matrix.targets.iter().map(|target| target.id.as_str());
            Error::UnknownTarget { id: id.to_owned(), help: did_you_mean(id, ids) }
        })
    }

    /// Plans the selected cells for a target.
    pub fn plan(&self, target: &Target, selection: &Selection) -> Result<Vec<Planned>, Error> {
        let cells = selection.apply(&self.matrix)?;
        Ok(cells.into_iter().map(|cell| self.planned(cell, target)).collect())
    }

    fn planned(&self, cell: Cell, target: &Target) -> Planned {
        let exists =
            self.matrix.backend(&cell.id.backend).is_some_and(|backend| backend.exists_on(target.os.name()));
        let unsupported = (!exists).then(|| format!("{} does not exist on {}", cell.id.backend, target.os));
        let matrix =
            self.path.as_ref().map(|path| format!(" --matrix '{}'", path.display())).unwrap_or_default();
        let spec = PlannedCell {
            command: format!("pollmatrix run '{}'{matrix}", cell.id),
            id: cell.id.to_string(),
            scenario: cell.id.scenario,
            backend: cell.id.backend,
            target: target.id.clone(),
            layer: cell.layer,
            params: cell.variant,
        };
        Planned { spec, timeout: cell.timeout, unsupported }
    }
}

/// Returns the error for an id that no cell has.
pub fn unknown_cell(id: &str, cells: &[Cell]) -> Error {
    let ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
    unknown(id, ids.iter().map(String::as_str))
}

/// Returns the error for an id that is not one of `ids`.
pub fn unknown<'a>(id: &str, ids: impl IntoIterator<Item = &'a str>) -> Error {
    let help = match nearest(id, ids) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "`pollmatrix list` shows every id".to_owned(),
    };
    Error::UnknownCell { id: id.to_owned(), help }
}

/// Reads a matrix file. Returns the matrix and the text of the file.
pub fn read(path: &Path, environment: &Environment) -> Result<(Matrix, String), MatrixError> {
    Matrix::load(path, &environment.descriptions())
}

/// Adds the options of this run to the rerun arguments of each cell, and marks cells that do not support
/// them.
///
/// # Errors
/// This build cannot inject errors.
pub fn add_rerun_arguments(
    planned: &mut [Planned],
    runner_options: &str,
    spec: &RunSpec,
    environment: &Environment,
) -> Result<(), Error> {
    let options =
        format!("{runner_options}{}{}", environment.expectations_option(), disturbance_options(spec));
    let injects = spec.inject_errors.map(faults::injectable).transpose()?.is_some();
    let is_late = spec.late_data.is_some();
    for cell in planned {
        let adapter = environment.adapter_option(&cell.spec.backend);
        let behaviours = environment.behaviours_option(&cell.spec.scenario);
        cell.spec.command += &format!("{options}{behaviours}{adapter}");
        if (injects || is_late) && environment.scripted(&cell.spec.scenario).is_some() {
            let why = if injects { RAW } else { PUNCTUAL };
            cell.unsupported.get_or_insert_with(|| why.to_owned());
        }
    }
    Ok(())
}

/// Why characterisations do not support injected errors.
const RAW: &str = "it tests the raw poller, and errors are injected below the core's pollers only";

/// Why characterisations do not support late data.
const PUNCTUAL: &str = "it tests the raw poller, and only the data of contract scenarios can be late";

/// Returns the options that switch on a fault, inject errors or delay data, as text for a command line.
pub fn disturbance_options(spec: &RunSpec) -> String {
    spec.disturbance_options().iter().map(|option| format!(" {option}")).collect()
}

/// A cell of the plan.
#[derive(Clone)]
pub struct Planned {
    /// The cell.
    pub spec: PlannedCell,
    /// The time limit of one attempt.
    pub timeout: Duration,
    /// Why the target cannot run it, if it cannot.
    pub unsupported: Option<String>,
}
