//! Pollers of other projects behind the raw interface: libraries, and adapters, which are programs that speak
//! the protocol of docs/adapters.md.
//!
//! - A call that a library cannot express is unsupported, with the reason.
//! - The events have the library's own names, in the order of its documentation.
//! - [`process()`] starts an adapter. [`check()`] checks the properties of a poller that scenarios rely on.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test that gets no thread may panic"))]

mod check;
mod errno;
#[cfg(feature = "libevent")]
mod libevent;
#[cfg_attr(not(feature = "mio"), allow(dead_code, reason = "other libraries use a part of it"))]
mod library;
#[cfg(feature = "mio")]
mod mio;
#[cfg(feature = "polling")]
mod polling;
mod process;
pub mod testing;
#[cfg(feature = "tokio")]
mod tokio;
mod views;

use selector::MakeSelector;

pub use crate::check::{Check, Outcome, check, check_process};
pub use crate::process::{PATIENCE, PROTOCOL, process, show_messages};

/// A poller of a library that is built into this program.
#[derive(Clone, Copy)]
pub struct Library {
    /// The name in the published answers: `mio`, `libevent-poll`.
    pub name: &'static str,
    /// Creates the poller. The kind of the error is `Unsupported` if this system has no such poller.
    pub make: MakeSelector,
}

/// The pollers of all libraries that are built into this program. The features of this crate select the
/// libraries.
pub const LIBRARIES: &[Library] = &[
    #[cfg(feature = "mio")]
    Library { name: mio::NAME, make: &mio::selector },
    #[cfg(feature = "polling")]
    Library { name: polling::NAME, make: &polling::selector },
    #[cfg(feature = "tokio")]
    Library { name: tokio::NAME, make: &tokio::selector },
    #[cfg(feature = "libevent")]
    Library { name: "libevent-epoll", make: &libevent::epoll },
    #[cfg(feature = "libevent")]
    Library { name: "libevent-kqueue", make: &libevent::kqueue },
    #[cfg(feature = "libevent")]
    Library { name: "libevent-poll", make: &libevent::poll },
    #[cfg(feature = "libevent")]
    Library { name: "libevent-select", make: &libevent::select },
];

/// Returns the library's poller with this name.
pub fn find(name: &str) -> Option<Library> {
    LIBRARIES.iter().copied().find(|library| library.name == name)
}
