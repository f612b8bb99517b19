//! `adapter check` detects mistakes of adapters: each check fails for its mistake.

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

/// Returns the lines of mistakes.tsv: the mistake, the poller, the check that detects it, and a part of its
/// message.
fn mistakes() -> Vec<[&'static str; 4]> {
    let lines = include_str!("mistakes.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect::<Vec<_>>().try_into().expect(line)).collect()
}

fn checks(mistake: &str, poller: &str, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    let command_line = ["python3", BAD, mistake, poller].map(String::from);
    check_process(&command_line, PATIENCE, wanted)
}

/// Returns the checks that are unsupported, with the reasons. The others must pass.
fn unsupported(mistake: &str, poller: &str) -> Vec<(&'static str, String)> {
    let checks = checks(mistake, poller, &|_| true).into_iter();
    let reason = |check: Check| match check.outcome {
        Outcome::Passed => None,
        Outcome::Unsupported(reason) => Some((check.name, reason)),
        Outcome::Failed(_) => panic!("{mistake}, {poller}: {check}"),
    };
    checks.filter_map(reason).collect()
}

#[test]
fn each_mistake_is_detected_by_its_check() {
    if lacks("python3") {
        return;
    }
    let (mistakes, next) = (mistakes(), AtomicUsize::new(0));
    let work = || {
        while let Some([mistake, poller, expected, message]) = mistakes.get(next.fetch_add(1, Relaxed)) {
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
    let mut covered: BTreeSet<_> = mistakes().into_iter().map(|[_, _, check, _]| check).collect();
    covered.insert("woken-before");
    let all: BTreeSet<_> = checks("none", "epoll", &|_| true).iter().map(|check| check.name).collect();
    assert_eq!(covered, all);
}

/// An adapter gets no wake-up before a wait: only a poller in this process can lose one.
#[test]
fn a_poller_that_loses_wake_ups_is_detected() {
    let make: MakeSelector = &|| Ok(Box::new(Forgetful { poll: poller_poll::selector()? }));
    let checks = check(make, Duration::from_millis(100), &|name| name.starts_with("woken"));
    for check in &checks {
        let Outcome::Failed(seen) = &check.outcome else { panic!("{check}") };
        assert!(seen.contains("end"), "{seen}");
    }
    assert_eq!(checks.len(), 2);
}

struct Forgetful {
    poll: Box<dyn Selector>,
}

impl Selector for Forgetful {
    selector::forward!(poll {
        fn name(&self) -> &str;
        fn column(&self) -> selector::Column;
        fn capabilities(&self) -> Capabilities;
        fn views(&self, mode: Mode) -> &'static [View];
        fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;
        fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed;
        fn remove(&self, fd: RawFd) -> Changed;
        fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno>;
        fn close(&self) -> Result<Result<(), Errno>, Unsupported>;
    });

    fn wake(&self) -> Result<(), Unsupported> {
        Ok(())
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
        let unsupported = unsupported("none", poller);
        assert!(unsupported.iter().map(|(name, _)| name).eq(without), "{poller}: {unsupported:?}");
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
    let mut unsupported = unsupported(mistake, "epoll");
    unsupported.retain(|(_, reason)| reason != "the adapter does not declare acts");
    let expected = expected.iter().map(|(name, reason)| (*name, (*reason).to_owned()));
    assert_eq!(unsupported, Vec::from_iter(expected));
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
