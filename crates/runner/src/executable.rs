//! The file that cells are started from. It stays the one whose hash the report names, whatever is built meanwhile.

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

/// What to do about a file that cannot be read.
const GONE: &str = "build it again: the executable was moved or replaced";

/// The file of this program.
pub fn own() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(|source| Error::Io {
        action: "find the file of",
        path: PathBuf::from("this program"),
        source,
        help: GONE,
    })
}

/// Which file it is, and which version of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// `None` if the file cannot be seen from here: behind a command it may have another name.
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

/// See the module.
#[derive(Debug)]
pub struct Executable {
    path: PathBuf,
    hash: OnceLock<String>,
    stamp: Mutex<Option<Stamp>>,
    replaced: AtomicBool,
    /// Where it is, if it is a copy.
    _folder: Option<Folder>,
}

/// A folder that is removed at the end.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    /// A run that was killed has left its folder behind.
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
    /// The file itself: a replacement is noticed, and nothing is started after it.
    pub fn watch(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            hash: OnceLock::new(),
            stamp: Mutex::new(Stamp::of(path)),
            replaced: AtomicBool::new(false),
            _folder: None,
        }
    }

    /// A private copy, which a replacement of the file does not reach: in `dir`, which no other run uses, or where
    /// nothing can be started from there, in the system's folder for temporary files. The file itself if there is no
    /// room for a copy. `is_native`: this machine can start it.
    pub fn hold(path: &Path, dir: &Path, is_native: bool) -> Result<Self, Error> {
        let fit = |copy: &Self| !is_native || self_start::starts(&copy.path);
        let copy = |folder| Self::copy(path, folder).ok().filter(fit);
        let held = Folder::in_report(dir).ok().and_then(copy);
        let held = held.or_else(|| Folder::temporary().ok().and_then(copy));
        let held = held.unwrap_or_else(|| Self::watch(path));
        held.hash().map_err(|source| Error::Io {
            action: "read",
            path: path.to_path_buf(),
            source,
            help: GONE,
        })?;
        held.check()?;
        Ok(held)
    }

    fn copy(path: &Path, folder: Folder) -> io::Result<Self> {
        let to = folder.0.join(path.file_name().unwrap_or("pollmatrix".as_ref()));
        // A link is a copy as long as a new version is a new file, as a linker's and an installer's is. It is noticed
        // if it is not.
        let before = Stamp::of(path);
        fs::hard_link(path, &to).or_else(|_| fs::copy(path, &to).map(|_| ()))?;
        if Stamp::of(path) != before {
            return Err(io::Error::other("it was replaced"));
        }
        Ok(Self { _folder: Some(folder), ..Self::watch(&to) })
    }

    /// What is started.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 of it.
    pub fn hash(&self) -> io::Result<&str> {
        if self.hash.get().is_none() {
            let hash = provenance::hash_of(&self.path)?;
            let _ = self.hash.set(hash);
        }
        Ok(self.hash.get().map_or("", String::as_str))
    }

    /// Whether it is what it was. Once it is not, it never is again.
    pub fn is_the_same(&self) -> bool {
        let mut stamp = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Stamp::of(&self.path);
        if now != *stamp {
            // `touch` makes no other program of it.
            let hash = provenance::hash_of(&self.path).ok();
            if hash.is_some() && hash.as_ref() == self.hash.get() {
                *stamp = now;
            } else {
                // Relaxed: a flag alone, nothing is published with it.
                self.replaced.store(true, Ordering::Relaxed);
            }
        }
        !self.replaced.load(Ordering::Relaxed)
    }

    /// The error if a replacement was noticed.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_the_same() { Ok(()) } else { Err(Error::Replaced(self.path.clone())) }
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
    fn a_new_file_of_its_name_does_not_reach_the_copy() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "the first");
        let held = hold(&path, &dir);
        fs::remove_file(&path).unwrap();
        program(&dir, "another");
        assert!(held.is_the_same());
        assert_eq!(fs::read_to_string(held.path()).unwrap(), "the first");
        assert_eq!(held.path().file_name(), path.file_name());
        let copy = held.path().to_path_buf();
        drop(held);
        assert!(!copy.exists() && path.exists());
    }

    #[test]
    fn what_a_killed_run_left_behind_is_in_nobodys_way() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "the first");
        std::mem::forget(hold(&path, &dir));
        fs::remove_file(&path).unwrap();
        assert_eq!(fs::read_to_string(hold(&program(&dir, "another"), &dir).path()).unwrap(), "another");
    }

    #[test]
    fn a_file_that_was_written_over_is_refused_for_good() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "the first");
        let held = [hold(&path, &dir), Executable::watch(&path)];
        // Through a link it reaches the copy, too.
        program(&dir, "another one");
        held.iter().for_each(|held| assert!(matches!(held.check(), Err(Error::Replaced(_)))));
        program(&dir, "the first");
        assert!(held.iter().all(|held| !held.is_the_same()));
    }

    #[test]
    fn another_time_makes_no_other_program_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "the first");
        let held = hold(&path, &dir);
        File::options().append(true).open(held.path()).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(held.is_the_same());
    }

    #[test]
    fn where_nothing_can_be_written_the_file_itself_is_watched() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(&dir, "no program");
        // No copy of it starts.
        let held = Executable::hold(&path, &dir.path().join("missing"), true).unwrap();
        assert_eq!(held.path(), path);
        fs::remove_file(&path).unwrap();
        assert!(!held.is_the_same());
    }
}
