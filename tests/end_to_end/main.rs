//! The `pollmatrix` executable from outside, with scenarios that misbehave on purpose.

mod answers;
mod diff;
mod elsewhere;
mod expectations;
mod faults;
#[cfg(feature = "faults")]
mod inject;
mod interruption;
mod merge;
mod plans;
mod probe;
mod reports;
mod rows;
mod sandbox;
#[cfg(target_os = "linux")]
mod scripts;
mod subjects;
mod usage;
