//! `pollmatrix ci` in a repository of somebody else: a fresh git repository with an adapter and nothing more.

use std::process::{Command, Stdio};

use adapters::testing::lacks;
use serde_json::Value;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer, eventually, interrupted};

/// The adapter in the repository.
const ADAPTER: &str = include_str!("../../adapters/python/adapter.py");
/// What the change of the adapter is called.
const SENTENCE: &str = "readiness/pipe-writer-closed, level: was hang-up, is readable";

/// A git repository with an adapter.
struct Repository(Sandbox);

impl Repository {
    /// Creates it. `None` without Python or git.
    fn new() -> Option<Self> {
        if lacks("python3") || lacks("git") {
            return None;
        }
        let sandbox = Sandbox::new(&["pass"], 300);
        sandbox.add_scenarios("  - id: readiness/pipe-writer-closed\n  - id: readiness/pipe-idle\n");
        sandbox.put("repository/poller.py", ADAPTER.replace("\"python-\" + self.name", "\"mine\""));
        let repository = Self(sandbox);
        repository.git(&["init", "--quiet"]);
        repository.ci(&["--init", "python3 poller.py poll"]).expect(0, &["wrote pollmatrix.toml"]);
        Some(repository)
    }

    fn git(&self, arguments: &[&str]) -> Answer {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let folder = self.0.path("repository");
        let git = answer(Command::new("git").args(identity).args(arguments).current_dir(folder));
        assert_eq!(git.code, Some(0), "git {arguments:?}: {}", git.stderr);
        git
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(POLLMATRIX);
        command.args(arguments).arg("--matrix").arg(self.0.path("matrix.yml"));
        command.current_dir(self.0.path("repository"));
        command.env_remove("GITHUB_ACTIONS").env_remove("GITHUB_STEP_SUMMARY");
        command
    }

    fn ci(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command(&[&["ci"], arguments].concat()))
    }

    /// Records and commits the answers.
    fn record(&self) {
        self.ci(&[]).expect(1, &["no answer of mine is recorded on this system"]);
        answer(&mut self.command(&["expectations", "record", "pollmatrix-report"])).expect(0, &["added "]);
        self.0.put("repository/.gitignore", "pollmatrix-report\n__pycache__\n");
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "Record the answers"]);
    }

    /// Makes the adapter, in its next version, report each hang-up as data.
    fn mask_hang_ups(&self) {
        self.0.edit("repository/poller.py", "sys.version.split()[0]", "\"9.9\"");
        let masked = "[\"IN\" if word == \"HUP\" else word for word in says]";
        self.0.edit(
            "repository/poller.py",
            "[(fd, says) for fd, says",
            &format!("[(fd, {masked}) for fd, says"),
        );
    }

    fn configure(&self, more: &str) {
        self.0.put("repository/pollmatrix.toml", format!("adapter = 'python3 poller.py poll'\n{more}"));
    }

    fn accept(&self, expires: &str) {
        self.configure(&format!(
            "[[accepted]]\ndifference = '{SENTENCE}'\nreason = 'we have no word for it'\nexpires = '{expires}'\n"
        ));
    }
}

#[test]
fn a_fresh_repository_is_green_until_its_poller_changes() {
    let Some(repository) = Repository::new() else { return };
    repository.record();
    let file = format!("pollmatrix-expectations/adapters/mine/{}.yml\n", std::env::consts::OS);
    let expected = format!(".gitignore\npoller.py\n{file}pollmatrix.toml\n");
    assert_eq!(repository.git(&["ls-files"]).stdout, expected);
    repository.ci(&[]).expect(0, &["pollmatrix ci: no change; ", "mine answers as poll in all "]);
    assert_eq!(repository.git(&["status", "--porcelain"]).stdout, "", "a check changes no file");

    repository.mask_hang_ups();
    let red = repository.ci(&[]);
    red.expect(1, &["pollmatrix ci: ", "  pollmatrix show 'readiness/pipe-writer-closed/"]);
    assert!(red.stdout.replace("\n  ", " ").contains(&format!("changed: {SENTENCE}")), "{}", red.stdout);
    let is_wide = |line: &&str| line.chars().count() > 80 && !line.contains("pollmatrix show");
    assert_eq!(red.stdout.lines().find(is_wide), None);
    let report = repository.0.text("repository/pollmatrix-report/junit.xml");
    assert!(!report.contains("failures=\"0\""), "{report}");
    let summary = repository.0.text("repository/pollmatrix-report/ci.md");
    assert!(summary.contains("was hang-up, is readable"), "{summary}");

    // Whoever wants the change records it.
    answer(&mut repository.command(&["expectations", "record", "pollmatrix-report"]))
        .expect(0, &["replaced ", "it was HUP"]);
    repository.ci(&[]).expect(0, &["no change"]);
}

#[test]
fn an_accepted_difference_is_green_until_it_expires() {
    let Some(repository) = Repository::new() else { return };
    repository.record();
    repository.mask_hang_ups();
    repository.accept("2999-12-31");
    let green = repository.ci(&[]);
    green.expect(0, &["no change, 1 accepted"]);
    let one_line = green.stdout.replace("\n  ", " ");
    assert!(one_line.contains("accepted, until 2999-12-31: we have no word for it"), "{one_line}");
    let junit = repository.0.text("repository/pollmatrix-report/junit.xml");
    assert!(junit.contains("failures=\"0\""), "{junit}");
    repository.accept("2020-01-31");
    let red = repository.ci(&[]);
    red.expect(1, &["1 problem"]);
    let one_line = red.stdout.replace("\n  ", " ");
    assert!(one_line.contains("it was accepted until 2020-01-31: we have no word for it"), "{one_line}");
    repository.configure("[[accepted]]\ndifference = 'nothing'\nreason = 'x'\n");
    repository.ci(&[]).expect(1, &["accepted, and no longer seen: nothing: remove it", "1 problem; "]);
    repository.configure("[[accepted]]\ndifference = 'x'\nreson = 'y'\n");
    repository
        .ci(&[])
        .expect(2, &["pollmatrix.toml:4: there is no key 'reson'", "help: did you mean 'reason'?"]);
}

/// Some answers race. The adapter masks a hang-up in the first cell that sees one, and never again.
#[test]
fn a_change_that_does_not_show_each_time_is_named_and_not_counted() {
    let Some(repository) = Repository::new() else { return };
    repository.record();
    let wait = "            return {\"events\": [{\"token\": self.tokens[fd]";
    let once = "            if os.environ.get(\"POLLMATRIX_CELL\") and any(\"HUP\" in says for _, says in events):\n                \
                try:\n                    os.unlink(\"once\")\n                    events = [(fd, [\"IN\"]) for fd, _ in events]\n                \
                except FileNotFoundError:\n                    pass\n";
    repository.0.edit("repository/poller.py", wait, &format!("{once}{wait}"));
    repository.0.put("repository/once", "");
    let green = repository.ci(&[]);
    green.expect(0, &["no change; 6 answers as recorded"]);
    let one_line = green.stdout.replace("\n  ", " ");
    assert!(one_line.contains(&format!("{SENTENCE}; not each time")), "{one_line}");
    assert!(!repository.0.path("repository/once").exists(), "the adapter has masked one");
}

#[test]
fn github_gets_a_summary_and_an_annotation_for_each_change() {
    let Some(repository) = Repository::new() else { return };
    repository.record();
    repository.mask_hang_ups();
    let summary = repository.0.path("summary.md");
    repository.0.put("summary.md", "# before\n");
    let red = answer(
        repository.command(&["ci"]).env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary),
    );
    red.expect(1, &[]);
    let annotation = red.line("::error ");
    assert!(annotation.starts_with(&format!("::error title=pollmatrix::{SENTENCE}")), "{annotation}");
    let text = repository.0.text("summary.md");
    assert!(text.starts_with("# before\n## pollmatrix ci: "), "{text}");
    assert!(!repository.ci(&[]).stdout.contains("::error"), "outside of GitHub");
}

#[test]
fn an_exploration_is_a_part_of_the_check() {
    let Some(repository) = Repository::new() else { return };
    repository.record();
    repository.configure("explore = '5s'\n");
    // Seconds do not always suffice for a verdict on a busy machine, so only its sides are certain.
    let explored = repository.ci(&[]);
    assert!(explored.stdout.contains("poll and mine: "), "{}\n{}", explored.stdout, explored.stderr);
    assert!(matches!(explored.code, Some(0 | 1)), "{}", explored.stderr);
}

#[test]
fn an_interrupted_exploration_is_no_verdict() {
    let Some(repository) = Repository::new() else { return };
    repository.record();
    repository.configure("explore = '1h'\n");
    let mut command = repository.command(&["ci"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the executable starts");
    let corpus = repository.0.path("repository/pollmatrix-corpus/poll-mine/state.json");
    eventually("the first round", || corpus.exists());
    let ended = interrupted(child);
    assert_eq!(ended.code, Some(130), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("interrupted: nothing was judged"), "{}", ended.stderr);
}

#[test]
fn an_adapter_that_fails_a_check_is_red_and_one_that_does_not_start_is_refused() {
    let Some(repository) = Repository::new() else { return };
    repository.record();
    repository.0.edit(
        "repository/poller.py",
        "{\"token\": self.tokens[fd]",
        "{\"token\": 1 + self.tokens[fd]",
    );
    repository.ci(&[]).expect(1, &["problem: adapter check: ", "token"]);
    repository.configure("");
    repository.0.put("repository/poller.py", "raise SystemExit(3)");
    repository.ci(&[]).expect(2, &["error: --adapter python3 poller.py poll"]);
    repository
        .ci(&["--adapter", "mio"])
        .expect(2, &["pollmatrix.toml names the adapters and the expectations"]);
    repository.ci(&["--init", "x"]).expect(2, &["pollmatrix.toml cannot be used: it exists already"]);
}

/// GitHub's part is played by this test: it gives inputs and paths to each step, and reads its outputs.
#[test]
fn the_steps_of_the_action_check_a_repository_and_name_the_report() {
    if lacks("bash") {
        return;
    }
    let Some(repository) = Repository::new() else { return };
    repository.record();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
    let action = std::fs::read_to_string(format!("{root}/action.yml")).expect("the action is there");
    let action: Value = serde_saphyr::from_str(&action).expect("the action is YAML");
    assert_eq!(action["runs"]["using"], "composite");
    let steps = action["runs"]["steps"].as_array().expect("it has steps");
    // The workspace is the folder above the repository, so that the input is no default. The matrix is small.
    let matrix = repository.0.path("matrix.yml");
    repository.0.script("pollmatrix", &format!("exec '{POLLMATRIX}' \"$@\" --matrix '{}'", matrix.display()));
    let path = format!("{}:{}", repository.0.path("").display(), std::env::var("PATH").unwrap_or_default());
    let run = |step: &Value| {
        let script = step["run"].as_str()?;
        assert_eq!(step["shell"], "bash", "a composite action names the shell of each step");
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]);
        command.current_dir(repository.0.path("")).env("PATH", &path).env("GITHUB_ACTION_PATH", root);
        command.env("GITHUB_OUTPUT", repository.0.path("output")).env("GITHUB_ACTIONS", "true");
        command.env("GITHUB_STEP_SUMMARY", repository.0.path("summary.md"));
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            let value = match value.as_str() {
                Some("${{ inputs.config }}") => "repository/pollmatrix.toml",
                Some("${{ github.action_ref }}") => "main",
                _ => panic!("{name}: {value}"),
            };
            command.env(name, value);
        }
        Some(answer(&mut command))
    };
    let answers: Vec<_> = steps.iter().filter_map(run).collect();
    assert_eq!(answers.len(), 3);
    answers.iter().for_each(|answer| answer.expect(0, &[]));
    answers[2].expect(0, &["pollmatrix ci: no change"]);
    let outputs = repository.0.text("output");
    let report =
        outputs.lines().find_map(|line| line.strip_prefix("report=")).expect("the step names the report");
    for file in ["report.html", "junit.xml", "ci.md"] {
        assert!(repository.0.path(report).join(file).exists(), "{report} has no {file}");
    }
    let hash = outputs.lines().find_map(|line| line.strip_prefix("hash=")).expect("the key of the cache");
    assert!(hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{outputs}");
    repository.mask_hang_ups();
    let check = steps.iter().find(|step| step["id"] == "check").expect("the step is there");
    run(check).expect("it has a script").expect(1, &[&format!("::error title=pollmatrix::{SENTENCE}")]);
}
