//! Checks the instructions that the compiler makes of fd-core's Dekker pairs. `ci/orderings.sh` calls it.
//!
//! Exit codes: 0 everything holds, 1 something does not, 2 wrong arguments.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a script reads it to the end, or stops it")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Parser, ValueEnum};

mod assembly;
mod litmus;
mod tables;

use tables::{Pattern, Side, Step, Target};

#[derive(Parser)]
#[command(about = "Checks the instructions that the compiler makes of fd-core's Dekker pairs")]
enum Command {
    /// Prints the targets: name, rustc's target, features
    Targets,
    /// Checks FOLDER/TARGET.s of every target that has one
    Compiled {
        /// Where the assembly of `crates/ordering-probes` is
        folder: PathBuf,
        /// Write the table of instructions instead of comparing with it
        #[arg(long)]
        record: bool,
        /// The source was broken on purpose: every side that it concerns must be found out of order
        #[arg(long)]
        broken: Option<Broken>,
    },
    /// Writes the litmus tests of every pair
    Litmus,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Broken {
    /// The fences are gone
    Fences,
    /// The read-modify-writes are plain stores
    Writes,
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("no assembly of any target in {0}\nhelp: ci/orderings.sh makes it")]
    NoAssembly(PathBuf),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Targets => {
            tables::targets().iter().for_each(|it| println!("{}\t{}\t{}", it.name, it.triple, it.features));
            Ok(true)
        }
        Command::Compiled { folder, record, broken } => compiled(&folder, record, broken),
        Command::Litmus => write_litmus().map(|()| true),
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

fn write_litmus() -> Result<(), Error> {
    for (name, text) in litmus::tests(&tables::pairs()) {
        let path = own_file("litmus").join(name);
        fs::write(&path, text).map_err(io_error(&path))?;
    }
    Ok(())
}

/// What was found of one side on one target.
struct Found {
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
            Ok(assembly) => all.extend(sides.iter().map(|side| look(target, side, &assembly, &patterns))),
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
        Some(broken) => found_out(&all, broken, &targets, &sides),
        None => compare(&all),
    })
}

fn look(target: &Target, side: &Side, assembly: &str, patterns: &[Pattern]) -> Found {
    let patterns: Vec<_> = patterns.iter().filter(|it| it.processor == target.processor).collect();
    let (instructions, order) = match assembly::instructions(assembly, side.name, &patterns) {
        Some(found) => (assembly::summary(&found), assembly::check(&found, &side.steps, target.processor)),
        None => (String::new(), Err(format!("there is no function probe_{}", side.name))),
    };
    Found { target: target.name, side: side.name, instructions, order }
}

/// Prints each side's instructions. Returns whether all are in order and as the table has them.
fn compare(all: &[Found]) -> bool {
    let table = tables::compiled();
    let mut holds = true;
    for Found { target, side, instructions, order } in all {
        println!("{target:30} {side:9} {instructions}");
        let recorded = table.iter().find(|(of, name, _)| (of, name) == (target, side)).map(|row| row.2);
        if let Err(why) = order {
            holds = false;
            eprintln!("error: {target}: {side}: out of order: {why}\nhelp: see docs/protocol.md, Orderings");
        } else if recorded != Some(instructions) {
            holds = false;
            eprintln!(
                "error: {target}: {side}: in order, and not as crates/orderings/compiled.tsv has it: {}\n\
                 help: if the compiler is another one, read the instructions and record them: ci/orderings.sh --record",
                recorded.unwrap_or("nothing")
            );
        }
    }
    holds
}

/// Whether the check finds each side that the breakage concerns.
fn found_out(all: &[Found], broken: Broken, targets: &[Target], sides: &[Side]) -> bool {
    let mut holds = true;
    for Found { target, side, instructions, order } in all {
        let processor = targets.iter().find(|it| it.name == *target).map_or("", |it| it.processor);
        let steps = sides.iter().find(|it| it.name == *side).map_or(&[][..], |it| &it.steps);
        if !concerns(broken, processor, steps) {
            continue;
        }
        match order {
            Err(why) => println!("{target:30} {side:9} found: {why}"),
            Ok(()) => {
                holds = false;
                eprintln!("error: {target}: {side}: broken, and found to be in order: {instructions}");
            }
        }
    }
    holds
}

fn concerns(broken: Broken, processor: &str, steps: &[Step]) -> bool {
    match broken {
        // Elsewhere the fence orders a store as well.
        Broken::Writes => processor == "x86",
        // Its acquire is a full fence, and follows every write and read.
        Broken::Fences if processor == "arm" => false,
        Broken::Fences => steps.contains(&Step::Fence),
    }
}

fn record_table(all: &[Found]) -> Result<(), Error> {
    let path = own_file("compiled.tsv");
    let mut text =
        "# Target, side, its instructions that touch shared memory. `ci/orderings.sh --record` writes it.\n"
            .to_owned();
    for Found { target, side, instructions, .. } in all {
        let _ = writeln!(text, "{target}\t{side}\t{instructions}");
    }
    fs::write(&path, text).map_err(io_error(&path))
}
