//! A table of file descriptors that threads share: who may use a descriptor, who is using it, what each thread's
//! poller knows of it. Descriptors move between threads and groups of threads, are shared by several, and are
//! deleted while in use, with no lock and no waiting in the way of the events.
//!
//! The model is HAProxy's; where its protocol relies on the callers' locks, this one holds under any combination of
//! calls, because a safe API cannot ask for less. `models` runs it through the interleavings of two and three threads;
//! `docs/protocol.md` says which model checks which step, and within which bounds.
//!
//! - [`FdCore`] is the shared side: [`insert`](FdCore::insert), [`fd`](FdCore::fd), counters, dumps.
//! - [`Context`] is a worker thread's own side: [`takeover`](Context::takeover), [`enter`](Context::enter), timers.
//! - [`Handler`] is what owns a descriptor; it is lent a [`ReadyGuard`] for each report.
//! - [`Runtime`] runs the worker threads.
//! - [`poller`] is what a backend implements.
//!
//! # The source, floor by floor
//!
//! Each floor names its own files and those of lower floors only (`tests/floors.rs`). From the top:
//!
//! | floor | what it holds |
//! |---|---|
//! | `runtime` | threads in groups, from start to stop |
//! | `worker` | the loop of one thread; its signals, the stale registrations of its poller |
//! | `shared` | [`FdCore`] and [`Context`], what a handler is lent, sleep and wake-up, tasks, counters |
//! | `poller` | the traits of a backend, and what several backends share |
//! | `table` | the steps of the protocol: insert, enter, exit, delete, takeover, change of group, updates |
//! | `entry` | one entry of the table, its owner, and the errors |
//! | `words` | single words and lists of the protocol: identities, events, state, group word, update list, Dekker pairs |
//! | `hooks` | the test machinery: checkpoints, invariants, mistakes that can be switched on, injected errors |
//!
//! The files of `shared` may name each other in a circle: the core lends a context, and a context holds the
//! core. One name goes up: an entry keeps its [`Handler`] and never calls it, but the trait names the
//! [`ReadyGuard`] that a worker lends.

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
mod model_based;
#[cfg(all(test, any(loom, shuttle)))]
mod models;
#[cfg(all(test, not(any(loom, shuttle))))]
mod testing;

pub use entry::error;
pub use entry::owner::OwnerId;
pub use entry::source::{Duplicate, IntoSource, Source};
pub use poller::{always_ready, interest, per_thread, thread_interest};
pub use runtime::{Builder, Prepared, Runtime, WorkerError};
pub use shared::activity::{ActivitySnapshot, ActivityTable};
pub use shared::context::Context;
pub use shared::dump::{EntryInfo, FdDump};
pub use shared::handler::Handler;
pub use shared::ready::{ReadyGuard, RegistrationRef};
pub use shared::{FdCore, InsertOptions, RegistrationCounts};
pub use table::{FdHandle, FdTable};
pub use words::ids;
pub use words::state::State;
