//! docs/tutorial.md and README.md: the adapter passes `adapter-check`, and the probes print the output on the
//! pages.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use adapters::testing::lacks;

use crate::tree::{blocks, read};

/// Creates a folder with the adapter from the page.
fn with_adapter(page: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let [adapter] = blocks(page, "python")[..] else { panic!("the page does not have exactly one adapter") };
    fs::write(folder.path().join("my-adapter.py"), adapter).expect("the folder is writable");
    folder
}

fn pollmatrix(folder: &Path, arguments: &[String]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pollmatrix"));
    let output = command
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .output()
        .expect("the executable starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
}

fn trimmed(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

/// Returns the arguments of each `$ pollmatrix probe …` on a page, with the output below it.
fn probes(page: &str) -> Vec<(Vec<String>, &str)> {
    let session = |block| {
        let (command, shown) = str::strip_prefix(block, "$ pollmatrix probe ")?.split_once('\n')?;
        Some((shlex::split(&format!("probe {command}"))?, shown))
    };
    blocks(page, "text").into_iter().filter_map(session).collect()
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the pages show the answers of Linux")]
fn the_probes_print_the_output_on_the_pages() {
    if lacks("python3") {
        return;
    }
    let tutorial = read("docs/tutorial.md");
    let folder = with_adapter(&tutorial);
    let readme = read("README.md");
    let probes = [probes(&tutorial), probes(&readme)].concat();
    for (arguments, shown) in &probes {
        let (code, printed) = pollmatrix(folder.path(), arguments);
        assert_eq!(code, Some(0), "{printed}");
        assert_eq!(trimmed(&printed), trimmed(shown), "{arguments:?}:\n{printed}");
    }
    assert_eq!(probes.len(), 3);
}

/// The adapter is asked by its own numbers: the next copy could get that of one that was closed.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the other column is epoll")]
fn no_copy_in_the_adapter_has_the_number_of_one_that_was_closed() {
    if lacks("python3") {
        return;
    }
    let folder = with_adapter(&read("docs/tutorial.md"));
    for (script, answer) in [
        // Made before the close, and registered after it.
        (
            "own and peer are connected, copy is a copy of own, add copy for reading, copy closes, \
          add own for reading?",
            "0",
        ),
        // Made after the close.
        (
            "own and peer are connected, add own for reading, own closes, near and far are connected, \
          add near for reading?",
            "0",
        ),
        // Closed before its first registration.
        (
            "own and peer are connected, near and far are connected, own closes, add near for reading, \
          add own for reading?",
            "EBADF",
        ),
    ] {
        let columns = ["--adapter", "python3 my-adapter.py", "--backend", "selectors", "--backend", "epoll"];
        let arguments = [&["probe", script, "--transport", "unix"], &columns[..]].concat();
        let (code, printed) =
            pollmatrix(folder.path(), &arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let answers = printed.lines().find_map(|line| line.strip_prefix("unix  add  "));
        let answers: Vec<_> = answers.into_iter().flat_map(str::split_whitespace).collect();
        assert_eq!((code, answers), (Some(0), vec![answer; 2]), "{script}:\n{printed}");
    }
}

#[test]
fn the_adapter_passes_the_checks_that_an_earlier_version_failed() {
    if lacks("python3") {
        return;
    }
    let page = read("docs/tutorial.md");
    let folder = with_adapter(&page);
    let session = |block| str::strip_prefix(block, "$ pollmatrix adapter-check ")?.split_once('\n');
    let [(command, shown)] = blocks(&page, "text").into_iter().filter_map(session).collect::<Vec<_>>()[..]
    else {
        panic!("the page does not have exactly one session");
    };
    let arguments: Vec<_> =
        ["adapter-check"].into_iter().chain(command.split(' ')).map(str::to_owned).collect();
    let (code, printed) = pollmatrix(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{printed}");
    for check in ["malformed-command", "number-again", "close"] {
        assert!(printed.contains(&format!("ok    {check}\n")), "{printed}");
    }
    // The page leaves lines out, and shows the others in their order.
    let mut rest = trimmed(&printed).into_iter();
    for line in trimmed(shown).into_iter().filter(|line| *line != "…") {
        assert!(rest.any(|printed| printed == line), "the page shows '{line}':\n{printed}");
    }
}
