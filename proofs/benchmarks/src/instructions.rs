//! The instructions that an event costs, counted by valgrind's callgrind. They depend on the compiler, and
//! not on the machine or its load.
//!
//! A sample of twice as many events differs from the sample by its events only: the difference has no start
//! and no end. The loops have the same handler, so what fd-core does besides is its difference from the bare
//! call.

use std::collections::{HashMap, HashSet};
use std::env::current_exe;
use std::error::Error;
use std::fs::read_to_string;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::loops::Loop;
use crate::work::{WORKS, Work};
use crate::{print_error_line, print_line};

const EVENTS: u64 = 10_000;

/// The greatest numbers of instructions and of locked instructions that an event of fd-core may cost beside
/// the bare call, rounded up. A new compiler may need other numbers.
const LIMITS: [(&str, f64, f64); 2] =
    [("eventfd-1-active", 300.0, 3.0), ("pipes-50-active-10-idle", 185.0, 2.1)];

/// How often each instruction of this executable ran, by its address, and the number of all instructions,
/// with those of the libraries.
#[derive(Default)]
struct Counted {
    executable: HashMap<u64, u64>,
    all: u64,
}

/// What one event costs.
#[derive(Debug)]
struct Cost {
    instructions: f64,
    /// Instructions with a lock prefix, and exchanges with memory: read-modify-writes.
    locked: f64,
    divisions: f64,
}

/// Counts, prints the table, and returns whether every limit holds and no event costs a division.
///
/// # Errors
/// valgrind or objdump cannot be started, fails, or writes what this does not understand.
pub fn print() -> Result<bool, Box<dyn Error>> {
    let executable = current_exe()?;
    let code = Code::of(&executable)?;
    print_line(&line(["work", "loop", "instructions", "locked", "divisions", "limits of the difference"]))?;
    let mut hold = true;
    for (name, instructions, locked) in LIMITS {
        let work =
            WORKS.iter().find(|work| work.name == name).ok_or("a limit of a work that does not exist")?;
        let [own, bare] = [Loop::FdCore, Loop::Bare].map(|which| cost(&executable, &code, work, which));
        let (own, bare) = (own?, bare?);
        let limits = format!("{instructions:.0} and {locked:.1}");
        for (which, cost, limits) in [(Loop::FdCore, &own, limits.as_str()), (Loop::Bare, &bare, "")] {
            let [all, locks, divisions] = [(cost.instructions, 0), (cost.locked, 2), (cost.divisions, 2)]
                .map(|(n, d)| format!("{n:.d$}"));
            print_line(&line([name, which.name(), &all, &locks, &divisions, limits]))?;
        }
        let over = [
            (own.instructions - bare.instructions > instructions, "instructions"),
            (own.locked - bare.locked > locked, "locked instructions"),
            (own.divisions > 0.0, "divisions"),
        ];
        for (_, what) in over.into_iter().filter(|(is_over, _)| *is_over) {
            print_error_line(&format!("error: an event of {name} costs more {what} than the limit"));
            hold = false;
        }
    }
    Ok(hold)
}

fn line([work, which, instructions, locked, divisions, limits]: [&str; 6]) -> String {
    let text = format!("{work:<25}{which:<12}{instructions:>12}{locked:>8}{divisions:>11}  {limits}");
    text.trim_end().into()
}

fn cost(executable: &Path, code: &Code, work: &Work, which: Loop) -> Result<Cost, Box<dyn Error>> {
    let [once, twice] = [EVENTS, 2 * EVENTS].map(|events| count(executable, work, which, events));
    let (once, twice) = (once?, twice?);
    let per_event = |of: &dyn Fn(&Counted) -> u64| (of(&twice) as f64 - of(&once) as f64) / EVENTS as f64;
    // A thread that waits for the sample runs a few instructions, not the same number in both.
    let rounded = |number: f64| (number * 100.0).round() / 100.0;
    let ran = |counted: &Counted, these: &HashSet<u64>| {
        counted.executable.iter().filter(|(address, _)| these.contains(address)).map(|(_, count)| count).sum()
    };
    Ok(Cost {
        instructions: rounded(per_event(&|counted| counted.all)),
        locked: rounded(per_event(&|counted| ran(counted, &code.locked))),
        divisions: rounded(per_event(&|counted| ran(counted, &code.divisions))),
    })
}

/// Runs a sample under callgrind.
fn count(executable: &Path, work: &Work, which: Loop, events: u64) -> Result<Counted, Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("pollmatrix-instructions-{}", std::process::id()));
    let out = format!("--callgrind-out-file={}", file.display());
    let options =
        ["--tool=callgrind", "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no", &out];
    let events = events.to_string();
    let mut valgrind = Command::new("valgrind");
    valgrind.args(options).arg(executable).args([
        work.name,
        "--sample",
        &which.argument(),
        "--events",
        &events,
    ]);
    let text = output(&mut valgrind).and_then(|_| read_to_string(&file).map_err(Into::into));
    let _ = std::fs::remove_file(&file);
    read(&text?, executable)
}

/// Runs a program, and returns its output.
fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ended = command.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{program} is not installed"),
        _ => format!("{program} cannot be started: {error}"),
    })?;
    if !ended.status.success() {
        return Err(format!("{program} failed: {}", String::from_utf8_lossy(&ended.stderr)).into());
    }
    Ok(String::from_utf8(ended.stdout)?)
}

/// Reads callgrind's counts ("Callgrind Format Specification" in valgrind's manual). A line of an address, a
/// line number and a count is about the object of the last `ob=`. The line after `calls=` is the cost of the
/// callee, which is counted there.
fn read(text: &str, executable: &Path) -> Result<Counted, Box<dyn Error>> {
    let mut counted = Counted::default();
    let (mut is_own, mut is_callee) = (false, false);
    for line in text.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            is_own = Path::new(object) == executable;
        }
        if line.starts_with("calls=") {
            is_callee = true;
            continue;
        }
        let Some(entry) = line.strip_prefix("0x") else { continue };
        if std::mem::take(&mut is_callee) {
            continue;
        }
        let wrong = || format!("valgrind wrote a line that is not understood: {line}");
        let [address, _, count] = entry.split(' ').collect::<Vec<_>>()[..] else {
            return Err(wrong().into());
        };
        let (address, count) = (u64::from_str_radix(address, 16), count.parse::<u64>());
        let (Ok(address), Ok(count)) = (address, count) else { return Err(wrong().into()) };
        counted.all += count;
        if is_own {
            *counted.executable.entry(address).or_default() += count;
        }
    }
    Ok(counted)
}

/// The addresses of some instructions of an executable.
#[derive(Default)]
struct Code {
    locked: HashSet<u64>,
    divisions: HashSet<u64>,
}

impl Code {
    fn of(executable: &Path) -> Result<Self, Box<dyn Error>> {
        let mut objdump = Command::new("objdump");
        let code = Self::read(&output(objdump.args(["-d", "--no-show-raw-insn"]).arg(executable))?);
        if code.locked.is_empty() || code.divisions.is_empty() {
            return Err(
                "objdump shows no locked instructions, or no divisions: this looks for the wrong ones".into(),
            );
        }
        Ok(code)
    }

    fn read(text: &str) -> Self {
        let mut code = Self::default();
        for line in text.lines() {
            let Some((address, instruction)) = line.split_once(":\t") else { continue };
            let Ok(address) = u64::from_str_radix(address.trim(), 16) else { continue };
            let mnemonic = instruction.split_whitespace().next().unwrap_or_default();
            if mnemonic == "lock" || mnemonic.starts_with("xchg") && instruction.contains('(') {
                code.locked.insert(address);
            }
            if ["div", "idiv"].iter().any(|name| mnemonic.starts_with(name)) && !mnemonic.contains('s') {
                code.divisions.insert(address);
            }
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_callees_and_of_libraries_are_told_apart() {
        let text = "version: 1\nob=/bench\nfn=a\n0x10 1 5\ncalls=3 0x98930 3281\n0x10 0 2078\n0x14 2 7\n\
                    ob=/libc\nfn=b\n0x10 0 100\nob=/bench\nfn=c\n0x10 9 1\n";
        let counted = read(text, Path::new("/bench")).unwrap();
        assert_eq!((counted.all, counted.executable), (113, HashMap::from([(0x10, 6), (0x14, 7)])));
        assert!(read("0x10 5\n", Path::new("/bench")).is_err());
    }

    #[test]
    fn locks_and_divisions_are_recognised() {
        let text = "000010 <f>:\n  10:\tlock btr %rax,(%r15)\n  16:\txchg   %eax,0x198(%r13)\n  1c:\txchg   %ax,%ax\n  \
                    20:\tdiv    %rcx\n  23:\tidivl  0x8(%rsp)\n  27:\tdivsd  %xmm1,%xmm0\n  30:\tmov    (%rdi),%rax\n";
        let code = Code::read(text);
        assert_eq!(code.locked, HashSet::from([0x10, 0x16]));
        assert_eq!(code.divisions, HashSet::from([0x20, 0x23]));
    }
}
