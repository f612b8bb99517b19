//! `pollmatrix run --vm`, and the processes of a virtual machine.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::vm::description::Machine;
use matrix::vm::emulator::Purpose;
use matrix::vm::{self, Contents, console, guard};
use matrix::{diagnostics, executable, guest, output};

use crate::error::Error;

#[derive(clap::Args)]
pub struct GuestArgs {
    /// Be the first process; the port is `virtio`, the name of a serial port, or `none`
    #[arg(long, value_name = "PORT")]
    pub init: Option<String>,
    /// The console: a name in /dev with --init, or else a path
    #[arg(long, value_name = "DEVICE")]
    pub console: Option<PathBuf>,
    /// Take commands from standard input
    #[arg(long)]
    pub commands: bool,
}

/// What to do with a machine instead of running cells in it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum VmAction {
    /// Get the newest kernel or image of the machine, of all by default, into the cache
    Fetch,
    /// Boot the machine with a shell on its console, which is this terminal; Ctrl-A X ends it. The shell is
    /// that of /bin/busybox if that is installed and statically linked, or else takes commands of pollmatrix
    Shell,
    /// Connect this terminal to the console of the machine that --keep left up; Ctrl-] leaves it
    Attach,
    /// End the machine that --keep left up
    Stop,
}

/// Does this with the machine of `--runner`. For `attach` and `stop`, the beginning of its name is enough.
pub fn run(
    action: VmAction,
    runner: Option<&str>,
    executable: Option<&Path>,
    kernel: Option<&Path>,
) -> Result<ExitCode, Error> {
    let machine = match runner {
        None | Some("vm") => None,
        Some(runner) => Some(runner.strip_prefix("vm:").ok_or_else(needs_machine)?),
    };
    match action {
        VmAction::Fetch => fetch(machine)?,
        VmAction::Shell => {
            let machine = machine.ok_or_else(needs_machine)?;
            return shell(machine, executable, kernel);
        }
        VmAction::Attach => {
            let run = running(machine.unwrap_or_default())?;
            diagnostics::note(&format!("the console of {}; Ctrl-] leaves it", named(&run)));
            console::attach(&run).map_err(broken("connect to", &run))?;
        }
        VmAction::Stop => {
            let run = running(machine.unwrap_or_default())?;
            console::stop(&run).map_err(broken("end", &run))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn needs_machine() -> Error {
    matrix::Error::RunnerNeeds { runner: "vm", option: "--runner vm:MACHINE" }.into()
}

/// Runs the machine of a specification until standard input ends.
pub fn guard(spec: &Path, arguments: &[String]) -> Result<ExitCode, Error> {
    let code = guard::run(spec, arguments).map_err(broken("run", spec))?;
    Ok(ExitCode::from(code))
}

/// Is the part of the runner in a virtual machine.
pub fn guest(args: &GuestArgs) -> Result<ExitCode, Error> {
    #[cfg(target_os = "linux")]
    if let Some(port) = &args.init {
        guest::init::run(port, args.console.as_deref().and_then(Path::to_str));
    }
    // As the agent of a machine without /proc, this program has the name by which it was started.
    let own = std::env::current_exe().or_else(|error| {
        std::env::args_os().next().map(PathBuf::from).filter(|name| name.is_absolute()).ok_or(error)
    });
    let own = own.map_err(broken("find", "the file of this program"))?;
    let ended = if args.commands {
        guest::commands(&own)
    } else {
        guest::Agent::new(&own, args.console.clone()).run()
    };
    ended.map_err(broken("use", "the port"))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns one line for each machine that is up.
pub fn up() -> Result<String, Error> {
    let up = vm::running().map_err(broken("read", "the cache"))?;
    Ok(up.iter().map(|run| format!("up: {}\n", named(run))).collect())
}

fn fetch(machine: Option<&str>) -> Result<(), Error> {
    if let Some(name) = machine {
        return Ok(output::print(&format!("{name}: {}\n", vm::fetch(name)?))?);
    }
    for name in Machine::names() {
        match vm::missing(name, None) {
            Some(why) => diagnostics::note(&format!("{name}: {why}")),
            None => output::print(&format!("{name}: {}\n", vm::fetch(name)?))?,
        }
    }
    Ok(())
}

/// Replaces this process by the emulator.
fn shell(machine: &str, file: Option<&Path>, kernel: Option<&Path>) -> Result<ExitCode, Error> {
    let own = executable::own()?;
    let contents =
        Contents { executable: file.unwrap_or(&own), matrix: None, expectations: None, kernel, keep: false };
    let mut prepared = vm::prepare(machine, &contents, Purpose::Shell)?;
    // The next run removes it.
    prepared.folder.keep();
    let start = prepared.spec.starts.pop().unwrap_or_else(|| unreachable!("every machine can be started"));
    let error = std::process::Command::new(&start.program).args(&start.arguments).exec();
    Err(broken("start", &start.program)(error).into())
}

/// Returns the machine that is up and whose name begins so.
fn running(name: &str) -> Result<PathBuf, Error> {
    let up = vm::running().map_err(broken("read", "the cache"))?;
    let mut found = up.iter().filter(|run| named(run).starts_with(name));
    let (first, second) = (found.next(), found.next());
    match (first, second) {
        (Some(run), None) => Ok(run.clone()),
        _ => Err(Error::Machine {
            name: name.to_owned(),
            up: up.iter().map(|run| named(run)).collect::<Vec<_>>().join(", "),
        }),
    }
}

fn named(run: &Path) -> String {
    run.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn broken(action: &'static str, path: impl Into<PathBuf>) -> impl Fn(io::Error) -> matrix::Error {
    matrix::Error::io(action, path, "`pollmatrix list --targets` shows the machines, and what they lack here")
}
