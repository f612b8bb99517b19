//! Migration: descriptors that change their owner.

mod stream;

crate::scenario::family! {
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
    timeout_moves,
    update_overtaken,
}

use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};

use fd_core::error::MoveError;
use fd_core::{EntryInfo, OwnerId};

use crate::prelude::*;

/// The former and the new owner of a descriptor.
#[derive(Clone, Copy)]
struct Route {
    from: ThreadId,
    to: ThreadId,
    name: &'static str,
}

impl Route {
    /// Returns whether it leads to another group.
    fn crosses(self) -> bool {
        self.from.group() != self.to.group()
    }
}

/// Returns the routes from the first thread to another thread of its group, and to the first thread of
/// another group, where these exist. The latter has the same bit in its masks, so it is the thread that would
/// mistake bits of the wrong group for its own.
fn routes(harness: &Harness) -> Vec<Route> {
    let threads = harness.threads();
    let first = harness.thread(0);
    let near = threads.iter().find(|thread| **thread != first && thread.group() == first.group());
    let near = near.map(|to| Route { from: first, to: *to, name: "same group" });
    let far = threads.iter().find(|thread| thread.group() != first.group());
    let far = far.map(|to| Route { from: first, to: *to, name: "other group" });
    near.into_iter().chain(far).collect()
}

/// A registered descriptor under test, with its handler and its peer.
pub(crate) struct Endpoint {
    pub(crate) handle: FdHandle,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) owner: OwnerId,
    pub(crate) far: FarEnd,
}

impl Endpoint {
    /// Registers a new descriptor that `thread` polls for receiving.
    pub(crate) fn start(test: &TestContext, harness: &mut Harness, thread: ThreadId) -> Result<Self> {
        let ends = test.pair()?;
        Self::start_with(harness, thread, ends.near, ends.far)
    }

    /// As [`Endpoint::start`], with a given pair of ends.
    pub(crate) fn start_with(
        harness: &mut Harness,
        thread: ThreadId,
        near: OwnedFd,
        far: FarEnd,
    ) -> Result<Self> {
        let recorder = Recorder::new();
        let handle = harness.insert(near, recorder.clone(), thread)?;
        let endpoint = Self { handle, owner: recorder.id(), recorder, far };
        endpoint.want_recv(harness, thread)?;
        // The iteration that applies the interest is complete.
        harness.fence(thread)?;
        Ok(endpoint)
    }

    pub(crate) fn want_recv(&self, harness: &Harness, thread: ThreadId) -> Result {
        let handle = self.handle;
        harness
            .on(thread, move |context| context.registration(handle).want_recv())?
            .map_err(|stale| Failure::Wrong(stale.to_string()))
    }

    /// Lets `thread` take over the descriptor, and returns the result.
    pub(crate) fn take_over(&self, harness: &Harness, thread: ThreadId) -> Result<Result<(), MoveError>> {
        let (handle, owner) = (self.handle, self.owner);
        harness.on(thread, move |context| context.takeover(handle, owner))
    }

    /// As [`Endpoint::take_over`], without waiting. The result arrives when the takeover has returned.
    fn begin_take_over(&self, harness: &Harness, thread: ThreadId) -> Receiver<Result<(), MoveError>> {
        let (handle, owner) = (self.handle, self.owner);
        let (sender, receiver) = channel();
        let _ = harness.core().post(thread, move |context| {
            let _ = sender.send(context.takeover(handle, owner));
        });
        receiver
    }

    /// Writes without waiting: what the handler does with the bytes shows that they have arrived.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result {
        self.far.write_all(bytes).map_err(Failure::broken)
    }

    /// Writes, and waits until the bytes have arrived or the handler has read them: before a fence.
    pub(crate) fn send(&mut self, harness: &Harness, bytes: &[u8]) -> Result {
        let (number, recorder) = (self.handle.number(), Arc::clone(&self.recorder));
        harness.send_while_read(&mut self.far, number, bytes, || recorder.bytes().len())
    }

    /// Waits until the handler has read exactly `bytes`.
    pub(crate) fn wait_for_bytes(&self, harness: &Harness, bytes: &[u8]) -> Result {
        let label = format!("'{}' read from {}", String::from_utf8_lossy(bytes), self.handle.number());
        harness.wait_until(&label, || self.recorder.bytes() == bytes)
    }

    pub(crate) fn wait_for_reports(&self, harness: &Harness, count: usize) -> Result {
        let label = format!("{count} reports of {}", self.handle.number());
        harness.wait_until(&label, || self.recorder.reports() >= count)
    }

    /// Returns which thread read which data; see [`Recorder::reads`].
    pub(crate) fn reads(&self) -> String {
        self.recorder.reads()
    }

    /// Deletes the registration and closes both ends.
    pub(crate) fn end(self, harness: &Harness) -> Result {
        harness.registration(self.handle).delete().map_err(|error| Failure::Wrong(error.to_string()))
    }
}

/// Checks that a takeover or a `migrate_on` returned `expected`.
fn check_answer(
    test: &mut TestContext,
    label: String,
    expected: Result<(), MoveError>,
    result: Result<(), MoveError>,
    source: &str,
) -> Result {
    test.check_debug(label, expected, result, source);
    test.stop_if_failed()
}

/// Checks that an entry has not changed. References are not compared: every lookup takes and releases one.
fn check_unchanged(
    test: &mut TestContext,
    label: String,
    before: EntryInfo,
    after: EntryInfo,
    source: &str,
) -> Result {
    let without_references = |entry| EntryInfo { references: 0, ..entry };
    test.check_eq(label, without_references(before), without_references(after), source);
    test.stop_if_failed()
}
