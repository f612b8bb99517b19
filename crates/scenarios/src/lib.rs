//! Every scenario, written once, generic over the backend.
//!
//! A scenario is one file with one `SCENARIO`, and one line in [`catalogue`]. It is given a [`Trial`] and starts a
//! [`Lab`]: a runtime on the backend under test, whose end checks that nothing leaked and everything closed once.

mod catalogue;
mod deletion;
mod descriptors;
mod gate;
pub mod history;
mod hold;
mod lab;
mod migration;
mod params;
mod persist;
mod polling;
mod recorder;
mod regression;
mod script;
mod shared_listener;
pub mod soak;
mod transport;
mod trial;

pub use catalogue::{Layer, Scenario, catalogue, find};
pub use gate::Gate;
pub use hold::{Checkpoints, Held};
pub use lab::Lab;
pub use params::{Params, ParseParamsError, Transport, trigger_name};
pub use recorder::{Recorder, Seen};
pub use transport::{Address, Far, Listener, Pair, at_number, copy_at, pair};
pub use trial::{Check, Failure, Outcome, PATIENCE, Trial, Verdict, run, set_patience, set_slowness};
