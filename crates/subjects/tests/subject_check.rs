//! `subject-check` detects mistakes of adapters: each check fails for its mistake.

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

/// Long enough for an interpreter on a busy machine. Each adapter that loses events takes all of it.
const PATIENCE: Duration = Duration::from_secs(5);

const BAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad_adapter.py");

/// Mistake, poller, the check that detects it, and a part of its message.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("hello-hangs", "poll", "hello", r#"no answer to {"hello":{"protocol":1,"up_to":2}} within 10 s"#),
    (
        "hello-exits",
        "poll",
        "hello",
        r#"the program ended (exit status: 3) without an answer to {"hello":{"protocol":1,"up_to":2}}"#,
    ),
    ("nameless", "poll", "hello", "line 1 of the output is not an answer: '{\"hello\": {\"protocol\": 2"),
    ("loud", "poll", "hello", "'Python, the one and only' is not a name"),
    ("of-the-future", "poll", "hello", "protocol is 3, expected 1 to 2"),
    ("resets-in-1", "poll", "hello", "reset and room need protocol 2, and protocol is 1"),
    ("modeless", "poll", "hello", "modes is empty"),
    (
        "dies-of-unknown",
        "poll",
        "unknown-command",
        "the program ended (exit status: 1) without an answer to {\"sing\"",
    ),
    ("unknown-is-fine", "poll", "unknown-command", r#"is answered by {"ok":{}}"#),
    ("dies-of-nonsense", "poll", "malformed-command", "without an answer to this is no JSON"),
    ("foreign-is-fine", "poll", "unknown-descriptor", r#""fd":999999"#),
    ("takes-one", "poll", "taken-twice", r#"take is answered by {"errno":"EMFILE"}"#),
    (
        "never-reset",
        "epoll",
        "reset",
        "after reset, {\"wait\":{\"room\":1,\"timeout_ms\":0.0}} is answered by",
    ),
    ("reset-keeps-copies", "poll", "reset", "after reset, a copy of a descriptor is open"),
    ("never-ends", "poll", "ends", "it still runs 5 s after"),
    ("ends-badly", "poll", "ends", "its standard input ended: exit status: 1"),
    ("wait-hangs", "poll", "readable", "no answer to {\"wait\""),
    ("crashes", "poll", "readable", "without an answer to {\"wait\""),
    ("prints", "poll", "readable", "of the output is not an answer: 'DEBUG: waiting'"),
    // The second answer is unexpected, or answers the next command if that is sent before it arrives.
    ("answers-twice", "poll", "readable", " of the output"),
    ("no-errno", "poll", "readable", "this system has no errno 'EWHATEVER'"),
    ("loses-all", "poll", "readable", "it is ready, but not reported within 5 s"),
    ("word-token", "poll", "readable", "no registration has the token 'seven'"),
    ("sentences", "poll", "readable", "'IN and HUP' is not a word"),
    ("invents", "poll", "empty-silent", "it is not ready, but reported: 1: IN"),
    ("only-reads", "poll", "writable", "it is ready, but not reported"),
    ("always-writes", "poll", "interest-honoured", "it is not ready, but reported: 1: OUT"),
    ("loses-ends", "poll", "half-closed", "it is ready, but not reported"),
    ("loses-hang-ups", "poll", "hung-up", "it is ready, but not reported"),
    ("wrong-token", "poll", "token-round-trip", "token 0 is ready, but reported: 10: IN"),
    ("int-token", "poll", "token-round-trip", "token 4294967303 is ready, but reported: 7: IN"),
    ("never-modified", "poll", "modified", "it is ready, but not reported"),
    ("old-token", "poll", "modified", "token 2 is ready, but reported: 1: OUT"),
    ("keeps-removed", "poll", "removed-silent", "it is not ready, but reported: 1: IN"),
    ("never-again", "poll", "added-again", "add was refused: EEXIST"),
    ("always-edge", "epoll", "level-repeats", "it is ready, but not reported"),
    ("always-level", "epoll", "edge-once", "it is not ready, but reported: 1: IN"),
    ("always-level", "epoll", "one-shot-once", "it is not ready, but reported: 1: IN"),
    ("any-mode", "poll", "other-modes", "Edge is not among the poller's modes, but add answers Done"),
    ("greedy", "poll", "room", "{\"wait\":{\"room\":1,\"timeout_ms\":5000.0}}: 3 events, but room for 1"),
    ("early", "poll", "timeout-not-early", "ms took "),
    ("impatient", "poll", "timeout-not-early", "ms took "),
    ("deaf", "epoll", "woken-meanwhile", "did not end the wait"),
    ("wake-unanswered", "epoll", "woken-meanwhile", "is not an answer: 'null'"),
    ("keeps-copies", "poll", "copy-closed", "a copy of it is open"),
    ("keeps-numbers", "poll", "number-again", "it is ready, but not reported"),
    ("never-closed", "epoll", "close", "the poller is closed, but a wait answers Ok("),
];

fn checks(mistake: &str, poller: &str, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    let command_line = ["python3", BAD, mistake, poller].map(String::from);
    check_process(&command_line, PATIENCE, wanted)
}

#[test]
fn each_mistake_is_detected_by_its_check() {
    if lacks("python3") {
        return;
    }
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((mistake, poller, expected, message)) = MISTAKES.get(next.fetch_add(1, Relaxed)) {
            let checks = checks(mistake, poller, &|name| name == *expected);
            let check = checks.iter().find(|check| check.name == *expected);
            match check.map(|check| &check.outcome) {
                Some(Outcome::Failed(seen)) if seen.contains(message) => {}
                other => panic!("{mistake}: {expected} is {other:?}, not '{message}'; all: {checks:#?}"),
            }
        }
    };
    // The threads spend most of their time waiting for the adapters.
    thread::scope(|scope| (0..6).for_each(|_| drop(scope.spawn(work))));
}

/// A check that no mistake fails would be useless.
#[test]
fn every_check_has_a_mistake() {
    if lacks("python3") {
        return;
    }
    let mut covered: BTreeSet<_> = MISTAKES.iter().map(|(_, _, check, _)| *check).collect();
    covered.insert("woken-before");
    let all: BTreeSet<_> = checks("none", "epoll", &|_| true).iter().map(|check| check.name).collect();
    assert_eq!(covered, all);
}

/// An adapter gets no wake-up before a wait: only a poller in this process can lose one.
#[test]
fn a_poller_that_loses_wake_ups_is_detected() {
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
fn an_adapter_without_a_mistake_passes() {
    if lacks("python3") {
        return;
    }
    for check in checks("none", "epoll", &|_| true) {
        assert_eq!(check.outcome, Outcome::Passed, "{check}");
    }
}

/// Version 1 has no `reset`, and a poller without a limit of events is not asked about it.
#[rstest]
#[case::version_1("speaks-1", "reset", "the adapter does not declare reset")]
#[case::no_limit("roomless", "room", "python-epoll has no limit for the events of a wait")]
fn a_feature_of_version_2_may_be_missing(#[case] mistake: &str, #[case] check: &str, #[case] message: &str) {
    if lacks("python3") {
        return;
    }
    let mut unsupported = Vec::new();
    for Check { name, outcome, .. } in checks(mistake, "epoll", &|_| true) {
        match outcome {
            Outcome::Passed => {}
            Outcome::Unsupported(reason) => unsupported.push((name, reason)),
            Outcome::Failed(seen) => panic!("{mistake}: {name}: {seen}"),
        }
    }
    assert_eq!(unsupported, [(check, message.to_owned())]);
}

/// This is not a failure: the adapter does not support this system.
#[rstest]
#[case::exit_code("exits-127", "exited with 127")]
#[case::by_name("unsupported-here", "the moon is full")]
fn an_adapter_may_be_unsupported_on_this_system(#[case] mistake: &str, #[case] message: &str) {
    if lacks("python3") {
        return;
    }
    let checks = checks(mistake, "poll", &|_| true);
    let [Check { name: "hello", outcome: Outcome::Unsupported(reason), .. }] = &checks[..] else {
        panic!("{checks:#?}");
    };
    assert!(reason.contains(message), "{reason}");
}

#[test]
fn a_missing_program_is_named() {
    let [check] = &check_process(&["./no-such-adapter".into()], PATIENCE, &|_| true)[..] else {
        panic!("more than one check");
    };
    let Outcome::Failed(seen) = &check.outcome else { panic!("{check}") };
    assert!(seen.starts_with("'./no-such-adapter' cannot be started: "), "{seen}");
}
