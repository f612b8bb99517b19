//! What can be wrong with the files.

use std::io;
use std::path::PathBuf;

use matrix::{did_you_mean, yaml_message};
use serde_saphyr::{Error, Location};

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

    /// What the YAML reader says, with a suggestion where it knows what would have been right.
    pub(crate) fn from_yaml(error: &Error, file: &str) -> Self {
        let location = error.location();
        let (message, help) = match error.without_snippet() {
            Error::SerdeUnknownField { field, expected, .. } => {
                (format!("unknown key '{field}'"), did_you_mean(field, expected.iter().copied()))
            }
            Error::SerdeUnknownVariant { variant, expected, .. } => {
                (format!("unknown value '{variant}'"), did_you_mean(variant, expected.iter().copied()))
            }
            Error::DuplicateMappingKey { key, .. } => (
                format!("{} is there twice", key.as_deref().unwrap_or("a key")),
                "remove one of them; answers of several versions are a list under one key".into(),
            ),
            other => (yaml_message(other), "docs/expectations.md says what each key means".to_owned()),
        };
        let (line, column) = location.map_or((1, 1), |at| (at.line(), at.column()));
        Self::Malformed { file: file.to_owned(), line, column, message, help }
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
