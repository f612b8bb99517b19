//! A server that returns to each client what the client sends.
//!
//! Prints its address, and serves until its standard input ends:
//! `cargo run -p pollmatrix-fd-core --example echo_server`, then `nc 127.0.0.1 PORT`.

mod backend;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use pollmatrix_fd_core::ids::ThreadId;
use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};

/// Accepts a connection, and registers it for the thread that runs.
fn accept(ready: &ReadyGuard<'_, TcpListener>) {
    let Ok((stream, _)) = ready.source().accept() else { return };
    if stream.set_nonblocking(true).is_err() {
        return;
    }
    let (context, id) = (ready.context(), ready.context().id());
    let inserted = context.core().insert(stream, echo, id.group(), id.mask(), InsertOptions::default());
    if let Ok(handle) = inserted {
        let _ = context.registration(handle).want_recv();
    }
}

/// Returns the client's bytes. Disconnects a client that has closed its end, or that does not read.
fn echo(ready: &ReadyGuard<'_, TcpStream>) {
    let (mut stream, mut bytes) = (ready.source(), [0; 4096]);
    let served = match stream.read(&mut bytes) {
        Ok(count) => count > 0 && stream.write_all(&bytes[..count]).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    };
    if !served {
        let _ = ready.registration().delete();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;

    let runtime = Runtime::single(backend::backend)?;
    let core = runtime.core();
    let id = ThreadId::FIRST;
    let handle = core.insert(listener, accept, id.group(), id.mask(), InsertOptions::default())?;
    core.registration(handle).want_recv()?;

    io::copy(&mut io::stdin(), &mut io::sink())?;
    runtime.stop()?;
    Ok(())
}
