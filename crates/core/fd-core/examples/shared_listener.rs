//! A listener that four threads in two groups share. The first thread that accepts a connection greets the
//! client with its own name.
//!
//! Prints its address, and serves until its standard input ends.

mod backend;

use std::error::Error;
use std::io::{self, Write};
use std::net::TcpListener;

use pollmatrix_fd_core::ids::ThreadMask;
use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};

/// Several threads may run this at the same time: the listener answers `WouldBlock` to all but one of them.
fn accept(ready: &ReadyGuard<'_, TcpListener>) {
    while let Ok((mut stream, _)) = ready.source().accept() {
        // Closes the connection at the end of the block, whether the client has got the line or not.
        let _ = writeln!(stream, "thread {}", ready.context().id());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;

    let runtime = Runtime::builder().group(2).group(2).start(backend::backend)?;
    let core = runtime.core();
    let groups: Vec<_> = core.table().groups().collect();
    let options = InsertOptions::default();
    // A registration belongs to one group, so the second group gets a duplicate. The core knows that both
    // descriptors belong to one open file.
    let first = core.insert(listener, accept, groups[0], ThreadMask::ALL, options)?;
    let copy = core.registration(first).duplicate()?.map(TcpListener::from);
    let second = core.insert(copy, accept, groups[1], ThreadMask::ALL, options)?;
    for handle in [first, second] {
        core.registration(handle).want_recv()?;
    }

    io::copy(&mut io::stdin(), &mut io::sink())?;
    runtime.stop()?;
    Ok(())
}
