//! A temporary folder with a matrix of self-tests, in which the executable runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use adapters::testing::lacks;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

/// The executable under test.
pub const POLLMATRIX: &str = env!("CARGO_BIN_EXE_pollmatrix");
/// The example adapter.
pub const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../adapters/python/adapter.py");
/// The example with one mistake. Its first argument selects the mistake.
pub const BAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/adapters/tests/bad_adapter.py");
/// The published schema of results.
pub const SCHEMA: &str = include_str!("../../crates/core/metadata/schema/results.schema.json");
/// The limit of every wait, generous enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A temporary folder with a matrix of self-tests.
pub struct Sandbox {
    dir: TempDir,
}

/// The exit code and the output of the executable.
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    /// Creates a sandbox with a matrix of these self-tests, one cell each. The time limit of the cell that
    /// hangs is `timeout` seconds. The others have a limit that they cannot reach on the slowest machine.
    pub fn new(selftests: &[&str], timeout: u64) -> Self {
        let sandbox = Self { dir: tempfile::tempdir().expect("a temporary folder can be made") };
        sandbox.write_matrix(selftests, timeout);
        sandbox
    }

    /// Replaces the matrix by one of these self-tests.
    pub fn write_matrix(&self, selftests: &[&str], timeout: u64) {
        let (os, arch, triple) = (std::env::consts::OS, std::env::consts::ARCH, matrix::provenance::TRIPLE);
        let scenarios: String = selftests
            .iter()
            .map(|name| {
                let timeout = if *name == "hang" { timeout } else { 300 };
                format!("  - {{ id: selftest/{name}, timeout: {timeout} }}\n")
            })
            .collect();
        let matrix = format!(
            "version: 2\n\
             defaults: {{ timeout: 300 }}\n\
             backends:\n  - {{ id: poll, os: all, triggers: [level] }}\n\
             targets:\n  - {{ id: here, triple: {triple}, os: {os}, arch: {arch}, runners: [native] }}\n\
             scenarios:\n{scenarios}"
        );
        self.put("matrix.yml", matrix);
    }

    /// Adds targets to the matrix.
    pub fn add_targets(&self, lines: &str) {
        let matrix = self.text("matrix.yml").replace("scenarios:\n", &format!("{lines}scenarios:\n"));
        self.put("matrix.yml", matrix);
    }

    /// Adds scenarios at the end of the matrix.
    pub fn add_scenarios(&self, lines: &str) {
        self.put("matrix.yml", self.text("matrix.yml") + lines);
    }

    /// Returns a path in the sandbox.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the text of a file in the sandbox.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("cannot read {name}: {error}"))
    }

    /// Returns the content of a JSON file in the sandbox.
    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap_or_else(|error| panic!("{name} is not JSON: {error}"))
    }

    /// Writes a file in the sandbox, with the folders that it is in.
    #[track_caller]
    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        let made = fs::create_dir_all(path.parent().expect("it is in the sandbox"));
        made.and_then(|()| fs::write(path, content))
            .unwrap_or_else(|error| panic!("cannot write {name}: {error}"));
    }

    /// Replaces a part of a file in the sandbox, which must have it.
    #[track_caller]
    pub fn edit(&self, name: &str, part: &str, other: &str) {
        let text = self.text(name);
        assert!(text.contains(part), "{part} is not in {name}:\n{text}");
        self.put(name, text.replace(part, other));
    }

    /// Puts a copy of the executable into the sandbox, and returns its path.
    pub fn own_pollmatrix(&self) -> PathBuf {
        let path = self.path("pollmatrix");
        // A link is cheaper than a copy, but fails if the sandbox is on another file system.
        if fs::hard_link(POLLMATRIX, &path).is_err() {
            fs::copy(POLLMATRIX, &path).expect("the sandbox has room");
        }
        path
    }

    /// Returns a command that runs the executable in the sandbox, with its matrix.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(POLLMATRIX);
        command.args(arguments).arg("--matrix").arg(self.path("matrix.yml")).current_dir(self.dir.path());
        command.stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CI");
        command
    }

    /// Runs the executable until it ends.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command(arguments))
    }

    /// Runs the executable in the sandbox, with the built-in matrix.
    pub fn run_built_in(&self, arguments: &[&str]) -> Answer {
        answer(Command::new(POLLMATRIX).args(arguments).current_dir(self.dir.path()))
    }

    /// Runs the command that the report gives to reproduce the result of a cell.
    pub fn reproduce(&self, cell: &Value) -> Answer {
        let reproducer = cell["reproducer"].as_str().expect("every cell has a command");
        let words = shlex::split(reproducer).expect("the command is valid in a shell");
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        assert_eq!(words[0], "pollmatrix");
        self.run_built_in(&words[1..])
    }

    /// Starts the executable.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the executable starts")
    }

    /// Returns the lines of the journal.
    pub fn journal(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("pollmatrix-report/journal.jsonl")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns results.json.
    pub fn results(&self) -> Value {
        self.json("pollmatrix-report/results.json")
    }

    /// Returns the cells in results.json.
    pub fn cells(&self) -> Vec<Value> {
        self.results()["cells"].as_array().expect("cells is a list").clone()
    }

    /// Returns the result of a self-test in results.json.
    pub fn cell(&self, selftest: &str) -> Value {
        self.cell_of(&id(selftest))
    }

    /// Returns the result of the cell with this id in results.json.
    #[track_caller]
    pub fn cell_of(&self, id: &str) -> Value {
        let found = self.cells().into_iter().find(|cell| cell["id"] == id);
        found.unwrap_or_else(|| panic!("there is no result for {id}"))
    }

    /// Writes a script into the sandbox, and returns its path.
    pub fn script(&self, name: &str, text: &str) -> String {
        self.put(name, format!("#!/bin/sh\n{text}\n"));
        let path = self.path(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the mode can be changed");
        path.display().to_string()
    }

    /// Returns the number of processes that run cells of this sandbox.
    pub fn cells_alive(&self) -> usize {
        let output = Command::new("ps").args(["-A", "-o", "args="]).output().expect("every unix has ps");
        let matrix = self.path("matrix.yml").display().to_string();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter(|line| line.contains(" worker cell ") && line.contains(&matrix)).count()
    }
}

/// Returns the id of a self-test's cell.
pub fn id(selftest: &str) -> String {
    format!("selftest/{selftest}/tcp-level-1t1g@poll")
}

/// Runs the executable with the built-in matrix.
pub fn pollmatrix(arguments: &[&str]) -> Answer {
    answer(Command::new(POLLMATRIX).args(arguments))
}

/// Runs a command until it ends.
pub fn answer(command: &mut Command) -> Answer {
    command.output().expect("the executable starts").into()
}

/// Waits until a command ends.
pub fn ended(child: Child) -> Answer {
    child.wait_with_output().expect("the command ends").into()
}

/// Interrupts a command, as Ctrl-C does, and waits until it ends.
pub fn interrupted(child: Child) -> Answer {
    signal(&child, Signal::SIGINT);
    ended(child)
}

/// Waits until `condition` holds. Panics with `description` after [`PATIENCE`].
pub fn eventually(description: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {description}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Answer {
    /// Returns standard output, which is JSON.
    #[track_caller]
    pub fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// Returns the first line of standard output that begins so, after spaces.
    #[track_caller]
    pub fn line(&self, begins: &str) -> &str {
        let found = self.stdout.lines().find(|line| line.trim_start().starts_with(begins));
        found.unwrap_or_else(|| panic!("no line begins with {begins}:\n{}", self.stdout))
    }

    /// Asserts the exit code, and that the output contains every one of `texts`.
    #[track_caller]
    pub fn expect(&self, code: i32, texts: &[&str]) {
        let printed = format!("{}\n{}", self.stdout, self.stderr);
        assert_eq!(self.code, Some(code), "{printed}");
        for text in texts {
            assert!(printed.contains(text), "expected {text:?} in:\n{printed}");
        }
    }
}

/// Returns the command that runs a script of Python, for `--adapter`. `None` if there is no Python.
pub fn python(script: &str) -> Option<String> {
    (!lacks("python3")).then(|| format!("python3 '{script}'"))
}

/// Asserts that results have the form that the published schema describes.
#[track_caller]
pub fn expect_published_form(results: &Value) {
    let schema = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let errors: Vec<_> = validator.iter_errors(results).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Sends a signal to a running command.
pub fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).expect("a process's number fits");
    kill(Pid::from_raw(pid), signal).expect("the runner is still there");
}

/// Makes `folder` a folder of expectations without answers.
pub fn empty_expectations(folder: &Path) {
    fs::create_dir_all(folder.join("answers")).expect("writable");
    fs::write(folder.join("divergences.yml"), "divergences: []\n").expect("writable");
}
