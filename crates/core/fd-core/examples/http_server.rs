//! An HTTP/1.1 server with persistent connections, a timeout for idle ones, and a graceful end. Two threads
//! accept and serve.
//!
//! Prints its address, and serves until its standard input ends: `cargo run -p pollmatrix-fd-core --example
//! http_server`, then `curl -i http://127.0.0.1:PORT/`. An argument is the timeout in milliseconds.
//!
//! At the end it accepts no connection any more, closes those that are idle, and waits for the requests that
//! have begun.

mod backend;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use httparse::{EMPTY_HEADER, Request, Status};
use pollmatrix_fd_core::{FdCore, Handler, InsertOptions, ReadyGuard, RegistrationRef, Runtime};

/// The largest head of a request.
const LONGEST: usize = 8192;

/// How long the end waits for requests that have begun.
const GRACE: Duration = Duration::from_secs(10);

/// A connection: what has arrived of the next request. One thread serves it, so the lock is always free.
struct Connection {
    pending: Mutex<Vec<u8>>,
    timeout: Duration,
}

impl Handler<TcpStream> for Connection {
    fn ready(&self, ready: &ReadyGuard<'_, TcpStream>) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let (registration, is_draining) = (ready.registration(), ready.context().core().is_draining());
        let is_timeout = ready.events().is_timeout();
        let served = if is_timeout && !is_draining {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            receive(ready.source(), &mut pending).and_then(|()| answer(ready.source(), &mut pending))
        };
        match served {
            Ok(()) if is_draining && pending.is_empty() => _ = registration.delete(),
            Ok(()) => await_request(ready.context().core(), &registration, self.timeout),
            // At the end, the rest of a request may come, and an idle client has to go.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if is_timeout && pending.is_empty() {
                    let _ = registration.delete();
                }
            }
            // The client has gone, was idle for too long, sends something else, does not read, or wants no
            // further answer.
            Err(_) => _ = registration.delete(),
        }
    }
}

/// Sets the timeout of a connection until its next request.
fn await_request(core: &FdCore, registration: &RegistrationRef<'_>, timeout: Duration) {
    let _ = registration.set_timeout(Some(timeout));
    // Asked last: the end may begin at any time, and may have set the timeout that this one replaced.
    if core.is_draining() {
        let _ = registration.set_timeout(Some(Duration::ZERO));
    }
}

/// Appends what has arrived.
fn receive(mut stream: &TcpStream, pending: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; 4096];
    let count = stream.read(&mut bytes)?;
    if count == 0 || pending.len() + count > LONGEST {
        return Err(io::ErrorKind::ConnectionAborted.into());
    }
    pending.extend_from_slice(&bytes[..count]);
    Ok(())
}

/// Answers every complete request, in order. An error means that the connection ends.
fn answer(mut stream: &TcpStream, pending: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut headers = [EMPTY_HEADER; 32];
        let mut request = Request::new(&mut headers);
        let length = match request.parse(pending) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Ok(()),
            Err(_) => return refuse(stream),
        };
        let has = |name: &str| request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        // Without a body, the next request begins where this one ends.
        if has("content-length").is_some_and(|header| header.value != b"0")
            || has("transfer-encoding").is_some()
        {
            return refuse(stream);
        }
        let closes = request.version == Some(0)
            || has("connection").is_some_and(|header| header.value.eq_ignore_ascii_case(b"close"));
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 6\r\n\r\nhello\n")?;
        if closes {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        pending.drain(..length);
    }
}

fn refuse(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
    Err(io::ErrorKind::InvalidData.into())
}

/// Accepts a connection, and registers it for the thread that runs.
fn accept(ready: &ReadyGuard<'_, TcpListener>, timeout: Duration) {
    // Both threads are called for one connection, and one of them gets it.
    let Ok((stream, _)) = ready.source().accept() else { return };
    if stream.set_nonblocking(true).is_err() {
        return;
    }
    let (context, id, options) = (ready.context(), ready.context().id(), InsertOptions::default());
    let connection = Connection { pending: Mutex::default(), timeout };
    let inserted = context.core().insert(stream, connection, id.group(), id.mask(), options);
    if let Ok(handle) = inserted {
        let registration = context.registration(handle);
        await_request(context.core(), &registration, timeout);
        let _ = registration.want_recv();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let timeout = std::env::args().nth(1).map_or(Ok(60_000), |milliseconds| milliseconds.parse())?;
    let timeout = Duration::from_millis(timeout);
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;

    let runtime = Runtime::builder().group(2).start(backend::backend)?;
    let core = runtime.core();
    let group = core.threads().next().ok_or("a runtime has threads")?.group();
    let both = core.table().threads(group);
    let accept = move |ready: &ReadyGuard<'_, TcpListener>| accept(ready, timeout);
    let handle = core.insert(listener, accept, group, both, InsertOptions::default())?;
    core.registration(handle).want_recv()?;

    io::copy(&mut io::stdin(), &mut io::sink())?;
    core.registration(handle).delete()?;
    core.begin_drain();
    // Each connection looks at once whether it is idle.
    for connection in core.entries().0 {
        let _ = core.registration(connection.handle).set_timeout(Some(Duration::ZERO));
    }
    let left = runtime.drain(GRACE)?;
    writeln!(io::stdout(), "{left} requests were not answered")?;
    Ok(())
}
