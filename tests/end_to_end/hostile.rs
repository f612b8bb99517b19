//! Extreme arguments, matrix files and limits are refused or applied, and cause no panic.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::{Gid, Uid, geteuid, setgid, setuid};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::sandbox::{Answer, Sandbox, empty_expectations, id};

/// A command that accepts its arguments runs until it is killed after this time.
const OBSERVED: Duration = Duration::from_secs(2);

const NUMBERS: [&str; 10] = [
    "0",
    "1",
    "65",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "1e400",
];
const TIMES: [&str; 6] = ["0s", "1ns", "500000000000y", "584942417355y", "18446744073709551615s", "1y"];
const WORDS: [&str; 8] =
    ["", " ", "*", "'", "a/b@c", "\u{1b}[2J", "1/0", "18446744073709551615/18446744073709551615"];

/// Runs a command. Returns its exit status, `None` if it was killed after [`OBSERVED`], and its standard
/// error.
fn ended(command: &mut Command) -> (Option<ExitStatus>, String) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let stderr = dir.path().join("stderr");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(fs::File::create(&stderr).expect("the folder is writable"));
    let mut child = command.spawn().expect("the executable starts");
    let began = Instant::now();
    let status = loop {
        match child.try_wait().expect("the command is a child") {
            Some(status) => break Some(status),
            None if began.elapsed() < OBSERVED => std::thread::sleep(Duration::from_millis(5)),
            None => {
                child.kill().expect("the command is alive");
                child.wait().expect("the command ends");
                break None;
            }
        }
    };
    (status, String::from_utf8_lossy(&fs::read(stderr).unwrap_or_default()).into_owned())
}

/// Runs a command. Returns its output if the command or one of its cells panicked, or if a signal ended the
/// command.
fn panicked(command: &mut Command) -> Option<String> {
    let (status, stderr) = ended(command);
    let bad = stderr.contains("panicked at")
        // A cell panicked.
        || stderr.contains("] crash ")
        || status.is_some_and(|status| status.code() == Some(101) || status.signal().is_some());
    bad.then(|| format!("{:?}: {status:?}\n{stderr}", command.get_args().collect::<Vec<_>>()))
}

fn expect_no_panic<'a>(sandbox: &Sandbox, commands: impl IntoIterator<Item = Vec<&'a str>>) {
    let panics = panics(sandbox, commands);
    assert!(panics.is_empty(), "{}", panics.join("\n"));
}

fn panics<'a>(sandbox: &Sandbox, commands: impl IntoIterator<Item = Vec<&'a str>>) -> Vec<String> {
    commands.into_iter().filter_map(|arguments| panicked(&mut sandbox.command(&arguments))).collect()
}

#[test]
fn no_number_makes_a_command_panic() {
    let sandbox = Sandbox::new(&["pass", "hang"], 300);
    let (pass, hang) = (id("pass"), id("hang"));
    let commands: [&[&str]; 15] = [
        &["run", "selftest/hang", "--slow"],
        &["run", "selftest/pass", "--seed", "0xffffffffffffffff", "--repeat"],
        &["run", "selftest/pass", "--jobs"],
        &["run", "selftest/pass", "--prefix", "env", "--slow"],
        &["worker", "exec", "--all", "--jobs", "1", "--slow"],
        &["worker", "cell", &pass, "--seed"],
        &["worker", "cell", &pass, "--seed", "1", "--patience-ms"],
        &["worker", "cell", &hang, "--seed", "1", "--patience-ms", "18446744073709551615", "--slow"],
        &["probe", "V26", "--backend", "poll", "--slow"],
        &["soak", "--duration", "1s", "--slow"],
        &["soak", "--duration", "1s", "--threads"],
        &["soak", "--duration", "1s", "--threads", "18446744073709551615", "--groups"],
        &["faults", "selftest/pass", "--fault", "double-close", "--jobs", "1", "--cells"],
        &["faults", "selftest/pass", "--fault", "double-close", "--slow"],
        &["adapter", "check", "--patience"],
    ];
    let all = commands.iter().flat_map(|command| {
        let last = if command[0] == "adapter" { vec!["true"] } else { Vec::new() };
        NUMBERS.map(|number| [*command, &[number], &last].concat())
    });
    expect_no_panic(&sandbox, all);
}

#[test]
fn no_time_makes_the_soak_panic() {
    let sandbox = Sandbox::new(&["pass"], 300);
    expect_no_panic(&sandbox, TIMES.map(|time| vec!["soak", "--threads", "2", "--duration", time]));
}

#[test]
fn no_number_in_a_matrix_makes_a_command_panic() {
    let sandbox = Sandbox::new(&["hang"], 300);
    let text = sandbox.text("matrix.yml");
    let mut found = Vec::new();
    for (key, value) in [
        ("timeout: 300 }\n", "timeout: N }\n"),
        ("timeout: 300 }\nbackends", "timeout: N }\nbackends"),
        ("hang,", "hang, threads: [N],"),
        ("hang,", "hang, threads: [N], groups: [N],"),
        ("hang,", "hang, groups: [N],"),
        ("hang,", "hang, threads: [1, 2, N], groups: [1, N, 2],"),
        ("version: 2", "version: N"),
    ] {
        assert!(text.contains(key), "{key}");
        for number in NUMBERS {
            let edited = text.replace(key, &value.replace('N', number));
            sandbox.put("matrix.yml", edited);
            let commands = [
                &["run", "--slow", "4294967295"][..],
                &["run", "--prefix", "env"],
                &["list", "--shard", "1/2"],
            ];
            let panics = panics(&sandbox, commands.map(<[_]>::to_vec));
            found.extend(panics.into_iter().map(|panic| format!("{value} with {number}: {panic}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_excessive_time_is_refused_with_its_position() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let text = sandbox.text("matrix.yml");
    let text = text.replace("pass, timeout: 300", "pass, timeout: 18446744073709551615");
    sandbox.put("matrix.yml", text);
    sandbox.run(&["list"]).expect(2, &["matrix.yml:", "selftest/pass", "help: ", "at most 31536000"]);
    sandbox
        .run(&["soak", "--duration", "500000000000y", "--matrix", "/dev/null"])
        .expect(2, &["--duration", "at most"]);
}

/// RLIMIT_NPROC counts the processes of a user, except root's. The command therefore runs as a user without
/// other processes.
#[test]
fn a_process_limit_causes_no_panic_and_is_the_reason() {
    if !geteuid().is_root() {
        eprintln!("not run: only root can switch to a user without other processes");
        return;
    }
    for limit in 1..=16 {
        let sandbox = Sandbox::new(&["pass"], 300);
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        open(&sandbox.path(""), 0o777).expect("the folder belongs to the test");
        let executable = sandbox.own_pollmatrix();
        let mut command = Command::new(executable);
        command.args(["run", "--jobs", "2", "--report-dir"]).arg(sandbox.path("report"));
        command.args(LIMITED).current_dir(sandbox.path(""));
        // SAFETY: system calls only, between fork and exec.
        unsafe {
            command.pre_exec(move || {
                setgid(Gid::from_raw(UNUSED_USER))?;
                setuid(Uid::from_raw(UNUSED_USER))?;
                let limits = nix::libc::rlimit { rlim_cur: limit, rlim_max: limit };
                match nix::libc::setrlimit(nix::libc::RLIMIT_NPROC, &raw const limits) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let path = sandbox.path("stderr");
        let file = fs::File::create(&path).expect("the sandbox is writable");
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).status();
        let stderr = fs::read_to_string(path).expect("standard error is text");
        let code = status.expect("the executable starts").code();
        assert!(matches!(code, Some(0..=2)), "limit {limit}: {code:?}\n{stderr}");
        assert!(!stderr.contains("panicked at") && !stderr.contains("] crash "), "limit {limit}:\n{stderr}");
        // A cell that could not be tried is neither a failure nor a timeout.
        assert!(!stderr.contains("] fail ") && !stderr.contains("] timeout "), "limit {limit}:\n{stderr}");
        let results = sandbox.text("report/results.json");
        assert!(limit > 1 || results.contains("cannot start the cell"), "{results}");
        let results: Value = serde_json::from_str(&results).expect("results.json is JSON");
        for cell in results["cells"].as_array().expect("cells is a list") {
            let reason = cell["reason"].as_str().unwrap_or_default();
            let names_limit =
                reason.contains("ulimit -u") || reason.contains("more threads than the system starts");
            assert!(cell["status"] != "broken" || names_limit, "limit {limit}: {cell}");
        }
    }
}

/// The id of a user without processes.
const UNUSED_USER: u32 = 65534;

/// Cells that start threads and processes.
const LIMITED: [&str; 8] = [
    "deletion/close-once/pipe-level-2t1g@poll",
    "deletion/delete-twice/pipe-level-2t1g@poll",
    "deletion/slow-close",
    "migration/takeover-storm/pipe-level-2t1g@poll",
    "migration/old-thread-forgets/pipe-level-2t1g@poll",
    "shared-listener/accept-once/unix-level-2t1g@poll",
    "shared-listener/delete-while-accepting/unix-level-2t1g@poll",
    "regression/dump-stops-users",
];

/// Generates command lines with options whose values may or may not be valid.
fn arguments() -> impl Strategy<Value = Vec<String>> {
    let value = prop_oneof![
        prop::sample::select(&NUMBERS[..]).prop_map(str::to_owned),
        prop::sample::select(&TIMES[..]).prop_map(str::to_owned),
        prop::sample::select(&WORDS[..]).prop_map(str::to_owned),
        "[^\0]{0,12}",
    ];
    let command = prop::sample::select(vec![
        "run",
        "list",
        "list --targets",
        "show",
        "merge",
        "diff",
        "faults",
        "soak",
        "expectations show",
        "expectations record",
        "probe",
        "site",
        "adapter check",
        "worker exec",
        "worker cell",
    ]);
    // Commands that write do so in the sandbox, their working directory.
    let option = prop::sample::select(vec![
        "--backend",
        "--filter",
        "--layer",
        "--shard",
        "--slow",
        "--seed",
        "--jobs",
        "--repeat",
        "--fault",
        "--target",
        "--runner",
        "--executable",
        "--prefix",
        "--host",
        "--import",
        "--format",
        "--not-run",
        "--prefer",
        "--fail-on",
        "--cells",
        "--threads",
        "--groups",
        "--duration",
        "--os",
        "--transport",
        "--mode",
        "--patience",
        "--patience-ms",
        "--adapter",
        "--expectations",
        "--only",
        "--keep",
        "--recorded",
    ]);
    let options = prop::collection::vec((option, value.clone()), 0..4);
    (command, prop::collection::vec(value, 0..2), options).prop_map(|(command, values, options)| {
        let options = options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        command.split(' ').map(str::to_owned).chain(values).chain(options).collect()
    })
}

#[test]
fn no_command_line_makes_the_command_panic() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let config = Config { cases: 150, max_shrink_iters: 30, failure_persistence: None, ..Config::default() };
    let check = |arguments: Vec<String>| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let why = panicked(&mut sandbox.command(&arguments));
        why.map_or(Ok(()), |why| Err(TestCaseError::fail(why)))
    };
    TestRunner::new(config).run(&arguments(), check).unwrap_or_else(|error| panic!("{error}"));
}

/// Runs one characterisation cell in a folder in the sandbox, `inner`, beside a README.md.
fn characterised() -> Sandbox {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.add_scenarios("  - id: readiness/*\n");
    empty_expectations(&sandbox.path("inner/expected"));
    sandbox.put("README.md", "keep me\n");
    sandbox.run(&["run", "readiness/pipe-idle/pipe-level-1t1g@poll"]).expect(0, &[]);
    sandbox
}

/// Returns the files of the sandbox with their contents, except those of an import, which has a journal
/// before it reads.
fn files(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![sandbox.path("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder is readable") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                folders.extend((!path.ends_with("inner/imported")).then_some(path));
            } else {
                let content = fs::read(&path).expect("the file is readable");
                found.insert(path, content);
            }
        }
    }
    found
}

/// Changes results.
type Edit = fn(&mut Value);

/// Changes of results that lead a path out of its folder, each with the field that the error names.
fn leading_out() -> Vec<(&'static str, Edit)> {
    fn cell(value: &mut Value, backend: &str, target: &str) {
        for cell in value["cells"].as_array_mut().expect("cells is a list") {
            let id = cell["id"].as_str().expect("an id is text").replace("@poll", &format!("@{backend}"));
            (cell["backend"], cell["id"], cell["target"]) = (backend.into(), id.into(), target.into());
        }
        value["runs"][0]["target"] = target.into();
    }
    vec![
        ("runs[0].target` is '../..'", |value| cell(value, "README", "../..")),
        ("cells[0].backend` is 'README'", |value| cell(value, "README", "here")),
        ("cells[0].backend` is '../../x'", |value| cell(value, "../../x", "here")),
        ("runs[0].arch` is '/../..'", |value| value["runs"][0]["arch"] = "/../..".into()),
        ("runs[0].kqueue` is '../../../x'", |value| value["runs"][0]["kqueue"] = "../../../x 1.0".into()),
        ("runs[0].adapters` is '../x'", |value| value["runs"][0]["adapters"] = json!({ "../x": "1" })),
        ("runs[0].runner` is 'a/b'", |value| value["runs"][0]["runner"] = "a/b".into()),
    ]
}

#[test]
fn no_name_in_results_leads_a_command_out_of_its_folder() {
    let sandbox = characterised();
    let good = sandbox.results();
    let commands: [&[&str]; 8] = [
        &["site", "bad.json", "--out", "inner/site"],
        &["expectations", "record", "bad.json", "--expectations", "inner/expected"],
        &["expectations", "judge", "bad.json"],
        &["diff", "bad.json", "good.json"],
        &["diff", "good.json", "bad.json", "--by-kernel"],
        &["merge", "bad.json", "--by-kernel", "--report-dir", "inner/merged"],
        &["run", "--import", "bad.json", "--report-dir", "inner/imported"],
        &["show", "readiness/pipe-idle/pipe-level-1t1g@poll", "--report-dir", "bad"],
    ];
    sandbox.put("good.json", good.to_string());
    fs::create_dir(sandbox.path("bad")).expect("writable");
    for (expected, edit) in leading_out() {
        let mut bad = good.clone();
        edit(&mut bad);
        for file in ["bad.json", "bad/results.json"] {
            sandbox.put(file, bad.to_string());
        }
        let before = files(&sandbox);
        for command in commands {
            let Answer { code, stderr, .. } = sandbox.run(command);
            assert_eq!(code, Some(2), "{command:?} with {expected}: {stderr}");
            assert!(stderr.contains(expected) && stderr.contains("bad"), "{command:?}: {stderr}");
            assert!(stderr.contains("lower-case letters"), "{command:?}: {stderr}");
        }
        assert!(files(&sandbox) == before, "with {expected}");
    }
}

#[test]
fn no_name_in_a_journal_or_in_lines_of_an_executor_leads_out_of_a_folder() {
    let sandbox = characterised();
    let journal = sandbox.path("pollmatrix-report/journal.jsonl");
    let good = fs::read_to_string(&journal).expect("there is a journal");
    let target = sandbox.results()["runs"][0]["target"].as_str().expect("it is text").to_owned();
    let bad = good.replace(&format!("\"target\":\"{target}\""), "\"target\":\"../..\"");
    fs::write(&journal, bad).expect("writable");
    let expected =
        ["journal.jsonl:1: the field `identity.target` is '../..'", "help: use lower-case letters"];
    sandbox.run(&["run", "--resume"]).expect(2, &expected);

    let lines = sandbox.run(&["worker", "exec", "readiness/pipe-idle/pipe-level-1t1g@poll"]).stdout;
    for (from, to, line, expected) in [
        ("@poll\"", "@README\"", 2, "the field `id` is 'readiness/pipe-idle/pipe-level-1t1g@README'"),
        ("\"backend\":\"poll\"", "\"backend\":\"../x\"", 2, "the field `backend` is '../x'"),
        ("\"runner\":\"native\"", "\"runner\":\"../x\"", 1, "the field `runner` is '../x'"),
    ] {
        assert!(lines.contains(from), "{lines}");
        sandbox.put("lines", lines.replace(from, to));
        let expected_line = format!("line {line}: {expected}");
        sandbox
            .run(&["run", "--import", "lines", "--report-dir", "inner/imported"])
            .expect(2, &[&expected_line, "help: use lower-case letters"]);
        // The same change to the lines of an executor that runs.
        let edit = format!("case $3 in exec) \"$@\" | sed 's#{from}#{to}#' ;; *) exec \"$@\" ;; esac");
        let prefix = sandbox.script("prefix", &edit);
        let cell = "readiness/pipe-idle/pipe-level-1t1g@poll";
        let run = sandbox.run(&["run", cell, "--prefix", &prefix, "--report-dir", "inner/remote"]);
        assert!(run.code != Some(0) && run.stderr.contains(expected), "{:?}: {}", run.code, run.stderr);
    }
}
