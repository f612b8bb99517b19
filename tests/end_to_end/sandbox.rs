//! A folder of its own with a matrix of self-tests, and the executable run in it.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

/// The executable under test.
pub const POLLMATRIX: &str = env!("CARGO_BIN_EXE_pollmatrix");
/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(60);

/// See the module.
pub struct Sandbox {
    dir: TempDir,
}

/// What the executable answered.
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    /// With a matrix of these self-tests, one cell each. The one that hangs has `timeout` seconds; the others have more
    /// than they can need on the slowest machine.
    pub fn new(selftests: &[&str], timeout: u64) -> Self {
        let sandbox = Self { dir: tempfile::tempdir().expect("a temporary folder can be made") };
        sandbox.write_matrix(selftests, timeout);
        sandbox
    }

    /// Writes the matrix again.
    pub fn write_matrix(&self, selftests: &[&str], timeout: u64) {
        let (os, arch, triple) = (std::env::consts::OS, std::env::consts::ARCH, runner::provenance::TRIPLE);
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
             targets:\n  - {{ id: here, triple: {triple}, os: {os}, arch: {arch}, ways: [native] }}\n\
             scenarios:\n{scenarios}...\n"
        );
        fs::write(self.path("matrix.yml"), text).expect("the sandbox is writable");
    }

    /// Adds targets to the matrix.
    pub fn add_targets(&self, lines: &str) {
        let text = fs::read_to_string(self.path("matrix.yml")).expect("it is there");
        let text = text.replace("scenarios:\n", &format!("{lines}scenarios:\n"));
        fs::write(self.path("matrix.yml"), text).expect("the sandbox is writable");
    }

    /// Adds entries to the end of the matrix.
    pub fn add_scenarios(&self, lines: &str) {
        let text = fs::read_to_string(self.path("matrix.yml")).expect("it is there");
        let text = text.replace("...\n", &format!("{lines}...\n"));
        fs::write(self.path("matrix.yml"), text).expect("the sandbox is writable");
    }

    /// A path in the sandbox.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A pollmatrix of the sandbox's own.
    pub fn own_pollmatrix(&self) -> PathBuf {
        let path = self.path("pollmatrix");
        // A link costs nothing; the sandbox may be on another file system.
        if fs::hard_link(POLLMATRIX, &path).is_err() {
            fs::copy(POLLMATRIX, &path).expect("the sandbox has room");
        }
        path
    }

    /// The executable in the sandbox, with its matrix.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(POLLMATRIX);
        command.args(arguments).arg("--matrix").arg(self.path("matrix.yml")).current_dir(self.dir.path());
        command.stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CI");
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command(arguments))
    }

    /// Starts it.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the executable starts")
    }

    /// The journal's lines.
    pub fn journal(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("pollmatrix-report/journal.jsonl")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// results.json.
    pub fn results(&self) -> Value {
        let text =
            fs::read_to_string(self.path("pollmatrix-report/results.json")).expect("there is a report");
        serde_json::from_str(&text).expect("results.json is JSON")
    }

    /// The row of a self-test in results.json.
    pub fn row(&self, selftest: &str) -> Value {
        let id = id(selftest);
        let results = self.results();
        let rows = results["cells"].as_array().expect("cells is a list");
        rows.iter().find(|row| row["id"] == id.as_str()).unwrap_or_else(|| panic!("no row for {id}")).clone()
    }

    /// How many processes of cells of this sandbox there are.
    pub fn cells_alive(&self) -> usize {
        let output = Command::new("ps").args(["-A", "-o", "args="]).output().expect("every unix has ps");
        let matrix = self.path("matrix.yml").display().to_string();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter(|line| line.contains("run-cell") && line.contains(&matrix)).count()
    }
}

/// The id of a self-test's cell.
pub fn id(selftest: &str) -> String {
    format!("selftest/{selftest}/tcp-level-1t1g@poll")
}

/// Runs a command to its end.
pub fn answer(command: &mut Command) -> Answer {
    let output = command.output().expect("the executable starts");
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Waits until something holds.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Answer {
    /// Exit code `code`, and every one of `texts` in what was printed.
    #[track_caller]
    pub fn expect(&self, code: i32, texts: &[&str]) {
        let printed = format!("{}\n{}", self.stdout, self.stderr);
        assert_eq!(self.code, Some(code), "{printed}");
        for text in texts {
            assert!(printed.contains(text), "expected {text:?} in:\n{printed}");
        }
    }
}

/// Sends a signal to a command that runs.
pub fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).expect("a process's number fits");
    kill(Pid::from_raw(pid), signal).expect("the runner is still there");
}
