//! fd-core's own hooks, as far as the pairs use them. None of them can be switched on here.

#[macro_use]
#[expect(unused_macros, reason = "the pairs use two of the forms")]
#[path = "../../fd-core/src/hooks/macros.rs"]
mod macros;
#[path = "../../fd-core/src/hooks/mutant.rs"]
mod mutant;

pub use mutant::IN_MODELS as ARMED;

/// The mutants that the pairs name.
pub mod names {
    pub use super::mutant::Mutant::*;
}
