//! Writes to standard output, to standard error, and into the report directory.
//!
//! This is the only module that writes to the standard streams. The macros of std and anstream panic if a
//! write fails; the workspace's lints deny them.

use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::{Error, REPORT_DIR_HELP};

/// Prints text to standard output. Escapes control characters, because much of the text comes from files and
/// other programs.
pub fn print(text: &str) -> Result<(), Error> {
    print_styled(&metadata::visible(text))
}

/// Prints styled text, whose foreign parts are already escaped. A reader that closes the pipe early (`|
/// head`) is not an error.
pub fn print_styled(text: &str) -> Result<(), Error> {
    let mut stdout = anstream::stdout().lock();
    printed(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Prints a line for another program to standard output: unchanged, and with one write call.
pub fn print_line(line: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    printed(stdout.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdout.flush()))
}

/// Converts the result of a write to standard output. A closed pipe is not an error.
pub fn printed(written: io::Result<()>) -> Result<(), Error> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let help = "free disk space, or redirect the output elsewhere";
            Err(Error::io("write to", "standard output", help)(error))
        }
        _ => Ok(()),
    }
}

/// Writes a line, which can be styled, to standard error. A failure cannot be reported.
pub fn print_error_line(line: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(format!("{line}\n").as_bytes());
}

/// Prints a line in a test.
#[expect(clippy::print_stdout, reason = "the test harness captures this macro only")]
pub fn print_in_test(line: &str) {
    println!("{line}");
}

/// Returns whether standard output may be coloured: it is a terminal, and NO_COLOR is not set.
pub fn colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Creates the folder that a file is in. `help` is the remedy.
pub fn create_folder_of(path: &Path, help: &'static str) -> Result<(), Error> {
    let Some(folder) = path.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder, help))
}

/// Writes a file atomically: a reader never sees a part of it, and a full disk leaves the old file in place.
pub fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    let failed = Error::io("write", path, REPORT_DIR_HELP);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".pollmatrix-")
        // The umask applies, as to any other file. The default of a temporary file is access by the owner
        // only.
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(&failed)?;
    file.write_all(text.as_bytes()).map_err(&failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
