//! The names that nearly every scenario uses.

pub(crate) use metadata::{Axes, Layer, Mode, Transport};

pub(crate) use crate::failure::{Failure, Result};
pub(crate) use crate::harness::{Harness, Sleepers};
pub(crate) use crate::scenario::Scenario;
pub(crate) use crate::test_context::TestContext;
