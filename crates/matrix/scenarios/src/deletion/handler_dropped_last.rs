//! The end of a registration drops its handler, and that drop may do anything. Here it registers another
//! descriptor under the number that has just been closed. It must find the slot free, no matter whether the
//! deleter or a late user ends the registration.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc::{Sender, channel};

use fd_core::FdCore;

use super::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/handler-dropped-last",
    title: "The drop of a deleted FD's handler may register a new FD under the same number",
    layer: Layer::Contract,
    clauses: &["S4", "S10", "protocol 6.4"],
    axes: Axes::PLAIN,
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let (owner, other) = (harness.thread(0), harness.thread(1));
    for by_handler in [false, true] {
        let mut ends = test.pair()?;
        let mut spare = test.pair()?;
        let number = ends.near.as_raw_fd();
        let monitor = HandlerMonitor::at(number);
        let (sender, inserted) = channel();
        let insert_on_drop = InsertOnDrop {
            core: Arc::clone(harness.core()),
            next: Some((spare.near, monitor.recording())),
            number,
            thread: owner,
            options: harness.options(),
            sender: Mutex::new(sender),
        };
        let handle = harness.insert_recv(ends.near, Arc::new(insert_on_drop), owner)?;
        harness.fence(owner)?;
        if by_handler {
            ends.far.write_all(b"end")?;
        } else {
            let deleted = harness.on(other, move |context| context.registration(handle).delete())?;
            test.check_debug("delete", Ok(()), deleted, "RegistrationRef::delete");
        }
        let next = inserted
            .recv_timeout(patience())
            .map_err(|_| Failure::Wrong("the handler was not dropped".into()))?;
        let next =
            next.map_err(|error| Failure::Wrong(format!("the handler's drop could not insert: {error}")))?;
        test.check_eq("the number", number, next.number(), "4.8: closed before the handler is dropped");
        let what = "difference of the generations";
        test.check_eq(what, 1, next.generation() - handle.generation(), "FdHandle::generation");
        harness.wait_until("the peer sees the end", || ends.far.ended())?;
        spare.far.write_all(b"next")?;
        harness.wait_until("the next registration's data", || monitor.text() == "next")?;
        harness.fence_all()?;
        test.check_eq("calls of the next registration's handler", 1, monitor.calls(), "S7, S8");
        harness.registration(next).delete()?;
    }
    harness.finish(test, &[])
}

/// Deletes itself when it is called. Its drop registers the next descriptor under the same number.
struct InsertOnDrop {
    core: Arc<FdCore>,
    next: Option<(OwnedFd, Arc<dyn Handler>)>,
    number: i32,
    thread: ThreadId,
    options: InsertOptions,
    sender: Mutex<Sender<Result<FdHandle, String>>>,
}

impl Handler for InsertOnDrop {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let _ = ready.registration().delete();
    }
}

impl Drop for InsertOnDrop {
    fn drop(&mut self) {
        let Some((near, handler)) = self.next.take() else { return };
        let (group, mask) = (self.thread.group(), self.thread.mask());
        let inserted = at_number(near, self.number).map_err(|error| error.to_string()).and_then(|near| {
            self.core.insert(near, handler, group, mask, self.options).map_err(|error| error.to_string())
        });
        if let Ok(handle) = inserted {
            let _ = self.core.registration(handle).want_recv();
        }
        let _ = unpoisoned(&self.sender).send(inserted);
    }
}
