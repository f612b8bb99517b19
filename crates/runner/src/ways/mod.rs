//! The ways of running cells somewhere else than in processes of this very machine. Each is a command that starts
//! `pollmatrix exec` there; [`remote`](crate::remote) talks to it.

mod container;
pub mod import;
mod prefix;
mod ssh;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use matrix::{Target, Way};
use metadata::did_you_mean;

use crate::command::{self, Words};
use crate::error::Error;
use crate::executable::Executable;
use crate::plan::Source;
use crate::provenance::TRIPLE;
use crate::{notes, pipes};

/// Where and how cells are run, if not here and natively: what was asked for.
#[derive(Clone, Default)]
pub struct Elsewhere {
    /// The target. Nothing: this machine's own.
    pub target: Option<String>,
    /// The way, by its name. Nothing: the first of the target's that works here.
    pub via: Option<String>,
    /// The target's executable, whatever made it.
    pub executable: Option<PathBuf>,
    /// Where executables are.
    pub executables: Option<PathBuf>,
    /// The command in front of the executable.
    pub prefix: Option<Words>,
    /// The machine, as ssh takes it.
    pub host: Option<String>,
    /// ssh and its options.
    pub ssh: Words,
    /// Results that were made elsewhere.
    pub import: Option<PathBuf>,
}

impl Elsewhere {
    /// The options again, for another command line.
    pub fn typed(&self) -> String {
        let options = [
            ("target", self.target.clone()),
            ("via", self.via.clone()),
            ("executable", self.executable.as_ref().map(|file| file.display().to_string())),
            ("executables", self.executables.as_ref().map(|folder| folder.display().to_string())),
            ("prefix", self.prefix.as_ref().map(Words::to_string)),
            ("host", self.host.clone()),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.fold(String::new(), |text, (name, value)| {
            format!("{text} --{name} {}", command::quoted(&[value]))
        })
    }
}

/// How the cells of a target are run.
pub struct Chosen<'a> {
    /// The target.
    pub target: &'a Target,
    /// The way, with what the command line says in place of what matrix.yml says.
    pub way: Way,
    /// The target's executable.
    pub executable: PathBuf,
}

/// How to start an executor.
#[derive(Debug, Default)]
pub struct Route {
    /// The command, up to the executor's arguments.
    pub words: Vec<String>,
    /// Whether what is behind `words` is read by a shell again.
    pub shell: bool,
    /// The executor's file, by the name that it has there.
    pub executable: Option<String>,
    /// The matrix file, by the name that it has there.
    pub matrix: Option<String>,
    /// The folder with expectations, by the name that it has there.
    pub expectations: Option<String>,
    /// What the executor puts in front of each cell, if it cannot start itself.
    pub prefix: Option<String>,
    /// Where the executor keeps results for the case that the connection is lost.
    pub keep: Option<String>,
    /// Ends what a killed command leaves behind.
    pub clean_up: Vec<String>,
    /// Removes what a complete run leaves behind.
    pub finish: Vec<String>,
}

impl Route {
    /// The command that starts an executor with these arguments.
    pub fn command(&self, arguments: &[String]) -> Command {
        let (program, first) = self.words.split_first().expect("every way has a command");
        let mut command = Command::new(program);
        command.args(first);
        if self.shell {
            command.arg(command::quoted(arguments));
        } else {
            command.args(arguments);
        }
        command
    }
}

/// The target and the way that the arguments ask for.
pub fn choose<'a>(source: &'a Source<'_>, args: &Elsewhere) -> Result<Chosen<'a>, Error> {
    let target = source.target_or_own(args.target.as_deref())?;
    with(target, asked_for(target, args)?, args)
}

/// The target in this way, with its executable.
pub fn with<'a>(target: &'a Target, way: Way, args: &Elsewhere) -> Result<Chosen<'a>, Error> {
    let executable = match (&args.executable, &way) {
        (Some(file), _) => file.clone(),
        // Nothing is started.
        (None, Way::Import) => PathBuf::new(),
        (None, _) => built(target, args.executables.as_deref()).ok_or_else(|| not_built(target, args))?,
    };
    Ok(Chosen { target, way, executable })
}

/// The way, from what is given with it or as named; otherwise the first of the target's that can be used here.
fn asked_for(target: &Target, args: &Elsewhere) -> Result<Way, Error> {
    let (name, image) = match args.via.as_deref() {
        Some(via) => match via.split_once(':') {
            Some((name, image)) => (name, Some(image)),
            None => (via, None),
        },
        None if args.prefix.is_some() => ("prefix", None),
        None if args.host.is_some() => ("ssh", None),
        None if args.import.is_some() => ("import", None),
        None if args.target.is_none() => ("native", None),
        None => {
            let possible = target.ways.iter().find(|way| missing(target, way, args).is_none());
            return possible
                .cloned()
                .ok_or_else(|| Error::NoWay { target: target.id.clone(), why: why_not(target, args) });
        }
    };
    let way = match name {
        "prefix" => match (&args.prefix, target.way(name)) {
            (Some(command), _) => Way::Prefix(command.to_string()),
            (None, Some(way)) => way.clone(),
            (None, None) => return Err(Error::WayNeeds { way: "prefix", option: "--prefix COMMAND" }),
        },
        "container" => match (image, target.way(name)) {
            (Some(image), _) => Way::Container(image.to_owned()),
            (None, Some(way)) => way.clone(),
            (None, None) => {
                return Err(Error::WayNeeds { way: "container", option: "--via container:IMAGE" });
            }
        },
        "ssh" if args.host.is_none() => return Err(Error::WayNeeds { way: "ssh", option: "--host HOST" }),
        "ssh" => Way::Ssh,
        "import" if args.import.is_none() => {
            return Err(Error::WayNeeds { way: "import", option: "--import FILE" });
        }
        "import" => Way::Import,
        "native" => Way::Native,
        _ => {
            return Err(Error::UnknownWay { way: name.to_owned(), help: did_you_mean(name, Way::NAMES) });
        }
    };
    match missing(target, &way, args) {
        Some(why) => Err(Error::NoWay { target: target.id.clone(), why: vec![(way.to_string(), why)] }),
        None => Ok(way),
    }
}

/// What keeps each way of the target from being used here.
pub fn why_not(target: &Target, args: &Elsewhere) -> Vec<(String, String)> {
    let why = |way: &Way| Some((label(way), missing(target, way, args)?));
    target.ways.iter().filter_map(why).collect()
}

/// The way with the image, of which there may be several.
pub fn label(way: &Way) -> String {
    match way {
        Way::Container(image) => format!("container:{image}"),
        other => other.to_string(),
    }
}

/// What stands between this machine and the executor, for people.
pub fn emulator(way: &Way) -> Option<String> {
    match way {
        Way::Prefix(command) => Some(command.clone()),
        Way::Container(image) => Some(image.clone()),
        Way::Native | Way::Ssh | Way::Import => None,
    }
}

/// What is missing on this machine for a way, if something is.
pub fn missing(target: &Target, way: &Way, args: &Elsewhere) -> Option<String> {
    match way {
        Way::Native if target.triple == TRIPLE => None,
        Way::Native => Some(format!("this is a machine of the target {TRIPLE}")),
        Way::Import => args.import.is_none().then(|| "no results are given (--import FILE)".into()),
        Way::Ssh if args.host.is_none() => Some("no machine is given (--host HOST)".into()),
        Way::Ssh => ssh::missing(args).or_else(|| executable_missing(target, args)),
        Way::Prefix(command) => prefix::missing(command).or_else(|| executable_missing(target, args)),
        Way::Container(image) => container::missing(image).or_else(|| executable_missing(target, args)),
    }
}

fn executable_missing(target: &Target, args: &Elsewhere) -> Option<String> {
    match &args.executable {
        Some(file) => (!file.is_file()).then(|| format!("{} is no file", file.display())),
        None => built(target, args.executables.as_deref())
            .is_none()
            .then(|| format!("its executable is not built (ci/executable.sh {})", target.id)),
    }
}

fn not_built(target: &Target, args: &Elsewhere) -> Error {
    let why = executable_missing(target, args).unwrap_or_default();
    Error::NoWay { target: target.id.clone(), why: vec![("executable".into(), why)] }
}

/// The newest executable that was built for the target, if there is one.
///
/// In `folder`: `TRIPLE/release/pollmatrix`, `TRIPLE/debug/pollmatrix` or `pollmatrix-TARGET`. Without one, the folder is
/// where `ci/targets.sh` puts them, seen from where this program was built.
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

/// The way, made ready.
pub fn prepare(
    way: &Way,
    executable: &Executable,
    source: &Source<'_>,
    args: &Elsewhere,
) -> Result<Route, Error> {
    let hash = executable.hash().unwrap_or_default();
    let executable = executable.path();
    let matrix = source.path.as_deref();
    if let (Some(dir), Way::Container(_) | Way::Ssh) = (source.environment.expectations(), way) {
        notes::warning(&format!(
            "{} stays here: the executor judges by the expectations that are built into it",
            dir.display()
        ));
    }
    match way {
        Way::Native | Way::Import => unreachable!("no executor is started"),
        Way::Prefix(command) => prefix::route(command, executable, matrix, source.environment.expectations()),
        Way::Container(image) => container::route(image, executable, hash, matrix),
        Way::Ssh => ssh::route(args, executable, hash, matrix),
    }
}

/// What a shell would start for `name`.
fn program(name: &str) -> Option<PathBuf> {
    command::on_path(name.as_ref(), std::env::var_os("PATH").as_deref()).filter(|file| file.is_file())
}

/// Runs a command to its end; what it says in case of failure is the error.
fn output(command: &mut Command) -> Result<String, String> {
    match pipes::ask(command.stdout(Stdio::piped()).stderr(Stdio::piped()), None) {
        Ok(said) if said.status.success() => Ok(said.stdout),
        Ok(said) => Err(match said.stderr.trim() {
            "" => said.status.to_string(),
            why => why.to_owned(),
        }),
        Err(error) => Err(error.to_string()),
    }
}
