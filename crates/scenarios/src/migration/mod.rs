//! Descriptors that change their owner.

mod stream;

crate::catalogue::family! {
    group_round_trip,
    idle_takeover,
    late_report_of_old_owner,
    migrate_on,
    old_thread_forgets,
    registration_left_behind,
    takeover_during_delete,
    takeover_refused_in_handler,
    takeover_refused_reinserted,
    takeover_refused_shared,
    takeover_refused_wrong_owner,
    takeover_storm,
    takeover_unread_data,
    update_overtaken,
}

use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use fd_core::error::MoveError;
use fd_core::ids::ThreadId;
use fd_core::{EntryInfo, FdHandle, OwnerId};

use crate::harness::Harness;
use crate::recorder::{Recorder, Seen};
use crate::test_context::{Failure, TestContext};
use crate::transport::{Far, pair};

/// A way that a descriptor can go.
#[derive(Clone, Copy)]
struct Route {
    from: ThreadId,
    to: ThreadId,
    name: &'static str,
}

impl Route {
    /// Whether it leads to another group.
    fn crosses(self) -> bool {
        self.from.group() != self.to.group()
    }
}

/// From the first thread to another one of its group and to the first one of another, where there are such. The
/// latter has the same bit in its masks: it is the one that would take bits of the wrong group for its own.
fn routes(harness: &Harness) -> Vec<Route> {
    let threads = harness.threads();
    let first = harness.thread(0);
    let near = threads.iter().find(|thread| **thread != first && thread.group() == first.group());
    let near = near.map(|to| Route { from: first, to: *to, name: "same group" });
    let far = threads.iter().find(|thread| thread.group() != first.group());
    let far = far.map(|to| Route { from: first, to: *to, name: "other group" });
    near.into_iter().chain(far).collect()
}

/// A descriptor under test, and its far end.
pub(crate) struct Endpoint {
    pub(crate) handle: FdHandle,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) owner: OwnerId,
    pub(crate) far: Far,
}

impl Endpoint {
    /// One that `thread` polls for receiving.
    pub(crate) fn start(
        test: &TestContext,
        harness: &mut Harness,
        thread: ThreadId,
    ) -> Result<Self, Failure> {
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        Self::start_with(harness, thread, ends.near, ends.far)
    }

    /// As [`Endpoint::start`], with the ends given.
    pub(crate) fn start_with(
        harness: &mut Harness,
        thread: ThreadId,
        near: OwnedFd,
        far: Far,
    ) -> Result<Self, Failure> {
        let recorder = Recorder::new();
        let handle = harness.insert(near, recorder.clone(), thread)?;
        let endpoint = Self { handle, owner: recorder.id(), recorder, far };
        endpoint.want(harness, thread)?;
        // The pass that follows the want is over.
        harness.fence(thread)?;
        Ok(endpoint)
    }

    pub(crate) fn want(&self, harness: &Harness, thread: ThreadId) -> Result<(), Failure> {
        let handle = self.handle;
        harness
            .on(thread, move |context| context.registration(handle).want_recv())?
            .map_err(|stale| Failure::Wrong(stale.to_string()))
    }

    /// What a takeover by `thread` answers.
    pub(crate) fn take_over(
        &self,
        harness: &Harness,
        thread: ThreadId,
    ) -> Result<Result<(), MoveError>, Failure> {
        let (handle, owner) = (self.handle, self.owner);
        harness.on(thread, move |context| context.takeover(handle, owner))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.far.write_all(bytes).map_err(Failure::broken)
    }

    /// Waits until everything up to `bytes` was read.
    pub(crate) fn wait_for_bytes(&self, harness: &Harness, bytes: &[u8]) -> Result<(), Failure> {
        let what = format!("'{}' read from {}", String::from_utf8_lossy(bytes), self.handle.number());
        harness.wait_until(&what, || self.recorder.bytes() == bytes)
    }

    pub(crate) fn wait_for_reports(&self, harness: &Harness, count: usize) -> Result<(), Failure> {
        let what = format!("{count} reports of {}", self.handle.number());
        harness.wait_until(&what, || self.recorder.reports() >= count)
    }

    /// Closes both ends.
    pub(crate) fn end(self, harness: &Harness) -> Result<(), Failure> {
        harness.core().registration(self.handle).delete().map_err(|error| Failure::Wrong(error.to_string()))
    }
}

/// Which thread read what, for messages.
fn reads_by_thread(seen: &[Seen]) -> String {
    let one = |seen: &Seen| format!("{}:{}", seen.thread, String::from_utf8_lossy(&seen.bytes));
    seen.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Checks that a takeover, or a push, answered `expected`.
fn check_answer(
    test: &mut TestContext,
    what: String,
    expected: Result<(), MoveError>,
    answer: Result<(), MoveError>,
    source: &str,
) -> Result<(), Failure> {
    test.check_eq(what, format!("{expected:?}"), format!("{answer:?}"), source);
    test.all_hold()
}

/// Checks that nothing in an entry has changed. References come and go with everybody who looks.
fn check_unchanged(
    test: &mut TestContext,
    what: String,
    before: EntryInfo,
    after: EntryInfo,
    source: &str,
) -> Result<(), Failure> {
    let still = |entry| EntryInfo { references: 0, ..entry };
    test.check_eq(what, still(before), still(after), source);
    test.all_hold()
}
