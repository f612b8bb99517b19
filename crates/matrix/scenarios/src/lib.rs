//! Every contract scenario, written once, generic over the backend.
//!
//! A scenario is one file with one `SCENARIO`, and one line in its family's `mod.rs`. It gets a
//! [`TestContext`] and starts a `Harness`: a runtime on the backend under test. When the harness ends, it
//! checks that nothing leaked and that every descriptor was closed once.
//!
//! # The source, floor by floor
//!
//! Each floor uses its own modules and those of lower floors only, and no circle of `use` connects modules
//! (`tests/documents/circles.rs`). From the top:
//!
//! | floor | modules |
//! |---|---|
//! | the list of scenarios, the soak, the history | [`catalogue`](catalogue()), [`soak`], [`history`] |
//! | families of scenarios | `polling`, `regression`, below them `lifecycle`, `migration`, |
//! | | below them `deletion`, `shared_listener` |
//! | forced interleavings of several threads | `interleaving` |
//! | the names that nearly every scenario uses | `prelude` |
//! | a runtime under test, with the checks at its end | `harness` |
//! | one run of one scenario | [`run`](run()), `scenario`, `test_context`, [`needs`] |
//! | tools of scenarios | `recorder`, `checkpoints`, `descriptor_limit`, `threads` |
//! | how a run fails | `failure`, `missing_resource` |
//! | the system and its clock | `descriptors`, [`loopback`], `transport`, `retry`, `manual_clock`, |
//! | | below them `far_end`, [`late`] |
//! | what the threads do | `timeline` |
//! | waiting | `gate`, `mutex`, `patience` |

mod catalogue;
mod checkpoints;
mod deletion;
mod descriptor_limit;
mod descriptors;
mod failure;
mod far_end;
mod gate;
mod harness;
pub mod history;
mod interleaving;
pub mod late;
mod lifecycle;
pub mod loopback;
mod manual_clock;
mod migration;
mod missing_resource;
mod mutex;
pub mod needs;
mod patience;
mod polling;
mod prelude;
mod recorder;
mod regression;
mod retry;
mod run;
mod scenario;
mod shared_listener;
pub mod soak;
mod test_context;
mod threads;
mod timeline;
mod transport;

pub use catalogue::{catalogue, find};
pub use checkpoints::Checkpoints;
pub use failure::Failure;
pub use patience::{PATIENCE, set_patience, set_slowness};
pub use run::{Verdict, run};
pub use scenario::Scenario;
pub use test_context::{Outcome, TestContext};
