//! A temporary folder with a matrix of self-tests, in which the executable runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

/// The executable under test.
pub const POLLMATRIX: &str = env!("CARGO_BIN_EXE_pollmatrix");
/// The limit of every wait, generous enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

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
        let text = format!(
            "version: 2\n\
             defaults: {{ timeout: 300 }}\n\
             backends:\n  - {{ id: poll, os: all, triggers: [level] }}\n\
             targets:\n  - {{ id: here, triple: {triple}, os: {os}, arch: {arch}, runners: [native] }}\n\
             scenarios:\n{scenarios}"
        );
        fs::write(self.path("matrix.yml"), text).expect("the sandbox is writable");
    }

    /// Adds targets to the matrix.
    pub fn add_targets(&self, lines: &str) {
        let text = fs::read_to_string(self.path("matrix.yml")).expect("there is a matrix");
        let text = text.replace("scenarios:\n", &format!("{lines}scenarios:\n"));
        fs::write(self.path("matrix.yml"), text).expect("the sandbox is writable");
    }

    /// Adds scenarios at the end of the matrix.
    pub fn add_scenarios(&self, lines: &str) {
        let text = fs::read_to_string(self.path("matrix.yml")).expect("there is a matrix");
        let text = format!("{text}{lines}");
        fs::write(self.path("matrix.yml"), text).expect("the sandbox is writable");
    }

    /// Returns a path in the sandbox.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
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
        let text =
            fs::read_to_string(self.path("pollmatrix-report/results.json")).expect("there is a report");
        serde_json::from_str(&text).expect("results.json is JSON")
    }

    /// Returns the result of a self-test in results.json.
    pub fn cell(&self, selftest: &str) -> Value {
        let id = id(selftest);
        let results = self.results();
        let cells = results["cells"].as_array().expect("cells is a list");
        let found = cells.iter().find(|cell| cell["id"] == id.as_str());
        found.unwrap_or_else(|| panic!("there is no result for {id}")).clone()
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

/// Runs a command until it ends.
pub fn answer(command: &mut Command) -> Answer {
    let output = command.output().expect("the executable starts");
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Waits until `condition` holds. Panics with `description` after [`PATIENCE`].
pub fn eventually(description: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {description}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Answer {
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
