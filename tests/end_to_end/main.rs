//! The `pollmatrix` executable from outside, with scenarios that misbehave on purpose.

mod answers;
mod diff;
mod elsewhere;
mod expectations;
mod interruption;
mod merge;
mod reports;
mod sandbox;
mod usage;
