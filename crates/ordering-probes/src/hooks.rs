//! The part of fd-core's hooks that the pairs use. In this crate no hook can be enabled.

#[macro_use]
#[expect(unused_macros, reason = "the pairs use two of the forms")]
#[path = "../../fd-core/src/hooks/macros.rs"]
mod macros;
#[path = "../../fd-core/src/hooks/mutant.rs"]
mod mutant;

pub use mutant::IN_MODELS as ARMED;

/// The mutants that the pairs refer to.
pub mod names {
    pub use super::mutant::Mutant::*;
}
