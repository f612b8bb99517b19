//! The part that the scenarios about copies share: a descriptor is deleted while a copy keeps its open file,
//! and data arrives there.

use std::os::fd::RawFd;

use fd_core::ActivitySnapshot;

use super::monitor::HandlerMonitor;
use crate::prelude::*;

/// A copy of the descriptor. It keeps the open file until it is dropped.
pub(super) trait OpenCopy {
    /// Returns the number of the copy. `None` if this process has none now.
    fn number(&self) -> Option<RawFd>;

    /// Returns the data that the copy can read. `None` if this process has no access to the copy.
    fn read(&mut self) -> Result<Option<String>>;
}

/// Makes the copy and declares it to the core.
pub(super) type MakeCopy = fn(&Harness, FdHandle) -> Result<Box<dyn OpenCopy>>;

/// Checks that no thread reports the deleted descriptor: neither for data from before the delete nor for
/// later data.
pub(super) fn stays_silent(test: &mut TestContext, copy: MakeCopy) -> Result {
    let mut harness = Harness::start(test)?;
    for case in [Case::Idle, Case::IdleByPollingThread, Case::Pending] {
        deleted(test, &mut harness, copy, case)?;
        test.stop_if_failed()?;
    }
    harness.finish(test, &[])
}

/// The state at the delete, and the thread that deletes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    /// No data. A thread outside the runtime deletes.
    Idle,
    /// No data. One of the polling threads deletes: only that thread removes its own kernel registration.
    IdleByPollingThread,
    /// Unread data. A thread outside the runtime deletes.
    Pending,
}

impl Case {
    fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::IdleByPollingThread => "idle, deleted by a polling thread",
            Self::Pending => "data before the delete",
        }
    }
}

/// Returns the number of attempts to replace a thread's poller, those that failed included.
pub(crate) fn replacements(counters: &ActivitySnapshot) -> u64 {
    counters.poll_rebuild + counters.poll_rebuild_fail
}

/// Returns the number of events since `before` that no handler received.
pub(crate) fn undelivered_events(harness: &Harness, before: &[ActivitySnapshot]) -> u64 {
    let since = harness
        .threads()
        .into_iter()
        .zip(before)
        .map(|(thread, before)| harness.activity(thread).since(before));
    since.map(|activity| activity.poll_drop + activity.poll_skip).sum()
}

/// Returns the counters of every thread.
pub(crate) fn snapshots(harness: &Harness) -> Vec<ActivitySnapshot> {
    harness.threads().into_iter().map(|thread| harness.activity(thread)).collect()
}

/// Sends `bytes` to a copy, and waits until they have arrived there.
fn send_to(harness: &Harness, copy: &dyn OpenCopy, far: &mut FarEnd, bytes: &[u8]) -> Result {
    match copy.number() {
        Some(number) => harness.send(far, number, bytes),
        None => harness.send_unseen(far, bytes),
    }
}

fn deleted(test: &mut TestContext, harness: &mut Harness, make_copy: MakeCopy, case: Case) -> Result {
    let label = |what: &str| format!("{what} ({})", case.name());
    let thread = harness.thread(0);
    let group_mask = harness.core().table().threads(thread.group());
    let mut ends = test.pair()?;
    let mut spare = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handle = harness.insert_shared_recv(ends.near, monitor.recording(), thread, group_mask)?;
    harness.wait_until_polled(handle, group_mask)?;
    harness.reported_by_each(group_mask, &monitor.recorder, &mut ends.far, b"all")?;
    harness.wait_until_unused(handle)?;
    harness.fence_all()?;
    let entry = harness.core().entry(handle)?;
    test.check_eq(label("polled by"), group_mask.bits(), entry.polled_recv.bits(), "L3");
    let calls = monitor.calls();
    let mut copy = make_copy(harness, handle)?;
    let entry = harness.core().entry(handle)?;
    let is_marked = entry.state.contains(State::CLONED);
    test.check_eq(label("the entry is marked as cloned"), true, is_marked, "1.2, CLONED");

    let mut before = snapshots(harness);
    if case == Case::Pending {
        let gates = harness
            .threads()
            .into_iter()
            .map(|thread| harness.hold(thread))
            .collect::<Result<Vec<_>, _>>()?;
        ends.far.write_all(b"pending,")?;
        harness.wait_until("the data", || descriptors::readable(monitor.number()))?;
        harness.registration(handle).delete()?;
        // At the delete, the kernel had the descriptor in its list of ready files.
        gates.iter().for_each(Gate::open);
    } else {
        let deleter = (case == Case::IdleByPollingThread).then_some(thread);
        harness.call_on(deleter, handle, |fd| fd.delete())??;
    }
    test.check_eq(label("handlers dropped"), 1, monitor.dropped(), "S4");
    test.check_eq(label("the number is open"), false, descriptors::is_open(monitor.number()), "S4");
    if case != Case::Pending {
        // A thread that waited in poll(2) with the number may have reported it as closed.
        harness.fence_all()?;
        before = snapshots(harness);
    }
    send_to(harness, &*copy, &mut ends.far, b"for the copy")?;
    harness.fence_all()?;
    test.check_eq(label("handler calls"), 0, monitor.calls() - calls, "S6, bugs 1 and 76");
    let what = label("undelivered events");
    test.check_eq(what, 0, undelivered_events(harness, &before), "bugs 1 and 76: DEL before close");
    test.check_eq(label("the peer sees the end"), false, ends.far.ended(), "close(2): the file stays open");

    // The old file does not affect the next registration of the number.
    let next = HandlerMonitor::at(monitor.number());
    let near = at_number(spare.near, monitor.number())?;
    let handle = harness.insert_shared_recv(near, next.recording(), thread, group_mask)?;
    send_to(harness, &*copy, &mut ends.far, b", again")?;
    harness.fence_all()?;
    test.check_eq(label("calls of the next registration's handler"), 0, next.calls(), "S7");
    test.check_eq(label("undelivered events, later"), 0, undelivered_events(harness, &before), "L5");
    spare.far.write_all(b"next")?;
    harness.wait_until("the next registration's data", || next.text() == "next")?;
    harness.registration(handle).delete()?;

    // The copy was readable the whole time.
    if let Some(text) = copy.read()? {
        let written = match case {
            Case::Pending => "pending,for the copy, again",
            _ => "for the copy, again",
        };
        let quoted = |text: &str| format!("{text:?}");
        test.check_eq(label("data that the copy reads"), quoted(written), quoted(&text), "the scenario");
    }
    drop(copy);
    harness.wait_until("the peer sees the end", || ends.far.ended())
}
