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

mod activity;
pub mod always_ready;
mod backoff;
pub mod checkpoint;
mod clock;
mod context;
mod core;
mod dump;
mod entry;
pub mod error;
pub mod fault;
mod group_word;
mod guarded;
mod handler;
pub mod ids;
pub mod inject;
pub mod interest;
pub mod invariants;
#[cfg(all(test, any(loom, shuttle)))]
mod models;
mod pairs;
pub mod per_thread;
pub mod poller;
mod ready;
#[cfg(all(test, not(any(loom, shuttle))))]
mod reference;
mod runtime;
mod signals;
mod stale;
pub mod state;
mod sync;
mod table;
mod task_queue;
#[cfg(all(test, not(any(loom, shuttle))))]
mod testing;
mod update_list;
mod wake;
mod weak;
mod worker;
mod zeroed;

pub use activity::{ActivitySnapshot, ActivityTable};
pub use context::Context;
pub use core::{Descriptor, Duplicate, FdCore, InsertOptions, Lives};
pub use dump::{EntryInfo, FdDump};
pub use handler::{Handler, OwnerId};
pub use ready::{Fd, Ready};
pub use runtime::{Builder, Death, Prepared, Runtime};
pub use table::{FdHandle, FdTable};
