//! What is to be run: the selected cells, and which of them this machine can run.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use matrix::{Cell, Matrix, MatrixError, Selection, Target};
use metadata::{Seed, Subject, did_you_mean, nearest};
use sha2::{Digest, Sha256};

use crate::environment::Environment;
use crate::error::Error;
use crate::provenance::{TRIPLE, hex};
use crate::{cell, faults};

/// The matrix file that was there when this program was built.
pub const BUILT_IN: &str = include_str!("../../../matrix.yml");

/// The matrix in use, and what else every part of a run has to know.
pub struct Source<'e> {
    /// How this program was started.
    pub environment: &'e Environment,
    /// What it says.
    pub matrix: Matrix,
    /// The file, if it is not the one that is built in. Absolute: cells get it too.
    pub path: Option<PathBuf>,
    /// SHA-256 of the file.
    pub hash: String,
}

impl<'e> Source<'e> {
    /// Reads the matrix file, or the built-in one.
    ///
    /// # Errors
    /// It cannot be read, or something in it is wrong.
    pub fn load(path: Option<&Path>, environment: &'e Environment) -> Result<Self, Error> {
        let (mut matrix, text) = match path {
            Some(path) => read(path)?,
            None => {
                let matrix = Matrix::parse(BUILT_IN, "matrix.yml", &cell::descriptions())?;
                (matrix, BUILT_IN.to_owned())
            }
        };
        environment.add_columns(&mut matrix);
        let path = path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
        Ok(Self { environment, matrix, path, hash: hex(&Sha256::digest(text.as_bytes())) })
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

/// The error for an id that the matrix does not have.
pub fn unknown_cell(id: &str, cells: &[Cell]) -> Error {
    let ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
    unknown(id, ids.iter().map(String::as_str))
}

/// The same, with the ids that there are.
pub fn unknown<'a>(id: &str, ids: impl IntoIterator<Item = &'a str>) -> Error {
    let help = match nearest(id, ids) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "`pollmatrix list` shows every id".to_owned(),
    };
    Error::UnknownCell { id: id.to_owned(), help }
}

/// A matrix file with all that it names, and its text.
pub fn read(path: &Path) -> Result<(Matrix, String), MatrixError> {
    Matrix::load(path, &cell::descriptions())
}

/// Adds to the command that runs a cell again what was typed for this run, and says which cells cannot be run like that.
///
/// # Errors
/// No error can be injected in this build.
pub fn typed(
    planned: &mut [Planned],
    elsewhere: &str,
    attempts: &Attempts,
    environment: &Environment,
) -> Result<(), Error> {
    let options = format!("{elsewhere}{}{}", environment.expectations_option(), disturbed(attempts));
    let injects = attempts.inject_errors.map(faults::injectable).transpose()?.is_some();
    for cell in planned {
        let subject = environment.subject_option(&cell.subject.backend);
        cell.subject.command += &format!("{options}{subject}");
        if injects && characterisation::find(&cell.subject.scenario).is_some() {
            cell.unsupported.get_or_insert_with(|| RAW.to_owned());
        }
    }
    Ok(())
}

/// Why no error is injected in a characterisation.
const RAW: &str = "it asks the raw poller, and errors are injected below the core's";

/// The options for what is broken on purpose, as one would type them.
pub fn disturbed(attempts: &Attempts) -> String {
    let fault = attempts.fault.as_ref().map(|fault| format!(" --fault {fault}"));
    let errors = attempts.inject_errors.map(|one_in| format!(" --inject-errors={one_in}"));
    fault.into_iter().chain(errors).collect()
}

/// How cells are attempted, here or where an executor is.
#[derive(Clone)]
pub struct Attempts {
    /// Cells at the same time. Nothing: as many as the machine runs at once.
    pub jobs: Option<NonZeroUsize>,
    /// Attempts per cell.
    pub repeat: NonZeroU32,
    /// The fault to switch on.
    pub fault: Option<String>,
    /// One in how many system calls below the core fails.
    pub inject_errors: Option<NonZeroU32>,
    /// The seed of each first attempt. Nothing: a new one.
    pub seed: Option<Seed>,
    /// How many times slower than an ordinary machine this one is. Nothing: an ordinary one, or an executor measures it.
    pub slow: Option<NonZeroU32>,
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
