//! Errors in a matrix file.

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
        /// The reason.
        source: io::Error,
    },
    /// The content of the file is wrong.
    #[error("{file}:{line}:{column}: {message}")]
    Malformed {
        /// The file's name, as the caller gave it.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// The column, counted from 1.
        column: u64,
        /// The problem.
        message: String,
        /// The remedy.
        help: String,
    },
}

impl MatrixError {
    /// Returns the remedy, as one sentence.
    pub fn help(&self) -> String {
        match self {
            Self::Read { .. } => "omit --matrix to use the matrix built into pollmatrix".into(),
            Self::Malformed { help, .. } => help.clone(),
        }
    }
}
