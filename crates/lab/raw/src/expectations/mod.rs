//! The expected answers of each operating system, as data: the folder `expectations/`, built into the
//! executable.
//!
//! An *expectation* is the answer of a raw interface in one state of a behaviour ([`BEHAVIOURS`]). There is
//! one file per operating system; each expectation has a source and its [`Evidence`](metadata::Evidence). A
//! *divergence* is a contract check that is known not to hold on some system: [`Divergences::judge`] turns
//! exactly the documented failures into [`Status::Permitted`](metadata::Status::Permitted) or
//! [`Status::KnownFail`](metadata::Status::KnownFail).
//!
//! The answers of past systems are kept for readers ([`History`]); no cell is judged by them.
//!
//! Each file is read and checked once, at its first use.

mod answers;
mod catalogue;
mod divergences;
mod embedded;
mod error;
mod error_numbers;
mod file;
mod history;
mod judge;
mod observed;
mod oracle;
mod record;
mod version;

pub use answers::{Compared, Expectation, Expectations, Source, Unstable, answers_file, is_overlay};
pub use catalogue::{ASSUMPTIONS, Assumption, BEHAVIOURS, FAMILIES, TOPICS, Topic, suggestion, title};
pub use divergences::{Divergence, Divergences, Frequency, Kind};
pub use embedded::adapters;
pub use error::ExpectationsError;
pub use file::matches_pattern;
pub use history::{History, PastAnswers, PastSystem};
pub use observed::{Defects, NO_ANSWER, NOT_KNOWN, Observed};
pub use oracle::{Kernel, Oracle, OracleError, kernels};
pub use record::{Recorded, Recording, record};
pub use version::{Range, Version, Versions, macos_of_darwin};
