//! The journal of a run: one JSON line per result, appended when the result arrives, so that an interrupted
//! run can be resumed.
//!
//! The first line identifies the run; the last one marks it as complete. Each line is written with one call,
//! so a process that is killed leaves whole lines, and at most one truncated line at the end.

use std::fs::{File, OpenOptions, TryLockError};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::matrix_yml::Selection;
use metadata::{CellResult, PathNameError, PathNames, Run, RunSpec, check_path_name};
use serde::{Deserialize, Serialize};

use crate::error::{Error, REPORT_DIR_HELP};
use crate::json_lines::{self, Appender};

/// The file name of the journal in the report directory.
pub const NAME: &str = "journal.jsonl";
/// The lock file. The run that holds its lock is the only one that writes to the report directory.
const LOCK: &str = ".lock";
/// How long to wait for a lock that can outlive its holder.
const LEFTOVER: Duration = Duration::from_secs(2);

/// Identifies a run. Only a run with the same identity can resume it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// SHA-256 of the matrix file.
    pub matrix: String,
    /// SHA-256 of the file of behaviours, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behaviours: Option<String>,
    /// SHA-256 of the executable.
    pub executable: String,
    /// What was asked of the attempts.
    #[serde(flatten)]
    pub spec: RunSpec,
    /// The selected cells.
    pub selection: Selection,
    /// The target.
    pub target: String,
    /// The runner, as `--runner` takes it.
    pub runner: String,
}

/// One line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line {
    /// The first line.
    Run { started: String, identity: Box<Identity> },
    /// The provenance that the executor's machine reports.
    Machine(Box<Run>),
    /// A result.
    Cell(Box<CellResult>),
    /// The run was interrupted, and continues after this line.
    Resumed { at: String },
    /// The last line: the run is complete.
    Complete,
}

impl PathNames for Line {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        match self {
            Self::Run { identity, .. } => check_path_name("identity.target", &identity.target),
            Self::Machine(run) => run.check_path_names(),
            Self::Cell(result) => result.check_path_names(),
            Self::Resumed { .. } | Self::Complete => Ok(()),
        }
    }
}

/// The contents of a journal.
pub struct Contents {
    /// The identity of the run.
    pub identity: Identity,
    /// When the run started.
    pub started: String,
    /// How often the run was resumed.
    pub resumed: u32,
    /// The provenance that the executor's machine reports, if there was an executor.
    pub machine: Option<Run>,
    /// Whether the run is complete.
    pub complete: bool,
    /// The newest result of each cell.
    pub results: Vec<CellResult>,
    /// A warning, if a part of the journal cannot be read.
    pub loss: Option<String>,
    /// The length of the whole lines, if a truncated line follows them.
    torn_at: Option<u64>,
}

/// Returns whether there is a journal in `dir`.
pub fn exists(dir: &Path) -> bool {
    dir.join(NAME).exists()
}

/// Reads the readable lines of the journal in `dir`. Returns `None` if there is no journal, or no whole line
/// in it.
///
/// # Errors
/// The first line does not identify the run, a second run begins, or a name could lead a path elsewhere.
pub fn read(dir: &Path) -> Result<Option<Contents>, Error> {
    let path = dir.join(NAME);
    let lines = json_lines::read_file::<Line>(&path)?.filter(|lines| !lines.is_empty());
    let Some(lines) = lines else { return Ok(None) };
    let wrong =
        |number, why| Error::NotAJournal { path: path.clone(), reason: format!("line {number} {why}") };
    let loss = lines.loss(&path);
    let is_damaged = !lines.damaged.is_empty();
    let mut all = lines.whole.into_iter();
    let Some((1, Line::Run { started, identity })) = all.next() else {
        return Err(wrong(1, "does not identify the run"));
    };
    let mut contents = Contents {
        identity: *identity,
        started,
        resumed: 0,
        machine: None,
        complete: false,
        results: Vec::new(),
        loss,
        torn_at: lines.torn.map(|(_, offset)| offset),
    };
    for (number, line) in all {
        match line {
            Line::Machine(run) => contents.machine = Some(*run),
            Line::Cell(result) => {
                contents.results.retain(|known| known.id != result.id);
                contents.results.push(*result);
            }
            Line::Resumed { .. } => {
                contents.resumed += 1;
                contents.complete = false;
            }
            Line::Complete => contents.complete = true,
            Line::Run { .. } => return Err(wrong(number, "begins a second run")),
        }
    }
    contents.complete &= !is_damaged;
    Ok(Some(contents))
}

/// The right to write to a report directory. Ends when it is dropped or the process exits.
pub struct Lock(#[allow(dead_code)] Option<File>);

impl Lock {
    /// Creates the directory if it does not exist, and locks it.
    pub fn take(dir: &Path) -> Result<Self, Error> {
        let create = Error::io("create the report directory", dir, REPORT_DIR_HELP);
        std::fs::create_dir_all(dir).map_err(create)?;
        let path = dir.join(LOCK);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(Error::io("write", &path, REPORT_DIR_HELP))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(Some(file))),
                // A run that was killed can have a child between fork and exec, which shares the lock until
                // the exec.
                Err(TryLockError::WouldBlock) if begun.elapsed() < LEFTOVER => {
                    std::thread::sleep(LEFTOVER / 100);
                }
                Err(TryLockError::WouldBlock) => return Err(Error::Locked(dir.to_path_buf())),
                // A file system without locks: the user must avoid two runs at a time.
                Err(TryLockError::Error(_)) => return Ok(Self(None)),
            }
        }
    }
}

/// A journal that is open for writing.
pub struct Journal(Appender);

impl Journal {
    /// Creates a journal in `dir`, which must not have one: see [`move_aside`].
    pub fn create(dir: &Path, identity: &Identity, started: &str) -> Result<Self, Error> {
        let mut file = Appender::open(dir.join(NAME), None)?;
        file.write(&Line::Run { started: started.to_owned(), identity: Box::new(identity.clone()) })?;
        Ok(Self(file))
    }

    /// Opens the journal in `dir` to append to it. `contents` are what [`read`] returned for it.
    pub fn resume(dir: &Path, contents: &Contents, now: &str) -> Result<Self, Error> {
        let mut file = Appender::open(dir.join(NAME), contents.torn_at)?;
        file.write(&Line::Resumed { at: now.to_owned() })?;
        Ok(Self(file))
    }

    /// Appends the provenance that the executor's machine reports.
    pub fn machine(&mut self, run: &Run) -> Result<(), Error> {
        self.0.write(&Line::Machine(Box::new(run.clone())))
    }

    /// Appends a result.
    pub fn append(&mut self, result: &CellResult) -> Result<(), Error> {
        self.0.write(&Line::Cell(Box::new(result.clone())))
    }

    /// Marks the run as complete.
    pub fn complete(&mut self) -> Result<(), Error> {
        self.0.write(&Line::Complete)
    }
}

impl Contents {
    /// Returns the first difference between `identity` and this run, and its remedy, if they differ.
    pub fn difference(&self, identity: &Identity) -> Option<(String, String)> {
        const NEW_RUN: &str = "omit --resume to start a new run; the old journal is moved aside";
        let (mine, was, is) = (&self.identity, &self.identity.spec, &identity.spec);
        let differs = |difference: &str| Some((difference.to_owned(), NEW_RUN.to_owned()));
        let resumable = |difference: String, how: &str| Some((difference, format!("{how}, or {NEW_RUN}")));
        let started = |was: String| resumable(format!("it was started {was}"), &format!("resume it {was}"));
        let option = |name: &str, value: Option<String>| match value {
            Some(value) => started(format!("with {name}{value}")),
            None => started(format!("without {name}")),
        };
        let rate = |rate: Option<NonZeroU32>| rate.map(|rate| format!("={rate}"));
        if (&mine.target, &mine.runner) != (&identity.target, &identity.runner) {
            started(format!("with --target {} --runner {}", mine.target, mine.runner))
        } else if mine.matrix != identity.matrix {
            differs("it has another matrix")
        } else if mine.behaviours != identity.behaviours {
            let (difference, how) = match (&mine.behaviours, &identity.behaviours) {
                (None, _) => ("it has no behaviours of a file", "omit --behaviours"),
                (Some(_), None) => ("it has behaviours of a file", "give the same file with --behaviours"),
                (Some(_), Some(_)) => ("it has other behaviours", "restore the file of behaviours as it was"),
            };
            resumable(difference.to_owned(), how)
        } else if mine.executable != identity.executable {
            differs("it was written by another build of pollmatrix")
        } else if was.fault != is.fault {
            option("--fault", was.fault.as_ref().map(|fault| format!(" {fault}")))
        } else if was.inject_errors != is.inject_errors {
            option("--inject-errors", rate(was.inject_errors))
        } else if was.late_data != is.late_data {
            option("--late-data", rate(was.late_data))
        } else if was.seed != is.seed {
            resumable(format!("it has the seed {}", was.seed), "omit --seed to resume with the same one")
        } else if was.repeat != is.repeat {
            started(format!("with --repeat {}", was.repeat))
        } else if mine.selection != identity.selection {
            let difference = format!("it has other cells: {}", mine.selection.describe());
            resumable(difference, "omit the cells to resume with the same ones")
        } else {
            None
        }
    }
}

/// Makes room for a new journal. Removes the journal of a complete run, whose results are in the report,
/// which the new run replaces, too. Renames any other journal, and returns its new name.
pub fn move_aside(dir: &Path) -> Result<Option<PathBuf>, Error> {
    let path = dir.join(NAME);
    if !path.exists() {
        return Ok(None);
    }
    if let Ok(Some(contents)) = read(dir)
        && contents.complete
    {
        std::fs::remove_file(&path).map_err(Error::io("remove", &path, REPORT_DIR_HELP))?;
        return Ok(None);
    }
    json_lines::set_aside(&path).map(Some)
}

#[cfg(test)]
mod tests {
    use metadata::Status::{self, Fail, Pass};
    use metadata::{Seed, samples};

    use super::*;

    fn identity() -> Identity {
        Identity {
            matrix: "hash".into(),
            behaviours: None,
            executable: "hash".into(),
            spec: RunSpec::new(Seed(1)),
            selection: Selection::default(),
            target: "here".into(),
            runner: "native".into(),
        }
    }

    fn cell(variant: &str, status: Status) -> CellResult {
        samples::cell("here", variant, "poll", status)
    }

    fn contents(dir: &Path) -> Contents {
        read(dir).unwrap().expect("there is a journal")
    }

    /// Returns the statuses, in the order of the results.
    fn statuses(dir: &Path) -> Vec<(String, Status)> {
        let results = contents(dir).results.into_iter();
        results.map(|result| (result.variant().expect("an id").to_owned(), result.status)).collect()
    }

    #[test]
    fn the_newest_result_of_a_cell_replaces_older_ones() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path(), &identity(), "now").unwrap();
        journal.append(&cell("a", Fail)).unwrap();
        journal.append(&cell("b", Pass)).unwrap();
        journal.append(&cell("a", Pass)).unwrap();
        assert_eq!(statuses(dir.path()), [("b".to_owned(), Pass), ("a".to_owned(), Pass)]);
        journal.append(&cell("a", Fail)).unwrap();
        assert_eq!(statuses(dir.path()), [("b".to_owned(), Pass), ("a".to_owned(), Fail)]);
    }

    #[test]
    fn a_run_that_was_resumed_after_its_end_is_complete_only_at_its_next_end() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path(), &identity(), "now").unwrap();
        assert!(!contents(dir.path()).complete);
        journal.complete().unwrap();
        assert!(contents(dir.path()).complete);
        let mut journal = Journal::resume(dir.path(), &contents(dir.path()), "later").unwrap();
        journal.append(&cell("a", Pass)).unwrap();
        assert_eq!((contents(dir.path()).complete, contents(dir.path()).resumed), (false, 1));
        // It is interrupted here: the journal is the only place of its results.
        let aside = move_aside(dir.path()).unwrap().expect("it is kept");
        std::fs::rename(aside, dir.path().join(NAME)).unwrap();
        journal.complete().unwrap();
        assert!(contents(dir.path()).complete);
        assert_eq!(move_aside(dir.path()).unwrap(), None);
        assert!(!exists(dir.path()), "the report has the results");
    }
}
