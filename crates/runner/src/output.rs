//! Writing: to standard output, to standard error, and into the report directory.
//!
//! The only module that writes to the standard streams. The macros of std and anstream panic if a write fails; the
//! workspace's lints deny them.

use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, REPORT_DIR_HELP};

/// Prints text. What a terminal would obey is written out: much of it comes from files and from other programs.
pub fn print(text: &str) -> Result<(), Error> {
    print_styled(&metadata::visible(text))
}

/// Prints text that is styled, and whose parts from elsewhere are written out already. A reader that has seen enough
/// (`| head`) is no error.
pub fn print_styled(text: &str) -> Result<(), Error> {
    let mut stdout = anstream::stdout().lock();
    printed(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Prints the line of a process whose output another program reads, as it is and with one call.
pub fn print_line(line: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    printed(stdout.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdout.flush()))
}

/// What a write to standard output came to.
pub fn printed(written: io::Result<()>) -> Result<(), Error> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::Io {
            action: "write to",
            path: PathBuf::from("standard output"),
            source: error,
            help: "make room, or send it elsewhere",
        }),
        _ => Ok(()),
    }
}

/// Writes a line that may be styled to standard error. If that fails, there is no place left to report it.
pub fn say(line: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(format!("{line}\n").as_bytes());
}

/// Prints a line of a test.
#[expect(clippy::print_stdout, reason = "the test harness captures this macro only")]
pub fn say_in_test(line: &str) {
    println!("{line}");
}

/// Whether what is printed may be coloured: a terminal, and no NO_COLOR.
pub fn colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Writes a file as a whole or not at all: a reader never sees half of it, and a full disk keeps the old one.
pub fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    let failed =
        |source| Error::Io { action: "write", path: path.to_path_buf(), source, help: REPORT_DIR_HELP };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".pollmatrix-")
        // The umask applies, as to any other file; without this it would be the owner's alone.
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
