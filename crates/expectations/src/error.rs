//! What can be wrong with the files.

use std::io;
use std::path::PathBuf;

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
        /// Why.
        source: io::Error,
    },
    /// Something in a file is wrong.
    #[error("{file}:{line}:{column}: {message}")]
    Malformed {
        /// The file's name, as it was given.
        file: String,
        /// Counted from 1.
        line: u64,
        /// Counted from 1.
        column: u64,
        /// What is wrong.
        message: String,
        /// What to do about it.
        help: String,
    },
}

impl ExpectationsError {
    /// What to do about it, as one sentence.
    pub fn help(&self) -> String {
        match self {
            Self::Read { .. } => "give a folder with the files of expectations/, or leave it out to use \
                                  what is built into pollmatrix"
                .into(),
            Self::Malformed { help, .. } => help.clone(),
        }
    }

    /// Reads a file.
    pub(crate) fn read_yaml<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, Self> {
        matrix::read_yaml(text, "docs/expectations.md says what each key means").map_err(|error| {
            let YamlError { line, column, message, help } = error;
            Self::Malformed { file: file.to_owned(), line, column, message, help }
        })
    }

    /// Something that the grammar allows and the rules do not.
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
