//! Arguments, matrix files and limits that nobody means well with: they are refused or obeyed, and nothing panics.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::{Gid, Uid, geteuid, setgid, setuid};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::sandbox::{Sandbox, id};

/// A command that obeys goes on until it is killed. What it was asked for is looked at in the first moments.
const GLANCE: Duration = Duration::from_secs(2);

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

/// How a command ended, unless it had to be killed; and what it said.
fn ended(command: &mut Command) -> (Option<ExitStatus>, String) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let said = dir.path().join("stderr");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(fs::File::create(&said).expect("the folder is writable"));
    let mut child = command.spawn().expect("the executable starts");
    let began = Instant::now();
    let status = loop {
        match child.try_wait().expect("it can be waited for") {
            Some(status) => break Some(status),
            None if began.elapsed() < GLANCE => std::thread::sleep(Duration::from_millis(5)),
            None => {
                child.kill().expect("it is there");
                child.wait().expect("it ends");
                break None;
            }
        }
    };
    (status, String::from_utf8_lossy(&fs::read(said).unwrap_or_default()).into_owned())
}

/// Why it is no answer to what was asked, if it is none.
fn panicked(command: &mut Command) -> Option<String> {
    let (status, said) = ended(command);
    let bad = said.contains("panicked at")
        // A cell that panicked.
        || said.contains("] crash ")
        || status.is_some_and(|status| status.code() == Some(101) || status.signal().is_some());
    bad.then(|| format!("{:?}: {status:?}\n{said}", command.get_args().collect::<Vec<_>>()))
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
    let commands: [&[&str]; 16] = [
        &["run", "selftest/hang", "--slow"],
        &["run", "selftest/pass", "--seed", "0xffffffffffffffff", "--repeat"],
        &["run", "selftest/pass", "--jobs"],
        &["run", "selftest/pass", "--prefix", "env", "--slow"],
        &["exec", "--all", "--jobs", "1", "--slow"],
        &["run-cell", &pass, "--seed"],
        &["run-cell", &pass, "--seed", "1", "--patience-ms"],
        &["run-cell", &hang, "--seed", "1", "--patience-ms", "18446744073709551615", "--slow"],
        &["probe", "V26", "--backend", "poll", "--slow"],
        &["soak", "--duration", "1s", "--slow"],
        &["soak", "--duration", "1s", "--threads"],
        &["soak", "--duration", "1s", "--threads", "18446744073709551615", "--groups"],
        &["faults", "selftest/pass", "--fault", "double-close", "--jobs", "1", "--cells"],
        &["faults", "selftest/pass", "--fault", "double-close", "--slow"],
        &["plan", "--shards"],
        &["subject-check", "--patience"],
    ];
    let all = commands.iter().flat_map(|command| {
        let last = if command[0] == "subject-check" { vec!["true"] } else { Vec::new() };
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
    let text = fs::read_to_string(sandbox.path("matrix.yml")).expect("it is there");
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
            fs::write(sandbox.path("matrix.yml"), edited).expect("the sandbox is writable");
            let commands = [
                &["run", "--slow", "4294967295"][..],
                &["run", "--prefix", "env"],
                &["list"],
                &["plan", "--shards", "1"],
            ];
            let panics = panics(&sandbox, commands.map(<[_]>::to_vec));
            found.extend(panics.into_iter().map(|panic| format!("{value} with {number}: {panic}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_time_that_no_machine_has_is_refused_where_it_is_written() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let text = fs::read_to_string(sandbox.path("matrix.yml")).expect("it is there");
    let text = text.replace("pass, timeout: 300", "pass, timeout: 18446744073709551615");
    fs::write(sandbox.path("matrix.yml"), text).expect("the sandbox is writable");
    sandbox.run(&["list"]).expect(2, &["matrix.yml:", "selftest/pass", "help: ", "at most 31536000"]);
    sandbox
        .run(&["soak", "--duration", "500000000000y", "--matrix", "/dev/null"])
        .expect(2, &["--duration", "at most"]);
}

/// RLIMIT_NPROC counts what a user runs, and root is exempt: the command becomes a user that runs nothing else.
#[test]
fn a_limit_of_processes_makes_nothing_panic() {
    if !geteuid().is_root() {
        eprintln!("not run: only root can become a user that runs nothing else");
        return;
    }
    for limit in 1..=16 {
        let sandbox = Sandbox::new(&["pass"], 300);
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        open(&sandbox.path(""), 0o777).expect("it is the test's");
        let executable = sandbox.own_pollmatrix();
        let mut command = Command::new(executable);
        command.args(["run", "--jobs", "2", "--report-dir"]).arg(sandbox.path("report"));
        command.args(LIMITED).current_dir(sandbox.path(""));
        // SAFETY: system calls only, between fork and exec.
        unsafe {
            command.pre_exec(move || {
                setgid(Gid::from_raw(NOBODY))?;
                setuid(Uid::from_raw(NOBODY))?;
                let limits = nix::libc::rlimit { rlim_cur: limit, rlim_max: limit };
                match nix::libc::setrlimit(nix::libc::RLIMIT_NPROC, &raw const limits) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let said = sandbox.path("said");
        let stderr = fs::File::create(&said).expect("the sandbox is writable");
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).status();
        let said = fs::read_to_string(said).expect("it is text");
        let code = status.expect("the executable starts").code();
        assert!(matches!(code, Some(0..=2)), "limit {limit}: {code:?}\n{said}");
        assert!(!said.contains("panicked at") && !said.contains("] crash "), "limit {limit}:\n{said}");
        // What could not be tried is not said to be wrong.
        assert!(!said.contains("] fail ") && !said.contains("] timeout "), "limit {limit}:\n{said}");
        let results = fs::read_to_string(sandbox.path("report/results.json")).expect("there is a report");
        assert!(limit > 1 || results.contains("could not be started"), "{results}");
    }
}

/// A user that runs nothing.
const NOBODY: u32 = 65534;

/// Cells that start threads and processes of their own.
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

/// Options of some command, each with values that fit its kind or do not.
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
        "targets",
        "show",
        "merge",
        "diff",
        "faults",
        "soak",
        "expectations",
        "probe",
        "record",
        "publish",
        "subject-check",
        "plan",
        "exec",
        "run-cell",
    ]);
    // Those that write go nowhere but into the sandbox, which is where the command is run.
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
        "--via",
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
        "--shards",
        "--image",
        "--patience",
        "--patience-ms",
        "--subject",
        "--expectations",
        "--only",
        "--keep",
        "--recorded",
    ]);
    let options = prop::collection::vec((option, value.clone()), 0..4);
    (command, prop::collection::vec(value, 0..2), options).prop_map(|(command, values, options)| {
        let options = options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        std::iter::once(command.to_owned()).chain(values).chain(options).collect()
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
