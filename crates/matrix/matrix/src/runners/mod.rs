//! The runners other than native. Each prepares a command that starts an executor,
//! `pollmatrix worker exec`, which [`remote`](crate::remote) talks to; `import` reads results instead.

mod container;
pub mod import;
mod prefix;
mod ssh;
mod vm;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::matrix_yml::{Runner, Target};
use metadata::{Run, did_you_mean};

use crate::command::{self, Words};
use crate::error::Error;
use crate::executable::Executable;
use crate::plan::Source;
use crate::provenance::{self, TRIPLE};
use crate::vm::RunFolder;
use crate::{diagnostics, pipes};

/// The options that select a target and a runner.
#[derive(Clone, Default)]
pub struct RunnerOptions {
    /// The target. `None`: the native one.
    pub target: Option<String>,
    /// The runner. `None`: the first of the target's runners that works on this machine.
    pub name: Option<String>,
    /// The target's executable.
    pub executable: Option<PathBuf>,
    /// The folder with executables.
    pub executables: Option<PathBuf>,
    /// The command in front of the executable.
    pub prefix: Option<Words>,
    /// The other machine, as ssh takes it.
    pub host: Option<String>,
    /// The ssh command with its options.
    pub ssh: Words,
    /// The kernel for a virtual machine, instead of the described one.
    pub kernel: Option<PathBuf>,
    /// Whether to leave a virtual machine up after the run.
    pub keep: bool,
    /// The file with results of another machine.
    pub import: Option<PathBuf>,
}

impl RunnerOptions {
    /// Returns the options as text for another command line.
    pub fn to_arguments(&self) -> String {
        let options = [
            ("target", self.target.clone()),
            ("runner", self.name.clone()),
            ("executable", self.executable.as_ref().map(|file| file.display().to_string())),
            ("executables", self.executables.as_ref().map(|folder| folder.display().to_string())),
            ("prefix", self.prefix.as_ref().map(Words::to_string)),
            ("host", self.host.clone()),
            ("kernel", self.kernel.as_ref().map(|file| file.display().to_string())),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.fold(String::new(), |text, (name, value)| {
            format!("{text} --{name} {}", command::quoted(&[value]))
        })
    }
}

/// A target, and the runner to start its cells with.
pub struct Chosen<'a> {
    /// The target.
    pub target: &'a Target,
    /// The runner, with the values of the command line instead of those of matrix.yml.
    pub runner: Runner,
    /// The target's executable.
    pub executable: PathBuf,
}

/// How to start an executor.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// The command, up to the executor's arguments.
    pub words: Vec<String>,
    /// Whether a shell interprets the arguments after `words`, so that they must be quoted.
    pub shell: bool,
    /// The executor's file, by its name on the other side.
    pub executable: Option<String>,
    /// The matrix file, by its name on the other side.
    pub matrix: Option<String>,
    /// The folder with expectations, by its name on the other side.
    pub expectations: Option<String>,
    /// The file of behaviours, by its name on the other side.
    pub behaviours: Option<String>,
    /// The command that the executor puts in front of each cell, if it cannot start itself without.
    pub prefix: Option<String>,
    /// The release of a kernel that does not tell the executor its own.
    pub release: Option<String>,
    /// The file in which the executor keeps results, in case the connection is lost.
    pub keep: Option<String>,
    /// The command that removes what a killed executor leaves behind.
    pub clean_up: Vec<String>,
    /// The command that removes what a complete run leaves behind.
    pub finish: Vec<String>,
    /// The exit code of a command that would fail again, with the reason on standard error.
    pub fatal: Option<u8>,
    /// The folder of a virtual machine, which is removed with the route.
    pub folder: Option<Arc<RunFolder>>,
}

impl Route {
    /// Returns the command that starts an executor with these arguments.
    pub fn command(&self, arguments: &[String]) -> Command {
        let (program, first) = self.words.split_first().expect("every route has a command");
        let mut command = Command::new(program);
        command.args(first);
        if let Some(release) = &self.release {
            command.env(provenance::RELEASE, release);
        }
        if self.shell {
            command.arg(command::quoted(arguments));
        } else {
            command.args(arguments);
        }
        command
    }
}

/// Returns the target and the runner that the options select.
pub fn choose<'a>(source: &'a Source<'_>, args: &RunnerOptions) -> Result<Chosen<'a>, Error> {
    let target = source.target_or_own(args.target.as_deref())?;
    with(target, asked_for(target, args)?, args)
}

/// Returns the target with this runner, and its executable.
pub fn with<'a>(target: &'a Target, runner: Runner, args: &RunnerOptions) -> Result<Chosen<'a>, Error> {
    let executable = match (&args.executable, &runner) {
        (Some(file), _) => file.clone(),
        // An import starts no program.
        (None, Runner::Import) => PathBuf::new(),
        (None, _) => built(target, args.executables.as_deref()).ok_or_else(|| not_built(target, args))?,
    };
    Ok(Chosen { target, runner, executable })
}

/// Returns the runner that `--runner` names, or that another option implies, or else the first of the
/// target's runners that works on this machine.
fn asked_for(target: &Target, args: &RunnerOptions) -> Result<Runner, Error> {
    let (name, image) = match args.name.as_deref() {
        Some(runner) => match runner.split_once(':') {
            Some((name, image)) => (name, Some(image)),
            None => (runner, None),
        },
        None if args.prefix.is_some() => ("prefix", None),
        None if args.host.is_some() => ("ssh", None),
        None if args.import.is_some() => ("import", None),
        None if args.target.is_none() => ("native", None),
        None => {
            let possible = target.runners.iter().find(|runner| missing(target, runner, args).is_none());
            return possible
                .cloned()
                .ok_or_else(|| Error::NoRunner { target: target.id.clone(), why: why_not(target, args) });
        }
    };
    let needs = |runner, option| Error::RunnerNeeds { runner, option };
    let described = || target.runner(name).cloned();
    let image = image.map(str::to_owned);
    let runner = match name {
        "prefix" => {
            let given = args.prefix.as_ref().map(|command| Runner::Prefix(command.to_string()));
            given.or_else(described).ok_or(needs("prefix", "--prefix COMMAND"))?
        }
        "container" => image
            .map(Runner::Container)
            .or_else(described)
            .ok_or(needs("container", "--runner container:IMAGE"))?,
        "vm" => image.map(Runner::Vm).or_else(described).ok_or(needs("vm", "--runner vm:MACHINE"))?,
        "ssh" if args.host.is_none() => return Err(needs("ssh", "--host HOST")),
        "ssh" => Runner::Ssh,
        "import" if args.import.is_none() => return Err(needs("import", "--import FILE")),
        "import" => Runner::Import,
        "native" => Runner::Native,
        _ => {
            let help = did_you_mean(name, Runner::NAMES);
            return Err(Error::UnknownRunner { runner: name.to_owned(), help });
        }
    };
    match missing(target, &runner, args) {
        Some(why) => Err(Error::NoRunner { target: target.id.clone(), why: vec![(runner.to_string(), why)] }),
        None => Ok(runner),
    }
}

/// Returns, for each runner of the target that does not work on this machine, what is missing.
pub fn why_not(target: &Target, args: &RunnerOptions) -> Vec<(String, String)> {
    let why = |runner: &Runner| Some((runner.label(), missing(target, runner, args)?));
    target.runners.iter().filter_map(why).collect()
}

/// Returns the label, with the kernel of a virtual machine, for a run that is resumed.
pub fn identity(runner: &Runner, args: &RunnerOptions) -> String {
    match (runner, &args.kernel) {
        (Runner::Vm(_), Some(kernel)) => format!("{} with {}", runner.label(), kernel.display()),
        _ => runner.label(),
    }
}

/// Returns the command, image or machine that separates the executor from this machine, for reports.
pub fn emulator(runner: &Runner) -> Option<String> {
    match runner {
        Runner::Prefix(command) => Some(command.clone()),
        Runner::Container(image) => Some(image.clone()),
        Runner::Vm(machine) => Some(machine.clone()),
        Runner::Native | Runner::Ssh | Runner::Import => None,
    }
}

/// Names the system that the executor's kernel does not tell, if the runner does: gVisor's program tells it.
pub fn with_system(runner: &Runner, run: Run) -> Run {
    match runner {
        Runner::Prefix(command) => prefix::with_system(command, run),
        _ => run,
    }
}

/// Returns what this machine lacks for a runner, if it lacks something.
pub fn missing(target: &Target, runner: &Runner, args: &RunnerOptions) -> Option<String> {
    match runner {
        Runner::Native if target.triple == TRIPLE => None,
        Runner::Native => Some(format!("this machine runs {TRIPLE}")),
        Runner::Import => args.import.is_none().then(|| "no results are given (--import FILE)".into()),
        Runner::Ssh if args.host.is_none() => Some("no machine is given (--host HOST)".into()),
        Runner::Ssh => ssh::missing(args).or_else(|| executable_missing(target, args)),
        Runner::Prefix(command) => prefix::missing(command).or_else(|| executable_missing(target, args)),
        Runner::Container(image) => container::missing(image).or_else(|| executable_missing(target, args)),
        Runner::Vm(machine) => vm::missing(machine, args).or_else(|| executable_missing(target, args)),
    }
}

fn executable_missing(target: &Target, args: &RunnerOptions) -> Option<String> {
    match &args.executable {
        Some(file) => (!file.is_file()).then(|| format!("{} is not a file", file.display())),
        None => built(target, args.executables.as_deref())
            .is_none()
            .then(|| format!("its executable is not built (ci/executable.sh {})", target.id)),
    }
}

fn not_built(target: &Target, args: &RunnerOptions) -> Error {
    let why = executable_missing(target, args).unwrap_or_default();
    Error::NoRunner { target: target.id.clone(), why: vec![("executable".into(), why)] }
}

/// Returns the newest executable that was built for the target, if there is one.
///
/// Looks in `folder` for `TRIPLE/release/pollmatrix`, `TRIPLE/debug/pollmatrix` and `pollmatrix-TARGET`. The
/// default folder is the one that `ci/targets.sh` writes to, relative to this program's file.
pub fn built(target: &Target, folder: Option<&Path>) -> Option<PathBuf> {
    if folder.is_none() && target.triple == TRIPLE {
        return std::env::current_exe().ok();
    }
    let folder = match folder {
        Some(folder) => folder.to_path_buf(),
        None => std::env::current_exe().ok()?.parent()?.parent()?.join("cross"),
    };
    let triple = folder.join(&target.triple);
    let names = [
        triple.join("release/pollmatrix"),
        triple.join("debug/pollmatrix"),
        folder.join(format!("pollmatrix-{}", target.id)),
    ];
    let changed = |file: &PathBuf| file.metadata().and_then(|data| data.modified()).ok();
    names.into_iter().filter(|file| file.is_file()).max_by_key(changed)
}

/// Prepares a runner, and returns the command that starts its executor.
pub fn prepare(
    runner: &Runner,
    executable: &Executable,
    source: &Source<'_>,
    args: &RunnerOptions,
) -> Result<Route, Error> {
    let hash = executable.hash().unwrap_or_default();
    let executable = executable.path();
    let matrix = source.path.as_deref();
    if let (Some(dir), Runner::Container(_) | Runner::Ssh) = (source.environment.expectations(), runner) {
        diagnostics::warning(&format!(
            "the executor does not get {}: it judges by its built-in expectations",
            dir.display()
        ));
    }
    match runner {
        Runner::Native | Runner::Import => unreachable!("no executor is started"),
        Runner::Prefix(command) => {
            let behaviours =
                source.environment.behaviours().map(|behaviours| behaviours.path.display().to_string());
            let expectations = source.environment.expectations();
            Ok(Route { behaviours, ..prefix::route(command, executable, matrix, expectations)? })
        }
        Runner::Container(image) => container::route(image, executable, hash, matrix),
        Runner::Vm(machine) => {
            vm::route(machine, executable, matrix, source.environment.expectations(), args)
        }
        Runner::Ssh => ssh::route(args, executable, hash, matrix),
    }
}

/// Returns the file that a shell starts for `name`, if it exists.
fn program(name: &str) -> Option<PathBuf> {
    command::on_path(name.as_ref(), std::env::var_os("PATH").as_deref()).filter(|file| file.is_file())
}

/// Runs a command until it exits, and returns its standard output. The error is its standard error or its
/// exit status.
fn output(command: &mut Command) -> Result<String, String> {
    match pipes::output_of(command.stdout(Stdio::piped()).stderr(Stdio::piped()), None) {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => Err(match output.stderr.trim() {
            "" => output.status.to_string(),
            why => why.to_owned(),
        }),
        Err(error) => Err(error.to_string()),
    }
}
