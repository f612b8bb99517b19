//! The kill matrix of another machine: attempts behind a prefix. Scripts take the place of the machines.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use subjects::testing::lacks;

use crate::sandbox::{POLLMATRIX, Sandbox, eventually};

/// The control, and a scenario that kills `disown-closes` in both of its cells.
const SCENARIOS: &str = "  - { id: harness/control, transports: [pipe], threads: [1], triggers: [level], groups: [1] }\n  \
    - { id: deletion/disown, transports: [pipe, unix], threads: [1], triggers: [level], groups: [1] }\n";
const FAULTS: [&str; 6] = ["faults", "deletion/disown", "--fault", "disown-closes", "--seed", "7"];
const KILLED: &str = "1 faults: 1 killed, 0 caught by the harness, 0 survive";
/// A prefix that leads to a machine like this one.
const FORWARD: &str = "exec \"$@\"";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(&[], 20);
    sandbox.add_scenarios(SCENARIOS);
    sandbox
}

/// Returns the lines of attempts in the log.
fn attempts(sandbox: &Sandbox) -> Vec<String> {
    let text = fs::read_to_string(sandbox.path("pollmatrix-report/kill-matrix.jsonl")).unwrap_or_default();
    text.lines().filter(|line| line.contains("\"line\":\"tried\"")).map(str::to_owned).collect()
}

/// Returns a script's line that starts its arguments, and cuts the connection after some lines of output.
/// Other than head(1), it passes each line on at once.
fn cut_after(lines: usize) -> String {
    format!(
        "\"$@\" | {{ n=0; while [ $n -lt {lines} ] && read -r line; do printf '%s\\n' \"$line\"; n=$((n + 1)); done; }}"
    )
}

fn kernel() -> String {
    runner::provenance::kernel().0
}

#[test]
fn the_kill_matrix_behind_a_prefix_is_that_of_this_machine() {
    let sandbox = sandbox();
    let here = sandbox.run(&FAULTS);
    here.expect(0, &[KILLED]);
    let made = attempts(&sandbox).len();
    let log = "printf '%s\\n' \"$2\" >>\"${0%/*}/log\"; exec \"$@\"";
    let prefix = sandbox.script("prefix", log);
    let there = sandbox.run(&[&FAULTS[..], &["--prefix", &prefix]].concat());
    there.expect(0, &[KILLED]);
    assert_eq!(there.stdout, here.stdout);
    assert_eq!(attempts(&sandbox).len(), made);
    let log = fs::read_to_string(sandbox.path("log")).expect("the prefix was used");
    // One executor makes every attempt.
    assert_eq!(log.lines().filter(|word| *word == "exec").count(), 1, "{log}");
    assert_eq!(log.lines().filter(|word| *word == "run-cell").count(), made, "{log}");
    let text =
        fs::read_to_string(sandbox.path("pollmatrix-report/kill-matrix.json")).expect("the file is written");
    let matrix: serde_json::Value = serde_json::from_str(&text).expect("the text is JSON");
    assert_eq!(matrix["machine"]["kernel"], kernel().as_str(), "{text}");
}

#[test]
fn attempts_without_an_answer_are_ordered_again_after_a_lost_connection() {
    let sandbox = sandbox();
    // Each connection ends after the first line and ten answers.
    let prefix = sandbox.script("prefix", &format!("[ \"$2\" = exec ] || exec \"$@\"\n{}", cut_after(11)));
    let answer = sandbox.run(&[&FAULTS[..], &["--prefix", &prefix]].concat());
    answer.expect(0, &[KILLED, "the executor ended", "; restarting for "]);
    let here = sandbox.run(&FAULTS);
    assert_eq!(answer.stdout, here.stdout);
}

#[test]
fn a_prefix_that_passes_no_standard_input_on_gets_the_orders_as_arguments() {
    let sandbox = sandbox();
    // The standard input of a cell is its lifeline, and stays.
    let text = "[ \"$2\" = exec ] || exec \"$@\"\necho \"$@\" >>\"${0%/*}/log\"; exec \"$@\" </dev/null";
    let prefix = sandbox.script("prefix", text);
    sandbox
        .run(&[&FAULTS[..], &["--prefix", &prefix]].concat())
        .expect(0, &[KILLED, "restarting for 0 attempts"]);
    let log = fs::read_to_string(sandbox.path("log")).expect("the prefix was used");
    assert!(log.lines().nth(1).is_some_and(|line| line.contains("--orders []")), "{log}");
    assert!(log.contains("\"cell\":\"deletion/disown/pipe-level-1t1g@poll\""), "{log}");
}

#[test]
fn a_machine_that_no_longer_answers_ends_the_run_and_resume_continues_it() {
    let sandbox = sandbox();
    let failing = format!(
        "n=$(cat \"${{0%/*}}/count\" 2>/dev/null || echo 0)\n\
        [ \"$2\" = exec ] || exec \"$@\"\n\
        echo $((n + 1)) >\"${{0%/*}}/count\"\n\
        [ $n -lt 1 ] || {{ echo 'no route to host' >&2; exit 255; }}\n\
        {}",
        cut_after(8)
    );
    let prefix = sandbox.script("prefix", &failing);
    let arguments = [&FAULTS[..], &["--prefix", &prefix, "--jobs", "1"]].concat();
    let root = sandbox.path("tree");
    fs::create_dir_all(root.join("crates/cli")).expect("writable");
    let tree = root.display().to_string();
    let recorded = [&arguments[..], &["--record", "--root", &tree]].concat();
    sandbox.run(&recorded).expect(
        2,
        &[
            "error: no attempt can be made on here: the executor ended (exit status: 255): no route to host",
            "help: the finished attempts are kept: when the connection works, the same command with --resume",
        ],
    );
    assert!(!root.join("crates/cli/kills.tsv").exists(), "an incomplete run records nothing");
    let before = attempts(&sandbox);
    assert_eq!(before.len(), 7, "{before:?}");
    sandbox.script("prefix", FORWARD);
    sandbox.run(&[&arguments[..], &["--resume"]].concat()).expect(0, &[KILLED]);
    let after = attempts(&sandbox);
    assert_eq!(after[..7], before, "no attempt is repeated");
    let here = sandbox.run(&FAULTS);
    here.expect(0, &[KILLED]);
    assert_eq!(attempts(&sandbox).len(), after.len());
}

#[test]
fn a_run_is_not_resumed_on_another_machine_or_kernel() {
    let sandbox = sandbox();
    let prefix = sandbox.script("prefix", FORWARD);
    let arguments = [&FAULTS[..], &["--prefix", &prefix]].concat();
    sandbox.run(&arguments).expect(0, &[KILLED]);
    let log = sandbox.path("pollmatrix-report/kill-matrix.jsonl");
    let text = fs::read_to_string(&log).expect("the attempts are written");
    let old = format!("\"kernel\":\"{}\"", kernel());
    assert!(text.contains(&old), "{text}");
    fs::write(&log, text.replace(&old, "\"kernel\":\"0.0.1-older\"")).expect("writable");
    sandbox.run(&[&arguments[..], &["--resume"]].concat()).expect(
        2,
        &[
            "the interrupted run was made on",
            "0.0.1-older",
            "help: continue on that machine, or omit --resume",
        ],
    );
    // The attempts of another runner are not used.
    let native = sandbox.run(&[&FAULTS[..], &["--resume"]].concat());
    native.expect(0, &["no matching run to resume", KILLED]);
}

#[test]
fn an_executable_without_faults_and_a_dead_machine_are_refused_with_the_reason() {
    let sandbox = sandbox();
    let hide = "[ \"$2\" = exec ] || exec \"$@\"\n\
        \"$@\" | while read -r line; do printf '%s\\n' \"$line\" | sed 's/\"faults\":true/\"faults\":false/'; done";
    let prefix = sandbox.script("prefix", hide);
    sandbox.run(&[&FAULTS[..], &["--prefix", &prefix]].concat()).expect(
        2,
        &["was built without faults", "help: build it with the feature `faults`, which is on by default"],
    );
    assert_eq!(attempts(&sandbox).len(), 0);
    let prefix = sandbox.script("prefix", "echo 'no such machine' >&2; exit 1");
    sandbox
        .run(&[&FAULTS[..], &["--prefix", &prefix]].concat())
        .expect(2, &["no attempt can be made on here: the executor ended (exit status: 1): no such machine"]);
}

#[test]
fn only_one_target_that_starts_programs_has_a_kill_matrix() {
    let sandbox = sandbox();
    let help = "help: give one --target with a runner that starts programs";
    sandbox.run(&[&FAULTS[..], &["--target", "all"]].concat()).expect(2, &["one target at a time", help]);
    let import = ["--via", "import", "--import", "results.json"];
    sandbox.run(&[&FAULTS[..], &import].concat()).expect(2, &["which an import cannot make", help]);
    sandbox
        .run(&[&FAULTS[..], &["--target", "her"]].concat())
        .expect(2, &["there is no target 'her'", "did you mean 'here'?"]);
}

#[test]
fn kills_are_recorded_for_the_system_of_the_target_with_its_kernel_and_the_number_of_seeds() {
    let sandbox = sandbox();
    let triple = runner::provenance::TRIPLE;
    let os = if cfg!(target_os = "freebsd") { "netbsd" } else { "freebsd" };
    sandbox.add_targets(&format!(
        "  - {{ id: other, triple: {triple}, os: {os}, arch: vax, ways: [prefix: env] }}\n"
    ));
    let (root, own) = (sandbox.path("tree"), std::env::consts::OS);
    let file = root.join("crates/cli/kills.tsv");
    fs::create_dir_all(root.join("crates/cli")).expect("writable");
    let cell = "deletion/disown/pipe-level-1t1g@poll";
    let kept = format!("{own}\tdisown-closes\t{cell}\tfails");
    fs::write(&file, format!("{kept}\n{os}\tdisown-closes\t{cell}\thangs\t0.1\t3\n")).expect("writable");
    let tree = root.display().to_string();
    let record = ["--target", "other", "--executable", POLLMATRIX, "--record", "--root", &tree];
    sandbox.run(&[&FAULTS[..], &record].concat()).expect(0, &[KILLED, "1 kill, 1 other lines kept"]);
    let text = fs::read_to_string(&file).expect("the file is written");
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let new = format!("{os}\tdisown-closes\t{cell}\tfails\t{}\t8", kernel());
    let mut expected = [kept.as_str(), new.as_str()];
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

#[test]
fn a_fault_that_this_system_cannot_have_is_killed_elsewhere_or_not_run() {
    let sandbox = sandbox();
    let (fault, backend) = if cfg!(target_os = "linux") {
        ("kqueue-stops-at-first-error", "kqueue")
    } else {
        ("epoll-ignores-eexist", "epoll")
    };
    let other = if cfg!(target_os = "linux") { "freebsd" } else { "linux" };
    let text = fs::read_to_string(sandbox.path("matrix.yml")).expect("there is a matrix");
    let text = text.replace(
        "backends:\n",
        &format!("backends:\n  - {{ id: {backend}, os: [{other}], triggers: [level] }}\n"),
    );
    fs::write(sandbox.path("matrix.yml"), text).expect("writable");
    let root = sandbox.path("tree");
    let file = root.join("crates/cli/kills.tsv");
    fs::create_dir_all(root.join("crates/cli")).expect("writable");
    let tree = root.display().to_string();
    // The tree's record is used in place of the built-in one.
    let faults = || sandbox.run(&["faults", "--fault", fault, "--record", "--root", &tree]);
    faults().expect(
        0,
        &[
            &format!("not run    {fault}: {backend} does not exist on {}", std::env::consts::OS),
            "0 survive, 1 not run here",
        ],
    );
    let cell = format!("deletion/disown/pipe-level-1t1g@{backend}");
    fs::write(&file, format!("{other}\t{fault}\t{cell}\tfails\t14.3-RELEASE\t8\n")).expect("writable");
    let found = faults();
    found.expect(
        0,
        &[
            &format!("recorded   {fault}: killed on {other} 14.3-RELEASE (recorded: {cell}, 8 seeds)"),
            "0 survive, 1 killed on another system (recorded), 0 not run here",
        ],
    );
    assert!(!found.stdout.contains("not run    "), "{}", found.stdout);
    let report =
        fs::read_to_string(sandbox.path("pollmatrix-report/kill-matrix.md")).expect("the file is written");
    assert!(report.contains("killed on"), "{report}");
}

#[test]
fn the_faults_of_a_pattern_are_tried() {
    let sandbox = sandbox();
    let list = |name: &str| sandbox.run(&["faults", "deletion/disown", "--fault", name, "--cells", "1"]);
    list("disown-close?").expect(0, &[KILLED]);
    list("no-such-*")
        .expect(2, &["there is no fault 'no-such-*'", "`pollmatrix faults --list` shows every fault"]);
}

#[test]
fn executors_and_cells_end_with_a_killed_driver() {
    if lacks("ps") {
        return;
    }
    let sandbox = Sandbox::new(&["hang"], 300);
    sandbox.add_scenarios(SCENARIOS);
    let prefix = sandbox.script("prefix", FORWARD);
    let arguments = ["faults", "selftest/hang", "--fault", "double-close", "--prefix", &prefix];
    let mut child = sandbox.start(&arguments);
    eventually("a cell hangs", || sandbox.cells_alive() >= 1);
    child.kill().expect("the driver is alive");
    child.wait().expect("the driver is reaped");
    eventually("the cell is gone", || sandbox.cells_alive() == 0);
    let mut child = sandbox.start(&arguments);
    eventually("a cell hangs", || sandbox.cells_alive() >= 1);
    kill(Pid::from_raw(i32::try_from(child.id()).expect("a process id fits")), Signal::SIGINT)
        .expect("the driver is alive");
    assert_eq!(child.wait().expect("the driver ends").code(), Some(130));
    assert_eq!(sandbox.cells_alive(), 0);
}

#[test]
fn malformed_orders_are_refused() {
    let sandbox = sandbox();
    let orders = |text: &str| {
        let mut command = sandbox.command(&["exec", "--orders", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the executable starts");
        let mut input = child.stdin.take().expect("standard input is a pipe");
        input.write_all(text.as_bytes()).expect("the executable reads");
        drop(input);
        let output = child.wait_with_output().expect("the command ends");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (text, says) in [
        ("", "standard input ended before the empty line"),
        ("begin\n", "the first line is \"begin\""),
        ("orders\n{\"order\":1}\n\n", "missing field"),
        ("orders\nx\n\n", "the attempts that were ordered cannot be read"),
    ] {
        let (code, stderr) = orders(text);
        assert_eq!(code, Some(2), "{text:?}: {stderr}");
        assert!(stderr.contains(says), "{text:?}: {stderr}");
    }
    sandbox.run(&["exec", "--orders", "[1]"]).expect(2, &["cannot be read", "the same version"]);
    sandbox.run(&["exec", "--orders", "[]"]).expect(0, &["{\"line\":\"end\",\"cells\":0}"]);
}
