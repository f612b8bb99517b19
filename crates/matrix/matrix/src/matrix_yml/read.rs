//! Parses and checks the text of matrix.yml.

use std::path::Path;

use metadata::Description;
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use crate::matrix_yml::entries;
use crate::matrix_yml::error::MatrixError;
use crate::matrix_yml::file::{Backend, FileText, Matrix, Target};
use crate::matrix_yml::validate::{Problem, check_backend, check_target, read_target};
use crate::matrix_yml::yaml::{YamlError, read_yaml};

/// The version of the file format that this program reads.
const VERSION: u32 = 2;

impl Matrix {
    /// Reads and checks the matrix file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or [`Matrix::parse`] refuses it.
    pub fn load(path: &Path, catalogue: &[Description]) -> Result<(Self, String), MatrixError> {
        let text = metadata::read_text(path)
            .map_err(|source| MatrixError::Read { path: path.to_path_buf(), source })?;
        Ok((Self::parse(&text, &path.display().to_string(), catalogue)?, text))
    }

    /// Reads and checks a matrix. `file` is the name to use in errors. `catalogue` lists the scenarios that
    /// the file can name.
    ///
    /// # Errors
    /// The first problem of the file, with line, column and remedy.
    pub fn parse(text: &str, file: &str, catalogue: &[Description]) -> Result<Self, MatrixError> {
        let keys = "the comments in matrix.yml at the top of the source tree say what each key means";
        let malformed = |YamlError { line, column, message, help }| MatrixError::Malformed {
            file: file.to_owned(),
            line,
            column,
            message,
            help,
        };
        let parsed: FileText =
            read_yaml(text, keys).map_err(|error| malformed(other_version(text).unwrap_or(error)))?;
        parsed.check(file, catalogue)
    }
}

/// The version key of a file whose other keys can be unknown to this program.
#[derive(Deserialize)]
struct AnyVersion {
    version: Spanned<u32>,
}

/// Returns the problem of a file that has another version. Its keys are then not reported as unknown.
fn other_version(text: &str) -> Option<YamlError> {
    let AnyVersion { version } = read_yaml(text, "").ok()?;
    let (message, help) = check_version(version.value).err()?;
    let (line, column) = (version.referenced.line(), version.referenced.column());
    Some(YamlError { line, column, message, help })
}

fn check_version(version: u32) -> Result<(), Problem> {
    match version {
        VERSION => Ok(()),
        other => Err((
            format!("version {other} of the format is not known"),
            format!("this pollmatrix reads version {VERSION}: CHANGELOG.md says what changed"),
        )),
    }
}

impl FileText {
    /// Checks everything, fills in the defaults, and reports the first problem.
    fn check(self, file: &str, catalogue: &[Description]) -> Result<Matrix, MatrixError> {
        let at = |location: Location| {
            move |(message, help): Problem| MatrixError::Malformed {
                file: file.to_owned(),
                line: location.line(),
                column: location.column(),
                message,
                help,
            }
        };
        check_version(self.version.value).map_err(at(self.version.referenced))?;
        let mut backends: Vec<Backend> = Vec::new();
        for Spanned { value, referenced, .. } in self.backends {
            let backend = Backend { id: value.id, os: value.os.0, triggers: value.triggers };
            check_backend(&backend, &backends).map_err(at(referenced))?;
            backends.push(backend);
        }

        let mut targets: Vec<Target> = Vec::new();
        for Spanned { value: text, referenced, .. } in self.targets {
            let target =
                read_target(text).map_err(|(place, problem)| at(place.unwrap_or(referenced))(problem))?;
            check_target(&target, &targets).map_err(at(referenced))?;
            targets.push(target);
        }

        let scenarios = entries::scenarios(&self.scenarios, catalogue, &backends, &self.defaults)
            .map_err(|(place, problem)| at(place)(problem))?;
        Ok(Matrix { backends, targets, scenarios })
    }
}
