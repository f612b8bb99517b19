//! Scenarios that misbehave on purpose, to test the runner. They are not in matrix.yml: only a matrix file
//! given with `--matrix` can select them.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use metadata::{Axes, Check, Description, Layer, Mode, Transport};
use scenarios::{Outcome, Verdict};

use crate::output;

type SelfTest = fn(seed: u64) -> (Verdict, Outcome);

const ALL: [(&str, SelfTest); 16] = [
    ("selftest/pass", |_| answer(true)),
    ("selftest/fail", |_| answer(false)),
    ("selftest/unsupported", |_| {
        (Verdict::Unsupported("no system supports this".into()), Outcome::default())
    }),
    ("selftest/broken", |_| (Verdict::Broken("the set-up failed".into()), Outcome::default())),
    // The seed increases with each attempt, so half of the attempts pass.
    ("selftest/flaky", |seed| answer(seed.is_multiple_of(2))),
    ("selftest/hang", |_| hang()),
    ("selftest/panic", |_| panic!("an invariant does not hold")),
    // A panic in any thread ends the cell at once, not when the thread is joined.
    ("selftest/panic-in-thread", |_| {
        let _ = std::thread::Builder::new().spawn(|| panic!("an invariant does not hold in a thread"));
        hang()
    }),
    // Not SIGSEGV: Rust's handler returns from it, and expects the instruction to fault again.
    ("selftest/signal", |_| {
        let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGILL);
        hang()
    }),
    ("selftest/silent", |_| std::process::exit(0)),
    ("selftest/talkative", |_| {
        let _ = output::print_line("a line that is no result");
        answer(true)
    }),
    ("selftest/floods-output", |_| flood(std::io::stdout())),
    ("selftest/floods-error", |_| flood(std::io::stderr())),
    ("selftest/leaves-a-child", |_| leave_a_child(&mut sleep())),
    ("selftest/leaves-a-session", |_| leave_a_child(in_a_session(&mut sleep()))),
    ("selftest/leaves-a-daemon", |_| {
        leave_a_child(in_a_session(sleep().stdout(Stdio::null()).stderr(Stdio::null())))
    }),
];

/// Returns the self-tests, as a matrix file can name them.
pub fn descriptions() -> impl Iterator<Item = Description> {
    let axes = Axes { transports: &[Transport::Tcp], triggers: &[Mode::Level], threads: &[1], ..Axes::PLAIN };
    let described = move |(id, _)| Description { id, title: "A self-test", layer: Layer::Contract, axes };
    ALL.into_iter().map(described)
}

/// Returns the self-test of this id.
pub fn find(id: &str) -> Option<SelfTest> {
    ALL.iter().find(|(known, _)| *known == id).map(|(_, run)| *run)
}

fn answer(holds: bool) -> (Verdict, Outcome) {
    let check = Check {
        what: "the answer".into(),
        expected: vec!["42".into(), "forty-two".into()],
        observed: if holds { "42".into() } else { "41".into() },
        source: "selftest".into(),
        holds,
        ..Check::default()
    };
    let verdict = if holds { Verdict::Pass } else { Verdict::Fail(check.what.clone()) };
    let outcome = Outcome {
        checks: vec![check],
        counters: [("questions".to_owned(), 1)].into(),
        notes: vec!["a note".into()],
        ..Outcome::default()
    };
    (verdict, outcome)
}

fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Writes one line that never ends.
fn flood(mut to: impl std::io::Write) -> ! {
    loop {
        let _ = to.write_all(&[b'x'; 1 << 16]);
    }
}

/// Returns a command that runs for an hour, and holds the cell's standard output and error open.
fn sleep() -> Command {
    let mut command = Command::new("sleep");
    command.arg("3600").stdin(Stdio::null());
    command
}

/// Lets the child lead a session, which takes it out of the process group of the cell.
fn in_a_session(command: &mut Command) -> &mut Command {
    // SAFETY: one system call, between fork and exec.
    unsafe { command.pre_exec(|| Ok(nix::unistd::setsid().map(drop)?)) }
}

/// Starts a child, and leaves it behind. Puts its process id into the notes, so that a test can look for it.
#[allow(clippy::zombie_processes)] // The self-test leaves the child behind on purpose.
fn leave_a_child(command: &mut Command) -> (Verdict, Outcome) {
    let (verdict, mut outcome) = answer(true);
    match command.spawn() {
        Ok(child) => outcome.notes.push(format!("child {}", child.id())),
        Err(error) => return (Verdict::Broken(format!("cannot start sleep: {error}")), outcome),
    }
    (verdict, outcome)
}
