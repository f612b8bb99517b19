//! What was tried: every attempt of a kill matrix, appended to a file as it comes. A run that is resumed goes its way
//! again and finds there what it knows already.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use report::{Attempt, Seed, Status};
use serde::{Deserialize, Serialize};

use crate::args::FaultsArgs;
use crate::error::{self, Error, REPORT_DIR_HELP};
use crate::executable::Executable;
use crate::plan::Source;

/// The file's name in the report directory.
const NAME: &str = "kill-matrix.jsonl";

/// Which attempt.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Try {
    /// The cell.
    pub cell: String,
    /// The fault that was on.
    pub fault: Option<String>,
    /// Its seed.
    pub seed: Seed,
    /// Whether it had all its time.
    pub full: bool,
}

/// How it ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// As a cell's result.
    pub status: Status,
    /// Why it did not pass.
    pub reason: Option<String>,
    /// How long it took.
    pub ms: u64,
    /// Whether it may be for want of time that it did not pass.
    pub out_of_time: bool,
}

impl Ended {
    /// `patience_ms`: how long its scenario waited at the most.
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
    /// The first: results are continued by the same program with the same matrix only.
    Begin { executable: String, matrix: String, seed: Seed },
    /// What was tried.
    Tried {
        #[serde(flatten)]
        tried: Try,
        #[serde(flatten)]
        ended: Ended,
    },
}

/// See the module.
pub struct Tries {
    seed: Seed,
    path: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    known: HashMap<Try, Ended>,
    /// What went wrong when the file was written.
    problem: Option<std::io::Error>,
}

impl Tries {
    /// Begins a file, or reads what is to be continued.
    pub fn begin(source: &Source, executable: &Executable, args: &FaultsArgs) -> Result<Self, Error> {
        let path = args.report_dir.path.join(NAME);
        let failed = |action, source| Error::Io { action, path: path.clone(), source, help: REPORT_DIR_HELP };
        let executable = executable.hash().map_err(|source| failed("identify this program for", source))?;
        let executable = executable.to_owned();
        let matrix = source.hash.clone();
        let mut seed = args.chance.seed();
        let mut known = HashMap::new();
        let mut whole = 0;
        if args.resume {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
                match serde_json::from_str(line) {
                    Ok(Line::Begin { executable: e, matrix: m, seed: s })
                        if (&e, &m) == (&executable, &matrix)
                            && args.chance.asked().is_none_or(|seed| seed == s) =>
                    {
                        seed = s;
                    }
                    Ok(Line::Tried { tried, ended }) if whole > 0 => {
                        known.insert(tried, ended);
                    }
                    _ => break,
                }
                whole += line.len();
            }
            if whole == 0 {
                let dir = args.report_dir.path.display();
                error::note(&format!("{dir} has no such run to resume: this is a new one"));
            }
        }
        let open = || {
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            // A part of a line behind the whole ones, or another run.
            file.set_len(whole as u64)?;
            Ok(file)
        };
        let file = open().map_err(|source| failed("write", source))?;
        let tries =
            Self { seed, path: path.clone(), inner: Mutex::new(Inner { file, known, problem: None }) };
        if whole == 0 {
            tries.write(&Line::Begin { executable, matrix, seed });
        }
        tries.check()?;
        Ok(tries)
    }

    /// The seed of every first attempt.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// What is known of an attempt.
    pub fn known(&self, tried: &Try) -> Option<Ended> {
        self.lock().known.get(tried).cloned()
    }

    /// Remembers an attempt.
    pub fn add(&self, tried: Try, ended: Ended) {
        self.write(&Line::Tried { tried: tried.clone(), ended: ended.clone() });
        self.lock().known.insert(tried, ended);
    }

    /// Whether the file could be written so far.
    pub fn check(&self) -> Result<(), Error> {
        match self.lock().problem.take() {
            None => Ok(()),
            Some(source) => {
                let path = self.path.clone();
                Err(Error::Io { action: "write", path, source, help: REPORT_DIR_HELP })
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
