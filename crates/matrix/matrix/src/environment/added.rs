//! Behaviours that a file adds to the matrix, `--behaviours FILE`. They run without a new build.

use std::path::{Path, PathBuf};
use std::time::Duration;

use metadata::{Layer, Scripted};
use sha2::{Digest, Sha256};

use super::Lab;
use crate::error::Error;
use crate::matrix_yml::{Matrix, Scenario};
use crate::provenance::hex;
use crate::selftest;

/// The time limit of one attempt. Every wait in a script is shorter.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The behaviours of a file, checked.
pub struct Added {
    /// The absolute path of the file, which cells get, too.
    pub path: PathBuf,
    /// SHA-256 of the file.
    pub hash: String,
    scenarios: Vec<&'static Scripted>,
}

impl Added {
    /// Reads a file of behaviours.
    ///
    /// # Errors
    /// The file cannot be read, or its first problem, with line, column and remedy.
    pub fn load(path: &Path, lab: &dyn Lab) -> Result<Self, Error> {
        let text = read(path)?;
        let is_taken = |id: &str| scenarios::find(id).is_some() || selftest::find(id).is_some();
        let scenarios = lab.behaviours(&text, &path.display().to_string(), &is_taken)?;
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        Ok(Self { path, hash: hash(&text), scenarios })
    }

    /// Returns the scenarios, in the order of the file.
    pub fn scenarios(&self) -> &[&'static Scripted] {
        &self.scenarios
    }

    /// Returns the behaviour of this id.
    pub fn find(&self, id: &str) -> Option<&'static Scripted> {
        self.scenarios.iter().copied().find(|scenario| scenario.id == id)
    }

    /// Checks that the file still has the same text, because each cell reads it.
    ///
    /// # Errors
    /// The file has another text, or cannot be read.
    pub fn check(&self) -> Result<(), Error> {
        match hash(&read(&self.path)?) == self.hash {
            true => Ok(()),
            false => Err(Error::BehavioursChanged(self.path.clone())),
        }
    }

    /// Adds the behaviours to the matrix, on every backend that has one of their modes.
    pub(crate) fn add_to(&self, matrix: &mut Matrix) {
        matrix.scenarios.extend(self.scenarios.iter().map(|scenario| Scenario {
            id: scenario.id.to_owned(),
            title: scenario.question.to_owned(),
            layer: Layer::Characterisation,
            variants: scenario.description().axes.variants().collect(),
            exclude: Vec::new(),
            timeout: TIMEOUT,
        }));
    }
}

fn read(path: &Path) -> Result<String, Error> {
    let help = "give a file of behaviours: docs/verbs.md describes it";
    metadata::read_text(path).map_err(Error::io("read the behaviours in", path, help))
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
