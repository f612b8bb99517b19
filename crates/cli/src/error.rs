//! Everything that can end a command with exit code 2, with what to do about it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use expectations::ExpectationsError;
use fd_core::ids::{MAX_GROUPS, THREADS_PER_GROUP};
use matrix::{MatrixError, SelectError};
use metadata::ReadError;
use report::{MergeError, SameSystem};

use crate::{exit, output};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Expectations(#[from] ExpectationsError),
    #[error(transparent)]
    BuiltInExpectations(#[from] &'static ExpectationsError),
    #[error("no answer's row begins with '{prefix}'")]
    UnknownRow { prefix: String, help: String },
    #[error("there are no such answers of {0}")]
    NoAnswers(String),
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
    #[error("{0} asks raw pollers only: no fault is in those, and no error is injected below them")]
    NothingToFault(String),
    #[error("{0} has no control: harness/control has no cell with its backend, threads and groups")]
    NoControl(String),
    // Only a build without the feature says so.
    #[allow(dead_code)]
    #[error("this pollmatrix has no faults that could be switched on")]
    NoFaults,
    #[error("{}:{line}: {what}", path.display())]
    Record { path: PathBuf, line: usize, what: String, help: String },
    #[error("there is no backend '{name}' here")]
    UnknownBackend { name: String, help: String },
    #[error("--subject {typed}: {why}")]
    Subject { typed: String, why: String, help: String },
    #[error("--subject {typed}: there is a column '{name}' already")]
    SubjectName { typed: String, name: &'static str },
    #[error("--subject {0}: subjects are asked on this very machine only")]
    SubjectElsewhere(String),
    #[error("{threads} threads cannot be spread over {groups} groups")]
    SoakShape { threads: usize, groups: usize },
    #[error("the soak could not begin: {0}")]
    Soak(String),
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error, help: &'static str },
    #[error("another pollmatrix is writing to {}", .0.display())]
    Locked(PathBuf),
    #[error("{} is not a journal of this pollmatrix: {reason}", path.display())]
    NotAJournal { path: PathBuf, reason: String },
    #[error("the run in {} is a different one: {difference}", path.display())]
    ForeignJournal { path: PathBuf, difference: String, help: String },
    #[error("a Kubernetes Job cannot have this: {what}")]
    NotForKubernetes { what: String, help: String },
    #[error("no cells were named")]
    NoCells,
    #[error("standard input ended before the empty line that ends the list of cells")]
    CutCells,
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
            Self::Expectations(error) => error.help(),
            Self::BuiltInExpectations(error) => error.help(),
            Self::UnknownRow { help, .. } => help.clone(),
            Self::NoAnswers(_) => "leave --os out to see what other systems answer".into(),
            Self::NoTarget(_) => "add it to `targets` in matrix.yml".into(),
            Self::UnknownTarget { help, .. }
            | Self::UnknownCell { help, .. }
            | Self::UnknownFault { help, .. }
            | Self::UnknownScenario { help, .. }
            | Self::Verbs { help, .. }
            | Self::UnknownBackend { help, .. }
            | Self::Subject { help, .. }
            | Self::Record { help, .. } => help.clone(),
            Self::SoakShape { .. } => format!(
                "give at least as many --threads as --groups: a group has 1 to {THREADS_PER_GROUP} threads, and there are at most {MAX_GROUPS} groups"
            ),
            Self::SubjectName { .. } => "give each subject once, and each adapter a name of its own".into(),
            Self::SubjectElsewhere(_) => {
                "leave --target and --via out, or start pollmatrix over there".into()
            }
            Self::Soak(_) => "use fewer --threads, or raise the limit of open files (ulimit -n)".into(),
            Self::AmbiguousCell { id, .. } => format!("`pollmatrix list '{id}'` shows them"),
            Self::NothingToFault(_) => {
                "name scenarios of the core: `pollmatrix list --layer contract`".into()
            }
            Self::NoControl(_) => {
                "give harness/control in matrix.yml the threads and groups of every contract scenario".into()
            }
            Self::NoFaults => "build it with the feature `faults`, which is on by default".into(),
            Self::Io { help, .. } => (*help).into(),
            Self::Locked(_) => "wait for it, or choose another place with --report-dir DIR".into(),
            Self::NotAJournal { .. } => "leave --resume out: the file is then moved aside".into(),
            Self::ForeignJournal { help, .. } | Self::NotForKubernetes { help, .. } => help.clone(),
            Self::CutCells => "whatever stands between it and who runs the cells must pass it on".into(),
            Self::UnknownWay { help, .. } => help.clone(),
            Self::WayNeeds { option, .. } => format!("give {option}"),
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
            Self::NoCells => "give --all, --cells FILE, or the beginning of some ids".into(),
            Self::ForeignKeep { .. } => {
                "give the same options and program again, or another --keep FILE".into()
            }
            Self::NoResult { id, .. } => format!("run it with `pollmatrix run '{id}'`"),
            Self::NoResultOn { help, .. } | Self::NotRunArg { help, .. } => help.clone(),
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

    /// Prints it. The exit code that it is.
    pub fn exit(&self) -> ExitCode {
        self.print();
        ExitCode::from(exit::ERROR)
    }

    /// Prints `error: …` and `help: …`, in colour on a terminal.
    pub fn print(&self) {
        say("error", AnsiColor::Red, &self.to_string());
        say("help", AnsiColor::Cyan, &self.help());
    }
}

/// `: one: why; two: why`.
fn listed(why: &[(String, String)]) -> String {
    let parts: Vec<_> = why.iter().map(|(what, why)| format!("{what}: {why}")).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) }
}

/// Prints something that is worth knowing and no error.
pub fn note(text: &str) {
    say("note", AnsiColor::Cyan, text);
}

/// Prints something that should not be so, and does not stop anything.
pub fn warning(text: &str) {
    say("warning", AnsiColor::Yellow, text);
}

/// Passes a line of another program on.
pub fn message(line: &str) {
    // If it cannot be written, neither can it be said.
    let _ = writeln!(io::stderr(), "{}", metadata::visible(line));
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

fn say(label: &str, colour: AnsiColor, text: &str) {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let text = metadata::visible(text);
    output::say(&format!("{style}{label}{style:#}: {text}"));
}
