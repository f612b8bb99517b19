//! The file that cells are started from. Every cell runs the program whose hash is in the report, even if the
//! file is replaced by a build during the run.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::{provenance, self_start};

/// The folder in a report directory that holds the private copy of a run.
const FOLDER: &str = ".executable";

/// The help for an executable that cannot be read.
const GONE: &str = "build it again: the executable was moved or replaced";

/// Returns the file of this program.
pub fn own() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(Error::io("find the file of", "this program", GONE))
}

/// Identifies a file and its version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// Returns `None` if the file is not visible: behind a command it can have another name.
    fn of(path: &Path) -> Option<Self> {
        let data = fs::metadata(path).ok()?;
        Some(Self {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
        })
    }
}

/// The executable of a run: a private copy, or the original file with a check for replacement.
#[derive(Debug)]
pub struct Executable {
    path: PathBuf,
    hash: OnceLock<String>,
    stamp: Mutex<Option<Stamp>>,
    replaced: AtomicBool,
    /// The folder of the private copy, if there is one.
    _folder: Option<Folder>,
}

/// A folder that is removed on drop.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    /// Creates the folder in a report directory. Removes the folder of a run that was killed.
    fn in_report(dir: &Path) -> io::Result<Self> {
        let path = std::path::absolute(dir)?.join(FOLDER);
        let _ = fs::remove_dir_all(&path);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    fn temporary() -> io::Result<Self> {
        Ok(Self(tempfile::Builder::new().prefix("pollmatrix-").tempdir()?.keep()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Executable {
    /// Uses the original file. A replacement is detected, and no cell is started after it.
    pub fn watch(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            hash: OnceLock::new(),
            stamp: Mutex::new(Stamp::of(path)),
            replaced: AtomicBool::new(false),
            _folder: None,
        }
    }

    /// Makes a private copy, which a replacement of the file does not affect.
    ///
    /// The copy is in `dir`, which no other run uses, or, if a program cannot be started from there, in the
    /// system's folder for temporary files. Uses the original file if no copy can be made. `is_native` says
    /// whether this machine can start the program.
    ///
    /// # Errors
    /// The file cannot be read, or was replaced meanwhile.
    pub fn hold(path: &Path, dir: &Path, is_native: bool) -> Result<Self, Error> {
        let fit = |copy: &Self| !is_native || self_start::starts(&copy.path);
        let copy = |folder| Self::copy(path, folder).ok().filter(fit);
        let held = Folder::in_report(dir).ok().and_then(copy);
        let held = held.or_else(|| Folder::temporary().ok().and_then(copy));
        let held = held.unwrap_or_else(|| Self::watch(path));
        held.hash().map_err(Error::io("read", path, GONE))?;
        held.check()?;
        Ok(held)
    }

    fn copy(path: &Path, folder: Folder) -> io::Result<Self> {
        let to = folder.0.join(path.file_name().unwrap_or("pollmatrix".as_ref()));
        // A hard link serves as a copy as long as linkers and installers write a new version to a new file.
        // If the file is overwritten instead, the check detects it.
        let before = Stamp::of(path);
        fs::hard_link(path, &to).or_else(|_| fs::copy(path, &to).map(|_| ()))?;
        if Stamp::of(path) != before {
            return Err(io::Error::other("the file was replaced"));
        }
        Ok(Self { _folder: Some(folder), ..Self::watch(&to) })
    }

    /// Returns the file to start.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the SHA-256 of the file, in hexadecimal.
    pub fn hash(&self) -> io::Result<&str> {
        if self.hash.get().is_none() {
            let hash = provenance::hash_of(&self.path)?;
            let _ = self.hash.set(hash);
        }
        Ok(self.hash.get().map_or("", String::as_str))
    }

    /// Returns whether the file is unchanged. Once it has changed, the answer stays `false`.
    pub fn is_unchanged(&self) -> bool {
        let mut stamp = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Stamp::of(&self.path);
        if now != *stamp {
            // The content decides: `touch` only changes the time.
            let hash = provenance::hash_of(&self.path).ok();
            if hash.is_some() && hash.as_ref() == self.hash.get() {
                *stamp = now;
            } else {
                // Relaxed: the flag publishes no other data.
                self.replaced.store(true, Ordering::Relaxed);
            }
        }
        !self.replaced.load(Ordering::Relaxed)
    }

    /// Returns an error if a replacement was detected.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_unchanged() { Ok(()) } else { Err(Error::Replaced(self.path.clone())) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use tempfile::TempDir;

    use super::*;

    fn program(dir: &TempDir, text: &str) -> PathBuf {
        let path = dir.path().join("program");
        fs::write(&path, text).unwrap();
        path
    }

    fn hold(path: &Path, dir: &TempDir) -> Executable {
        Executable::hold(path, dir.path(), false).unwrap()
    }

    #[test]
    fn a_new_file_of_the_same_name_does_not_affect_the_copy() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "the first");
        let held = hold(&path, &dir);
        fs::remove_file(&path).unwrap();
        program(&dir, "another");
        assert!(held.is_unchanged());
        assert_eq!(fs::read_to_string(held.path()).unwrap(), "the first");
        assert_eq!(held.path().file_name(), path.file_name());
        let copy = held.path().to_path_buf();
        drop(held);
        assert!(!copy.exists() && path.exists());
    }

    #[test]
    fn the_copy_of_a_killed_run_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "the first");
        std::mem::forget(hold(&path, &dir));
        fs::remove_file(&path).unwrap();
        assert_eq!(fs::read_to_string(hold(&program(&dir, "another"), &dir).path()).unwrap(), "another");
    }

    #[test]
    fn an_overwritten_file_is_refused_even_after_it_is_restored() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "the first");
        let held = [hold(&path, &dir), Executable::watch(&path)];
        // The hard link makes the copy change, too.
        program(&dir, "another one");
        held.iter().for_each(|held| assert!(matches!(held.check(), Err(Error::Replaced(_)))));
        program(&dir, "the first");
        assert!(held.iter().all(|held| !held.is_unchanged()));
    }

    #[test]
    fn a_new_modification_time_is_not_a_replacement() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "the first");
        let held = hold(&path, &dir);
        File::options().append(true).open(held.path()).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(held.is_unchanged());
    }

    #[test]
    fn without_a_writable_folder_the_original_file_is_watched() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "no program");
        // A copy of this file does not start.
        let held = Executable::hold(&path, &dir.path().join("missing"), true).unwrap();
        assert_eq!(held.path(), path);
        fs::remove_file(&path).unwrap();
        assert!(!held.is_unchanged());
    }
}
