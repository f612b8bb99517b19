//! The system calls that an operation cannot avoid.

use std::hint::black_box;
use std::os::fd::OwnedFd;
use std::time::Instant;

use nix::fcntl::{FcntlArg, fcntl};

use crate::Failure;
use crate::clock::{BATCH, Sample};

/// Calls fcntl(2) on some descriptors, `calls` times on each. It is a system call that looks a descriptor up
/// and does nothing else.
pub(crate) fn fcntl_each(ends: &[OwnedFd], rounds: u32, calls: u32) -> Result<Sample, Failure> {
    let begun = Instant::now();
    for _ in 0..rounds {
        for index in 0..BATCH {
            for _ in 0..calls {
                black_box(fcntl(&ends[index % ends.len()], FcntlArg::F_GETFD)?);
            }
        }
    }
    Ok(Sample::new(begun.elapsed(), rounds, BATCH))
}
