//! What the scenarios about copies share: a descriptor is deleted, its open file lives on, and data arrives there.

use std::io::Write;

use fd_core::{ActivitySnapshot, FdHandle, State};

use super::monitor::HandlerMonitor;
use crate::descriptors;
use crate::gate::Gate;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{at_number, pair};

/// What keeps the open file alive until it is dropped.
pub(super) trait Kept {
    /// What the copy has to read, if this process can.
    fn read(&mut self) -> Result<Option<String>, Failure>;
}

/// Makes the copy, in a way that the core knows of.
pub(super) type MakeCopy = fn(&Harness, FdHandle) -> Result<Box<dyn Kept>, Failure>;

/// The deleted descriptor is reported by no thread, neither for data that was there nor for data to come.
pub(super) fn stays_silent(test: &mut TestContext, copy: MakeCopy) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    for case in [Case::Idle, Case::IdleByItsPoller, Case::Pending] {
        deleted(test, &mut harness, copy, case)?;
        test.all_hold()?;
    }
    harness.finish(test, &[])
}

/// What there is when it is deleted, and who deletes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    /// Nothing, by an outsider.
    Idle,
    /// Nothing, by one of the threads that poll it: nobody but that thread takes its own registration out.
    IdleByItsPoller,
    /// Unread data, by an outsider.
    Pending,
}

impl Case {
    fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::IdleByItsPoller => "idle, deleted by its poller",
            Self::Pending => "data before the delete",
        }
    }
}

/// Events that the threads' pollers reported for nobody.
pub(crate) fn undelivered_events(harness: &Harness, before: &[ActivitySnapshot]) -> u64 {
    let since = harness
        .threads()
        .into_iter()
        .zip(before)
        .map(|(thread, before)| harness.activity(thread).since(before));
    since.map(|activity| activity.poll_drop + activity.poll_skip).sum()
}

/// Every thread's counters.
pub(crate) fn snapshots(harness: &Harness) -> Vec<ActivitySnapshot> {
    harness.threads().into_iter().map(|thread| harness.activity(thread)).collect()
}

fn deleted(
    test: &mut TestContext,
    harness: &mut Harness,
    make_copy: MakeCopy,
    case: Case,
) -> Result<(), Failure> {
    let about = |what: &str| format!("{what} ({})", case.name());
    let thread = harness.thread(0);
    let everybody = harness.core().table().threads(thread.group());
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let mut spare = pair(test.params.transport).map_err(Failure::broken)?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handle = harness.insert_shared(ends.near, monitor.recording(), thread, everybody)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    harness.fence_all()?;
    let entry = harness.core().entry(handle).map_err(Failure::broken)?;
    test.check_eq(about("polled by"), everybody.bits(), entry.polled_recv.bits(), "L3");
    let mut copy = make_copy(harness, handle)?;
    let entry = harness.core().entry(handle).map_err(Failure::broken)?;
    test.check_eq(about("marked as cloned"), true, entry.state.contains(State::CLONED), "1.2, CLONED");

    let mut before = snapshots(harness);
    if case == Case::Pending {
        let gates = harness
            .threads()
            .into_iter()
            .map(|thread| harness.hold(thread))
            .collect::<Result<Vec<_>, _>>()?;
        ends.far.write_all(b"pending,").map_err(Failure::broken)?;
        harness.wait_until("the data", || descriptors::readable(monitor.number()))?;
        harness.core().registration(handle).delete().map_err(Failure::broken)?;
        // The kernel had it on its lists of what is ready.
        gates.iter().for_each(Gate::open);
    } else {
        let deleted = match case {
            Case::IdleByItsPoller => {
                harness.on(thread, move |context| context.registration(handle).delete())?
            }
            _ => harness.core().registration(handle).delete(),
        };
        deleted.map_err(Failure::broken)?;
        // A thread that was in poll(2) with the number may have found it closed.
        harness.fence_all()?;
        before = snapshots(harness);
    }
    test.check_eq(about("handlers dropped"), 1, monitor.dropped(), "S4");
    test.check_eq(about("the number is open"), false, descriptors::is_open(monitor.number()), "S4");
    ends.far.write_all(b"for the copy").map_err(Failure::broken)?;
    harness.fence_all()?;
    test.check_eq(about("handler calls"), 0, monitor.calls(), "S6, bugs 1 and 76");
    test.check_eq(
        about("events for nobody"),
        0,
        undelivered_events(harness, &before),
        "bugs 1 and 76: DEL before close",
    );
    test.check_eq(about("the peer sees the end"), false, ends.far.ended(), "close(2): the file lives on");

    // The number's next registration is not troubled by the old file.
    let next = HandlerMonitor::at(monitor.number());
    let near = at_number(spare.near, monitor.number()).map_err(Failure::broken)?;
    let handle = harness.insert_shared(near, next.recording(), thread, everybody)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    ends.far.write_all(b", again").map_err(Failure::broken)?;
    harness.fence_all()?;
    test.check_eq(about("calls of the next registration's handler"), 0, next.calls(), "S7");
    test.check_eq(about("events for nobody, later"), 0, undelivered_events(harness, &before), "L5");
    spare.far.write_all(b"next").map_err(Failure::broken)?;
    harness.wait_until("the next registration's data", || next.text() == "next")?;
    harness.core().registration(handle).delete().map_err(Failure::broken)?;

    // It had been readable all the time.
    if let Some(text) = copy.read()? {
        let written = match case {
            Case::Pending => "pending,for the copy, again",
            _ => "for the copy, again",
        };
        test.check_eq(about("what the copy reads"), written.into(), text, "the scenario");
    }
    drop(copy);
    harness.wait_until("the peer sees the end", || ends.far.ended())
}
