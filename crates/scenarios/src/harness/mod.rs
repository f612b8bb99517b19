//! The harness of every scenario: a runtime on the backend under test, and the checks at its end. The
//! family's only scenario is the control of all others.

mod quiet;
mod runtime;

pub use runtime::Harness;

crate::scenario::family! {
    control,
}
