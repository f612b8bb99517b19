//! Everything that can end a command with exit code 2, with what to do about it.

use std::io;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use matrix::{MatrixError, SelectError};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error("matrix.yml has no target that runs natively for {0}, which this pollmatrix is built for")]
    NoTarget(&'static str),
    #[error("there is no target '{id}'")]
    UnknownTarget { id: String, help: String },
    #[error("there is no cell '{id}'")]
    UnknownCell { id: String, help: String },
    #[error("'{id}' is the beginning of {count} cells")]
    AmbiguousCell { id: String, count: usize },
    #[error("there is no fault '{name}'")]
    UnknownFault { name: String, help: String },
    // Only a build without the feature says so.
    #[allow(dead_code)]
    #[error("this pollmatrix has no faults that could be switched on")]
    NoFaults,
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error, help: &'static str },
    #[error("another pollmatrix is writing to {}", .0.display())]
    Locked(PathBuf),
    #[error("{} is not a journal of this pollmatrix: {reason}", path.display())]
    NotAJournal { path: PathBuf, reason: String },
    #[error("the run in {} is a different one: {difference}", path.display())]
    ForeignJournal { path: PathBuf, difference: String, help: String },
    #[error("{} has no result of {id}", path.display())]
    NoResult { id: String, path: PathBuf },
    #[error("{} is not a report of this pollmatrix: {reason}", path.display())]
    NotAReport { path: PathBuf, reason: String },
    #[error("no cell in {} passed", .0.display())]
    NothingToRecord(PathBuf),
    #[error("cannot find the top of the source tree from {}", .0.display())]
    NoSourceTree(PathBuf),
    #[error("cannot write the report as JUnit: {0}")]
    Junit(String),
}

/// What to say about a report directory that cannot be written to.
pub const REPORT_DIR_HELP: &str =
    "make it writable and make room, or choose another place with --report-dir DIR";

impl Error {
    /// What to do about it.
    fn help(&self) -> String {
        match self {
            Self::Matrix(error) => error.help(),
            Self::Select(error) => error.help(),
            Self::NoTarget(_) => "add it to `targets` in matrix.yml".into(),
            Self::UnknownTarget { help, .. }
            | Self::UnknownCell { help, .. }
            | Self::UnknownFault { help, .. } => help.clone(),
            Self::AmbiguousCell { id, .. } => format!("`pollmatrix list '{id}'` shows them"),
            Self::NoFaults => "build it with the feature `faults`, which is on by default".into(),
            Self::Io { help, .. } => (*help).into(),
            Self::Locked(_) => "wait for it, or choose another place with --report-dir DIR".into(),
            Self::NotAJournal { .. } => "leave --resume out: the file is then moved aside".into(),
            Self::ForeignJournal { help, .. } => help.clone(),
            Self::NoResult { id, .. } => format!("run it with `pollmatrix run '{id}'`"),
            Self::NotAReport { .. } => "a new run writes it again: `pollmatrix run`".into(),
            Self::NothingToRecord(_) => {
                "only what passed says how long it takes: give the results of another run".into()
            }
            Self::NoSourceTree(_) => "run it inside the source tree, or give --root DIR".into(),
            Self::Junit(_) => "this is a bug in pollmatrix".into(),
        }
    }

    /// Prints `error: …` and `help: …`, in colour on a terminal.
    pub fn print(&self) {
        say("error", AnsiColor::Red, &self.to_string());
        say("help", AnsiColor::Cyan, &self.help());
    }
}

/// Prints something that is worth knowing and no error.
pub fn note(text: &str) {
    say("note", AnsiColor::Cyan, text);
}

/// Prints something that should not be so, and does not stop anything.
pub fn warning(text: &str) {
    say("warning", AnsiColor::Yellow, text);
}

fn say(label: &str, colour: AnsiColor, text: &str) {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    anstream::eprintln!("{style}{label}{style:#}: {text}");
}
