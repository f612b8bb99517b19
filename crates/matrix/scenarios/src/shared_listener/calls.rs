//! Clients of a listener.

use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::prelude::*;
use crate::transport::Address;

/// The result of a client's call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// The server sent this number as its greeting.
    Greeted(u64),
    /// Connected, and then closed or reset without a greeting: no thread had accepted.
    Dropped,
    /// Connected, and not reset: the listener's close overtook the end of the handshake, and the server's
    /// kernel has no such connection. Seen on Linux 6.18, over TCP.
    Forgotten,
    /// No listener: the connection was refused.
    Refused,
}

/// Connects and waits for the greeting.
pub(super) fn call(address: &Address) -> Result<Answer> {
    match address.connect() {
        Ok(client) => greeting(client),
        Err(error) if is_refusal(&error) => Ok(Answer::Refused),
        Err(error) => Err(Failure::broken(format!("connect: {error}"))),
    }
}

/// Waits for the greeting on a connection.
pub(super) fn greeting(mut client: FarEnd) -> Result<Answer> {
    let mut number = [0; 8];
    match client.read_exact(&mut number) {
        Ok(()) => Ok(Answer::Greeted(u64::from_be_bytes(number))),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof || is_refusal(&error) => Ok(Answer::Dropped),
        Err(error) => Err(Failure::Wrong(format!("a client was neither greeted nor turned away: {error}"))),
    }
}

/// The state of a listener that is about to be closed, for its clients.
#[derive(Default)]
pub(super) struct Closing {
    /// It is closed. A client that still waits then writes: only data makes the kernel reset a connection
    /// that it has dropped.
    pub(super) closed: AtomicBool,
    /// It will not be closed: the clients stop waiting.
    pub(super) cancelled: AtomicBool,
}

impl Closing {
    /// Waits until it is closed or will not be, up to the end of patience.
    pub(super) fn wait(&self) {
        let is_over = || self.closed.load(Ordering::SeqCst) || self.cancelled.load(Ordering::SeqCst);
        let _ = crate::patience::wait_until(is_over);
    }
}

/// As [`call`], for a listener that is about to be closed.
pub(super) fn call_until(address: &Address, closing: &Closing) -> Result<Answer> {
    match address.connect() {
        Ok(client) => greeting_until(client, closing),
        Err(error) if is_refusal(&error) => Ok(Answer::Refused),
        Err(error) => Err(Failure::broken(format!("connect: {error}"))),
    }
}

/// As [`greeting`], for a client of a listener that is about to be closed.
fn greeting_until(mut client: FarEnd, closing: &Closing) -> Result<Answer> {
    let _ = client.set_read_timeout(Duration::from_millis(20));
    let end = Instant::now() + patience();
    let (mut number, mut received, mut probed) = ([0; 8], 0, false);
    while received < number.len() {
        match client.read(&mut number[received..]) {
            Ok(0) => return Ok(Answer::Dropped),
            Ok(count) => received += count,
            Err(error) if is_refusal(&error) => {
                return Ok(if probed { Answer::Forgotten } else { Answer::Dropped });
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if closing.cancelled.load(Ordering::SeqCst) {
                    return Ok(Answer::Dropped);
                }
                if Instant::now() >= end {
                    return Err(Failure::Wrong("a client was neither greeted nor turned away".into()));
                }
                // An error of the write is also the error of the next read.
                if closing.closed.load(Ordering::SeqCst) {
                    probed = true;
                    let _ = client.write(&[0]);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::Wrong(format!("a client's read: {error}"))),
        }
    }
    Ok(Answer::Greeted(u64::from_be_bytes(number)))
}

/// As [`greeting`], for a client of a listener that is closed.
pub(super) fn end_of(client: FarEnd) -> Result<Answer> {
    greeting_until(client, &Closing { closed: true.into(), ..Closing::default() })
}

/// Whether connect(2), or the first call on a connection, says that nobody accepts.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, InvalidInput};
    // EINVAL: macOS and FreeBSD, when the listener closes while the client connects.
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionReset | ConnectionAborted | BrokenPipe | InvalidInput
    )
}

/// Checks that a client was greeted.
pub(super) fn check_greeted(test: &mut TestContext, what: impl Into<String>, answer: Answer, source: &str) {
    let is_greeted = matches!(answer, Answer::Greeted(_));
    test.check(what, "Greeted", format!("{answer:?}"), source, is_greeted);
}

/// Returns the numbers of the greeted clients, sorted.
pub(super) fn numbers(answers: &[Answer]) -> Vec<u64> {
    let number = |answer: &Answer| match answer {
        Answer::Greeted(number) => Some(*number),
        _ => None,
    };
    let mut numbers: Vec<_> = answers.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}
