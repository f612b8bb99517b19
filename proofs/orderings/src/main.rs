//! Checks the compiled instructions of fd-core's Dekker pairs. `ci/proofs.sh orderings` calls it.
//!
//! Exit codes: 0 success, 1 a failed check or another error, 2 wrong arguments.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a script reads the whole output")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use orderings::{SIDES, Side, Step};

mod assembly;
mod tables;

use tables::{Pattern, Target};

const USAGE: &str = "error: unknown arguments\n\
help: orderings targets: print the targets: name, rustc's target, features\n\
help: orderings check FOLDER [record|no-fences|plain-stores]: check FOLDER/TARGET.s of every target that has one\n\
help:   record: write compiled.tsv instead of comparing with it\n\
help:   no-fences, plain-stores: expect every affected side to be out of order: it was built with this feature";

/// The source was changed to be wrong, by a feature of the library.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Broken {
    /// The fences were removed.
    Fences,
    /// The read-modify-writes were replaced by plain stores.
    Writes,
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["targets"] => {
            for Target { name, triple, features, .. } in tables::targets() {
                println!("{name}\t{triple}\t{features}");
            }
            Ok(true)
        }
        ["check", folder] => compiled(folder).map(|all| compare(&all)),
        ["check", folder, "record"] => compiled(folder).and_then(|all| record_table(&all)).map(|()| true),
        ["check", folder, "no-fences"] => compiled(folder).map(|all| all_detected(&all, Broken::Fences)),
        ["check", folder, "plain-stores"] => compiled(folder).map(|all| all_detected(&all, Broken::Writes)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
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

/// The compiled form of one side on one target.
struct Compiled {
    target: Target,
    side: Side,
    instructions: String,
    order: Result<(), String>,
}

impl Compiled {
    fn new(target: Target, side: Side, assembly: &str, patterns: &[Pattern]) -> Self {
        let patterns: Vec<_> =
            patterns.iter().filter(|pattern| pattern.processor == target.processor).collect();
        let (instructions, order) = match assembly::instructions(assembly, side.function, &patterns) {
            Some(found) => (assembly::summary(&found), assembly::check(&found, side.steps, target.processor)),
            None => (String::new(), Err(format!("the assembly has no function {}", side.function))),
        };
        Self { target, side, instructions, order }
    }

    fn name(&self) -> &'static str {
        self.side.function.trim_start_matches("probe_")
    }
}

/// Reads and checks the sides of every target that has assembly in the folder.
fn compiled(folder: &str) -> Result<Vec<Compiled>, String> {
    let patterns = tables::patterns();
    let mut all = vec![];
    for target in tables::targets() {
        let path = Path::new(folder).join(format!("{}.s", target.name));
        match fs::read_to_string(&path) {
            Ok(assembly) => {
                all.extend(SIDES.iter().map(|side| Compiled::new(target, *side, &assembly, &patterns)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                println!("{}: not compiled", target.name)
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    if all.is_empty() {
        return Err(format!(
            "there is no assembly of any target in {folder}\nhelp: run ci/proofs.sh orderings, which compiles it"
        ));
    }
    Ok(all)
}

/// Prints the instructions of each side. Returns whether all are in order and equal to the table.
fn compare(all: &[Compiled]) -> bool {
    let table = tables::compiled();
    let mut holds = true;
    for compiled in all {
        let (target, side, instructions) = (compiled.target.name, compiled.name(), &*compiled.instructions);
        println!("{target:30} {side:9} {instructions}");
        let recorded = table.iter().find(|(of, name, _)| (*of, *name) == (target, side)).map(|row| row.2);
        if let Err(reason) = &compiled.order {
            holds = false;
            eprintln!(
                "error: {target}: {side}: out of order: {reason}\nhelp: see docs/protocol.md, Orderings"
            );
        } else if recorded != Some(instructions) {
            holds = false;
            eprintln!(
                "error: {target}: {side}: in order, but proofs/orderings/compiled.tsv has: {}\n\
                 help: if the compiler has changed, review the instructions and record them: ci/proofs.sh orderings record",
                recorded.unwrap_or("nothing")
            );
        }
    }
    holds
}

/// Returns whether the check has detected every affected side.
fn all_detected(all: &[Compiled], broken: Broken) -> bool {
    let mut holds = true;
    for compiled in all {
        let (target, side) = (compiled.target, compiled.name());
        if !affects(broken, target.processor, compiled.side.steps) {
            continue;
        }
        match &compiled.order {
            Err(reason) if !compiled.instructions.is_empty() => {
                println!("{:30} {side:9} detected: {reason}", target.name)
            }
            not_detected => {
                holds = false;
                let (name, instructions) = (target.name, &compiled.instructions);
                eprintln!(
                    "error: {name}: {side}: broken, but the check finds: {instructions} {not_detected:?}"
                );
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

fn record_table(all: &[Compiled]) -> Result<(), String> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("compiled.tsv");
    let mut text = "# Target, side, instructions that access shared memory. `ci/proofs.sh orderings record` writes this file.\n"
        .to_owned();
    for compiled in all {
        let _ = writeln!(text, "{}\t{}\t{}", compiled.target.name, compiled.name(), compiled.instructions);
    }
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}
