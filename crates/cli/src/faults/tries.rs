//! What was tried: every attempt of a kill matrix, appended to a file as it comes. A run that is resumed goes its way
//! again and finds there what it knows already.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use metadata::{Attempt, Seed, Status};
use runner::executable::Executable;
use runner::plan::Source;
use runner::{REPORT_DIR_HELP, lines, notes};
use serde::{Deserialize, Serialize};

use crate::args::FaultsArgs;
use crate::error::Error;

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

/// The file, if there is one.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

fn new_run(args: &FaultsArgs) {
    let dir = args.report_dir.path.display();
    notes::note(&format!("{dir} has no such run to resume: this is a new one"));
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
    pub fn begin(source: &Source<'_>, executable: &Executable, args: &FaultsArgs) -> Result<Self, Error> {
        let path = args.report_dir.path.join(NAME);
        let failed =
            |action, source| runner::Error::Io { action, path: path.clone(), source, help: REPORT_DIR_HELP };
        let executable = executable.hash().map_err(|source| failed("identify this program for", source))?;
        let executable = executable.to_owned();
        let matrix = source.hash.clone();
        let mut seed = args.chance.seed();
        let mut known = HashMap::new();
        // Another run is replaced; of the same one, what is behind the whole lines.
        let mut keep = 0;
        if args.resume {
            let bytes = read(&path).map_err(|source| failed("read", source))?;
            let lines = lines::read(&bytes, |line| serde_json::from_slice(line).ok());
            let end = lines.torn.map_or(bytes.len() as u64, |(_, place)| place);
            let loss = lines.loss(&path);
            let is_empty = lines.is_empty();
            let mut lines = lines.whole.into_iter();
            match lines.next() {
                Some((1, Line::Begin { executable: e, matrix: m, seed: s }))
                    if (&e, &m) == (&executable, &matrix)
                        && args.chance.asked().is_none_or(|seed| seed == s) =>
                {
                    (seed, keep) = (s, end);
                    for (_, line) in lines {
                        if let Line::Tried { tried, ended } = line {
                            known.insert(tried, ended);
                        }
                    }
                    if let Some(loss) = loss {
                        notes::warning(&loss);
                    }
                }
                Some((1, Line::Begin { .. })) => new_run(args),
                None if is_empty => new_run(args),
                _ => {
                    let reason = "line 1 does not say which run it is".into();
                    return Err(runner::Error::NotAJournal { path, reason }.into());
                }
            }
        }
        let open = || {
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.set_len(keep)?;
            Ok(file)
        };
        let file = open().map_err(|source| failed("write", source))?;
        let tries =
            Self { seed, path: path.clone(), inner: Mutex::new(Inner { file, known, problem: None }) };
        if keep == 0 {
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
                Err(runner::Error::Io { action: "write", path, source, help: REPORT_DIR_HELP }.into())
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
