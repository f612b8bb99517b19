//! What is to be run: the selected cells, and which of them this machine can run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use matrix::{Cell, Matrix, MatrixError, Selection, Target};
use metadata::{Subject, did_you_mean};
use sha2::{Digest, Sha256};

use crate::args::AttemptArgs;
use crate::error::Error;
use crate::provenance::{TRIPLE, hex};
use crate::{catalogue, expected, faults, rows, subject};

/// The matrix file that was there when this program was built.
pub const BUILT_IN: &str = include_str!("../../../matrix.yml");

/// The matrix in use.
pub struct Source {
    /// What it says.
    pub matrix: Matrix,
    /// The file, if it is not the one that is built in. Absolute: cells get it too.
    pub path: Option<PathBuf>,
    /// SHA-256 of the file.
    pub hash: String,
}

impl Source {
    /// Reads the matrix file, or the built-in one.
    pub fn load(path: Option<&Path>) -> Result<Self, Error> {
        let (mut matrix, text) = match path {
            Some(path) => read(path)?,
            None => {
                let matrix = Matrix::parse(BUILT_IN, "matrix.yml", &catalogue::descriptions())?;
                (matrix, BUILT_IN.to_owned())
            }
        };
        subject::add_columns(&mut matrix);
        let path = path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
        Ok(Self { matrix, path, hash: hex(&Sha256::digest(text.as_bytes())) })
    }

    /// The target whose cells this program runs by itself.
    pub fn target(&self) -> Result<&Target, Error> {
        self.matrix.native_target(TRIPLE).ok_or(Error::NoTarget(TRIPLE))
    }

    /// The target of this id, or the one that this program runs by itself.
    pub fn target_or_own(&self, id: Option<&str>) -> Result<&Target, Error> {
        let Some(id) = id else { return self.target() };
        self.matrix.target(id).ok_or_else(|| {
            let ids = self.matrix.targets.iter().map(|target| target.id.as_str());
            Error::UnknownTarget { id: id.to_owned(), help: did_you_mean(id, ids) }
        })
    }

    /// The selected cells, as planned for a target.
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
        let subject = Subject {
            command: format!("pollmatrix run '{}'{matrix}", cell.id),
            id: cell.id.to_string(),
            scenario: cell.id.scenario,
            backend: cell.id.backend,
            target: target.id.clone(),
            layer: cell.layer,
            params: cell.variant,
        };
        Planned { subject, timeout: cell.timeout, unsupported }
    }
}

/// A matrix file with all that it names, and its text.
pub fn read(path: &Path) -> Result<(Matrix, String), MatrixError> {
    Matrix::load(path, &catalogue::descriptions())
}

/// Adds to the command that runs a cell again what was typed for this run, and says which cells cannot be run like that.
///
/// # Errors
/// No error can be injected in this build.
pub fn typed(planned: &mut [Planned], elsewhere: &str, attempts: &AttemptArgs) -> Result<(), Error> {
    let options = format!("{elsewhere}{}{}", expected::option(), disturbed(attempts));
    let injects = attempts.inject.one_in.map(faults::injectable).transpose()?.is_some();
    for cell in planned {
        let subject = subject::option(&cell.subject.backend);
        cell.subject.command += &format!("{options}{subject}");
        if injects && rows::find(&cell.subject.scenario).is_some() {
            cell.unsupported.get_or_insert_with(|| RAW.to_owned());
        }
    }
    Ok(())
}

/// Why no error is injected in a characterisation.
const RAW: &str = "it asks the raw poller, and errors are injected below the core's";

/// The options for what is broken on purpose, as one would type them.
pub fn disturbed(attempts: &AttemptArgs) -> String {
    let fault = attempts.fault.name.as_ref().map(|fault| format!(" --fault {fault}"));
    let errors = attempts.inject.one_in.map(|one_in| format!(" --inject-errors={one_in}"));
    fault.into_iter().chain(errors).collect()
}

/// A cell of the plan.
#[derive(Clone)]
pub struct Planned {
    /// Which cell.
    pub subject: Subject,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// Why this machine cannot run it.
    pub unsupported: Option<String>,
}
