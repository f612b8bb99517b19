//! From the text of matrix.yml to a matrix.

use metadata::Description;
use serde_saphyr::{Location, Spanned};

use crate::entries;
use crate::error::MatrixError;
use crate::file::{Backend, FileText, Matrix, Target};
use crate::validate::{Problem, check_backend, check_target, read_target};

/// The version of the file's format that this program reads.
const VERSION: u32 = 2;
impl FileText {
    /// Checks everything, fills in the defaults, and reports the first thing that is wrong.
    pub(crate) fn check(self, file: &str, catalogue: &[Description]) -> Result<Matrix, MatrixError> {
        let at = |location: Location| {
            move |(message, help): Problem| MatrixError::Malformed {
                file: file.to_owned(),
                line: location.line(),
                column: location.column(),
                message,
                help,
            }
        };
        if self.version.value != VERSION {
            let message = format!("version {} of the format is not known", self.version.value);
            return Err(at(self.version.referenced)((
                message,
                format!("this pollmatrix reads version {VERSION}"),
            )));
        }

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
