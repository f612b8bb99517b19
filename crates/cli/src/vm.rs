//! `pollmatrix vm`: virtual machines.

use std::fmt::Write;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::table::Table;
use runner::vm::description::Machine;
use runner::vm::emulator::Purpose;
use runner::vm::{self, Contents, console, guard};
use runner::{diagnostics, executable, guest, output};

use crate::args::{GuestArgs, VmArgs, VmCommand};
use crate::error::Error;

/// Carries out the command.
pub fn run(args: &VmArgs) -> Result<ExitCode, Error> {
    match &args.command {
        VmCommand::List => list()?,
        VmCommand::Fetch { machines } => fetch(machines)?,
        VmCommand::Shell { machine, executable, kernel } => {
            return shell(machine, executable.as_deref(), kernel.as_deref());
        }
        VmCommand::Attach { name } => {
            let run = running(name)?;
            diagnostics::note(&format!("the console of {}; Ctrl-] leaves it", named(&run)));
            console::attach(&run).map_err(|error| broken("connect to", &run, error))?;
        }
        VmCommand::Stop { name } => {
            let run = running(name)?;
            console::stop(&run).map_err(|error| broken("end", &run, error))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the machine of a specification until standard input ends.
pub fn guard(spec: &Path, arguments: &[String]) -> Result<ExitCode, Error> {
    let code = guard::run(spec, arguments).map_err(|error| broken("run", spec, error))?;
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
    let own = own.map_err(|error| broken("find", Path::new("the file of this program"), error))?;
    let ended = if args.commands {
        guest::commands(&own)
    } else {
        guest::Agent::new(&own, args.console.clone()).run()
    };
    ended.map_err(|error| broken("use", Path::new("the port"), error))?;
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<(), Error> {
    let mut table = Table::default();
    table.add(["machine", "system", "this machine"]);
    for name in Machine::names() {
        let machine = Machine::load(name)?;
        let mut state = match vm::missing(name, None) {
            Some(why) => format!("missing: {why}"),
            None => "can run".to_owned(),
        };
        if let Some(version) = vm::cached_version(&machine) {
            let _ = write!(state, " ({version})");
        }
        table.add([name, &machine.about, &state]);
    }
    let mut text = table.text(false);
    let up = vm::running().map_err(|error| broken("read", Path::new("the cache"), error))?;
    for run in up {
        let _ = writeln!(text, "up: {}", named(&run));
    }
    Ok(output::print(&text)?)
}

fn fetch(machines: &[String]) -> Result<(), Error> {
    let all: Vec<_> = Machine::names().map(str::to_owned).collect();
    let named = if machines.is_empty() { &all } else { machines };
    for name in named {
        match vm::missing(name, None) {
            Some(why) if machines.is_empty() => diagnostics::note(&format!("{name}: {why}")),
            _ => output::print(&format!("{name}: {}\n", vm::fetch(name)?))?,
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
    Err(broken("start", &start.program, error))
}

/// Returns the machine that is up and whose name begins so.
fn running(name: &str) -> Result<PathBuf, Error> {
    let up = vm::running().map_err(|error| broken("read", Path::new("the cache"), error))?;
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

fn broken(action: &'static str, path: &Path, source: io::Error) -> Error {
    let help = "`pollmatrix vm list` shows the machines, and what they lack here";
    runner::Error::Io { action, path: path.to_path_buf(), source, help }.into()
}
