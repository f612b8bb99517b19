//! polling 3.11 over epoll reports an urgent byte as readable, and it cannot be read. Run it with
//! `cargo test -p pollmatrix-adapters --test polling-urgent`.

#![allow(clippy::print_stdout, reason = "it shows what it finds")]

use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::sys::socket::{MsgFlags, send};
use polling::{Event, Events, PollMode, Poller};

fn main() -> io::Result<()> {
    if cfg!(not(target_os = "linux")) {
        println!("measured over epoll only");
        return Ok(());
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let peer = TcpStream::connect(listener.local_addr()?)?;
    let (mut own, _) = listener.accept()?;
    own.set_nonblocking(true)?;
    let poller = Poller::new()?;
    // SAFETY: `own` is deleted from the poller before it is dropped.
    unsafe { poller.add_with_mode(&own, Event::readable(1), PollMode::Level)? };
    send(peer.as_raw_fd(), b"!", MsgFlags::MSG_OOB)?;
    let mut events = Events::new();
    for _ in 0..3 {
        events.clear();
        poller.wait(&mut events, None)?;
        let readable = events.iter().next().map(|event| event.readable);
        println!("{} {readable:?}", events.len());
        assert_eq!(readable, Some(true));
    }
    let error = own.read(&mut [0; 8]).expect_err("there is nothing to read");
    println!("{:?}", error.kind());
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    events.clear();
    assert_eq!(poller.wait(&mut events, Some(Duration::ZERO))?, 0, "the failed read ends it");
    poller.delete(&own)
}
