//! The attempts of a kill matrix, appended to a file as they end. A resumed run repeats its steps and takes
//! the known attempts from the file.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use matrix::executable::Executable;
use matrix::plan::Source;
use matrix::{REPORT_DIR_HELP, REPORT_FILE_HELP, diagnostics, json_lines};
use metadata::{Attempt, PathNameError, PathNames, Run, Seed, Status};
use serde::{Deserialize, Serialize};

use super::FaultsArgs;
use crate::error::Error;

/// The file name in the report directory.
const NAME: &str = "kill-matrix.jsonl";

/// Identifies an attempt.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct AttemptKey {
    /// The cell.
    pub cell: String,
    /// The fault that was switched on.
    pub fault: Option<String>,
    /// The seed.
    pub seed: Seed,
    /// Whether the attempt had its full time.
    pub full: bool,
}

/// How an attempt ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// The status.
    pub status: Status,
    /// Why it did not pass.
    pub reason: Option<String>,
    /// The duration in milliseconds.
    pub ms: u64,
    /// Whether a lack of time can be the reason that it did not pass.
    pub out_of_time: bool,
}

impl Ended {
    /// Summarises an attempt. `patience_ms` is the longest wait of its scenario.
    pub fn new(attempt: Attempt, patience_ms: u64) -> Self {
        let Attempt { status, reason, duration_ms: ms, .. } = attempt;
        let out_of_time =
            status == Status::Timeout || !status.is_pass() && status != Status::Crash && ms >= patience_ms;
        Self { status, reason, ms, out_of_time }
    }
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line {
    /// The first line. Only the same program with the same matrix can resume a run.
    Begin { executable: String, matrix: String, seed: Seed },
    /// The machine that makes the attempts after this line.
    Machine(Box<Run>),
    /// An attempt.
    Tried {
        #[serde(flatten)]
        key: AttemptKey,
        #[serde(flatten)]
        ended: Ended,
    },
}

impl PathNames for Line {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        match self {
            Self::Machine(run) => run.check_path_names(),
            // Attempts are found by the keys of the plan.
            Self::Begin { .. } | Self::Tried { .. } => Ok(()),
        }
    }
}

fn new_run(args: &FaultsArgs) {
    let dir = args.report_dir.path.display();
    diagnostics::note(&format!("{dir} has no matching run to resume: starting a new one"));
}

/// The attempts of this run, and the file with them.
pub struct AttemptLog {
    seed: Seed,
    path: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    known: HashMap<AttemptKey, Ended>,
    /// The machine that made the known attempts.
    machine: Option<Run>,
    /// The first error of writing the file.
    problem: Option<std::io::Error>,
}

impl AttemptLog {
    /// Starts a file, or reads the file to resume from.
    pub fn begin(source: &Source<'_>, executable: &Executable, args: &FaultsArgs) -> Result<Self, Error> {
        let path = args.report_dir.path.join(NAME);
        let failed =
            |action, source| matrix::Error::Io { action, path: path.clone(), source, help: REPORT_DIR_HELP };
        let executable = executable.hash().map_err(|source| failed("identify this program for", source))?;
        let executable = executable.to_owned();
        let matrix = source.hash.clone();
        let mut seed = args.chance.seed();
        let mut known = HashMap::new();
        let mut machine = None;
        // How many bytes of the file to keep: none of another run; of the same run, the whole lines.
        let mut keep = 0;
        if args.resume {
            let bytes = json_lines::content(&path).map_err(|source| matrix::Error::Io {
                action: "read",
                path: path.clone(),
                source,
                help: REPORT_FILE_HELP,
            })?;
            let bytes = bytes.unwrap_or_default();
            let lines = json_lines::read(&path, &bytes, |line| serde_json::from_slice(line).ok())?;
            let end = lines.torn.map_or(bytes.len() as u64, |(_, place)| place);
            let loss = lines.loss(&path);
            let is_empty = lines.is_empty();
            let mut lines = lines.whole.into_iter();
            match lines.next() {
                Some((1, Line::Begin { executable: e, matrix: m, seed: s }))
                    if (&e, &m) == (&executable, &matrix)
                        && args.chance.given().is_none_or(|seed| seed == s) =>
                {
                    (seed, keep) = (s, end);
                    for (_, line) in lines {
                        match line {
                            Line::Tried { key, ended } => _ = known.insert(key, ended),
                            Line::Machine(run) => machine = Some(*run),
                            Line::Begin { .. } => {}
                        }
                    }
                    if let Some(loss) = loss {
                        diagnostics::warning(&loss);
                    }
                }
                Some((1, Line::Begin { .. })) => new_run(args),
                None if is_empty => new_run(args),
                _ => {
                    let reason = "line 1 does not identify the run".into();
                    return Err(matrix::Error::NotAJournal { path, reason }.into());
                }
            }
        }
        let open = || {
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.set_len(keep)?;
            Ok(file)
        };
        let file = open().map_err(|source| failed("write", source))?;
        let log = Self {
            seed,
            path: path.clone(),
            inner: Mutex::new(Inner { file, known, machine, problem: None }),
        };
        if keep == 0 {
            log.write(&Line::Begin { executable, matrix, seed });
        }
        log.check()?;
        Ok(log)
    }

    /// Returns the seed of every first attempt.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// Notes the machine that makes the following attempts.
    ///
    /// # Errors
    /// The known attempts are from another machine or kernel.
    pub fn machine(&self, run: &Run) -> Result<(), Error> {
        let about = |run: &Run| format!("{} {} on {}", run.os, run.kernel, run.machine);
        match &self.lock().machine {
            Some(known) if about(known) == about(run) => return Ok(()),
            Some(known) => return Err(Error::OtherMachine { before: about(known), now: about(run) }),
            None => {}
        }
        self.write(&Line::Machine(Box::new(run.clone())));
        self.lock().machine = Some(run.clone());
        self.check()
    }

    /// Returns how an attempt ended, if that is known.
    pub fn known(&self, key: &AttemptKey) -> Option<Ended> {
        self.lock().known.get(key).cloned()
    }

    /// Adds an attempt to the file.
    pub fn add(&self, key: AttemptKey, ended: Ended) {
        self.write(&Line::Tried { key: key.clone(), ended: ended.clone() });
        self.lock().known.insert(key, ended);
    }

    /// Returns the first error of writing the file, if there was one.
    pub fn check(&self) -> Result<(), Error> {
        match self.lock().problem.take() {
            None => Ok(()),
            Some(source) => {
                let path = self.path.clone();
                Err(matrix::Error::Io { action: "write", path, source, help: REPORT_DIR_HELP }.into())
            }
        }
    }

    fn write(&self, line: &Line) {
        let mut text = serde_json::to_vec(line).expect("the types have string keys and no fallible parts");
        text.push(b'\n');
        let mut inner = self.lock();
        if let Err(error) = inner.file.write_all(&text) {
            inner.problem.get_or_insert(error);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
