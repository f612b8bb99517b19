//! Raw kqueue: filters that are added and deleted, fire and fail independently.
//!
//! - An addition of a registered filter is a modification, and a modification of an absent one an addition.
//!   Neither changes between level, edge and one-shot, and an addition leaves a disabled filter disabled
//!   (measured).
//! - Each filter has a call of its own, with `EV_RECEIPT`: the refusal of one filter does not affect the
//!   others.
//! - This module remembers the filters of each number for the removal: the kernel does not return them. If
//!   none is known for a number, a removal deletes both directions.
//! - The wake-up is `EVFILT_USER`, edge-triggered: it ends one wait. Without that filter it is a pipe. It
//!   takes a place among the events, as with epoll.
//! - A closed queue stays open for the threads that wait in it (measured), and no wake-up reaches them.

mod calls;
#[cfg(kqueue)]
mod queue;
mod records;
mod sources;

#[cfg(kqueue)]
pub use queue::selector;
