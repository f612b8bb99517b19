//! Errors that end a command with exit code 2, each with its remedy.

use std::path::PathBuf;
use std::process::ExitCode;

use fd_core::ids::{MAX_GROUPS, THREADS_PER_GROUP};
use matrix::diagnostics;
use matrix::{MatrixError, SelectError};
use metadata::ReadError;
use raw::expectations::ExpectationsError;
use report::MergeError;

use crate::exit;

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Runner(#[from] matrix::Error),
    #[error("there is no expectation for '{prefix}'")]
    UnknownRow { prefix: String, help: String },
    #[error("there is no {what} '{name}'")]
    NoSuch { what: &'static str, name: String, help: String },
    #[error("there are no such expectations of {0}")]
    NoAnswers(String),
    #[error("'{id}' is the beginning of {count} cells")]
    AmbiguousCell { id: String, count: usize },
    #[error("{0} tests raw pollers only, which have no faults, no injected errors and no late data")]
    NothingToFault(String),
    #[error("{0} has no control: harness/control has no cell with its backend, threads and groups")]
    NoControl(String),
    #[error("{}:{line}: {message}", path.display())]
    Record { path: PathBuf, line: usize, message: String, help: String },
    #[error("{threads} threads cannot be spread over {groups} groups")]
    SoakShape { threads: usize, groups: usize },
    #[error("cannot start the soak: {0}")]
    Soak(String),
    #[error("no cells are selected")]
    NoCells,
    #[error("standard input ended before the empty line that ends the list of cells")]
    CutCells,
    #[error("the interrupted run was made on {before}, and this machine is {now}")]
    OtherMachine { before: String, now: String },
    #[error("{} cannot be continued: {difference}", path.display())]
    ForeignKeep { path: PathBuf, difference: String },
    #[error("{} has no result of {id}", path.display())]
    NoResult { id: String, path: PathBuf },
    #[error("{} has no result of {id} on {target}", path.display())]
    NoResultOn { id: String, target: String, path: PathBuf, help: String },
    #[error("{} has no timeline of {id}", path.display())]
    NoTimeline { id: String, path: PathBuf, help: String },
    #[error("{}:{}:{}: {}", path.display(), error.line, error.column, error.message)]
    NotResults { path: PathBuf, error: ReadError },
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error("{} is an input, and the report would overwrite it", .0.display())]
    InputIsOutput(PathBuf),
    #[error("--not-run {typed}: {why}")]
    NotRunArg { typed: String, why: &'static str, help: String },
    #[error("column {column}: {message}\n  {excerpt}\n  {:>caret$}", "^")]
    Verbs { excerpt: String, caret: usize, column: usize, message: String, help: String },
    #[error("there is no behaviour or scenario '{name}'")]
    UnknownScenario { name: String, help: String },
    #[error("{} cannot be used: {why}", path.display())]
    Unfit { path: PathBuf, why: String, help: &'static str },
    #[error("{} bounds of versions are not measured on both sides:\n  {}", .0.len(), .0.join("\n  "))]
    Bounds(Vec<String>),
    #[error("no scenario asks about {} hypotheses:\n  {}", .0.len(), .0.join("\n  "))]
    Orphans(Vec<String>),
    #[error("{} is not a recording: {message}", path.display())]
    Recording { path: PathBuf, message: String },
    #[error("{}: {message}", path.display())]
    Corpus { path: PathBuf, message: String },
    #[error("no single virtual machine that is up has a name that begins with '{name}'")]
    Machine { name: String, up: String },
    #[error("these options cannot be used: {0}")]
    Options(String),
    #[error("cannot find the root of the source tree from {}", .0.display())]
    NoSourceTree(PathBuf),
}

impl From<MatrixError> for Error {
    fn from(error: MatrixError) -> Self {
        Self::Runner(error.into())
    }
}

impl From<SelectError> for Error {
    fn from(error: SelectError) -> Self {
        Self::Runner(error.into())
    }
}

impl From<ExpectationsError> for Error {
    fn from(error: ExpectationsError) -> Self {
        Self::Runner(error.into())
    }
}

impl From<&'static ExpectationsError> for Error {
    fn from(error: &'static ExpectationsError) -> Self {
        Self::Runner(error.into())
    }
}

impl Error {
    /// Returns the remedy.
    fn help(&self) -> String {
        match self {
            Self::Runner(error) => error.help(),
            Self::UnknownRow { help, .. }
            | Self::UnknownScenario { help, .. }
            | Self::Verbs { help, .. }
            | Self::Record { help, .. }
            | Self::NoResultOn { help, .. }
            | Self::NoTimeline { help, .. }
            | Self::NotRunArg { help, .. } => help.clone(),
            Self::NoAnswers(_) => "omit --os to see the answers of other systems".into(),
            Self::SoakShape { .. } => format!(
                "give at least as many --threads as --groups: a group has 1 to {THREADS_PER_GROUP} threads, and there are at most {MAX_GROUPS} groups"
            ),
            Self::Soak(_) => "use fewer --threads, or raise the limits of open files (ulimit -n) and of threads (ulimit -u)".into(),
            Self::AmbiguousCell { id, .. } => format!("`pollmatrix list '{id}'` shows them"),
            Self::NothingToFault(_) => "select contract scenarios: `pollmatrix list --layer contract`".into(),
            Self::NoControl(_) => {
                "give harness/control in matrix.yml the threads and groups of every contract scenario".into()
            }
            Self::Bounds(_) => "measure the other side (`pollmatrix expectations record`), or remove the bound".into(),
            Self::Orphans(_) => {
                "use a key that `pollmatrix expectations show BEHAVIOUR` shows as measured elsewhere, or delete them"
                    .into()
            }
            Self::Machine { up, .. } if up.is_empty() => {
                "none is up: `pollmatrix run --runner vm --keep` leaves one up".into()
            }
            Self::Machine { up, .. } => format!("these are up: {up}"),
            Self::CutCells => {
                "every command between both pollmatrix processes must forward standard input".into()
            }
            Self::OtherMachine { .. } => {
                "continue on that machine, or omit --resume to start a new run".into()
            }
            Self::NoCells => "give --all, --cells FILE, or prefixes of ids".into(),
            Self::ForeignKeep { .. } => "use the same options and program, or another --keep FILE".into(),
            Self::NoResult { id, .. } => format!("run it with `pollmatrix run '{id}'`"),
            Self::NotResults { error, .. } => error.help.clone(),
            Self::Merge(error) => merge_help(error).into(),
            Self::InputIsOutput(_) => {
                "choose another place with --report-dir DIR, or overwrite the input with --force".into()
            }
            Self::NoSuch { help, .. } => help.clone(),
            Self::Unfit { help, .. } => (*help).into(),
            Self::Recording { .. } => "`pollmatrix explore --record FILE` writes recordings".into(),
            Self::Corpus { .. } => "correct or remove the line: docs/explore.md describes the folder".into(),
            Self::Options(_) => "omit them, and give them in pollmatrix.toml: docs/your-ci.md explains every key".into(),
            Self::NoSourceTree(_) => "run it inside the source tree, or give --root DIR (`faults`: --recorded FILE)".into(),
        }
    }

    /// Prints the error, and returns its exit code.
    pub fn exit(&self) -> ExitCode {
        self.print();
        ExitCode::from(exit::ERROR)
    }

    /// Prints `error: …` and `help: …`.
    pub fn print(&self) {
        diagnostics::error(&self.to_string(), &self.help());
    }
}

fn merge_help(error: &MergeError) -> &'static str {
    match error {
        MergeError::Faults(..) => {
            "results with a fault cannot be merged with results without: omit one of them"
        }
        MergeError::Matrices(..) => "run them again with the same matrix file, or give --allow-mixed",
        MergeError::Executables { .. } => {
            "omit one of them (`pollmatrix diff` compares them), or give --allow-mixed"
        }
        MergeError::Conflicts(_) => "choose one of them with --prefer first, last or worst",
    }
}
