//! The `pollmatrix` executable from outside, with scenarios that misbehave on purpose.

mod answers;
mod expectations;
mod interruption;
mod reports;
mod sandbox;
mod usage;
