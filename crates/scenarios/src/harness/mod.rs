//! What a scenario runs in: a runtime on the backend under test, and the checks at its end. The one scenario of this
//! family is the control of all others.

mod runtime;

pub use runtime::Harness;

crate::catalogue::family! {
    control,
}
