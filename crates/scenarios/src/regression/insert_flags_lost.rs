//! `7e94b40a2`: the flags of a registration were computed and not stored, so that nothing was ever edge-triggered.

use std::io::{ErrorKind, Read, Write};

use fd_core::poller::Trigger;
use fd_core::{InsertOptions, state};
use metadata::{Axes, Layer, Transport};

use crate::catalogue::Scenario;
use crate::deletion::watch::Watch;
use crate::lab::Lab;
use crate::transport::pair;
use crate::trial::{Failure, Trial, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/insert-flags-lost",
    title: "What an insertion asks for is done: the trigger, and the reset on close",
    layer: Layer::Contract,
    clauses: &["bug 56"],
    axes: Axes { transports: &[Transport::Tcp], threads: &[1], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let thread = lab.thread(0);
    let (group, mask) = (thread.group(), thread.mask());
    let options = InsertOptions { exported: true, reset_on_close: true, ..lab.options() };
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let watch = Watch::new(&ends.near);
    // Reads nothing: only the trigger decides how often it is told.
    let handler = watch.doing(|_| {});
    let handle = lab.core().insert(ends.near, handler, group, mask, options).map_err(Failure::broken)?;
    let flags =
        lab.entry(handle)?.state & (state::EDGE | state::EXPORTED | state::LINGER_RISK | state::CLONED);
    let edge = trial.trigger == Trigger::Edge;
    let expected = state::EXPORTED | state::LINGER_RISK | if edge { state::EDGE } else { 0 };
    trial.check_eq("flags", format!("{expected:#x}"), format!("{flags:#x}"), "bug 56");

    lab.core().registration(handle).want_recv().map_err(Failure::broken)?;
    // Registered first: data that is there while the registration is made can be an edge of its own, and be another one when
    // its arrival is announced.
    lab.fence(thread)?;
    ends.far.write_all(b"unread").map_err(Failure::broken)?;
    lab.wait_until("the report", || watch.entered() > 0)?;
    lab.fence(thread)?;
    lab.fence(thread)?;
    let calls = watch.entered();
    let (allowed, holds) = if edge { ("1", calls == 1) } else { ("2 or more", calls >= 2) };
    trial.check("reports of data that nobody reads", allowed, calls, "bug 56", holds);
    trial.all_hold()?;
    lab.core().registration(handle).delete().map_err(Failure::broken)?;
    drop(ends.far);

    // One that is closed with nothing unread, which would be a reset by itself.
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let watch = Watch::new(&ends.near);
    let inserted = lab.core().insert(ends.near, watch.recording(), group, mask, options);
    lab.core().registration(inserted.map_err(Failure::broken)?).delete().map_err(Failure::broken)?;
    ends.far.set_read_timeout(patience()).map_err(Failure::broken)?;
    let read = ends.far.read(&mut [0]).map_err(|error| error.kind());
    let expected = Err::<usize, _>(ErrorKind::ConnectionReset);
    trial.check_eq("what the peer reads", format!("{expected:?}"), format!("{read:?}"), "SO_LINGER, bug 56");
    drop(ends.far);
    lab.finish(trial, &[])
}
