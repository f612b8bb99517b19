//! Alternating samples of two loops.

use std::io;

use cost::statistics::{Compared, alternately};

use crate::loops::Loop;
use crate::ring::Ring;
use crate::work::Work;

/// Runs two loops alternately, each with its work, and compares them.
///
/// # Errors
/// The error of a loop, with its name.
pub fn compare(first: (&Work, Loop), second: (&Work, Loop), pairs: u32, events: u64) -> io::Result<Compared> {
    let sample = |(work, which): (&Work, Loop), events| {
        let ring = Ring::new(work, events)?;
        which
            .run(ring, work.poller)
            .map(|time| time.as_nanos() as f64 / events as f64)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", which.name())))
    };
    // Warm up: code, allocator, caches.
    sample(first, events / 10)?;
    sample(second, events / 10)?;
    let pairs = alternately(pairs, || sample(first, events), || sample(second, events))?;
    Ok(Compared::of(&pairs))
}
