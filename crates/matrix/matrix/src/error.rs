//! Errors that prevent cells from running, each with its remedy.

use std::io;
use std::path::PathBuf;

use metadata::{PATH_NAME_HELP, PathNameError};

use crate::matrix_yml::{MatrixError, SelectError};

/// An error that prevents cells from running, or a report from being written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant describes it")]
pub enum Error {
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error("{message}")]
    Lab { message: String, help: String },
    #[error("matrix.yml has no native target for {0}, the triple of this pollmatrix")]
    NoTarget(&'static str),
    #[error("there is no target '{id}'")]
    UnknownTarget { id: String, help: String },
    #[error("there is no cell '{id}'")]
    UnknownCell { id: String, help: String },
    #[error("there is no fault '{name}'")]
    UnknownFault { name: String, help: String },
    #[error("this pollmatrix was built without faults")]
    NoFaults,
    #[error("there is no backend '{name}' here")]
    UnknownBackend { name: String, help: String },
    #[error("--adapter {typed}: {why}")]
    Adapter { typed: String, why: String, help: String },
    #[error("--adapter {typed}: there is already a column '{name}'")]
    AdapterName { typed: String, name: &'static str },
    #[error("--adapter {0}: adapters run natively on this machine only")]
    AdapterElsewhere(String),
    #[error("{file}:{line}:{column}: {message}")]
    Behaviours { file: String, line: u64, column: u64, message: String, help: String },
    #[error("{} was changed while cells were started with it", .0.display())]
    BehavioursChanged(PathBuf),
    #[error("--behaviours {}: the runner '{runner}' does not take the file to the other side", path.display())]
    BehavioursElsewhere { path: PathBuf, runner: String },
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error, help: &'static str },
    #[error("another pollmatrix is writing to {}", .0.display())]
    Locked(PathBuf),
    #[error("{} is not a journal of this pollmatrix: {reason}", path.display())]
    NotAJournal { path: PathBuf, reason: String },
    #[error("{}:{line}: {error}", path.display())]
    PathName { path: PathBuf, line: usize, error: PathNameError },
    #[error("the run in {} is a different one: {difference}", path.display())]
    ForeignJournal { path: PathBuf, difference: String, help: String },
    #[error("there is no runner '{runner}'")]
    UnknownRunner { runner: String, help: String },
    #[error("the runner '{runner}' needs {option}")]
    RunnerNeeds { runner: &'static str, option: &'static str },
    #[error("{target} cannot be run from here{}", listed(why))]
    NoRunner { target: String, why: Vec<(String, String)> },
    #[error("{command} is not a command: {why}")]
    BadPrefix { command: String, why: String },
    #[error("cannot prepare the container image {image}: {why}")]
    Container { image: String, why: String },
    #[error("virtual machine {machine}: {why}")]
    Machine { machine: String, why: String, help: String },
    #[error("{host}: {why}")]
    Ssh { host: String, why: String },
    #[error("{} was replaced while cells were started from it", .0.display())]
    Replaced(PathBuf),
    #[error("this program cannot start itself{}", listed(why))]
    CannotStart { why: Vec<(String, String)> },
    #[error("{} has no results of {target}: {why}", path.display())]
    NoImport { path: PathBuf, target: String, why: String, help: String },
    #[error("cannot write the JUnit report: {0}")]
    Junit(String),
}

/// The help for a report directory that cannot be written to.
pub const REPORT_DIR_HELP: &str =
    "make it writable and free disk space, or choose another place with --report-dir DIR";

/// The help for a file of a report directory that cannot be read.
pub const REPORT_FILE_HELP: &str = "make it a readable file, or name another place with --report-dir DIR";

impl Error {
    /// Returns a function that makes the error of a file or another part of the system: what cannot be done
    /// with it, its name, and the remedy.
    pub fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
        help: &'static str,
    ) -> impl Fn(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path: path.clone(), source, help }
    }

    /// Returns the remedy.
    pub fn help(&self) -> String {
        match self {
            Self::Matrix(error) => error.help(),
            Self::Select(error) => error.help(),
            Self::UnknownTarget { help, .. }
            | Self::UnknownCell { help, .. }
            | Self::UnknownFault { help, .. }
            | Self::UnknownBackend { help, .. }
            | Self::Adapter { help, .. }
            | Self::ForeignJournal { help, .. }
            | Self::UnknownRunner { help, .. }
            | Self::Machine { help, .. }
            | Self::NoImport { help, .. }
            | Self::Lab { help, .. }
            | Self::Behaviours { help, .. } => help.clone(),
            Self::Io { help, .. } => (*help).into(),
            Self::RunnerNeeds { option, .. } => format!("give {option}"),
            Self::NoTarget(_) => "add it to `targets` in matrix.yml".into(),
            Self::AdapterName { .. } => "give each adapter once, and a unique name".into(),
            Self::AdapterElsewhere(_) => {
                "omit --target and --runner, or start pollmatrix on the other machine".into()
            }
            Self::BehavioursChanged(_) => "run it again: a run has one file of behaviours".into(),
            Self::BehavioursElsewhere { .. } => {
                "copy the file to the other machine, and start pollmatrix there".into()
            }
            Self::NoFaults => "build it with the feature `faults`, which is on by default".into(),
            Self::Locked(_) => "wait until it ends, or choose another place with --report-dir DIR".into(),
            Self::PathName { .. } => PATH_NAME_HELP.into(),
            Self::NotAJournal { .. } => "omit --resume: the file is then moved aside".into(),
            Self::NoRunner { .. } => {
                "`pollmatrix list --targets` shows what this machine can run and what the rest needs".into()
            }
            Self::BadPrefix { .. } => "close its quotes, and quote words that contain spaces".into(),
            Self::Container { .. } => {
                "without a registry, ci/setup.sh image builds a base image; POLLMATRIX_BASE names another one"
                    .into()
            }
            Self::Ssh { .. } => {
                "`ssh HOST true` must work without a prompt; --ssh COMMAND takes options".into()
            }
            Self::Replaced(_) => {
                "run it again when no build or installation is in progress: a run uses one program".into()
            }
            Self::CannotStart { .. } => {
                "name its file with --self FILE, and the emulator with --prefix COMMAND".into()
            }
            Self::Junit(_) => "this is a bug in pollmatrix: please report it".into(),
        }
    }

    /// Returns whether the error concerns one target only, so that others can still run.
    pub fn is_of_one_target(&self) -> bool {
        matches!(
            self,
            Self::NoRunner { .. }
                | Self::BadPrefix { .. }
                | Self::Container { .. }
                | Self::Machine { .. }
                | Self::Ssh { .. }
        )
    }
}

/// Joins names and reasons: `: one: reason; two: reason`.
fn listed(why: &[(String, String)]) -> String {
    let parts: Vec<_> = why.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) }
}
