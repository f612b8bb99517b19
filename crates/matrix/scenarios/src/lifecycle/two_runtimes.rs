//! Two runtimes in one process. Handles did not identify their table: a stale handle of one runtime deleted a
//! live descriptor of the other if number and generation were the same.

use std::sync::mpsc::channel;

use fd_core::{FdCore, OwnerId, Runtime};

use super::{both_ends, builder, idle, stop};
use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;
use crate::retry;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/two-runtimes",
    title: "Every call refuses a handle of another runtime, and a runtime can end in a handler of another one",
    layer: Layer::Contract,
    clauses: &["S7", "L8", "core 15"],
    axes: Axes { transports: &[Transport::Pipe], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let other = retry::start(|| builder(test), test.make).map_err(Failure::from_start)?;
    exchanged(test, &harness, &other)?;
    ended_in_a_handler(test, &mut harness, other)?;
    harness.finish(test, &[])
}

/// Registers the same number with the same generation, in one table and then in the other.
fn exchanged(test: &mut TestContext, harness: &Harness, other: &Runtime) -> Result {
    let thread = harness.thread(0);
    let (first, _first_far) = both_ends(test)?;
    let (second, mut far) = both_ends(test)?;
    let foreign = other.core().insert(first, idle(), thread.group(), thread.mask(), InsertOptions::default());
    let foreign = foreign?;
    other.core().registration(foreign).delete()?;
    let near = at_number(second, foreign.number())?;
    let monitor = HandlerMonitor::new(&near);
    let handler = monitor.recording();
    let owner = OwnerId::of(&handler);
    let handle = harness.insert_recv(near, handler, thread)?;
    test.check_eq(
        "number and generation",
        format!("{} {}", foreign.number(), foreign.generation()),
        format!("{} {}", handle.number(), handle.generation()),
        "the precondition of this check",
    );
    refused(test, "its own table", other.core(), foreign);
    refused(test, "the other's table", harness.core(), foreign);
    refused(test, "the other's table, with the handles exchanged", other.core(), handle);
    let answers = harness.on(thread, move |context| {
        [
            ("takeover", context.takeover(foreign, owner).is_err()),
            ("enter", context.enter(foreign, |_: &ReadyGuard<'_>| ()).is_err()),
            ("delete", context.registration(foreign).delete().is_err()),
        ]
    })?;
    for (what, answer) in answers {
        test.check_eq(format!("{what} on a worker thread is refused"), true, answer, "core 15");
    }
    test.stop_if_failed()?;
    std::io::Write::write_all(&mut far, b"mine")?;
    harness.wait_until("the data", || monitor.text() == "mine")?;
    harness.registration(handle).delete()?;
    harness.wait_until("the peer sees the end", || far.ended())
}

fn refused(test: &mut TestContext, by: &str, core: &FdCore, handle: FdHandle) {
    let (fd, threads) = (core.registration(handle), core.threads());
    let answers = [
        ("entry", core.entry(handle).is_err()),
        ("want_recv", fd.want_recv().is_err()),
        ("stop_recv", fd.stop_recv().is_err()),
        ("mark_cloned", fd.mark_cloned().is_err()),
        ("duplicate", fd.duplicate().is_err()),
        ("migrate_on", threads.map(|thread| fd.migrate_on(thread)).all(|answer| answer.is_err())),
        ("disown", fd.disown().is_err()),
        ("delete", fd.delete().is_err()),
    ];
    for (what, answer) in answers {
        test.check_eq(format!("{what} by {by} is refused"), true, answer, "S7, core 15");
    }
}

/// Ends one runtime on a thread of another one, which continues.
fn ended_in_a_handler(test: &mut TestContext, harness: &mut Harness, other: Runtime) -> Result {
    let thread = harness.thread(0);
    let core = Arc::clone(other.core());
    let (near, mut far) = both_ends(test)?;
    let (of_other, others_far) = both_ends(test)?;
    let theirs = core.insert(of_other, idle(), thread.group(), thread.mask(), InsertOptions::default());
    core.registration(theirs?).want_recv()?;
    let (sender, receiver) = channel();
    let other = Mutex::new(Some(other));
    let monitor = HandlerMonitor::new(&near);
    let handler = monitor.doing(move |_, ready| {
        if let Some(other) = unpoisoned(&other).take() {
            let _ = sender.send(stop(other));
        }
        let _ = ready.registration().delete();
    });
    harness.insert_recv(near, handler, thread)?;
    std::io::Write::write_all(&mut far, b"x")?;
    receiver
        .recv_timeout(patience())
        .map_err(|_| Failure::Wrong("the other runtime does not stop".into()))??;
    test.check_eq("registrations of the runtime that was stopped", 0, core.table().used(), "L8");
    test.check_eq("its peer sees the end", true, others_far.ended(), "L8");
    harness.wait_until("the peer of the handler sees the end", || far.ended())?;
    harness.fence_all()
}
