//! The file of `--known`: disagreements that were accepted before.

use std::path::Path;

use explore::{Accepted, parse_accepted};

use crate::error::Error;

/// Reads the disagreements in a file.
pub fn read(file: &Path) -> Result<Vec<Accepted>, Error> {
    let text = metadata::read_text(file).map_err(|source| matrix::Error::Io {
        action: "read",
        path: file.to_path_buf(),
        source,
        help: "`pollmatrix explore --propose=FILE.txt` writes such a file",
    })?;
    parse_accepted(&file.display().to_string(), &text).map_err(|error| Error::Record {
        path: file.to_path_buf(),
        line: error.line,
        message: error.message,
        help: "correct or remove the line: docs/explore.md describes the file".into(),
    })
}
