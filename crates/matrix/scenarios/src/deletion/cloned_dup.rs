//! A descriptor is duplicated and deleted. The kernel removes a registration when the last descriptor of its
//! open file closes, so epoll continued to report a number that was no longer registered, and the process
//! spun (bug 1).

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::cloned::{OpenCopy, stays_silent};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/cloned-dup",
    title: "No thread reports a deleted FD whose open file survives in a duplicate",
    layer: Layer::Contract,
    clauses: &["S4", "S6", "S7", "L5", "bug 1"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    stays_silent(test, duplicate)
}

fn duplicate(harness: &Harness, handle: FdHandle) -> Result<Box<dyn OpenCopy>> {
    Ok(Box::new(harness.registration(handle).duplicate()?.into_inner()))
}

impl OpenCopy for OwnedFd {
    fn number(&self) -> Option<RawFd> {
        Some(self.as_raw_fd())
    }

    fn read(&mut self) -> Result<Option<String>> {
        let mut bytes = Vec::new();
        read_all(self, &mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
