//! The user's cache: kernels, and the folders of running machines.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

/// With less room than this, apt waits without an end.
pub const FULL: u64 = 1 << 20;
/// How to mend a cache without room.
pub const MAKE_ROOM: &str = "make room, or set XDG_CACHE_HOME to a folder of another file system";

/// Returns the folder for kernels and running machines.
pub fn folder() -> io::Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let missing = || io::Error::new(io::ErrorKind::NotFound, "neither XDG_CACHE_HOME nor HOME is set");
    Ok(base.ok_or_else(missing)?.join("pollmatrix/vm"))
}

/// Returns why a folder cannot take this number of bytes, if its file system has less room.
pub fn too_full(folder: &Path, needed: u64) -> Option<String> {
    let about = statvfs(folder).ok()?;
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let available = (about.blocks_available() as u64).saturating_mul(about.fragment_size() as u64);
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    (available < needed).then(|| {
        format!(
            "the file system of {} has {} left, less than {}",
            folder.display(),
            mib(available),
            mib(needed)
        )
    })
}

/// Waits until no other process holds the lock `NAME.lock`, and holds it until the result is dropped.
pub fn lock(folder: &Path, name: &str) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let file = File::create(folder.join(format!("{name}.lock")))?;
    file.lock()?;
    Ok(file)
}

/// The folder of a running machine. It is removed on drop, or by a later run if every process that uses it
/// was killed.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    keep: bool,
    /// Locked by every process that uses the folder.
    _lock: File,
}

/// The name of the lock in the folder of a running machine.
const LOCK: &str = "lock";
/// The folder with the folders of running machines.
const RUNS: &str = "runs";

impl RunFolder {
    /// Creates the folder of a machine, and removes those that no process uses.
    pub fn create(machine: &str) -> io::Result<Self> {
        let runs = folder()?.join(RUNS);
        fs::create_dir_all(&runs)?;
        // One process at a time, so that none removes a folder before its creator locks it.
        let _sweep = lock(&runs, "sweep")?;
        for entry in fs::read_dir(&runs)? {
            let path = entry?.path();
            if path.is_dir() && !in_use(&path) {
                let _ = fs::remove_dir_all(&path);
            }
        }
        let path = tempfile::Builder::new().prefix(&format!("{machine}-")).tempdir_in(&runs)?.keep();
        let lock = File::create(path.join(LOCK))?;
        lock.lock_shared()?;
        Ok(Self { path, keep: false, _lock: lock })
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the folder in place on drop.
    pub fn keep(&mut self) {
        self.keep = true;
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Locks the folder of a machine for this process and for those that inherit the file.
pub fn share(run: &Path) -> io::Result<File> {
    let lock = File::open(run.join(LOCK))?;
    lock.lock_shared()?;
    Ok(lock)
}

/// Returns the folders of machines that run now, with the names of the folders.
pub fn running() -> io::Result<Vec<PathBuf>> {
    let runs = folder()?.join(RUNS);
    let Ok(entries) = fs::read_dir(runs) else { return Ok(Vec::new()) };
    let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| path.is_dir() && in_use(path));
    paths.sort();
    Ok(paths)
}

fn in_use(run: &Path) -> bool {
    File::open(run.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_in_use_while_a_process_holds_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!in_use(folder.path()));
        fs::write(folder.path().join(LOCK), "").unwrap();
        let first = share(folder.path()).unwrap();
        let second = share(folder.path()).unwrap();
        drop(first);
        assert!(in_use(folder.path()));
        drop(second);
        assert!(!in_use(folder.path()));
    }
}
