//! Runs the `pollmatrix` executable as a user does, with scenarios that misbehave on purpose.

mod adapters;
mod answers;
mod behaviours;
mod characterisation;
mod ci;
mod cost;
mod diff;
mod elsewhere;
mod escapes;
mod expectations;
mod explore;
mod faults;
mod floods;
mod hostile;
#[cfg(feature = "faults")]
mod inject;
mod interruption;
mod late;
mod limits;
mod merge;
mod probe;
mod replaced;
mod reports;
mod sandbox;
#[cfg(target_os = "linux")]
mod scripts;
mod shards;
mod site;
mod streams;
mod terminal;
mod usage;
mod vm;
