//! A descriptor is duplicated and deleted. The kernel forgets a registration when the last descriptor of its open file
//! goes, so epoll went on reporting a number that nobody had any more, and the process spun (bug 1).

use std::os::fd::OwnedFd;

use fd_core::FdHandle;
use metadata::{Axes, Layer};

use super::cloned::{Kept, stays_silent};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::read_all;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/cloned-dup",
    title: "A deleted FD whose file lives on through dup is reported by no thread",
    layer: Layer::Contract,
    clauses: &["S4", "S6", "S7", "L5", "bug 1"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    stays_silent(test, duplicate)
}

fn duplicate(harness: &Harness, handle: FdHandle) -> Result<Box<dyn Kept>, Failure> {
    Ok(Box::new(harness.core().registration(handle).duplicate().map_err(Failure::broken)?.into_inner()))
}

impl Kept for OwnedFd {
    fn read(&mut self) -> Result<Option<String>, Failure> {
        let mut bytes = Vec::new();
        read_all(self, &mut bytes).map_err(Failure::broken)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
