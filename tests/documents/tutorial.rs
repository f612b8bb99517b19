//! docs/tutorial.md: its adapter passes the checks of an adapter, and its probes print what the page shows.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::tree::{blocks, read};

/// A folder with the adapter of the page.
fn with_adapter(page: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let [adapter] = blocks(page, "python")[..] else { panic!("the page has one adapter") };
    fs::write(folder.path().join("my-adapter.py"), adapter).expect("it can be written");
    folder
}

fn pollmatrix(folder: &Path, arguments: &[String]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pollmatrix"));
    let output = command.args(arguments).current_dir(folder).env_remove("RUST_LOG").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
}

fn trimmed(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

fn lacks_python() -> bool {
    let has_it = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_it {
        // `.ci/run` looks for these words.
        println!("not run: test documents::tutorial: python3");
    }
    !has_it
}

#[test]
#[cfg(target_os = "linux")]
fn the_probes_print_what_the_page_shows() {
    if lacks_python() {
        return;
    }
    let page = read("docs/tutorial.md");
    let folder = with_adapter(&page);
    let mut probes = 0;
    for block in blocks(&page, "text") {
        let Some((command, shown)) = block.strip_prefix("$ pollmatrix probe ").and_then(|rest| rest.split_once('\n'))
        else {
            continue;
        };
        let arguments = shlex::split(&format!("probe {command}")).expect("a command line");
        let (code, printed) = pollmatrix(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{printed}");
        // A behaviour stands for several scripts: the page shows the first.
        assert_eq!(trimmed(&printed)[..trimmed(shown).len()], trimmed(shown), "probe {command}:\n{printed}");
        probes += 1;
    }
    assert_eq!(probes, 2);
}

#[test]
fn the_adapter_passes_the_checks_that_an_earlier_one_failed() {
    if lacks_python() {
        return;
    }
    let folder = with_adapter(&read("docs/tutorial.md"));
    let command = "subject-check --only malformed --only close --only number-again python3 my-adapter.py";
    let arguments: Vec<_> = command.split(' ').map(str::to_owned).collect();
    let (code, printed) = pollmatrix(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{printed}");
    for check in ["malformed-command", "number-again", "close"] {
        assert!(printed.contains(&format!("ok    {check}\n")), "{printed}");
    }
}
