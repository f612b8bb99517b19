//! Every scenario, written once, generic over the backend.
//!
//! A scenario is one file with one `SCENARIO`, and one line in [`catalogue`]. It is given a [`TestContext`] and starts a
//! [`Harness`]: a runtime on the backend under test, whose end checks that nothing leaked and everything closed once.

mod catalogue;
mod deletion;
mod descriptors;
mod gate;
mod harness;
pub mod history;
mod hold;
mod interleaving;
mod lifecycle;
mod migration;
pub mod needs;
mod persist;
mod polling;
mod recorder;
mod regression;
mod scarcity;
mod shared_listener;
mod shortage;
pub mod soak;
mod still_clock;
mod test_context;
mod threads;
mod transport;
mod trigger;

pub use catalogue::{Scenario, catalogue, find};
pub use gate::Gate;
pub use harness::Harness;
pub use hold::{Checkpoints, Held};
pub use recorder::{Recorder, Seen};
pub use test_context::{Failure, Outcome, PATIENCE, TestContext, Verdict, run, set_patience, set_slowness};
pub use transport::{Address, Far, Listener, Pair, at_number, copy_at, pair};
