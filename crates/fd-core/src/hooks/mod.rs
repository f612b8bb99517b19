//! The test machinery: what holds a thread at a point of the protocol, breaks a rule of it, or asserts its
//! invariants. It is no part of the documented interface, and nothing of it is left in a build without its
//! feature (`ci/zero-cost.sh`).
//!
//! A hook is one statement on a line of its own, in one of these forms. Without these lines, the text is the
//! protocol; `unless!` and `ordering!` hold a part of it, which is then the correct one.
//!
//! | form | in a build with | meaning |
//! |---|---|---|
//! | `checkpoint!(Point, fd);` | `checkpoints` | a script can hold the thread here; `checkpoint!(Point);` concerns no descriptor |
//! | `invariant!(holds, "…");` | `invariants`, debug assertions | panics if the invariant does not hold |
//! | `fault!(Name => step);` | `faults`, models | takes a wrong step, or leaves the function by it |
//! | `fault!(Name: value => wrong);` | `faults`, models | replaces a local variable |
//! | `unless!(Name => step);` | `faults`, models | leaves out a correct step |
//! | `ordering!(Name, AcqRel)` | models | makes an ordering relaxed |
//!
//! A name is a [`Fault`](fault::Fault), which a scenario can catch, or a [`Mutant`](mutant::Mutant), which
//! only a model can. A mistake is type-checked in every build, and evaluated only while its name is switched
//! on. A mistake that does not fit into one line is a function of the `mistakes` module of its
//! floor: a wrong variant of a whole step.

#[macro_use]
mod macros;

pub mod checkpoint;
pub mod fault;
pub mod inject;
pub mod invariants;
pub mod mutant;

pub use crate::{fault, unless};

/// Whether this build has switches for mistakes.
pub const ARMED: bool = cfg!(feature = "faults") || mutant::IN_MODELS;

/// Every name that a hook can have.
pub mod names {
    pub use super::fault::Fault::*;
    pub use super::mutant::Mutant::*;
}
