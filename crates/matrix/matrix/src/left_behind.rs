//! Processes that outlive their cell. A child that leads a session of its own is not in the process group
//! that is killed with the cell. They are found where the system has /proc, as Linux has.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid, getpid};

/// The environment variable that marks the processes of cells: a mark of this process, and the cell's id.
const MARK: &str = "POLLMATRIX_CELL";

/// The time between two looks at the descriptors of a process. From fork to exec takes less than a
/// millisecond.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Returns a text that no other process has, before or after this one.
fn mark() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{}", getpid(), now.as_nanos())
    })
}

/// Marks the process of a cell and its descendants.
pub fn mark_cell(command: &mut Command, cell: &str) {
    command.env(MARK, format!("{} {cell}", mark()));
}

/// Kills the processes outside of a process group that have one of these pipes open, and describes them.
/// Those in the group were killed, and are about to end.
///
/// A process that was just forked for another cell has every descriptor of this one until its exec. Therefore
/// only those count that have a pipe open in two looks.
pub fn kill_holders(pipes: &[u64], group: Pid) -> Vec<String> {
    let links: Vec<_> = pipes.iter().map(|inode| format!("pipe:[{inode}]")).collect();
    let holds = |pid: &Pid| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.filter_map(|entry| fs::read_link(entry.path()).ok())
            .any(|target| links.iter().any(|link| target.as_os_str() == link.as_str()))
    };
    let is_outside = |pid: &Pid| getpgid(Some(*pid)).is_ok_and(|its_group| its_group != group);
    let first: Vec<_> = others().filter(is_outside).filter(holds).collect();
    if first.is_empty() {
        return Vec::new();
    }
    std::thread::sleep(BETWEEN_LOOKS);
    first.into_iter().filter(holds).filter_map(killed).collect()
}

/// Kills the processes of cells that this process started, when there is no cell any more. Returns the cell
/// of each, and a description.
pub fn kill_marked() -> Vec<(String, String)> {
    let cell_of = |pid: Pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let variables = environment.split(|byte| *byte == 0);
        let value = variables
            .filter_map(|variable| variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="))
            .next()?;
        Some(std::str::from_utf8(value).ok()?.strip_prefix(mark())?.trim_start().to_owned())
    };
    let marked: Vec<_> = others().filter_map(|pid| Some((pid, cell_of(pid)?))).collect();
    marked.into_iter().filter_map(|(pid, cell)| Some((cell, killed(pid)?))).collect()
}

/// Returns the processes of this system, except this one.
fn others() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.map(Pid::from_raw).filter(|pid| *pid != getpid())
}

/// Kills a process, and describes it: `sleep 3600 (process 123)`. `None` if it has ended.
fn killed(pid: Pid) -> Option<String> {
    let mut command = fs::read(format!("/proc/{pid}/cmdline")).ok().filter(|command| !command.is_empty())?;
    while command.last() == Some(&0) {
        command.pop();
    }
    command.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
    kill(pid, Signal::SIGKILL).ok()?;
    Some(format!("{} (process {pid})", OsString::from_vec(command).to_string_lossy()))
}
