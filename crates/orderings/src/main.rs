//! Checks the compiled instructions of fd-core's Dekker pairs. `ci/orderings.sh` calls it.
//!
//! Exit codes: 0 success, 1 a failed check or another error, 2 wrong arguments.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a script reads the whole output")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Parser, ValueEnum};

mod assembly;
mod tables;

use tables::{Pattern, Side, Step, Target};

#[derive(Parser)]
#[command(about = "Checks the compiled instructions of fd-core's Dekker pairs")]
enum Command {
    /// Print the targets: name, rustc's target, features
    Targets,
    /// Check FOLDER/TARGET.s of every target that has one
    Compiled {
        /// The folder with the assembly of `crates/ordering-probes`
        folder: PathBuf,
        /// Write the table of instructions instead of comparing with it
        #[arg(long)]
        record: bool,
        /// Expect every affected side to be out of order: the source was changed to be wrong
        #[arg(long)]
        broken: Option<Broken>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Broken {
    /// The fences were removed
    Fences,
    /// The read-modify-writes were replaced by plain stores
    Writes,
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("there is no assembly of any target in {0}\nhelp: run ci/orderings.sh, which compiles it")]
    NoAssembly(PathBuf),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Targets => {
            for Target { name, triple, features, .. } in tables::targets() {
                println!("{name}\t{triple}\t{features}");
            }
            Ok(true)
        }
        Command::Compiled { folder, record, broken } => compiled(&folder, record, broken),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { path, source }
}

fn own_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The compiled form of one side on one target.
struct Compiled {
    target: &'static str,
    side: &'static str,
    instructions: String,
    order: Result<(), String>,
}

fn compiled(folder: &Path, record: bool, broken: Option<Broken>) -> Result<bool, Error> {
    let (targets, sides, patterns) = (tables::targets(), tables::sides(), tables::patterns());
    let mut all = vec![];
    for target in &targets {
        let path = folder.join(format!("{}.s", target.name));
        match fs::read_to_string(&path) {
            Ok(assembly) => all.extend(sides.iter().map(|side| check(target, side, &assembly, &patterns))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                println!("{}: not compiled", target.name)
            }
            Err(error) => return Err(io_error(&path)(error)),
        }
    }
    if all.is_empty() {
        return Err(Error::NoAssembly(folder.to_owned()));
    }
    if record {
        return record_table(&all).map(|()| true);
    }
    Ok(match broken {
        Some(broken) => all_detected(&all, broken, &targets, &sides),
        None => compare(&all),
    })
}

fn check(target: &Target, side: &Side, assembly: &str, patterns: &[Pattern]) -> Compiled {
    let patterns: Vec<_> = patterns.iter().filter(|pattern| pattern.processor == target.processor).collect();
    let (instructions, order) = match assembly::instructions(assembly, side.name, &patterns) {
        Some(found) => (assembly::summary(&found), assembly::check(&found, &side.steps, target.processor)),
        None => (String::new(), Err(format!("the assembly has no function probe_{}", side.name))),
    };
    Compiled { target: target.name, side: side.name, instructions, order }
}

/// Prints the instructions of each side. Returns whether all are in order and equal to the table.
fn compare(all: &[Compiled]) -> bool {
    let table = tables::compiled();
    let mut holds = true;
    for Compiled { target, side, instructions, order } in all {
        println!("{target:30} {side:9} {instructions}");
        let recorded = table.iter().find(|(of, name, _)| (of, name) == (target, side)).map(|row| row.2);
        if let Err(reason) = order {
            holds = false;
            eprintln!(
                "error: {target}: {side}: out of order: {reason}\nhelp: see docs/protocol.md, Orderings"
            );
        } else if recorded != Some(instructions) {
            holds = false;
            eprintln!(
                "error: {target}: {side}: in order, but crates/orderings/compiled.tsv has: {}\n\
                 help: if the compiler has changed, review the instructions and record them: ci/orderings.sh --record",
                recorded.unwrap_or("nothing")
            );
        }
    }
    holds
}

/// Returns whether the check has detected every affected side.
fn all_detected(all: &[Compiled], broken: Broken, targets: &[Target], sides: &[Side]) -> bool {
    let mut holds = true;
    for Compiled { target, side, instructions, order } in all {
        let processor =
            targets.iter().find(|known| known.name == *target).map_or("", |known| known.processor);
        let steps = sides.iter().find(|known| known.name == *side).map_or(&[][..], |known| &known.steps);
        if !affects(broken, processor, steps) {
            continue;
        }
        match order {
            Err(reason) => println!("{target:30} {side:9} detected: {reason}"),
            Ok(()) => {
                holds = false;
                eprintln!("error: {target}: {side}: broken, but the check finds it in order: {instructions}");
            }
        }
    }
    holds
}

/// Returns whether a change of the source puts a side out of order.
fn affects(broken: Broken, processor: &str, steps: &[Step]) -> bool {
    match broken {
        // On other processors the fence orders a plain store, too.
        Broken::Writes => processor == "x86",
        // On ARMv7 an acquire is a full fence, and follows every write and read.
        Broken::Fences if processor == "arm" => false,
        Broken::Fences => steps.contains(&Step::Fence),
    }
}

fn record_table(all: &[Compiled]) -> Result<(), Error> {
    let path = own_file("compiled.tsv");
    let mut text =
        "# Target, side, instructions that access shared memory. `ci/orderings.sh --record` writes this file.\n"
            .to_owned();
    for Compiled { target, side, instructions, .. } in all {
        let _ = writeln!(text, "{target}\t{side}\t{instructions}");
    }
    fs::write(&path, text).map_err(io_error(&path))
}
