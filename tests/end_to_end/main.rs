//! The `pollmatrix` executable from outside, with scenarios that misbehave on purpose.

mod answers;
mod ci;
mod diff;
mod elsewhere;
mod expectations;
mod faults;
mod hostile;
mod interruption;
mod kubernetes;
mod merge;
mod plans;
mod probe;
mod reports;
mod rows;
mod sandbox;
#[cfg(target_os = "linux")]
mod scripts;
mod subjects;
mod terminal;
mod usage;
