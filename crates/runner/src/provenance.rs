//! What this program is, and what it runs on.

use std::fmt::Write;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use matrix::Target;
use metadata::{Run, Seed};
use sha2::{Digest, Sha256};

/// The version of pollmatrix.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What rustc calls the target that this program is built for.
pub const TRIPLE: &str = env!("POLLMATRIX_TRIPLE");
/// What stands for something that cannot be found out.
pub const UNKNOWN: &str = "unknown";
/// The operating system.
pub const OS: &str = std::env::consts::OS;

/// The commit that this program was built from, if there was git.
pub fn commit() -> Option<String> {
    let commit = env!("POLLMATRIX_COMMIT");
    (!commit.is_empty()).then(|| commit.to_owned())
}

/// SHA-256 of an executable: results of another build do not continue a run.
pub fn hash_of(executable: &Path) -> io::Result<String> {
    let mut file = File::open(executable)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// Bytes as text.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The kernel's release and the machine, in the kernel's words.
pub fn kernel() -> (String, String) {
    let unknown = || "unknown".to_owned();
    match nix::sys::utsname::uname() {
        Ok(name) => {
            (name.release().to_string_lossy().into_owned(), name.machine().to_string_lossy().into_owned())
        }
        Err(_) => (unknown(), unknown()),
    }
}

/// The C library, where it can be asked.
pub fn libc() -> Option<String> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it takes nothing and returns a static string.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        Some(format!("glibc {}", version.to_string_lossy()))
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        cfg!(target_env = "musl").then(|| "musl".to_owned())
    }
}

/// How many threads the machine runs at once.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// RFC 3339, in UTC.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Short enough to be typed. The hasher's keys come from the system's source of randomness.
pub fn new_seed() -> Seed {
    Seed(RandomState::new().build_hasher().finish() & u64::from(u32::MAX))
}

/// What this program and this machine say of a run of `target` that started then. The rest is the run's to say.
pub fn run_here(target: String, started: String) -> Run {
    let (kernel, machine) = kernel();
    Run {
        pollmatrix: VERSION.to_owned(),
        commit: commit(),
        executable: String::new(),
        matrix: String::new(),
        selection: String::new(),
        target,
        via: "native".to_owned(),
        emulator: None,
        triple: TRIPLE.to_owned(),
        os: OS.to_owned(),
        kernel,
        machine,
        arch: std::env::consts::ARCH.to_owned(),
        cpus: cpus(),
        libc: libc(),
        seed: Seed(0),
        repeat: 1,
        fault: None,
        inject_errors: None,
        finished: now(),
        started,
        resumed: 0,
        interrupted: false,
    }
}

/// What is known of a machine that never answered.
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
        ..run_here(target.id.clone(), String::new())
    }
}
