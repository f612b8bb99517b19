//! Everything that can end a command with exit code 2, with what to do about it.

use std::path::PathBuf;
use std::process::ExitCode;

use expectations::ExpectationsError;
use fd_core::ids::{MAX_GROUPS, THREADS_PER_GROUP};
use matrix::{MatrixError, SelectError};
use metadata::ReadError;
use report::{MergeError, SameSystem};
use runner::notes;

use crate::exit;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Runner(#[from] runner::Error),
    #[error("no answer's row begins with '{prefix}'")]
    UnknownRow { prefix: String, help: String },
    #[error("there are no such answers of {0}")]
    NoAnswers(String),
    #[error("'{id}' is the beginning of {count} cells")]
    AmbiguousCell { id: String, count: usize },
    #[error("{0} asks raw pollers only: no fault is in those, and no error is injected below them")]
    NothingToFault(String),
    #[error("{0} has no control: harness/control has no cell with its backend, threads and groups")]
    NoControl(String),
    #[error("{}:{line}: {what}", path.display())]
    Record { path: PathBuf, line: usize, what: String, help: String },
    #[error("{threads} threads cannot be spread over {groups} groups")]
    SoakShape { threads: usize, groups: usize },
    #[error("the soak could not begin: {0}")]
    Soak(String),
    #[error("a Kubernetes Job cannot have this: {what}")]
    NotForKubernetes { what: String, help: String },
    #[error("no cells were named")]
    NoCells,
    #[error("standard input ended before the empty line that ends the list of cells")]
    CutCells,
    #[error("{} cannot be continued: {difference}", path.display())]
    ForeignKeep { path: PathBuf, difference: String },
    #[error("{} has no result of {id}", path.display())]
    NoResult { id: String, path: PathBuf },
    #[error("{} has no result of {id} on {target}", path.display())]
    NoResultOn { id: String, target: String, path: PathBuf, help: String },
    #[error("{}:{}:{}: {}", path.display(), error.line, error.column, error.message)]
    NotResults { path: PathBuf, error: ReadError },
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error("{} is an input, and where the result goes", .0.display())]
    InputIsOutput(PathBuf),
    #[error("--not-run {typed}: {why}")]
    NotRunArg { typed: String, why: &'static str, help: String },
    #[error("no cell in {} passed", .0.display())]
    NothingToRecord(PathBuf),
    #[error("column {column}: {message}\n  {line}\n  {:>column$}", "^")]
    Verbs { line: String, column: usize, message: String, help: String },
    #[error("there is no row or scenario '{name}'")]
    UnknownScenario { name: String, help: String },
    #[error("{} cannot be used for this: {why}", path.display())]
    Unfit { path: PathBuf, why: String, help: &'static str },
    #[error(transparent)]
    SameSystem(#[from] SameSystem),
    #[error("cannot find the top of the source tree from {}", .0.display())]
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
    /// What to do about it.
    fn help(&self) -> String {
        match self {
            Self::Runner(error) => error.help(),
            Self::UnknownRow { help, .. }
            | Self::UnknownScenario { help, .. }
            | Self::Verbs { help, .. }
            | Self::Record { help, .. }
            | Self::NotForKubernetes { help, .. }
            | Self::NoResultOn { help, .. }
            | Self::NotRunArg { help, .. } => help.clone(),
            Self::NoAnswers(_) => "leave --os out to see what other systems answer".into(),
            Self::SoakShape { .. } => format!(
                "give at least as many --threads as --groups: a group has 1 to {THREADS_PER_GROUP} threads, and there are at most {MAX_GROUPS} groups"
            ),
            Self::Soak(_) => "use fewer --threads, or raise the limit of open files (ulimit -n)".into(),
            Self::AmbiguousCell { id, .. } => format!("`pollmatrix list '{id}'` shows them"),
            Self::NothingToFault(_) => {
                "name scenarios of the core: `pollmatrix list --layer contract`".into()
            }
            Self::NoControl(_) => {
                "give harness/control in matrix.yml the threads and groups of every contract scenario".into()
            }
            Self::CutCells => "whatever stands between it and who runs the cells must pass it on".into(),
            Self::NoCells => "give --all, --cells FILE, or the beginning of some ids".into(),
            Self::ForeignKeep { .. } => {
                "give the same options and program again, or another --keep FILE".into()
            }
            Self::NoResult { id, .. } => format!("run it with `pollmatrix run '{id}'`"),
            Self::NotResults { error, .. } => error.help.clone(),
            Self::Merge(error) => merge_help(error).into(),
            Self::InputIsOutput(_) => {
                "choose another place with --report-dir DIR, or give --force to replace the input".into()
            }
            Self::NothingToRecord(_) => {
                "only what passed says how long it takes: give the results of another run".into()
            }
            Self::SameSystem(_) => "publish the results of one of them".into(),
            Self::Unfit { help, .. } => (*help).into(),
            Self::NoSourceTree(_) => "run it inside the source tree, or give --root DIR".into(),
        }
    }

    /// Prints it. The exit code that it is.
    pub fn exit(&self) -> ExitCode {
        self.print();
        ExitCode::from(exit::ERROR)
    }

    /// Prints `error: …` and `help: …`.
    pub fn print(&self) {
        notes::error(&self.to_string(), &self.help());
    }
}

fn merge_help(error: &MergeError) -> &'static str {
    match error {
        MergeError::Faults(..) => {
            "results with a fault say nothing about results without: leave one of them out"
        }
        MergeError::Matrices(..) => "run them again with the same matrix file, or give --allow-mixed",
        MergeError::Executables { .. } => {
            "leave one of them out (`pollmatrix diff` compares them), or give --allow-mixed"
        }
        MergeError::Conflicts(_) => "say which of them counts with --prefer first, last or worst",
    }
}
