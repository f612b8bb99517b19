//! Every poller of this build passes the checks of `adapter-check`.

use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::process::Command;

use metadata::Mode;
use nix::errno::Errno;
use pollmatrix_adapters::testing::{lacks, not_run};
use pollmatrix_adapters::{Check, Outcome, PATIENCE, check, check_process, find};
use rstest::rstest;
use selector::{Changed, Event, Interest, MakeSelector, Record};

const ACTING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../adapters/python/acting.py");
const ADAPTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../adapters/python/adapter.py");
const NODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../adapters/node/adapter.js");

/// The checks of the acts of an adapter, which those that take descriptors do not have.
const ACTS: [&str; 6] = ["accepts", "connects", "shuts-and-closes", "shuts-reading", "datagrams", "pipes"];

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
    expect_only_unsupported(poller, &checks, &[&ACTS, without].concat());
}

#[rstest]
#[case("epoll", &[])]
#[case("poll", &["edge-once", "one-shot-once", "close"])]
#[case("select", &["edge-once", "one-shot-once", "close"])]
#[cfg_attr(not(target_os = "linux"), ignore = "Python has no epoll on this system")]
fn the_example_that_acts(#[case] poller: &str, #[case] without: &[&str]) {
    if lacks("python3") {
        return;
    }
    let command_line = ["python3", ACTING, poller].map(String::from);
    let checks = check_process(&command_line, PATIENCE, &|_| true);
    let expected = ["taken-twice", "numbers", "times", "edge-once", "one-shot-once", "number-again", "close"];
    let is_expected = |name: &&str| {
        without.contains(name) || ["taken-twice", "numbers", "times", "number-again"].contains(name)
    };
    let expected: Vec<_> = expected.into_iter().filter(is_expected).collect();
    expect_only_unsupported(poller, &checks, &expected);
}

/// A socket with room has no event, which two of the checks wait for.
#[test]
fn the_adapter_of_node() {
    if lacks("node") {
        return;
    }
    let command_line = ["node", NODE].map(String::from);
    let checks = check_process(&command_line, PATIENCE, &|_| true);
    #[rustfmt::skip]
    let without = [
        "taken-twice", "numbers", "times", "shuts-reading", "datagrams", "pipes", "writable", "modified",
        "level-repeats", "one-shot-once", "room", "number-again", "close",
    ];
    expect_only_unsupported("node-net", &checks, &without);
}

/// Node has no name for ENOKEY, and says `Unknown system error -126`. Words of an event have no spaces.
#[test]
#[cfg(target_os = "linux")]
fn the_adapter_of_node_answers_an_error_without_a_name_by_its_number() {
    use metadata::Transport;
    use selector::{Act, Acted};

    if lacks("node") {
        return;
    }
    let fail = "data:text/javascript,import net from 'node:net'; net.Socket.prototype.connect = function () {
        this.destroy(Object.assign(new Error(), { code: 'Unknown system error -126', errno: -126 })); };";
    let command_line = ["node", "--import", fail, NODE].map(String::from).to_vec();
    let poller = pollmatrix_adapters::process(command_line, PATIENCE)().unwrap();
    let act = |act| poller.actor().unwrap().act(1, &act).unwrap();
    assert_eq!(act(Act::Open(Transport::Tcp)), Ok(Acted::Done));
    assert_eq!(poller.add(1, 7, Interest::READ, Mode::Edge), Changed::Done);
    assert_eq!(act(Act::Connect("127.0.0.1:1".into())), Err(Errno::EINPROGRESS));
    let words = ["error", "126", "close"].map(String::from).to_vec();
    let events = poller.wait(8, Some(std::time::Duration::ZERO));
    assert_eq!(events, Ok(vec![Event { token: 7, record: Record::Names(words) }]));
    assert_eq!(act(Act::Read(1)), Err(Errno::ENOKEY));
    assert_eq!(poller.failure(), None);
}

/// Returns whether the compiler finds this header of a library. If not, this prints a message.
fn has_header(header: &str) -> bool {
    let script = "echo '#include <'$0'>' | cc -E - >/dev/null 2>&1";
    if Command::new("sh").args(["-c", script, header]).status().is_ok_and(|status| status.success()) {
        return true;
    }
    not_run(&format!("{header} is not installed"));
    false
}

const LEVEL_ONLY: &[&str] = &["edge-once", "one-shot-once", "room", "close"];

/// ci/adapters.sh checks the adapters of io_uring, Java and Go: a kernel may refuse the first, and the others
/// need a compiler of their own.
#[rstest]
#[case("libuv", "uv.h", &[], LEVEL_ONLY)]
#[cfg_attr(target_os = "linux", case("libev", "ev.h", &["epoll"], LEVEL_ONLY))]
#[case("libev", "ev.h", &["poll"], LEVEL_ONLY)]
#[case("libev", "ev.h", &["select"], LEVEL_ONLY)]
fn the_adapters_in_c(
    #[case] adapter: &str,
    #[case] header: &str,
    #[case] arguments: &[&str],
    #[case] without: &[&str],
) {
    if !has_header(header) {
        return;
    }
    // Cases run at once.
    let to = format!("{}/{adapter}-{}", env!("CARGO_TARGET_TMPDIR"), arguments.join("-"));
    std::fs::create_dir_all(&to).unwrap();
    let folder = format!("{}/../../../adapters/{adapter}", env!("CARGO_MANIFEST_DIR"));
    let made = Command::new("make").args(["-s", "-C", &folder]).arg(format!("TO={to}")).status().unwrap();
    assert!(made.success(), "{made}");
    let mut command_line = vec![format!("{to}/adapter")];
    command_line.extend(arguments.iter().map(|argument| (*argument).into()));
    let checks = check_process(&command_line, PATIENCE, &|_| true);
    expect_only_unsupported(adapter, &checks, &[&ACTS, without].concat());
}

/// An abort of the adapter would be recorded as the library's.
#[test]
fn the_adapters_in_c_answer_an_error_without_a_name_by_its_number() {
    if !has_header("errno.h") {
        return;
    }
    let program = format!("{}/refusing", env!("CARGO_TARGET_TMPDIR"));
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../adapters/c");
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refusing.c");
    let sources = [own, &format!("{shared}/adapter.c")];
    let made = Command::new("cc").args(["-I", shared, "-o", &program]).args(sources).status().unwrap();
    assert!(made.success(), "{made}");
    let poller = pollmatrix_adapters::process(vec![program], PATIENCE)().unwrap();
    let (first, second) = (std::io::pipe().unwrap().0, std::io::pipe().unwrap().0);
    let add = |fd: &std::io::PipeReader| poller.add(fd.as_raw_fd(), 7, Interest::READ, Mode::Level);
    assert_eq!(add(&first), Changed::Done);
    assert_eq!(add(&second), Changed::refused(Errno::EILSEQ));
    let number = (Errno::EILSEQ as i32).to_string();
    let events = poller.wait(8, Some(std::time::Duration::ZERO));
    assert_eq!(events, Ok(vec![Event { token: 7, record: Record::Names(vec![number]) }]));
    assert_eq!(poller.failure(), None);
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
#[cfg_attr(feature = "tokio", case("tokio", &["level-repeats", "one-shot-once", "room", "close"]))]
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
