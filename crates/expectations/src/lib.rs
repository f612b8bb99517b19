//! What each OS is expected to answer, as data: the folder `expectations/`, built into the executable.
//!
//! Two things are there. The *answers* are what the raw interfaces say in each state of the catalogue ([`BEHAVIOURS`]): one
//! file per OS, each answer with its source and its [`Evidence`](metadata::Evidence). The *divergences* are contract checks that are known
//! not to hold somewhere: [`Divergences::judge`] turns a failure that is documented there, and nothing else, into
//! [`Status::Permitted`](metadata::Status::Permitted) or [`Status::KnownFail`](metadata::Status::KnownFail).
//!
//! Beside them, what past systems answered is kept ([`History`]), for readers: nothing is judged by it.
//!
//! All are read and checked when they are first asked for, and once.

mod answers;
mod catalogue;
mod divergences;
mod embedded;
mod error;
mod file;
mod history;
mod judge;
mod observed;
mod record;
mod version;

pub use answers::{Compared, Expectation, Expectations, Source, Unstable, answers_file};
pub use catalogue::{BEHAVIOURS, FAMILIES, title};
pub use divergences::{Divergence, Divergences, Frequency, Kind};
pub use embedded::subjects;
pub use error::ExpectationsError;
pub use history::{History, PastAnswers, PastSystem};
pub use observed::{NO_ANSWER, NOT_KNOWN, Observed};
pub use record::{Recorded, Recording, record};
pub use version::{Range, Version, macos_of_darwin};
