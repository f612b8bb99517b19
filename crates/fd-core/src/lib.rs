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
//! - [`Handler`] is what owns a descriptor; it is lent a [`Ready`] for each report.
//! - [`Runtime`] runs the worker threads.
//! - [`poller`] is what a backend implements.

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

#[cfg(all(test, any(loom, shuttle)))]
mod models;
#[cfg(all(test, not(any(loom, shuttle))))]
mod reference;
#[cfg(all(test, not(any(loom, shuttle))))]
mod testing;

pub use entry::error;
pub use entry::handler::{Handler, OwnerId};
pub use poller::{always_ready, interest, per_thread};
pub use runtime::{Builder, Death, Prepared, Runtime};
pub use shared::activity::{ActivitySnapshot, ActivityTable};
pub use shared::context::Context;
pub use shared::dump::{EntryInfo, FdDump};
pub use shared::ready::{Fd, Ready};
pub use shared::{Descriptor, Duplicate, FdCore, InsertOptions, Lives};
pub use table::{FdHandle, FdTable};
pub use words::{ids, state};
