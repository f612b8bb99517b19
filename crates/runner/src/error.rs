//! Everything that can keep cells from being run, with what to do about it.

use std::io;
use std::path::PathBuf;

use expectations::ExpectationsError;
use matrix::{MatrixError, SelectError};

/// Why cells could not be run, or a report could not be written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each of them is")]
pub enum Error {
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Expectations(#[from] ExpectationsError),
    #[error(transparent)]
    BuiltInExpectations(#[from] &'static ExpectationsError),
    #[error("matrix.yml has no target that runs natively for {0}, which this pollmatrix is built for")]
    NoTarget(&'static str),
    #[error("there is no target '{id}'")]
    UnknownTarget { id: String, help: String },
    #[error("there is no cell '{id}'")]
    UnknownCell { id: String, help: String },
    #[error("there is no fault '{name}'")]
    UnknownFault { name: String, help: String },
    #[error("this pollmatrix has no faults that could be switched on")]
    NoFaults,
    #[error("there is no backend '{name}' here")]
    UnknownBackend { name: String, help: String },
    #[error("--subject {typed}: {why}")]
    Subject { typed: String, why: String, help: String },
    #[error("--subject {typed}: there is a column '{name}' already")]
    SubjectName { typed: String, name: &'static str },
    #[error("--subject {0}: subjects are asked on this very machine only")]
    SubjectElsewhere(String),
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error, help: &'static str },
    #[error("another pollmatrix is writing to {}", .0.display())]
    Locked(PathBuf),
    #[error("{} is not a journal of this pollmatrix: {reason}", path.display())]
    NotAJournal { path: PathBuf, reason: String },
    #[error("the run in {} is a different one: {difference}", path.display())]
    ForeignJournal { path: PathBuf, difference: String, help: String },
    #[error("there is no way '{way}'")]
    UnknownWay { way: String, help: String },
    #[error("the way '{way}' needs {option}")]
    WayNeeds { way: &'static str, option: &'static str },
    #[error("{target} cannot be run from here{}", listed(why))]
    NoWay { target: String, why: Vec<(String, String)> },
    #[error("{command} is no command: {why}")]
    BadPrefix { command: String, why: String },
    #[error("cannot make a container of the image {image}: {why}")]
    Container { image: String, why: String },
    #[error("{host}: {why}")]
    Ssh { host: String, why: String },
    #[error("{} was replaced while cells were started from it", .0.display())]
    Replaced(PathBuf),
    #[error("this program cannot start itself{}", listed(why))]
    CannotStart { why: Vec<(String, String)> },
    #[error("{} has no results of {target}: {why}", path.display())]
    NoImport { path: PathBuf, target: String, why: String },
    #[error("cannot write the report as JUnit: {0}")]
    Junit(String),
}

/// What to say about a report directory that cannot be written to.
pub const REPORT_DIR_HELP: &str =
    "make it writable and make room, or choose another place with --report-dir DIR";

impl Error {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Matrix(error) => error.help(),
            Self::Select(error) => error.help(),
            Self::Expectations(error) => error.help(),
            Self::BuiltInExpectations(error) => error.help(),
            Self::UnknownTarget { help, .. }
            | Self::UnknownCell { help, .. }
            | Self::UnknownFault { help, .. }
            | Self::UnknownBackend { help, .. }
            | Self::Subject { help, .. }
            | Self::ForeignJournal { help, .. }
            | Self::UnknownWay { help, .. } => help.clone(),
            Self::Io { help, .. } => (*help).into(),
            Self::WayNeeds { option, .. } => format!("give {option}"),
            Self::NoTarget(_) => "add it to `targets` in matrix.yml".into(),
            Self::SubjectName { .. } => "give each subject once, and each adapter a name of its own".into(),
            Self::SubjectElsewhere(_) => {
                "leave --target and --via out, or start pollmatrix over there".into()
            }
            Self::NoFaults => "build it with the feature `faults`, which is on by default".into(),
            Self::Locked(_) => "wait for it, or choose another place with --report-dir DIR".into(),
            Self::NotAJournal { .. } => "leave --resume out: the file is then moved aside".into(),
            Self::NoWay { .. } => {
                "`pollmatrix targets` shows what this machine can run and what the rest needs".into()
            }
            Self::BadPrefix { .. } => "close its quotes; a word with blanks in it needs some".into(),
            Self::Container { .. } => {
                "without a registry, ci/base-image.sh makes a base image; POLLMATRIX_BASE names another one"
                    .into()
            }
            Self::Ssh { .. } => {
                "`ssh HOST true` must work without a question; --ssh COMMAND takes options".into()
            }
            Self::Replaced(_) => {
                "start it again when nothing is built or installed any more: results are those of one program"
                    .into()
            }
            Self::CannotStart { .. } => {
                "name its file with --self FILE, and the emulator with --prefix COMMAND".into()
            }
            Self::NoImport { .. } => {
                "give what `pollmatrix exec --all` has printed, or the results.json of a run, of this target"
                    .into()
            }
            Self::Junit(_) => "this is a bug in pollmatrix".into(),
        }
    }

    /// Whether other targets can be run in spite of it.
    pub fn is_of_one_target(&self) -> bool {
        matches!(
            self,
            Self::NoWay { .. } | Self::BadPrefix { .. } | Self::Container { .. } | Self::Ssh { .. }
        )
    }
}

/// `: one: why; two: why`.
fn listed(why: &[(String, String)]) -> String {
    let parts: Vec<_> = why.iter().map(|(what, why)| format!("{what}: {why}")).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) }
}
