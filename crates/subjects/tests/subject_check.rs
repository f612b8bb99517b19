//! `subject-check` names what is wrong: each check fails for a mistake that it is there for.

#![allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic")]

use std::collections::BTreeSet;
use std::os::fd::RawFd;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use metadata::Mode;
use nix::errno::Errno;
use rstest::rstest;
use selector::{Capabilities, Changed, Event, Interest, MakeSelector, Selector, Token, Unsupported, View};
use subjects::testing::lacks;
use subjects::{Check, Outcome, check, check_process};

/// Long enough for an interpreter on a busy machine, and waited out by whoever loses events.
const PATIENCE: Duration = Duration::from_secs(5);

const BAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad_adapter.py");

/// Mistake, poller, the check that names it, and what that says.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("hello-hangs", "poll", "hello", r#"no answer to {"hello":{"protocol":1}} within 10 s"#),
    (
        "hello-exits",
        "poll",
        "hello",
        r#"it ended (exit status: 3) with no answer to {"hello":{"protocol":1}}"#,
    ),
    ("nameless", "poll", "hello", "line 1 of its output is no answer: '{\"hello\": {\"protocol\": 1"),
    ("loud", "poll", "hello", "'Python, the one and only' is no name"),
    ("of-the-future", "poll", "hello", "it speaks protocol 2, this is protocol 1"),
    ("modeless", "poll", "hello", "it has no modes"),
    ("dies-of-unknown", "poll", "unknown-command", "it ended (exit status: 1) with no answer to {\"sing\""),
    ("unknown-is-fine", "poll", "unknown-command", r#"is answered by {"ok":{}}"#),
    ("dies-of-nonsense", "poll", "malformed-command", "with no answer to this is no JSON"),
    ("foreign-is-fine", "poll", "unknown-descriptor", r#""fd":999999"#),
    ("takes-one", "poll", "taken-twice", r#"take is answered by {"errno":"EMFILE"}"#),
    ("never-ends", "poll", "ends", "it runs on after 5 s"),
    ("ends-badly", "poll", "ends", "it ended too: exit status: 1"),
    ("wait-hangs", "poll", "readable", "no answer to {\"wait\""),
    ("crashes", "poll", "readable", "with no answer to {\"wait\""),
    ("prints", "poll", "readable", "of its output is no answer: 'DEBUG: waiting'"),
    // To nobody, or to the next command, if that is asked before the second answer has come.
    ("answers-twice", "poll", "readable", " of its output"),
    ("no-errno", "poll", "readable", "this system has no errno of the name 'EWHATEVER'"),
    ("loses-all", "poll", "readable", "it is ready, and not reported within 5 s"),
    ("word-token", "poll", "readable", "nobody has given it the token 'seven'"),
    ("sentences", "poll", "readable", "'IN and HUP' is no word"),
    ("invents", "poll", "empty-silent", "it is not ready, and is reported: 1: IN"),
    ("only-reads", "poll", "writable", "it is ready, and not reported"),
    ("always-writes", "poll", "interest-honoured", "it is not ready, and is reported: 1: OUT"),
    ("loses-ends", "poll", "half-closed", "it is ready, and not reported"),
    ("loses-hang-ups", "poll", "hung-up", "it is ready, and not reported"),
    ("wrong-token", "poll", "token-round-trip", "token 0 is ready, and reported is: 10: IN"),
    ("int-token", "poll", "token-round-trip", "token 4294967303 is ready, and reported is: 7: IN"),
    ("never-modified", "poll", "modified", "it is ready, and not reported"),
    ("old-token", "poll", "modified", "token 2 is ready, and reported is: 1: OUT"),
    ("keeps-removed", "poll", "removed-silent", "it is not ready, and is reported: 1: IN"),
    ("never-again", "poll", "added-again", "add was refused: EEXIST"),
    ("always-edge", "epoll", "level-repeats", "it is ready, and not reported"),
    ("always-level", "epoll", "edge-once", "it is not ready, and is reported: 1: IN"),
    ("always-level", "epoll", "one-shot-once", "it is not ready, and is reported: 1: IN"),
    ("any-mode", "poll", "other-modes", "Edge is not among its modes, and add answers Done"),
    (
        "greedy",
        "poll",
        "room",
        "{\"wait\":{\"room\":1,\"timeout_ms\":5000.0}}: it has 3 events where there is room for 1",
    ),
    ("early", "poll", "timeout-not-early", "ms took "),
    ("impatient", "poll", "timeout-not-early", "ms took "),
    ("deaf", "epoll", "woken-meanwhile", "did not end the wait"),
    ("wake-unanswered", "epoll", "woken-meanwhile", "is no answer: 'null'"),
    ("keeps-copies", "poll", "copy-closed", "a copy of it is open"),
    ("keeps-numbers", "poll", "number-again", "it is ready, and not reported"),
    ("never-closed", "epoll", "close", "it was closed, and a wait answers Ok("),
];

fn checks(mistake: &str, poller: &str, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    let command_line = ["python3", BAD, mistake, poller].map(String::from);
    check_process(&command_line, PATIENCE, wanted)
}

#[test]
fn each_mistake_is_named_by_its_check() {
    if lacks("python3") {
        return;
    }
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((mistake, poller, named, says)) = MISTAKES.get(next.fetch_add(1, Relaxed)) {
            let checks = checks(mistake, poller, &|name| name == *named);
            let check = checks.iter().find(|check| check.name == *named);
            match check.map(|check| &check.outcome) {
                Some(Outcome::Failed(seen)) if seen.contains(says) => {}
                other => panic!("{mistake}: {named} says {other:?}, not '{says}'; all: {checks:#?}"),
            }
        }
    };
    // Most of their time they wait.
    thread::scope(|scope| (0..6).for_each(|_| drop(scope.spawn(work))));
}

/// A check that no mistake fails would be none.
#[test]
fn every_check_has_a_mistake() {
    if lacks("python3") {
        return;
    }
    let mut named: BTreeSet<_> = MISTAKES.iter().map(|(_, _, named, _)| *named).collect();
    named.insert("woken-before");
    let asked: BTreeSet<_> = checks("none", "epoll", &|_| true).iter().map(|check| check.name).collect();
    assert_eq!(named, asked);
}

/// A program is not told of a wake-up before it waits: only a poller in this process can lose one.
#[test]
fn a_poller_that_forgets_wake_ups_is_named() {
    let make: MakeSelector = &|| Ok(Box::new(Forgetful(poller_poll::selector()?)));
    let checks = check(make, Duration::from_millis(100), &|name| name.starts_with("woken"));
    for check in &checks {
        let Outcome::Failed(seen) = &check.outcome else { panic!("{check}") };
        assert!(seen.contains("end"), "{seen}");
    }
    assert_eq!(checks.len(), 2);
}

struct Forgetful(Box<dyn Selector>);

impl Selector for Forgetful {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
    fn views(&self, mode: Mode) -> &'static [View] {
        self.0.views(mode)
    }
    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.0.add(fd, token, interest, mode)
    }
    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.0.modify(fd, token, interest, mode)
    }
    fn remove(&self, fd: RawFd) -> Changed {
        self.0.remove(fd)
    }
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        self.0.wait(room, timeout)
    }
    fn wake(&self) -> Result<(), Unsupported> {
        Ok(())
    }
    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        self.0.close()
    }
}

#[test]
fn a_subject_without_a_mistake_passes() {
    if lacks("python3") {
        return;
    }
    for check in checks("none", "epoll", &|_| true) {
        assert_eq!(check.outcome, Outcome::Passed, "{check}");
    }
}

/// Not a failure: its verdict is that there is nothing to ask.
#[rstest]
#[case::exit_code("exits-127", "exited with 127")]
#[case::by_name("unsupported-here", "the moon is full")]
fn a_subject_may_have_nothing_to_be_asked_here(#[case] mistake: &str, #[case] why: &str) {
    if lacks("python3") {
        return;
    }
    let checks = checks(mistake, "poll", &|_| true);
    let [Check { name: "hello", outcome: Outcome::Unsupported(reason), .. }] = &checks[..] else {
        panic!("{checks:#?}");
    };
    assert!(reason.contains(why), "{reason}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let [check] = &check_process(&["./no-such-adapter".into()], PATIENCE, &|_| true)[..] else {
        panic!("more than a greeting");
    };
    let Outcome::Failed(seen) = &check.outcome else { panic!("{check}") };
    assert!(seen.starts_with("'./no-such-adapter' cannot be started: "), "{seen}");
}
