//! The harness of every scenario: a runtime on the backend under test, and the checks at its end. The
//! family's only scenario is the control of all others.

mod quiet;
mod runtime;
mod sleepers;

pub use runtime::Harness;
pub(crate) use sleepers::Sleepers;

crate::scenario::family! {
    control,
}
