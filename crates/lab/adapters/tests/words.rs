//! The names that each library has for one state: a half-close, a close and a reset of a connected socket.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;

use metadata::Mode;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pollmatrix_adapters::testing::lacks;
use pollmatrix_adapters::{PATIENCE, find, process};
use rstest::rstest;
use selector::{Interest, Selector};

const ADAPTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../adapters/python/adapter.py");

fn selector_of(name: &str) -> Box<dyn Selector> {
    match name.strip_prefix("python-") {
        Some(poller) => process(["python3", ADAPTER, poller].map(String::from).into(), PATIENCE)(),
        None => (find(name).unwrap().make)(),
    }
    .unwrap()
}

fn reported(selector: &dyn Selector) -> String {
    let events = selector.wait(8, Some(PATIENCE)).unwrap();
    events.iter().map(|event| event.record.to_string()).collect::<Vec<_>>().join(", ")
}

/// Waits for a hang-up or an error, which poll(2) reports without a request. It consumes no data.
fn wait_for_end(socket: &impl AsFd) {
    poll(&mut [PollFd::new(socket.as_fd(), PollFlags::empty())], PollTimeout::NONE).unwrap();
}

/// Returns the reports for a registration with full interest after the peer has shut its side, has closed,
/// and (for a TCP socket) has reset the connection.
fn words(name: &str, mode: Mode) -> [String; 3] {
    let selector = selector_of(name);
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    selector.add(ours.as_raw_fd(), 1, Interest::ALL, mode);
    assert_ne!(reported(&*selector), "");
    theirs.write_all(b"x").unwrap();
    theirs.shutdown(Shutdown::Write).unwrap();
    let half_closed = reported(&*selector);
    drop(theirs);
    // Until its exec, a child of another test has a copy of every descriptor. The end follows that exec.
    wait_for_end(&ours);
    let closed = reported(&*selector);
    selector.remove(ours.as_raw_fd());

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    selector.add(client.as_raw_fd(), 2, Interest::ALL, mode);
    assert_ne!(reported(&*selector), "");
    // A close with unread data is a reset.
    (&client).write_all(b"unread").unwrap();
    server.peek(&mut [0]).unwrap();
    drop(server);
    wait_for_end(&client);
    assert_eq!(selector.failure(), None);
    [half_closed, closed, reported(&*selector)]
}

/// mio reports the kernel's `RDHUP` as `read_closed`; polling has no name for it. With `ERR`, libevent drops
/// `CLOSED` over epoll, but not over poll.
#[rstest]
#[cfg_attr(feature = "mio", case("mio", Mode::Edge, [
    "readable|writable|read_closed",
    "readable|writable|read_closed|write_closed",
    "readable|writable|error|read_closed|write_closed",
]))]
#[cfg_attr(feature = "polling", case("polling", Mode::Level, [
    "readable|writable",
    "readable|writable|interrupt",
    "readable|writable|interrupt|err",
]))]
#[cfg_attr(feature = "tokio", case("tokio", Mode::Edge, [
    "readable|writable|read_closed",
    "readable|writable|read_closed|write_closed",
    "readable|writable|read_closed|write_closed|error",
]))]
#[cfg_attr(feature = "libevent", case("libevent-epoll", Mode::Level, [
    "READ|WRITE|CLOSED",
    "READ|WRITE|CLOSED",
    "READ|WRITE",
]))]
#[cfg_attr(feature = "libevent", case("libevent-epoll", Mode::Edge, [
    "READ|WRITE|CLOSED|ET",
    "READ|WRITE|CLOSED|ET",
    "READ|WRITE|ET",
]))]
#[cfg_attr(feature = "libevent", case("libevent-poll", Mode::Level, ["READ|WRITE|CLOSED"; 3]))]
#[cfg_attr(feature = "libevent", case("libevent-select", Mode::Level, ["READ|WRITE"; 3]))]
#[case("python-epoll", Mode::Level, ["IN|OUT|RDHUP", "IN|OUT|HUP|RDHUP", "IN|OUT|ERR|HUP|RDHUP"])]
#[case("python-poll", Mode::Level, ["IN|OUT|RDHUP", "IN|OUT|HUP|RDHUP", "IN|OUT|ERR|HUP|RDHUP"])]
#[case("python-select", Mode::Level, ["r|w"; 3])]
fn each_has_its_own_words(#[case] name: &str, #[case] mode: Mode, #[case] expected: [&str; 3]) {
    if name.starts_with("python-") && lacks("python3") {
        return;
    }
    assert_eq!(words(name, mode), expected, "{name}");
}
