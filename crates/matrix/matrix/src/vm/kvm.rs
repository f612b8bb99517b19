//! Remembers whether KVM works. On some machines /dev/kvm opens, and the guest hangs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::cache;
use crate::provenance;

/// How long a failure is remembered.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3600);

/// Returns the file that says that KVM does not work with this emulator on this system.
fn file(program: &Path) -> Option<PathBuf> {
    let (release, version) = provenance::kernel();
    let hash = Sha256::digest(format!("{release}\n{version}\n{}", program.display()));
    let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Some(cache::folder().ok()?.join(format!("no-kvm-{name}")))
}

/// Returns whether KVM failed here lately.
pub fn has_failed(program: &Path) -> bool {
    let changed = file(program).and_then(|file| file.metadata().ok()?.modified().ok());
    changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|age| age < REMEMBERED)
}

/// Remembers that KVM failed here.
pub fn remember_failure(program: &Path, why: &str) {
    if let Some(file) = file(program) {
        // It is only a hint: without it, the next run tries again.
        let _ = fs::write(file, why);
    }
}
