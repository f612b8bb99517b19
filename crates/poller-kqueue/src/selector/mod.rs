//! kqueue as it is: filters that come and go, fire and fail by themselves.
//!
//! - An addition of what is there is a modification, and the other way round. Neither changes between level, edge and
//!   one-shot, and an addition leaves a disabled filter disabled (measured).
//! - Each filter has a call of its own, with `EV_RECEIPT`: what one is refused says nothing of the others.
//! - Which filters a number was given is remembered here, for the removal: the kernel does not tell. A number of which
//!   nothing is known is asked for both directions.
//! - The wake-up is `EVFILT_USER`, edge-triggered: it ends one wait. Where the kernel has none it is a pipe. It takes a place
//!   among the events, as with epoll.
//! - A closed queue lives on for the threads that wait in it (measured), and no wake-up reaches them.

mod calls;
#[cfg(kqueue)]
mod queue;
mod records;

#[cfg(kqueue)]
pub use queue::selector;
