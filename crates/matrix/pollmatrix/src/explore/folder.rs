//! The folder of a corpus.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use explore::{Corpus, Line, parse};
use matrix::output;
use metadata::Seed;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The file with the state of an exploration.
const STATE: &str = "state.json";
const HELP: &str = "choose another folder with --corpus DIR, or free disk space";

/// The state of an exploration, from which it can continue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct State {
    /// The seed.
    pub seed: Seed,
    /// The number of rounds.
    pub rounds: u64,
    /// The names of both sides.
    pub sides: Vec<String>,
}

/// A folder with a corpus. While it exists, no other exploration uses the folder.
pub struct Folder {
    path: PathBuf,
    /// The locked folder. `None` if it cannot be made or locked: then nothing can be written into it, or its
    /// file system has no locks.
    _locked: Option<File>,
    /// The files that it had.
    files: BTreeSet<String>,
}

impl Folder {
    /// Locks a folder, and reads the lines in it. With `make`, makes the folder if there is none.
    pub fn read(path: &Path, make: bool) -> Result<(Self, Vec<Line>), Error> {
        if make {
            // Writing into it reports the error, after the disagreements.
            let _ = fs::create_dir_all(path);
        }
        let mut folder = Self { path: path.to_path_buf(), _locked: lock(path)?, files: BTreeSet::new() };
        let mut lines = Vec::new();
        let entries = match fs::read_dir(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((folder, lines)),
            entries => entries.map_err(failed("read", path))?,
        };
        for entry in entries {
            let entry = entry.map_err(failed("read", path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".txt") {
                folder.files.insert(name);
            }
        }
        for name in &folder.files {
            let file = path.join(name);
            let text = metadata::read_text(&file).map_err(failed("read", &file))?;
            let parsed = parse(name, &text)
                .map_err(|error| Error::Corpus { path: path.to_path_buf(), message: error.to_string() })?;
            lines.extend(parsed);
        }
        Ok((folder, lines))
    }

    /// Returns the state of the exploration that wrote the folder.
    pub fn state(&self) -> Result<Option<State>, Error> {
        let path = self.path.join(STATE);
        match metadata::read_text(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path)(error).into()),
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| Error::Corpus { path, message: error.to_string() }),
        }
    }

    /// Writes the corpus and the state.
    pub fn write(&mut self, corpus: &Corpus, state: &State) -> Result<(), Error> {
        fs::create_dir_all(&self.path).map_err(failed("create", &self.path))?;
        let files = corpus.files();
        for (name, text) in &files {
            self.write_file(name, text)?;
        }
        for name in self.files.iter().filter(|name| !files.contains_key(*name)) {
            let file = self.path.join(name);
            fs::remove_file(&file).map_err(failed("remove", &file))?;
        }
        self.files = files.into_keys().collect();
        self.write_file(STATE, &metadata::json(&serde_json::json!(state)))
    }

    fn write_file(&self, name: &str, text: &str) -> Result<(), Error> {
        output::write_file(&self.path.join(name), text).map_err(|error| match error {
            matrix::Error::Io { action, path, source, .. } => failed(action, &path)(source).into(),
            other => other.into(),
        })
    }
}

/// Locks a folder for this process, until the file is closed. `None` if that is impossible for another reason
/// than another exploration.
fn lock(path: &Path) -> Result<Option<File>, Error> {
    let Ok(folder) = File::open(path) else { return Ok(None) };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => Err(Error::Unfit {
            path: path.to_path_buf(),
            why: "another exploration uses it".into(),
            help: "wait until that one ends, or choose another folder with --corpus DIR",
        }),
    }
}

fn failed(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> matrix::Error {
    matrix::Error::io(action, path, HELP)
}
