//! What the expectations make of an answer, on this machine.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use expectations::{Divergences, Version};
use matrix::Os;
use report::Attempt;

use crate::error::Error;
use crate::provenance;

/// What `--expectations` names, and what is in it.
static GIVEN: OnceLock<(PathBuf, Divergences)> = OnceLock::new();

/// Reads the divergences in `dir`, or the built-in ones: before anything is run, for [`judge`] cannot complain.
pub fn load(dir: Option<&Path>) -> Result<(), Error> {
    match dir {
        Some(dir) => {
            let given = Divergences::load(dir)?;
            let path = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
            GIVEN.get_or_init(|| (path, given));
        }
        None => {
            Divergences::built_in()?;
        }
    }
    Ok(())
}

/// What `--expectations` names, if it was given.
pub fn given() -> Option<&'static Path> {
    GIVEN.get().map(|(dir, _)| dir.as_path())
}

/// The option that makes another command judge alike: ` --expectations 'DIR'`, or nothing.
pub fn option() -> String {
    given().map(|dir| format!(" --expectations '{}'", dir.display())).unwrap_or_default()
}

/// The attempt as it is to be reported: a failure that is documented for this system is none.
///
/// It is judged where it was made: only there is it known on which kernel.
pub fn judge(attempt: Attempt) -> Attempt {
    let divergences = GIVEN.get().map(|(_, given)| given).or_else(|| Divergences::built_in().ok());
    let (Some(divergences), Ok(os)) = (divergences, provenance::OS.parse::<Os>()) else { return attempt };
    let version = Version::of_release(os, &provenance::kernel().0);
    divergences.judge(os, version.as_ref(), attempt)
}
