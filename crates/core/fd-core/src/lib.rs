//! A table of file descriptors for programs whose threads share them.
//!
//! Insert a *source* (a `TcpListener`, a `UnixStream`, any type that owns a descriptor) with a *handler*.
//! Worker threads poll the source and call the handler for its events. A descriptor can belong to one thread
//! or to several, move to another thread or group of threads, and be deleted by any thread while its handler
//! runs. No call waits for a handler, and the descriptor is closed exactly once, when no thread uses it any
//! more.
//!
//! ```text
//!                core.insert(source, handler, group, threads, options)
//!                                      |
//!   any thread  --- want, stop ----+   v            owns the source and the handler:
//!                   delete, move   |  +------------------------------------+
//!   post(task) ------------+       +->| FdCore, with the FdTable:          |
//!                          |          |   fd 7   group 1   threads 0 and 1 |
//!                          |          |   fd 9   group 2   thread 0        |
//!                          |          +------------------------------------+
//!                          |             | updates of         ^ events, and the calls
//!                          v             v the interest       | handler.ready(&guard)
//!   +--- group 1 --------------------------------+   +--- group 2 ----------+
//!   |  worker thread 0      worker thread 1      |   |  worker thread 0     |
//!   |  Context, Poller      Context, Poller      |   |  Context, Poller     |
//!   +--------------------------------------------+   +----------------------+
//!                a backend: epoll, kqueue, poll, select, or your own
//! ```
//!
//! | type | role |
//! |---|---|
//! | [`Runtime`] | the worker threads, in groups of up to 64 |
//! | [`FdCore`] | shared by all threads: [insert](FdCore::insert) a source, [post](FdCore::post) a task |
//! | [`Source`], [`Handler`] | a registration owns both until it ends |
//! | [`ReadyGuard`] | lends the source and the events of a report to the handler |
//! | [`FdHandle`] | names a registration; a call with the handle of an ended one is refused |
//! | [`RegistrationRef`] | the calls on a registration: enable a direction, delete, move |
//! | [`Context`] | a worker thread's own calls: [takeover](Context::takeover), [timers](Context::after) |
//! | [`poller`] | the interface of a backend |
//!
//! The package `pollmatrix-fd-core` has the library `fd_core`. Each backend is a package of its own:
//! `pollmatrix-poller-epoll`, `-kqueue`, `-poll` or `-select`, with the library `poller_epoll` and so on. The
//! first two exist on some systems only; poll(2) is on every Unix.
//!
//! # An echo server
//!
//! ```
//! use std::io::{self, Read, Write};
//! use std::net::{TcpListener, TcpStream};
//!
//! use pollmatrix_fd_core::ids::ThreadId;
//! use pollmatrix_fd_core::{InsertOptions, ReadyGuard, Runtime};
//!
//! /// Accepts a connection, and registers it for the thread that runs.
//! fn accept(ready: &ReadyGuard<'_, TcpListener>) {
//!     let Ok((stream, _)) = ready.source().accept() else { return };
//!     if stream.set_nonblocking(true).is_err() {
//!         return;
//!     }
//!     let (context, id) = (ready.context(), ready.context().id());
//!     let inserted = context.core().insert(stream, echo, id.group(), id.mask(), InsertOptions::default());
//!     if let Ok(handle) = inserted {
//!         let _ = context.registration(handle).want_recv();
//!     }
//! }
//!
//! /// Returns the client's bytes. Disconnects a client that has closed its end, or that does not read.
//! fn echo(ready: &ReadyGuard<'_, TcpStream>) {
//!     let (mut stream, mut bytes) = (ready.source(), [0; 4096]);
//!     let served = match stream.read(&mut bytes) {
//!         Ok(count) => count > 0 && stream.write_all(&bytes[..count]).is_ok(),
//!         Err(error) => error.kind() == io::ErrorKind::WouldBlock,
//!     };
//!     if !served {
//!         let _ = ready.registration().delete();
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = TcpListener::bind(("127.0.0.1", 0))?;
//! listener.set_nonblocking(true)?;
//! let address = listener.local_addr()?;
//!
//! let runtime = Runtime::single(pollmatrix_poller_poll::backend)?;
//! let core = runtime.core();
//! let id = ThreadId::FIRST;
//! let handle = core.insert(listener, accept, id.group(), id.mask(), InsertOptions::default())?;
//! core.registration(handle).want_recv()?;
//!
//! let mut client = TcpStream::connect(address)?;
//! client.write_all(b"hello")?;
//! let mut echoed = [0; 5];
//! client.read_exact(&mut echoed)?;
//! assert_eq!(&echoed, b"hello");
//! runtime.stop()?;
//! # Ok(())
//! # }
//! ```
//!
//! The folder `examples` has this server, an HTTP server with timeouts and a graceful end, a proxy whose
//! threads take idle connections over from each other, a listener that several threads share, a connection
//! that moves between threads, a timer, and a backend.
//!
//! # What to use for
//!
//! - **N threads**: [`Builder::group`] with N. Insert each connection for one thread: the one that accepts it
//!   (`context.id()`), or any of [`FdCore::threads`].
//! - **A listener that all threads share**: insert it with [`ThreadMask::ALL`](ids::ThreadMask::ALL). All of
//!   the threads may be woken for one connection; all but one get `WouldBlock` from `accept`. A listener of
//!   several groups needs a [duplicate](RegistrationRef::duplicate) for each other group.
//! - **State of a connection**: a [`Handler`] of your own, or a closure that owns it. The handler is shared,
//!   so the state is atomic or behind a lock.
//! - **A connection that moves to another thread**: [`RegistrationRef::migrate_on`] in a task, or
//!   [`Context::takeover_with`] on the thread that gets it.
//! - **A timeout of a connection**: [`RegistrationRef::set_timeout`]. **Anything else at a time**:
//!   [`Context::after`].
//! - **A graceful stop**: delete the listener, then [`Runtime::drain`].
//! - **Work that comes faster than it is done**: [`FdCore::try_post`] refuses it.
//! - **A value for each thread**: [`Builder::thread_data`]. **Affinity, priority, names**:
//!   [`Builder::on_start`].
//!
//! # Which thread may call what
//!
//! | calls | thread |
//! |---|---|
//! | [`FdCore`], [`RegistrationRef`] from [`FdCore::registration`] | any |
//! | [`Context`], [`ReadyGuard`], [`RegistrationRef`] from them | the worker thread that got the reference |
//! | [`Handler::ready`] | is called by the threads of the mask; several at once if the mask has several |
//! | [`Handler::released`], the drop of a handler | happen in the thread that ends the registration, any |
//! | [`Runtime::stop`] | any; a thread of the runtime itself does not wait |
//!
//! No call waits for a handler or for a sleeping thread, except [`Runtime::wait`], [`Runtime::drain`],
//! [`Runtime::stop`] and the drop of a [`Runtime`].
//!
//! # Tracing
//!
//! With the feature `tracing`, the core emits events for the [`tracing`](https://docs.rs/tracing) crate, with
//! the target `fd_core`: `insert` and `takeover` (trace), why they were refused (debug), handlers of 10 ms
//! and more (warn), and the work of each iteration (trace).
//!
//! # How it is built
//!
//! The model is HAProxy's. Its protocol relies on locks that the callers hold; this one holds under every
//! combination of calls, because a safe interface cannot require less. loom and shuttle explore its
//! interleavings; `docs/protocol.md` lists the model for each step, and the bounds.
//!
//! Each floor of the source names its own files and those of lower floors only (`tests/floors.rs`). From the
//! top:
//!
//! | floor | content |
//! |---|---|
//! | `runtime` | threads in groups, from start to stop |
//! | `worker` | the loop of one thread; its signals, the stale registrations of its poller |
//! | `shared` | [`FdCore`] and [`Context`], handlers and guards, sleep and wake-up, tasks, counters |
//! | `poller` | the traits of a backend, and the parts that several backends share |
//! | `table` | the steps of the protocol: insert, enter, exit, delete, takeover, change of group, updates |
//! | `entry` | one entry of the table, its owner, sources, and the errors |
//! | `words` | single words and lists of the protocol: identities, events, state, update list, Dekker pairs |
//! | `hooks` | the test machinery: checkpoints, invariants, faults that can be switched on, injected errors |
//!
//! The files of `shared` may name each other in a circle: the core lends a context, and a context holds the
//! core. One name goes up: an entry keeps its owner and never calls it, but the interface of the owner names
//! the report that a worker passes to it.

#![deny(missing_debug_implementations)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic"))]

#[macro_use]
#[doc(hidden)]
pub mod hooks;

mod entry;
pub mod poller;
mod runtime;
mod shared;
mod table;
mod words;
mod worker;

#[cfg(all(test, not(any(loom, shuttle))))]
mod costs;
#[cfg(all(test, not(any(loom, shuttle))))]
mod model_based;
#[cfg(all(test, any(loom, shuttle)))]
mod models;
#[cfg(all(test, not(any(loom, shuttle))))]
mod testing;

pub use entry::error;
pub use entry::owner::OwnerId;
pub use entry::source::{Duplicate, IntoSource, Source};
pub use poller::{always_ready, interest, owner_process, per_thread, thread_interest};
pub use runtime::{Builder, Prepared, Runtime, WorkerError};
pub use shared::activity::{ActivitySnapshot, ActivityTable};
pub use shared::context::Context;
pub use shared::dump::{EntryInfo, FdDump};
pub use shared::handler::Handler;
pub use shared::options::InsertOptions;
pub use shared::ready::{ReadyGuard, RegistrationRef};
pub use shared::timers::TimerId;
pub use shared::{FdCore, RegistrationCounts};
pub use table::{FdHandle, FdTable};
pub use words::ids;
pub use words::state::State;
