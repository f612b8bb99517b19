//! Runs the `pollmatrix` executable as a user does, with scenarios that misbehave on purpose.

mod adapters;
mod against;
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
mod own_ci;
mod probe;
#[cfg(target_os = "linux")]
mod release;
mod replaced;
mod reports;
mod sandbox;
#[cfg(target_os = "linux")]
mod scripts;
mod shards;
mod site;
mod streams;
mod terminal;
mod timeline;
mod usage;
mod vm;
