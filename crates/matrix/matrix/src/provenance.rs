//! The provenance of results: this program and the machine that it runs on.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::matrix_yml::Target;
use metadata::{Run, Seed};
use sha2::{Digest, Sha256};

use crate::{backends, system};

/// The version of pollmatrix.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The target triple of rustc that this program is built for.
pub const TRIPLE: &str = env!("POLLMATRIX_TRIPLE");
/// The text for an unknown value.
pub const UNKNOWN: &str = "unknown";
/// Returns the commit that this program was built from, if git was available.
pub fn commit() -> Option<String> {
    let commit = env!("POLLMATRIX_COMMIT");
    (!commit.is_empty()).then(|| commit.to_owned())
}

/// Returns the SHA-256 of a file, in hexadecimal.
pub fn hash_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// Formats bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The environment variable with the release of a kernel that hides it: its runner may know.
pub const RELEASE: &str = "POLLMATRIX_KERNEL_RELEASE";

/// Returns the kernel's release and machine, as uname(2) reports them. A distribution's own version of Linux
/// follows the release: `6.1.0-56-amd64 (Debian 6.1.192-2)`. gVisor's release is that of [`RELEASE`].
pub fn kernel() -> (String, String) {
    let unknown = || "unknown".to_owned();
    let Ok(name) = nix::sys::utsname::uname() else { return (unknown(), unknown()) };
    let text = |part: &std::ffi::OsStr| part.to_string_lossy().into_owned();
    if let Ok(release) = std::env::var(RELEASE) {
        return (release, text(name.machine()));
    }
    if system::hides_its_release() {
        return (unknown(), text(name.machine()));
    }
    let release = text(name.release());
    // Ubuntu's file; Debian's kernels have their version in uname's.
    let signature = std::fs::read_to_string("/proc/version_signature").ok();
    let release = match distribution(&text(name.version()), signature.as_deref()) {
        Some(version) => format!("{release} ({version})"),
        None => release,
    };
    (release, text(name.machine()))
}

/// Returns the distribution and the version that its kernel is built from, which the release does not tell:
/// Debian calls every 6.1.y 6.1.0.
fn distribution(version: &str, signature: Option<&str>) -> Option<String> {
    let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    if let Some((_, after)) = version.split_once("Debian ") {
        let version = after.split_whitespace().next().filter(is_version)?;
        return Some(format!("Debian {version}"));
    }
    // `Ubuntu 6.8.0-31.31-generic 6.8.1`
    let version = signature?.strip_prefix("Ubuntu ")?.split_whitespace().nth(1).filter(is_version)?;
    Some(format!("Ubuntu {version}"))
}

/// Returns the name of the C library, and its version if it can be queried.
pub fn libc() -> Option<String> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the function has no arguments and returns a static string.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        Some(format!("glibc {}", version.to_string_lossy()))
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        cfg!(target_env = "musl").then(|| "musl".to_owned())
    }
}

/// Returns the number of threads that the machine runs in parallel.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the time in UTC, as in RFC 3339.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Returns a random seed that is short enough to type. The hasher's keys come from the system's source of
/// randomness.
pub fn new_seed() -> Seed {
    Seed(RandomState::new().build_hasher().finish() & u64::from(u32::MAX))
}

/// Returns the provenance of a native run of `target` that started at `started`. The caller fills in the
/// fields that depend on the run.
pub fn run_here(target: String, started: String) -> Run {
    let (kernel, machine) = kernel();
    Run {
        pollmatrix: VERSION.to_owned(),
        commit: commit(),
        executable: String::new(),
        matrix: String::new(),
        selection: String::new(),
        target,
        runner: "native".to_owned(),
        emulator: None,
        triple: TRIPLE.to_owned(),
        os: system::name().to_owned(),
        kernel,
        machine,
        arch: std::env::consts::ARCH.to_owned(),
        cpus: cpus(),
        libc: libc(),
        kqueue: backends::kqueue_library(),
        adapters: BTreeMap::new(),
        columns: BTreeMap::new(),
        seed: Seed(0),
        repeat: 1,
        fault: None,
        inject_errors: None,
        late_data: None,
        finished: now(),
        started,
        resumed: 0,
        interrupted: false,
    }
}

/// Returns the provenance of a run on a machine that has not reported its own.
pub fn run_unknown(target: &Target) -> Run {
    let unknown = || "unknown".to_owned();
    Run {
        triple: target.triple.clone(),
        os: target.os.name().to_owned(),
        arch: target.arch.clone(),
        kernel: unknown(),
        machine: unknown(),
        cpus: 0,
        libc: None,
        kqueue: None,
        ..run_here(target.id.clone(), String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash_of(file.path()).unwrap(), expected);
    }

    #[test]
    fn a_distribution_names_the_version_that_its_release_hides() {
        let debian = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-02)";
        assert_eq!(distribution(debian, None).as_deref(), Some("Debian 6.1.192-2"));
        let backport = "#1 SMP Debian 6.12.117-1~deb12u1 (2026-10-30)";
        assert_eq!(distribution(backport, None).as_deref(), Some("Debian 6.12.117-1~deb12u1"));
        let ubuntu = "#31-Ubuntu SMP PREEMPT_DYNAMIC Sat Apr 20 00:40:06 UTC 2024";
        let signature = Some("Ubuntu 6.8.0-31.31-generic 6.8.1\n");
        assert_eq!(distribution(ubuntu, signature).as_deref(), Some("Ubuntu 6.8.1"));
        assert_eq!(distribution("#1 SMP Tue Nov 3", None), None);
        assert_eq!(distribution("#1 SMP Debian", None), None);
    }
}
