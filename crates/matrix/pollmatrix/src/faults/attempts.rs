//! The attempts of a kill matrix, appended to a file as they end. A resumed run repeats its steps and takes
//! the known attempts from the file.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use matrix::executable::Executable;
use matrix::json_lines::{self, Appender, Lines};
use matrix::plan::Source;
use matrix::{REPORT_DIR_HELP, diagnostics};
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
    inner: Mutex<Inner>,
}

struct Inner {
    file: Appender,
    known: HashMap<AttemptKey, Ended>,
    /// The machine that made the known attempts.
    machine: Option<Run>,
    /// The first error of writing the file.
    problem: Option<matrix::Error>,
}

impl AttemptLog {
    /// Starts a file, or reads the file to resume from.
    pub fn begin(source: &Source<'_>, executable: &Executable, args: &FaultsArgs) -> Result<Self, Error> {
        let path = args.report_dir.path.join(NAME);
        let unidentified = matrix::Error::io("identify this program for", &path, REPORT_DIR_HELP);
        let executable = executable.hash().map_err(unidentified)?.to_owned();
        let matrix = source.hash.clone();
        let mut seed = args.chance.seed();
        let mut known = HashMap::new();
        let mut machine = None;
        // How many bytes of the file to keep: none of another run; of the same run, the whole lines.
        let (mut is_new, mut keep) = (true, Some(0));
        if args.resume {
            let lines = json_lines::read_file(&path)?;
            let torn = lines.as_ref().and_then(|lines| lines.torn);
            let loss = lines.as_ref().and_then(|lines| lines.loss(&path));
            let is_empty = lines.as_ref().is_none_or(Lines::is_empty);
            let mut lines = lines.into_iter().flat_map(|lines| lines.whole);
            match lines.next() {
                Some((1, Line::Begin { executable: e, matrix: m, seed: s }))
                    if (&e, &m) == (&executable, &matrix)
                        && args.chance.given().is_none_or(|seed| seed == s) =>
                {
                    (is_new, seed, keep) = (false, s, torn.map(|(_, place)| place));
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
        let file = Appender::open(path, keep)?;
        let log = Self { seed, inner: Mutex::new(Inner { file, known, machine, problem: None }) };
        if is_new {
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
        self.lock().problem.take().map_or(Ok(()), |problem| Err(problem.into()))
    }

    fn write(&self, line: &Line) {
        let mut inner = self.lock();
        if let Err(error) = inner.file.write(line) {
            inner.problem.get_or_insert(error);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
