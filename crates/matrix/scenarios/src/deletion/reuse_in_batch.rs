//! Two events in one batch: the handler of the first deletes the second's descriptor and registers another
//! one under the same number. HAProxy applied the old event, a hang-up, to the new connection, which then
//! failed without cause (bug 75). Only its epoll backend has a fix (suspect 18).

use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use super::monitor::HandlerMonitor;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/reuse-in-batch",
    title: "An event in a batch whose number is registered again during the batch reaches neither the old nor the new owner",
    layer: Layer::Contract,
    clauses: &["S6", "S7", "S8", "S10", "bug 75", "suspect 18"],
    axes: Axes { threads: &[1, 2], ..Axes::PLAIN },
    run,
};

const ROUNDS: usize = 5;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for thread in [harness.thread(0), harness.thread(1)] {
        for _ in 0..ROUNDS {
            round(test, &mut harness, thread)?;
            test.stop_if_failed()?;
        }
    }
    harness.finish(test, &[])
}

fn round(test: &mut TestContext, harness: &mut Harness, thread: ThreadId) -> Result {
    let mut ends = Vec::new();
    for _ in 0..2 {
        ends.push(test.pair()?);
    }
    let mut spare = test.pair()?;
    let swap = Arc::new(Swap {
        handles: OnceLock::new(),
        spare: Mutex::new(Some(spare.near)),
        done: OnceLock::new(),
        thread,
        options: harness.options(),
    });
    // The poller chooses the order of the two events, so both handlers do the same.
    let monitors: Vec<_> = ends.iter().map(|ends| HandlerMonitor::new(&ends.near)).collect();
    let (mut handles, mut fars) = (Vec::new(), Vec::new());
    for (index, ends) in ends.into_iter().enumerate() {
        let swap = Arc::clone(&swap);
        let handler = monitors[index].doing(move |monitor, ready| {
            monitor.recorder.record(ready);
            swap.first(ready, 1 - index);
        });
        handles.push(harness.insert(ends.near, handler, thread)?);
        fars.push(ends.far);
    }
    swap.handles.get_or_init(|| [handles[0], handles[1]]);
    for handle in &handles {
        harness.registration(*handle).want_recv()?;
    }
    harness.fence(thread)?;
    let held = harness.hold(thread)?;
    let before = harness.activity(thread);
    for far in &mut fars {
        far.write_all(b"old")?;
    }
    // The end of the stream, too: in HAProxy the hang-up caused the failure.
    drop(fars);
    let ready = |monitor: &Arc<HandlerMonitor>| descriptors::readable(monitor.number());
    harness.wait_until("both are ready", || monitors.iter().all(ready))?;
    held.open();

    harness.wait_until("the swap", || swap.done.get().is_some())?;
    let Some(Swapped { victim, next, monitor, error }) = swap.done.get() else { unreachable!("waited for") };
    test.check_debug("delete, move and insert", &None, error, "bug 75");
    test.stop_if_failed()?;
    let next = next.ok_or_else(|| Failure::Wrong("no next registration".into()))?;
    harness.wait_until_polled(next, thread.mask())?;
    harness.fence(thread)?;
    let what = "the next registration has the victim's number";
    test.check_eq(what, handles[*victim].number(), next.number(), "the scenario");
    test.check_eq("calls of the old handler", 0, monitors[*victim].calls(), "S6");
    test.check_eq("handlers dropped", 1, monitors[*victim].dropped(), "S4");
    test.check_eq("calls of the new handler before it has data", 0, monitor.calls(), "S7");
    let dropped = harness.activity(thread).since(&before).poll_drop;
    test.check_cost_eq("dropped events of the old registration", 1, dropped, "S7: it was in the batch");
    let entry = harness.core().entry(next)?;
    let sticky = State::POLL_ERR.or(State::POLL_HUP);
    let seen = State::POLL_IN.or(State::POLL_OUT).or(sticky);
    test.check_eq("reports in the new state", State::default(), entry.state.and(seen), "S7, bug 75");

    spare.far.write_all(b"new")?;
    harness.wait_until("the new registration's data", || monitor.text() == "new")?;
    harness.fence(thread)?;
    test.check_eq("calls of the new handler", 1, monitor.calls(), "S8: registered once");
    let entry = harness.core().entry(next)?;
    test.check_eq("errors and hang-ups", State::default(), entry.state.and(sticky), "S15");
    for handle in [handles[1 - victim], next] {
        harness.registration(handle).delete()?;
    }
    Ok(())
}

/// The action of the first handler on the other descriptor.
struct Swap {
    handles: OnceLock<[FdHandle; 2]>,
    spare: Mutex<Option<OwnedFd>>,
    done: OnceLock<Swapped>,
    thread: ThreadId,
    options: InsertOptions,
}

struct Swapped {
    victim: usize,
    next: Option<FdHandle>,
    monitor: Arc<HandlerMonitor>,
    error: Option<String>,
}

impl Swap {
    fn first(&self, ready: &ReadyGuard<'_>, victim: usize) {
        let spare = unpoisoned(&self.spare).take();
        let (Some(spare), Some(handles)) = (spare, self.handles.get()) else { return };
        let (core, old) = (ready.context().core(), handles[victim]);
        let monitor = HandlerMonitor::at(old.number());
        let handler: Arc<dyn Handler> = monitor.recording();
        let swapped =
            ready.context().registration(old).delete().map_err(|error| error.to_string()).and_then(|()| {
                let near = at_number(spare, old.number()).map_err(|error| error.to_string())?;
                let (group, mask) = (self.thread.group(), self.thread.mask());
                let next = core
                    .insert(near, handler, group, mask, self.options)
                    .map_err(|error| error.to_string())?;
                ready.context().registration(next).want_recv().map_err(|error| error.to_string())?;
                Ok(next)
            });
        let (next, error) = (swapped.as_ref().ok().copied(), swapped.err());
        self.done.get_or_init(|| Swapped { victim, next, monitor, error });
    }
}
