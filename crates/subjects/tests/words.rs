//! One state, in the words of each library: what a half-close and a reset of a connected socket are called.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;

use metadata::Mode;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rstest::rstest;
use selector::{Interest, Selector};
use subjects::testing::lacks;
use subjects::{PATIENCE, find, process};

const ADAPTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects/python/adapter.py");

fn made(name: &str) -> Box<dyn Selector> {
    match name.strip_prefix("python-") {
        Some(poller) => process(["python3", ADAPTER, poller].map(String::from).into(), PATIENCE)(),
        None => (find(name).unwrap().make)(),
    }
    .unwrap()
}

fn said(selector: &dyn Selector) -> String {
    let events = selector.wait(8, Some(PATIENCE)).unwrap();
    events.iter().map(|event| event.record.to_string()).collect::<Vec<_>>().join(", ")
}

/// Waits for a hang-up or an error, which poll(2) reports unasked. It consumes nothing.
fn end_has_come(socket: &impl AsFd) {
    poll(&mut [PollFd::new(socket.as_fd(), PollFlags::empty())], PollTimeout::NONE).unwrap();
}

/// Everything is asked for. Then the peer shuts its side, closes, and (a socket of TCP) resets the connection.
fn words(name: &str, mode: Mode) -> [String; 3] {
    let selector = made(name);
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    selector.add(ours.as_raw_fd(), 1, Interest::ALL, mode);
    assert_ne!(said(&*selector), "");
    theirs.write_all(b"x").unwrap();
    theirs.shutdown(Shutdown::Write).unwrap();
    let half_closed = said(&*selector);
    drop(theirs);
    // Until its exec, a child that another test starts has a copy of every descriptor: the end comes when that is gone.
    end_has_come(&ours);
    let closed = said(&*selector);
    selector.remove(ours.as_raw_fd());

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    selector.add(client.as_raw_fd(), 2, Interest::ALL, mode);
    assert_ne!(said(&*selector), "");
    // Closed with unread data: a reset.
    (&client).write_all(b"unread").unwrap();
    server.peek(&mut [0]).unwrap();
    drop(server);
    end_has_come(&client);
    assert_eq!(selector.failure(), None);
    [half_closed, closed, said(&*selector)]
}

/// The kernel's `RDHUP` is mio's `read_closed`, and polling has no word for it. `ERR` takes libevent's `CLOSED` away over epoll,
/// and does not over poll.
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
