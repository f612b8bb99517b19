//! The journal of a run: one JSON line per result, appended as it comes, so that an interrupted run is
//! continued instead of repeated.
//!
//! The first line says which run it is, the last one that it is complete. A line is written with one call, so
//! that a process that is killed leaves whole lines and at most one part of a line at the end.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use matrix::Selection;
use metadata::{CellResult, Layer, Run, Seed};
use serde::{Deserialize, Serialize};

use crate::error::{Error, REPORT_DIR_HELP};
use crate::lines;

/// The journal's name in the report directory.
pub const NAME: &str = "journal.jsonl";
/// Only one run at a time writes to a report directory: whoever holds this file locked.
const LOCK: &str = ".lock";
/// How long a lock may outlive its holder.
const LEFTOVER: Duration = Duration::from_secs(2);

/// Which run it is: results are continued only by the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// SHA-256 of the matrix file.
    pub matrix: String,
    /// SHA-256 of the executable.
    pub executable: String,
    /// The seed of each first attempt.
    pub seed: Seed,
    /// The fault that is switched on.
    pub fault: Option<String>,
    /// One in how many system calls below the core fails.
    #[serde(default)]
    pub inject_errors: Option<NonZeroU32>,
    /// Attempts per cell.
    pub repeat: u32,
    /// Which cells.
    pub selection: Selected,
    /// Of which target.
    pub target: String,
    /// How they are run, as `--via` takes it.
    pub via: String,
}

/// A [`Selection`] as the journal holds it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Selected {
    prefixes: Vec<String>,
    backends: Vec<String>,
    filters: Vec<String>,
    layer: Option<Layer>,
    #[serde(default)]
    shard: Option<String>,
}

impl From<&Selection> for Selected {
    fn from(selection: &Selection) -> Self {
        Self {
            prefixes: selection.prefixes.clone(),
            backends: selection.backends.clone(),
            filters: selection.filters.clone(),
            layer: selection.layer,
            shard: selection.shard.map(|shard| shard.to_string()),
        }
    }
}

impl Selected {
    /// As the matrix crate wants it.
    pub fn selection(&self) -> Selection {
        Selection {
            prefixes: self.prefixes.clone(),
            backends: self.backends.clone(),
            filters: self.filters.clone(),
            layer: self.layer,
            shard: self.shard.as_deref().and_then(|shard| shard.parse().ok()),
        }
    }
}

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line {
    /// The first line.
    Run { started: String, identity: Box<Identity> },
    /// What the machine that runs the cells says of itself.
    Machine(Box<Run>),
    /// A result.
    Cell(Box<CellResult>),
    /// The run was interrupted and goes on from here.
    Resumed { at: String },
    /// The last line: nothing is missing.
    Complete,
}

/// What a journal holds.
pub struct Contents {
    /// Which run.
    pub identity: Identity,
    /// When it started.
    pub started: String,
    /// How often it was resumed.
    pub resumed: u32,
    /// What the machine that runs the cells says of itself, if it was asked.
    pub machine: Option<Run>,
    /// Whether it is complete.
    pub complete: bool,
    /// The results; the last one of a cell counts.
    pub rows: Vec<CellResult>,
    /// What to warn about, if some of it cannot be read.
    pub loss: Option<String>,
    /// The length of the whole lines, if there is a part of a line after them.
    torn_at: Option<u64>,
}

/// Whether there is a journal in `dir`.
pub fn exists(dir: &Path) -> bool {
    dir.join(NAME).exists()
}

/// Reads the journal in `dir`, as far as it can be read. `None` if there is none, or none that got as far as its first
/// line.
///
/// # Errors
/// The first line does not say which run it is, or a second run begins.
pub fn read(dir: &Path) -> Result<Option<Contents>, Error> {
    let path = dir.join(NAME);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Io { action: "read", path, source, help: REPORT_DIR_HELP }),
    };
    let lines = lines::read(&text, |line| serde_json::from_slice::<Line>(line).ok());
    if lines.is_empty() {
        return Ok(None);
    }
    let wrong =
        |number, why| Error::NotAJournal { path: path.clone(), reason: format!("line {number} {why}") };
    let loss = lines.loss(&path);
    let is_damaged = !lines.damaged.is_empty();
    let mut all = lines.whole.into_iter();
    let Some((1, Line::Run { started, identity })) = all.next() else {
        return Err(wrong(1, "does not say which run it is"));
    };
    let mut contents = Contents {
        identity: *identity,
        started,
        resumed: 0,
        machine: None,
        complete: false,
        rows: Vec::new(),
        loss,
        torn_at: lines.torn.map(|(_, place)| place),
    };
    for (number, line) in all {
        match line {
            Line::Machine(run) => contents.machine = Some(*run),
            Line::Cell(row) => {
                contents.rows.retain(|known| known.id != row.id);
                contents.rows.push(*row);
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

/// The right to write to a report directory, until it is dropped or the process ends.
pub struct Lock(#[allow(dead_code)] Option<File>);

impl Lock {
    /// Creates the directory if it is not there, and locks it.
    pub fn take(dir: &Path) -> Result<Self, Error> {
        let failed = |action, path: &Path, source| Error::Io {
            action,
            path: path.to_path_buf(),
            source,
            help: REPORT_DIR_HELP,
        };
        std::fs::create_dir_all(dir).map_err(|source| failed("create the report directory", dir, source))?;
        let path = dir.join(LOCK);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(|source| failed("write", &path, source))?;
        let asked = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(Some(file))),
                // A run that was killed may have a child between its fork and its exec, which shares the lock until then.
                Err(TryLockError::WouldBlock) if asked.elapsed() < LEFTOVER => {
                    std::thread::sleep(LEFTOVER / 100);
                }
                Err(TryLockError::WouldBlock) => return Err(Error::Locked(dir.to_path_buf())),
                // A file system without locks: two runs at a time are the user's to avoid.
                Err(TryLockError::Error(_)) => return Ok(Self(None)),
            }
        }
    }
}

/// A journal that is being written.
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Begins a new journal in `dir`. There must be none: see [`move_aside`].
    pub fn create(dir: &Path, identity: &Identity, started: &str) -> Result<Self, Error> {
        let path = dir.join(NAME);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut journal = Self { file: file.map_err(|source| failed("write", &path, source))?, path };
        journal.write(&Line::Run { started: started.to_owned(), identity: Box::new(identity.clone()) })?;
        Ok(journal)
    }

    /// Goes on with the journal in `dir`, whose `contents` were read before.
    pub fn resume(dir: &Path, contents: &Contents, now: &str) -> Result<Self, Error> {
        let path = dir.join(NAME);
        let open = || {
            let file = OpenOptions::new().append(true).open(&path)?;
            if let Some(length) = contents.torn_at {
                file.set_len(length)?;
            }
            Ok(file)
        };
        let file = open().map_err(|source| failed("write", &path, source))?;
        let mut journal = Self { file, path };
        journal.write(&Line::Resumed { at: now.to_owned() })?;
        Ok(journal)
    }

    /// Appends what the machine that runs the cells says of itself.
    pub fn machine(&mut self, run: &Run) -> Result<(), Error> {
        self.write(&Line::Machine(Box::new(run.clone())))
    }

    /// Appends a result.
    pub fn append(&mut self, row: &CellResult) -> Result<(), Error> {
        self.write(&Line::Cell(Box::new(row.clone())))
    }

    /// Says that nothing is missing.
    pub fn complete(&mut self) -> Result<(), Error> {
        self.write(&Line::Complete)
    }

    fn write(&mut self, line: &Line) -> Result<(), Error> {
        let mut text = serde_json::to_vec(line).expect("the types have string keys and no fallible parts");
        text.push(b'\n');
        self.file.write_all(&text).map_err(|source| failed("write", &self.path, source))
    }
}

impl Contents {
    /// What makes `identity` another run than this one, if something does, and how to get the same.
    pub fn difference(&self, identity: &Identity) -> Option<(String, String)> {
        let new_run = || "leave --resume out to start a new run; the old journal is moved aside".to_owned();
        let mine = &self.identity;
        let option = |name: &str, value: &Option<String>| match value {
            Some(value) => format!("with {name} {value}"),
            None => format!("without {name}"),
        };
        if (&mine.target, &mine.via) != (&identity.target, &identity.via) {
            let was = format!("--target {} --via {}", mine.target, mine.via);
            return Some((
                format!("it was started with {was}"),
                format!("resume it with {was}, or {}", new_run()),
            ));
        }
        if mine.matrix != identity.matrix {
            return Some(("it has another matrix".into(), new_run()));
        }
        if mine.executable != identity.executable {
            return Some(("it was made by another build of pollmatrix".into(), new_run()));
        }
        if mine.fault != identity.fault {
            let was = option("--fault", &mine.fault);
            return Some((format!("it was started {was}"), format!("resume it {was}, or {}", new_run())));
        }
        if mine.inject_errors != identity.inject_errors {
            let was = match mine.inject_errors {
                Some(one_in) => format!("with --inject-errors={one_in}"),
                None => "without --inject-errors".to_owned(),
            };
            return Some((format!("it was started {was}"), format!("resume it {was}, or {}", new_run())));
        }
        if mine.seed != identity.seed {
            let help = format!("leave --seed out to resume with the same, or {}", new_run());
            return Some((format!("it has the seed {}", mine.seed), help));
        }
        if mine.repeat != identity.repeat {
            let was = format!("--repeat {}", mine.repeat);
            return Some((
                format!("it was started with {was}"),
                format!("resume it with {was}, or {}", new_run()),
            ));
        }
        if mine.selection != identity.selection {
            let help = format!("leave the cells out to resume with the same, or {}", new_run());
            return Some((format!("it has other cells: {}", mine.selection.selection().describe()), help));
        }
        None
    }
}

/// Makes room for a new journal. One of a complete run is removed: its results are in the report, which the
/// new run replaces as well. Anything else is kept under another name, which is returned.
pub fn move_aside(dir: &Path) -> Result<Option<PathBuf>, Error> {
    let path = dir.join(NAME);
    if !path.exists() {
        return Ok(None);
    }
    if let Ok(Some(contents)) = read(dir)
        && contents.complete
    {
        std::fs::remove_file(&path).map_err(|source| failed("remove", &path, source))?;
        return Ok(None);
    }
    let aside = (1..)
        .map(|number| dir.join(format!("journal-{number}.jsonl")))
        .find(|name| !name.exists())
        .unwrap_or_else(|| unreachable!("there are more numbers than files"));
    std::fs::rename(&path, &aside).map_err(|source| failed("move aside", &path, source))?;
    Ok(Some(aside))
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io { action, path: path.to_path_buf(), source, help: REPORT_DIR_HELP }
}
