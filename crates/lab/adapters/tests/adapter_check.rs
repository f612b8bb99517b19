//! `adapter-check` detects mistakes of adapters: each check fails for its mistake.

#![allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic")]

use std::collections::BTreeSet;
use std::os::fd::RawFd;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use metadata::Mode;
use nix::errno::Errno;
use pollmatrix_adapters::testing::lacks;
use pollmatrix_adapters::{Check, Outcome, check, check_process};
use rstest::rstest;
use selector::{Capabilities, Changed, Event, Interest, MakeSelector, Selector, Token, Unsupported, View};

/// Long enough for an interpreter on a busy machine. Each adapter that loses events takes all of it.
const PATIENCE: Duration = Duration::from_secs(5);

const BAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad_adapter.py");

/// Mistake, poller, the check that detects it, and a part of its message.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("hello-hangs", "poll", "hello", r#"no answer to {"hello":{"protocol":1}} within 10 s"#),
    (
        "hello-exits",
        "poll",
        "hello",
        r#"the program ended (exit status: 3) without an answer to {"hello":{"protocol":1}}"#,
    ),
    ("nameless", "poll", "hello", "line 1 of the output is not an answer: '{\"hello\": {\"protocol\": 1"),
    ("loud", "poll", "hello", "'Python, the one and only' is not a name"),
    ("of-the-future", "poll", "hello", "protocol is 2, expected 1"),
    ("wordless", "poll", "hello", "python-poll declares no words: say what each word of its events means"),
    ("means-nothing", "poll", "hello", "unknown meaning 'raedable': did you mean 'readable'?"),
    ("acts-and-takes", "acting-poll", "hello", "numbers is about take"),
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
    ("closes-registered", "poll", "taken-twice", r#"{"closed":{"fd""#),
    ("ignores-numbers", "poll", "numbers", r#"the number 117 is in use, and take is answered by {"ok":{}}"#),
    (
        "never-reset",
        "epoll",
        "reset",
        "after reset, {\"wait\":{\"room\":1,\"timeout_ms\":0.0}} is answered by",
    ),
    ("reset-keeps-copies", "poll", "reset", "after reset, a copy of a descriptor is open"),
    ("untimed", "poll", "times", "the adapter declares times, and its answer to {\"take\""),
    ("times-nothing", "poll", "times", "ends by its timeout, and it took 0ns"),
    ("times-alike", "poll", "times", "ends by its timeout, and it took 1µs"),
    ("times-backwards", "poll", "times", "integer `-5`, expected u64"),
    ("times-the-way", "poll", "times", "says that the poller took 1000000s, and it arrived after "),
    ("reset-keeps-copies", "acting-poll", "reset", "after reset, a copy of a descriptor is open"),
    ("accepts-nobody", "acting-poll", "accepts", r#"Accept(8) is answered by {"ok":{}}, not by EAGAIN"#),
    ("refuses", "acting-poll", "connects", r#"connect is answered by {"errno":"ECONNREFUSED"}"#),
    ("never-shuts", "acting-poll", "shuts-and-closes", "the other end reads EAGAIN"),
    ("never-shuts", "acting-poll", "shuts-reading", r#"Read(64) is answered by {"errno":"EAGAIN"}"#),
    ("drops", "acting-poll", "datagrams", "the other end reads EAGAIN"),
    ("never-closes", "acting-poll", "pipes", r#"Read(64) is answered by {"errno":"EAGAIN"}"#),
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
    ("undeclared", "poll", "readable", "python-poll reports 'RDNORM', which its hello does not declare"),
    ("invents", "poll", "empty-silent", "it is not ready, but reported: 1: IN"),
    ("only-reads", "poll", "writable", "it is ready, but not reported"),
    ("always-writes", "poll", "interest-honoured", "it is not ready, but reported: 1: OUT"),
    ("loses-ends", "poll", "half-closed", "it is ready, but not reported"),
    ("loses-hang-ups", "poll", "hung-up", "it is ready, but not reported"),
    ("wrong-token", "poll", "token-round-trip", "token 0 is ready, but reported: 10: IN"),
    ("stale-token", "poll", "token-round-trip", "token 0 is ready, but reported: 77: IN"),
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
    ("never-closes", "acting-poll", "copy-closed", "a copy of it is open"),
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
    fn column(&self) -> selector::Column {
        self.0.column()
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
    // An adapter either takes descriptors, or makes them itself.
    let acts = ["accepts", "connects", "shuts-and-closes", "shuts-reading", "datagrams", "pipes"];
    for (poller, without) in
        [("epoll", &acts[..]), ("acting-epoll", &["taken-twice", "numbers", "times", "number-again"])]
    {
        let mut unsupported = Vec::new();
        for check in checks("none", poller, &|_| true) {
            match check.outcome {
                Outcome::Passed => {}
                Outcome::Unsupported(_) => unsupported.push(check.name),
                Outcome::Failed(_) => panic!("{poller}: {check}"),
            }
        }
        assert_eq!(unsupported, without, "{poller}");
    }
}

/// The end of the program would be taken for the end of its library.
#[rstest]
#[case::no_name("nameless-errno", "this system has no errno '4095'")]
#[case::no_number("errnoless", "an error without a number")]
fn an_unknown_error_does_not_end_the_example(#[case] mistake: &str, #[case] expected: &str) {
    if lacks("python3") {
        return;
    }
    let checks = checks(mistake, "poll", &|name| name == "readable");
    let seen = format!("{checks:?}");
    assert!(seen.contains(expected) && !seen.contains("the program ended"), "{seen}");
}

/// A poller without a limit of events is not asked about it.
#[rstest]
#[case::none(
    "featureless",
    &[
        ("numbers", "the adapter does not declare numbers"),
        ("reset", "the adapter does not declare reset"),
        ("times", "the adapter does not declare times"),
    ]
)]
#[case::no_limit("roomless", &[("room", "python-epoll has no limit for the events of a wait")])]
fn a_feature_may_be_missing(#[case] mistake: &str, #[case] expected: &[(&str, &str)]) {
    if lacks("python3") {
        return;
    }
    let mut unsupported = Vec::new();
    let checks = checks(mistake, "epoll", &|_| true);
    for Check { name, outcome, .. } in &checks {
        match outcome {
            Outcome::Passed => {}
            Outcome::Unsupported(reason) => unsupported.push((*name, reason.as_str())),
            Outcome::Failed(seen) => panic!("{mistake}: {name}: {seen}"),
        }
    }
    unsupported.retain(|(_, reason)| *reason != "the adapter does not declare acts");
    assert_eq!(unsupported, expected);
}

/// This is not a failure: a runtime may have no call for an act.
#[test]
fn an_act_may_be_unsupported() {
    if lacks("python3") {
        return;
    }
    for name in ["shuts-and-closes", "shuts-reading"] {
        let checks = checks("cannot-shut", "acting-poll", &|check| check == name);
        let check = checks.iter().find(|check| check.name == name).unwrap();
        assert_eq!(check.outcome, Outcome::Unsupported("there is no shutdown".into()), "{name}");
    }
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
