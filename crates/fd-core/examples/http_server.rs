//! An HTTP/1.1 server with persistent connections. Two threads accept and serve.
//!
//! Prints its address, and serves until its standard input ends:
//! `cargo run -p pollmatrix-fd-core --example http_server`, then `curl -i http://127.0.0.1:PORT/`.

mod backend;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};

use fd_core::{Handler, InsertOptions, ReadyGuard, Runtime};
use httparse::{EMPTY_HEADER, Request, Status};

/// The largest head of a request.
const LONGEST: usize = 8192;

/// A connection: what has arrived of the next request. One thread serves it, so the lock is always free.
#[derive(Default)]
struct Connection(Mutex<Vec<u8>>);

impl Handler<TcpStream> for Connection {
    fn ready(&self, ready: &ReadyGuard<'_, TcpStream>) {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match receive(ready.source(), &mut pending).and_then(|()| answer(ready.source(), &mut pending)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // The client has gone, sends something else, does not read, or wants no further answer.
            Err(_) => _ = ready.registration().delete(),
        }
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
fn accept(ready: &ReadyGuard<'_, TcpListener>) {
    // Both threads are called for one connection, and one of them gets it.
    let Ok((stream, _)) = ready.source().accept() else { return };
    if stream.set_nonblocking(true).is_err() {
        return;
    }
    let (context, id, options) = (ready.context(), ready.context().id(), InsertOptions::default());
    let inserted = context.core().insert(stream, Connection::default(), id.group(), id.mask(), options);
    if let Ok(handle) = inserted {
        let _ = context.registration(handle).want_recv();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;

    let runtime = Runtime::builder().group(2).start(backend::backend)?;
    let core = runtime.core();
    let group = core.threads().next().ok_or("a runtime has threads")?.group();
    let both = core.table().threads(group);
    let handle = core.insert(listener, accept, group, both, InsertOptions::default())?;
    core.registration(handle).want_recv()?;

    io::copy(&mut io::stdin(), &mut io::sink())?;
    runtime.stop()?;
    Ok(())
}
