//! The file of `--known`: disagreements that were accepted before.

use std::path::Path;

use explore::{Accepted, parse_accepted};

use crate::error::Error;

/// Reads the disagreements in a file.
pub fn read(file: &Path) -> Result<Vec<Accepted>, Error> {
    let help = "`pollmatrix explore --propose=FILE.txt` writes such a file";
    let text = metadata::read_text(file).map_err(matrix::Error::io("read", file, help))?;
    parse_accepted(&file.display().to_string(), &text).map_err(|error| Error::Record {
        path: file.to_path_buf(),
        line: error.line,
        message: error.message,
        help: "correct or remove the line: docs/explore.md describes the file".into(),
    })
}
