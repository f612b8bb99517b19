//! A connection that moves to the other thread after each line. The thread that has read a line answers with
//! its own name.
//!
//! Prints its address, serves one connection, and ends with it.

mod backend;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};

use pollmatrix_fd_core::error::MoveError;
use pollmatrix_fd_core::ids::ThreadId;
use pollmatrix_fd_core::{Context, FdHandle, Handler, InsertOptions, OwnerId, ReadyGuard, Runtime};

struct Connection {
    threads: [ThreadId; 2],
    /// The main thread waits for the end of the connection.
    ended: Sender<()>,
}

impl Handler<TcpStream> for Connection {
    fn ready(&self, ready: &ReadyGuard<'_, TcpStream>) {
        let (mut stream, mut line) = (ready.source(), [0; 512]);
        match stream.read(&mut line) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Ok(count @ 1..) if line[..count].ends_with(b"\n") => {}
            _ => {
                let _ = ready.registration().delete();
                return;
            }
        }
        // The next line is for the other thread.
        let _ = ready.registration().stop_recv();
        let _ = writeln!(stream, "thread {}", ready.context().id());
        // A handler cannot move its own descriptor, which it uses. The other thread takes it over.
        let (handle, Ok(owner)) = (ready.handle(), ready.registration().owner()) else { return };
        let other = self.threads[usize::from(ready.context().id() == self.threads[0])];
        let _ = ready.context().core().post(other, move |context| take_over(context, handle, owner));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.ended.send(());
    }
}

/// Takes the connection over, and reads from it in this thread.
fn take_over(context: &Context, handle: FdHandle, owner: OwnerId) {
    match context.takeover(handle, owner) {
        Ok(()) => drop(context.registration(handle).want_recv()),
        // The handler has not returned yet.
        Err(MoveError::Busy) => {
            let retry = move |context: &Context| take_over(context, handle, owner);
            let _ = context.core().post(context.id(), retry);
        }
        // The connection has ended.
        Err(_) => {}
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    let (stream, _) = listener.accept()?;
    stream.set_nonblocking(true)?;

    let runtime = Runtime::builder().group(2).start(backend::backend)?;
    let core = runtime.core();
    let threads: Vec<_> = core.threads().collect();
    let (ended, end) = channel();
    let connection = Connection { threads: [threads[0], threads[1]], ended };
    let (group, first) = (threads[0].group(), threads[0].mask());
    let handle = core.insert(stream, connection, group, first, InsertOptions::default())?;
    core.registration(handle).want_recv()?;

    end.recv()?;
    runtime.stop()?;
    Ok(())
}
