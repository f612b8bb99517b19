//! The test machinery: hooks that hold a thread at a point of the protocol, break a rule of it, or assert its
//! invariants. It does not belong to the documented interface, and a build without its features contains
//! nothing of it (`ci/proofs.sh zero-cost`).
//!
//! A hook is one statement on a line of its own, in one of the forms below. Without these lines the text is
//! the protocol. `unless!` and `ordering!` contain a part of the protocol, which is the correct variant.
//!
//! | form | in a build with | meaning |
//! |---|---|---|
//! | `checkpoint!(Point, fd);` | `checkpoints` | a test can observe or hold the thread; `fd` may be omitted |
//! | `invariant!(holds, "…");` | `invariants`, debug assertions | panics if the invariant does not hold |
//! | `fault!(Name => step);` | `faults` | performs a wrong step, which may return from the function |
//! | `fault!(Name: value => wrong);` | `faults` | replaces a local variable |
//! | `unless!(Name => step);` | `faults` | omits a correct step |
//! | `ordering!(Name, AcqRel)` | `faults`, in the models | makes an ordering relaxed |
//!
//! A name is a [`Fault`](fault::Fault): the registry says who must catch it. A mistake is type-checked in
//! every build, and executed only while its name is switched on. A mistake that does not fit into one line is
//! a function of the `mistakes` module of its floor: a wrong variant of a whole step.

#[macro_use]
mod macros;

pub mod checkpoint;
pub mod fault;
pub mod inject;
pub mod invariants;
pub(crate) mod trace;

pub use crate::{fault, unless};

/// Whether this build has switches for mistakes.
pub const ARMED: bool = cfg!(feature = "faults");

/// Whether this build has hooks that cost time, even while none is used.
pub const COST_TIME: bool =
    ARMED || cfg!(any(feature = "checkpoints", feature = "invariants", debug_assertions));

/// Every name that a hook can have.
pub mod names {
    pub use super::fault::Fault::*;
}
