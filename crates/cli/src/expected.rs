//! What is expected on this machine, and what that makes of an answer.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use expectations::{Answers, Divergences, Version};
use metadata::{Attempt, Os};

use crate::error::Error;
use crate::{provenance, subject};

/// What `--expectations` names, and what is in it.
struct Given {
    dir: PathBuf,
    divergences: Divergences,
    answers: Answers,
}

static GIVEN: OnceLock<Given> = OnceLock::new();

/// Reads what is in `dir`, or the built-in divergences: before anything is run, for [`judge`] cannot complain, and when it
/// is known which subjects are asked.
pub fn load(dir: Option<&Path>) -> Result<(), Error> {
    match dir {
        Some(dir) => {
            let divergences = Divergences::load(dir)?;
            let answers = os().map_or(Ok(Answers::default()), |os| Answers::load_of(dir, os, &subjects()))?;
            let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
            GIVEN.get_or_init(|| Given { dir, divergences, answers });
        }
        None => {
            Divergences::built_in()?;
        }
    }
    Ok(())
}

/// What `--expectations` names, if it was given.
pub fn given() -> Option<&'static Path> {
    GIVEN.get().map(|given| given.dir.as_path())
}

/// The option that makes another command judge alike: ` --expectations 'DIR'`, or nothing.
pub fn option() -> String {
    given().map(|dir| format!(" --expectations '{}'", dir.display())).unwrap_or_default()
}

/// This system, if expectations know it.
pub fn os() -> Option<Os> {
    provenance::OS.parse().ok()
}

/// The version of this system's kernel, if it has numbers.
pub fn version() -> Option<Version> {
    Version::of_release(os()?, &provenance::kernel().0)
}

fn subjects() -> Vec<&'static str> {
    subject::pollers().map(|poller| poller.name).collect()
}

/// What this system's raw pollers are expected to answer, and those subjects that are asked.
pub fn answers() -> Result<&'static Answers, Error> {
    static BUILT_IN: OnceLock<Answers> = OnceLock::new();
    if let Some(given) = GIVEN.get() {
        return Ok(&given.answers);
    }
    if BUILT_IN.get().is_none() {
        let answers = os().map_or(Ok(Answers::default()), |os| Answers::built_in_of(os, &subjects()))?;
        BUILT_IN.get_or_init(|| answers);
    }
    Ok(BUILT_IN.get().unwrap_or_else(|| unreachable!("it was just set")))
}

/// The attempt as it is to be reported: a failure that is documented for this system is none.
///
/// It is judged where it was made: only there is it known on which kernel.
pub fn judge(attempt: Attempt) -> Attempt {
    let divergences = GIVEN.get().map(|given| &given.divergences).or_else(|| Divergences::built_in().ok());
    let (Some(divergences), Some(os)) = (divergences, os()) else { return attempt };
    divergences.judge(os, version().as_ref(), attempt)
}
