//! Finds the shortest scripts to which two pollers answer differently.
//!
//! A [`Line`] is a script with a transport and a mode. Lines are drawn at random ([`draw`]) or changed from
//! those of a [`Corpus`], or [`every()`] line up to a length is performed, within the states that [`model`]
//! allows. Two [`Side`]s perform each line. Their answers are compared ([`compare`]) word for word, or,
//! between pollers with different words, by what these [mean](metadata::Column). A line that shows a
//! difference is shrunk ([`shrink`]), repeated in fresh processes, and assigned to the [`Cluster`] of its
//! cause. [`explore()`] does all of it in rounds that depend on the seed only.
//!
//! This crate starts no process: a side can be in this process ([`Local`]), in another one, or a recording.

mod accepted;
pub mod catalogue;
mod cluster;
pub mod compare;
mod corpus;
mod coverage;
pub mod draw;
mod every;
mod explore;
mod line;
mod local;
pub mod model;
mod pair;
mod recording;
pub mod shrink;
mod side;

pub use crate::accepted::{Accepted, parse_accepted};
pub use crate::catalogue::Question;
pub use crate::cluster::{Cause, Cluster, Confirmed, Group, groups};
pub use crate::corpus::{Corpus, CorpusError, parse};
pub use crate::coverage::{Triple, hash};
pub use crate::every::every;
pub use crate::explore::{Outcome, Progress, Settings, explore};
pub use crate::line::Line;
pub use crate::local::Local;
pub use crate::pair::has_threads;
pub use crate::recording::{
    RECORDING_VERSION, Recorded, RecordedLine, Recording, RecordingError, with_shorter_lines,
};
pub use crate::side::{About, End, Features, MakeSide, Performed, Runs, Side};
