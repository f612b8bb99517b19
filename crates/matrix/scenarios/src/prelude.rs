//! The names that nearly every scenario uses: its declaration, the harness, the tools for forced steps, and
//! the types of the core that handlers and registrations are made of.

pub(crate) use std::io::Write;
pub(crate) use std::sync::{Arc, Mutex};

pub(crate) use fd_core::hooks::checkpoint::Point;
pub(crate) use fd_core::ids::ThreadId;
pub(crate) use fd_core::{Context, FdHandle, Handler, InsertOptions, ReadyGuard, State};
pub(crate) use metadata::{Axes, Layer, Mode, Transport};

pub(crate) use crate::checkpoints::{Checkpoints, HeldThread};
pub(crate) use crate::descriptors;
pub(crate) use crate::failure::{Failure, Result};
pub(crate) use crate::gate::{Gate, GateGuard};
pub(crate) use crate::harness::{Harness, Sleepers};
pub(crate) use crate::mutex::unpoisoned;
pub(crate) use crate::patience::patience;
pub(crate) use crate::recorder::Recorder;
pub(crate) use crate::scenario::Scenario;
pub(crate) use crate::test_context::TestContext;
pub(crate) use crate::transport::{FarEnd, at_number, read_all};
