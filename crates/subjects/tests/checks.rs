//! Every poller of this build passes the checks of `subject-check`.

use std::io::{self, ErrorKind, Write};
use std::process::Command;

use rstest::rstest;
use selector::MakeSelector;
use subjects::testing::lacks;
use subjects::{Check, Outcome, PATIENCE, check, check_process, find};

const ADAPTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects/python/adapter.py");

/// Expects that all checks pass, except those in `without`, which are unsupported.
fn expect_only_unsupported(poller: &str, checks: &[Check], without: &[&str]) {
    let mut unsupported = Vec::new();
    for check in checks {
        match &check.outcome {
            Outcome::Passed => {}
            Outcome::Unsupported(_) => unsupported.push(check.name),
            Outcome::Failed(_) => panic!("{poller}: {check}"),
        }
    }
    assert_eq!(unsupported, without, "{poller}");
}

#[rstest]
#[case("epoll", &[])]
#[case("poll", &["edge-once", "one-shot-once", "close"])]
#[case("select", &["edge-once", "one-shot-once", "close"])]
#[cfg_attr(not(target_os = "linux"), ignore = "Python has no epoll on this system")]
fn the_example_adapter(#[case] poller: &str, #[case] without: &[&str]) {
    if lacks("python3") {
        return;
    }
    let command_line = ["python3", ADAPTER, poller].map(String::from);
    let checks = check_process(&command_line, PATIENCE, &|_| true);
    expect_only_unsupported(poller, &checks, without);
}

#[test]
fn the_adapter_of_libuv() {
    let found = Command::new("pkg-config").args(["--exists", "libuv"]).status();
    if !found.is_ok_and(|status| status.success()) {
        // Not `eprintln!`, whose output the harness captures.
        let _ = writeln!(io::stderr(), "not run: test the_adapter_of_libuv: libuv is not installed");
        return;
    }
    let (folder, to) =
        (concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects/libuv"), env!("CARGO_TARGET_TMPDIR"));
    let made = Command::new("make").args(["-s", "-C", folder]).arg(format!("TO={to}")).status().unwrap();
    assert!(made.success(), "{made}");
    let checks = check_process(&[format!("{to}/adapter")], PATIENCE, &|_| true);
    expect_only_unsupported("libuv", &checks, &["edge-once", "one-shot-once", "room", "close"]);
}

/// Returns the raw poller of a backend, or a library's.
fn make(name: &str) -> MakeSelector {
    match name {
        #[cfg(target_os = "linux")]
        "epoll" => &poller_epoll::selector,
        "poll" => &poller_poll::selector,
        "select" => &poller_select::selector,
        _ => find(name).unwrap().make,
    }
}

#[rstest]
#[cfg_attr(target_os = "linux", case("epoll", &[]))]
#[case("poll", &["edge-once", "one-shot-once", "close"])]
#[case("select", &["edge-once", "one-shot-once", "close"])]
#[cfg_attr(feature = "mio", case("mio", &["level-repeats", "one-shot-once", "close"]))]
#[cfg_attr(feature = "polling", case("polling", &["close"]))]
#[cfg_attr(feature = "libevent", case("libevent-epoll", &["close"]))]
#[cfg_attr(feature = "libevent", case("libevent-kqueue", &["close"]))]
#[cfg_attr(feature = "libevent", case("libevent-poll", &["edge-once", "close"]))]
#[cfg_attr(feature = "libevent", case("libevent-select", &["edge-once", "close"]))]
fn pollers_in_this_process(#[case] name: &str, #[case] without: &[&str]) {
    let make = make(name);
    match make() {
        Ok(made) => {
            assert_eq!(made.name(), name);
            expect_only_unsupported(name, &check(make, PATIENCE, &|_| true), without);
        }
        Err(error) => {
            let elsewhere = if cfg!(target_os = "linux") { "libevent-kqueue" } else { "libevent-epoll" };
            assert_eq!((error.kind(), name), (ErrorKind::Unsupported, elsewhere));
        }
    }
}
