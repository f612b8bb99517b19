//! User-mode Linux as an emulator.

use std::path::Path;
use std::process::{Command, Stdio};

/// The name of the program.
pub const PROGRAM: &str = "linux.uml";

/// Returns why user-mode Linux cannot run here, if it cannot.
///
/// Before 6.13 it saves a process's registers in an array of a fixed size. The state of a processor with AMX
/// is larger, and the host refuses to restore a part of it (PTRACE_SETREGSET): the first process of the guest
/// ends the kernel. Seen with 6.1.176.
pub fn missing(program: &Path) -> Option<String> {
    // A description can name another program.
    if program != Path::new(PROGRAM) || !has_amx(&std::fs::read_to_string("/proc/cpuinfo").ok()?) {
        return None;
    }
    let mut command = Command::new(program);
    let output = command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    too_old(String::from_utf8_lossy(&output.stdout).trim())
}

fn has_amx(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'));
    flags.is_some_and(|(_, flags)| flags.split_whitespace().any(|flag| flag == "amx_tile"))
}

fn too_old(version: &str) -> Option<String> {
    let numbers: Vec<u32> = version.split('.').map_while(|number| number.parse().ok()).collect();
    (!numbers.is_empty() && &numbers[..] < &[6, 13])
        .then(|| format!("{PROGRAM} {version} cannot restore the registers of a processor with AMX"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_kernels_on_processors_with_amx_are_refused() {
        let cpuinfo = |flags: &str| format!("processor\t: 0\nflags\t\t: fpu {flags} sse\nbugs\t\t:\n");
        assert!(has_amx(&cpuinfo("avx amx_tile")) && !has_amx(&cpuinfo("avx amx_tiles")) && !has_amx(""));
        assert!(too_old("6.1.176").is_some_and(|why| why.contains("6.1.176") && why.contains("AMX")));
        assert_eq!((too_old("6.13.1"), too_old("7.0"), too_old("no version")), (None, None, None));
    }
}
