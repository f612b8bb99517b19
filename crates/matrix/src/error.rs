//! What can be wrong with a matrix file.

use std::io;
use std::path::PathBuf;

/// A matrix file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MatrixError {
    /// The file cannot be read.
    #[error("cannot read the matrix file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something in the file is wrong.
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

impl MatrixError {
    /// What to do about it, as one sentence.
    pub fn help(&self) -> String {
        match self {
            Self::Read { .. } => "leave --matrix out to use the matrix built into pollmatrix".into(),
            Self::Malformed { help, .. } => help.clone(),
        }
    }
}
