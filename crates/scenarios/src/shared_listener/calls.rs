//! Clients of a listener.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::test_context::{Failure, patience};
use crate::transport::{Address, Far};

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// The server greeted with this number.
    Greeted(u64),
    /// Connected, and then closed or reset without a greeting: nobody had accepted.
    Dropped,
    /// Connected, and not even reset: the listener's close overtook the end of the handshake, and the server's
    /// kernel knows nothing of the connection. Linux does that (seen on 6.18, over TCP).
    Forgotten,
    /// Nobody listens.
    Refused,
}

/// Connects and waits for the greeting.
pub(super) fn call(address: &Address) -> Result<Answer, Failure> {
    match address.connect() {
        Ok(client) => greeting(client),
        Err(error) if is_refusal(&error) => Ok(Answer::Refused),
        Err(error) => Err(Failure::broken(format!("connect: {error}"))),
    }
}

/// Waits for the greeting on a connection.
pub(super) fn greeting(mut client: Far) -> Result<Answer, Failure> {
    let mut number = [0; 8];
    match client.read_exact(&mut number) {
        Ok(()) => Ok(Answer::Greeted(u64::from_be_bytes(number))),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof || is_refusal(&error) => Ok(Answer::Dropped),
        Err(error) => Err(Failure::Wrong(format!("a client was neither greeted nor turned away: {error}"))),
    }
}

/// What the clients of a listener that is going to be closed know about it.
#[derive(Default)]
pub(super) struct Prospect {
    /// It is closed. A client that still waits says something: only that makes the kernel reset a connection that it has
    /// forgotten.
    pub(super) gone: AtomicBool,
    /// It will not be closed: nobody need wait.
    pub(super) hopeless: AtomicBool,
}

/// As [`call`], for a listener that is going to be closed.
pub(super) fn call_until(address: &Address, prospect: &Prospect) -> Result<Answer, Failure> {
    let mut client = match address.connect() {
        Ok(client) => client,
        Err(error) if is_refusal(&error) => return Ok(Answer::Refused),
        Err(error) => return Err(Failure::broken(format!("connect: {error}"))),
    };
    let _ = client.set_read_timeout(Duration::from_millis(20));
    let end = Instant::now() + patience();
    let (mut number, mut heard, mut asked) = ([0; 8], 0, false);
    while heard < number.len() {
        match client.read(&mut number[heard..]) {
            Ok(0) => return Ok(Answer::Dropped),
            Ok(count) => heard += count,
            Err(error) if is_refusal(&error) => {
                return Ok(if asked { Answer::Forgotten } else { Answer::Dropped });
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if prospect.hopeless.load(Ordering::SeqCst) {
                    return Ok(Answer::Dropped);
                }
                if Instant::now() >= end {
                    return Err(Failure::Wrong("a client was neither greeted nor turned away".into()));
                }
                // What writing answers is also what the next read answers.
                if prospect.gone.load(Ordering::SeqCst) {
                    asked = true;
                    let _ = client.write(&[0]);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::Wrong(format!("a client's read: {error}"))),
        }
    }
    Ok(Answer::Greeted(u64::from_be_bytes(number)))
}

fn is_refusal(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, InvalidInput};
    // EINVAL: macOS and FreeBSD, when the listener goes while the client connects.
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionReset | ConnectionAborted | BrokenPipe | InvalidInput
    )
}

/// The numbers of the greeted, sorted.
pub(super) fn numbers(answers: &[Answer]) -> Vec<u64> {
    let number = |answer: &Answer| match answer {
        Answer::Greeted(number) => Some(*number),
        _ => None,
    };
    let mut numbers: Vec<_> = answers.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}
