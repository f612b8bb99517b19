//! Errors in the files of expectations.

use std::io;
use std::path::{Path, PathBuf};

use matrix::YamlError;
use serde::de::DeserializeOwned;
use serde_saphyr::Location;

/// Expectations that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExpectationsError {
    /// A file or the folder cannot be read.
    #[error("cannot read the expectations in {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file has an error.
    #[error("{file}:{line}:{column}: {message}")]
    Malformed {
        /// The file's name, as the caller gave it.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// The column, counted from 1.
        column: u64,
        /// The error.
        message: String,
        /// The fix.
        help: String,
    },
}

impl ExpectationsError {
    /// Returns the fix as one sentence.
    pub fn help(&self) -> String {
        match self {
            Self::Read { .. } => "give a folder with the files of expectations/, or leave it out to use \
                                  the expectations built into pollmatrix"
                .into(),
            Self::Malformed { help, .. } => help.clone(),
        }
    }

    /// Reads a file, if it exists.
    pub(crate) fn read_file(path: &Path) -> Result<Option<String>, Self> {
        match metadata::read_text(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|source| Self::Read { path: path.to_owned(), source }),
        }
    }

    /// Parses a YAML file.
    pub(crate) fn read_yaml<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, Self> {
        matrix::read_yaml(text, "docs/expectations.md explains every key").map_err(|error| {
            let YamlError { line, column, message, help } = error;
            Self::Malformed { file: file.to_owned(), line, column, message, help }
        })
    }

    /// Makes an error in well-formed text that breaks a rule.
    pub(crate) fn at(file: &str, at: Location, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Malformed {
            file: file.to_owned(),
            line: at.line(),
            column: at.column(),
            message: message.into(),
            help: help.into(),
        }
    }
}

impl From<&ExpectationsError> for matrix::Error {
    fn from(error: &ExpectationsError) -> Self {
        Self::Lab { message: error.to_string(), help: error.help() }
    }
}

impl From<ExpectationsError> for matrix::Error {
    fn from(error: ExpectationsError) -> Self {
        Self::from(&error)
    }
}
