//! The programs of docs/findings show what their pages say.
//!
//! A program ends with 0 if it does, with 77 if this system is not one of which the page speaks.
#![cfg(unix)]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pollmatrix_adapters::testing::not_run;
use rstest::rstest;

/// The exit code of a program that is not for this system.
const NOT_HERE: i32 = 77;

/// Whether the program starts and succeeds.
fn is_there(program: &str, argument: &str) -> bool {
    let ended = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ended.is_ok_and(|status| status.success())
}

/// Returns the options in the first line of a C program, `/* cc NAME.c -pthread -luv`: those for the compiler
/// and those for the linker.
fn options(source: &str) -> (Vec<&str>, Vec<&str>) {
    let first = source.lines().next().and_then(|line| line.strip_prefix("/* cc "));
    let first = first.expect("the first line of the program says how to compile it: `/* cc NAME.c OPTIONS`");
    let words = first.trim_end_matches("*/").split_whitespace().filter(|word| !word.ends_with(".c"));
    words.partition(|word| !word.starts_with("-l"))
}

/// Runs cc on a source on its standard input.
fn compiles(source: &str, arguments: &[&OsStr]) -> Output {
    let mut cc = Command::new("cc");
    let cc = cc.args(["-x", "c", "-"]).args(arguments);
    let mut cc =
        cc.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cc starts");
    cc.stdin.take().expect("it is a pipe").write_all(source.as_bytes()).expect("cc reads its input");
    cc.wait_with_output().expect("cc ends")
}

/// Returns the command that runs the program, or why there is none here.
fn command(program: &Path, folder: &Path) -> Result<Command, String> {
    let extension = program.extension().and_then(OsStr::to_str).expect("a program has an extension");
    let (tool, version, before) = match extension {
        "c" => return compiled(program, folder),
        "go" => ("go", "version", "run"),
        "java" => ("javac", "-version", ""),
        "js" => ("node", "--version", ""),
        other => panic!("no test runs programs in *.{other}"),
    };
    if !is_there(tool, version) {
        return Err(format!("{tool} is not installed"));
    }
    let mut command = Command::new(if tool == "javac" { "java" } else { tool });
    command.args(Some(before).filter(|word| !word.is_empty())).arg(program);
    Ok(command)
}

fn compiled(program: &Path, folder: &Path) -> Result<Command, String> {
    if !is_there("cc", "--version") {
        return Err("cc is not installed".into());
    }
    let source = std::fs::read_to_string(program).expect("a program can be read");
    let (options, libraries) = options(&source);
    let output = folder.join("program");
    let words = ["-o".as_ref(), output.as_os_str()].into_iter();
    let words: Vec<_> = words.chain(options.iter().chain(&libraries).map(OsStr::new)).collect();
    // The libraries come after the source, which is standard input.
    if !compiles("int main(void) { return 0; }", &words).status.success() {
        return Err(format!("cc does not link with {}", libraries.join(" ")));
    }
    let made = compiles(&source, &words);
    assert!(made.status.success(), "{}:\n{}", program.display(), String::from_utf8_lossy(&made.stderr));
    Ok(Command::new(output))
}

#[rstest]
fn the_program_shows_what_its_page_says(
    #[files("../../../docs/findings/*.c")]
    #[files("../../../docs/findings/*.go")]
    #[files("../../../docs/findings/*.java")]
    #[files("../../../docs/findings/*.js")]
    program: PathBuf,
) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = match command(&program, folder.path()) {
        Ok(command) => command,
        Err(why) => return not_run(&format!("{}: {why}", program.display())),
    };
    let ended = command.current_dir(folder.path()).stdin(Stdio::null()).output().expect("the program starts");
    let printed = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    match ended.status.code() {
        Some(0) => {}
        // It ran, and its page is about another system. Not `eprintln!`, whose output the harness captures.
        Some(NOT_HERE) => {
            let (program, printed) = (program.display(), printed.trim_end());
            let _ = writeln!(std::io::stderr(), "not as here: {program} printed {printed:?}");
        }
        _ => panic!(
            "{} ended with {}, so this system does not do what its page says:\n{printed}\n\
             help: correct the page, or let the program end with {NOT_HERE} on this system",
            program.display(),
            ended.status
        ),
    }
}
