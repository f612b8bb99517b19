//! Other people's pollers behind the raw interface, each a column of its own: what it makes of the kernel's answers.
//!
//! - A library takes what its interface can express. Anything else is unsupported, with the reason.
//! - Its events are in its own words, in the order in which its documentation has them.
//! - [`process()`] is any program that speaks the protocol of docs/subjects.md; [`check()`] tells whether a poller
//!   keeps what scenarios rely on.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic"))]

mod check;
mod column;
mod errno;
#[cfg(any(feature = "mio", feature = "polling"))]
mod io_error;
#[cfg(feature = "libevent")]
mod libevent;
#[cfg(feature = "mio")]
mod mio;
#[cfg(feature = "polling")]
mod polling;
mod process;
pub mod testing;

use selector::MakeSelector;

pub use crate::check::{Check, Outcome, check, check_process};
pub use crate::process::{PATIENCE, PROTOCOL, process, schema, show_messages};

/// A library's poller that is built into this program.
#[derive(Clone, Copy)]
pub struct Subject {
    /// What its answers are published under: `mio`, `libevent-poll`.
    pub name: &'static str,
    /// How one is made. The kind of the error is `Unsupported` where this system has no such poller.
    pub make: MakeSelector,
}

/// Every library's poller that is built into this program. The features say which those are.
pub const SUBJECTS: &[Subject] = &[
    #[cfg(feature = "mio")]
    Subject { name: mio::NAME, make: &mio::selector },
    #[cfg(feature = "polling")]
    Subject { name: polling::NAME, make: &polling::selector },
    #[cfg(feature = "libevent")]
    Subject { name: "libevent-epoll", make: &libevent::epoll },
    #[cfg(feature = "libevent")]
    Subject { name: "libevent-kqueue", make: &libevent::kqueue },
    #[cfg(feature = "libevent")]
    Subject { name: "libevent-poll", make: &libevent::poll },
    #[cfg(feature = "libevent")]
    Subject { name: "libevent-select", make: &libevent::select },
];

/// The library's poller of this name.
pub fn find(name: &str) -> Option<Subject> {
    SUBJECTS.iter().copied().find(|subject| subject.name == name)
}
