//! The `pollmatrix` executable from outside, with scenarios that misbehave on purpose.

mod answers;
mod interruption;
mod plans;
mod reports;
mod sandbox;
#[cfg(target_os = "linux")]
mod scripts;
mod usage;
