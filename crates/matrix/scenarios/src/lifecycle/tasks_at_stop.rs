//! Tasks that a runtime has not run before it stops, and tasks that are posted later. The core kept them; a
//! task that holds the core is a reference cycle, so 200 starts and stops left 806 descriptors and 380 MB of
//! address space.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fd_core::FdCore;

use super::{DropCounter, DropToken, builder, stop};
use crate::prelude::*;
use crate::retry;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/tasks-at-stop",
    title: "Tasks and timers that have not run when a runtime stops are dropped, and so are tasks that are posted later",
    layer: Layer::Contract,
    clauses: &["L8", "core 6"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Tasks on each thread.
const TASKS: usize = 20;
/// How many runtimes have tasks that hold them.
const ROUNDS: usize = 200;

fn run(test: &mut TestContext) -> Result {
    pending_and_late(test)?;
    test.stop_if_failed()?;
    let before = descriptors::open();
    for _ in 0..ROUNDS {
        task_holds_the_core(test)?;
    }
    let what = format!("open descriptors after {ROUNDS} runtimes");
    test.check_debug(what, before, descriptors::open(), "core 6");
    Ok(())
}

/// Posts a task when it is dropped.
struct PostOnDrop {
    core: Arc<FdCore>,
    thread: ThreadId,
    accepted: Arc<AtomicUsize>,
    _token: DropToken,
}

impl Drop for PostOnDrop {
    fn drop(&mut self) {
        let posted = self.core.post(self.thread, |_| ());
        self.accepted.fetch_add(usize::from(posted.is_ok()), Ordering::SeqCst);
    }
}

fn pending_and_late(test: &mut TestContext) -> Result {
    let harness = Harness::start(test)?;
    let (tasks, timers, ran) =
        (DropCounter::default(), DropCounter::default(), Arc::new(AtomicUsize::new(0)));
    let accepted = Arc::new(AtomicUsize::new(0));
    let threads = harness.threads();
    let gates = threads.iter().map(|thread| harness.hold(*thread)).collect::<Result<Vec<_>, _>>()?;
    for thread in &threads {
        for _ in 0..TASKS {
            let (token, ran) = (tasks.token(), Arc::clone(&ran));
            let _ = harness.core().post(*thread, move |_| {
                ran.fetch_add(1, Ordering::SeqCst);
                drop(token);
            });
        }
        let (core, accepted) = (Arc::clone(harness.core()), Arc::clone(&accepted));
        let posts = PostOnDrop { core, thread: *thread, accepted, _token: tasks.token() };
        let _ = harness.core().post(*thread, move |_| drop(posts));
    }
    let (core, count) = (Arc::clone(harness.core()), threads.len() * (TASKS + 1));
    harness.finish_with(test, &[], |test, runtime| {
        // Before the threads can run their tasks.
        core.request_stop();
        gates.iter().for_each(Gate::open);
        stop(runtime)?;
        test.check_eq("tasks run after the stop", 0, ran.load(Ordering::SeqCst), "L8");
        test.check_eq("tasks dropped", count, tasks.dropped(), "core 6");
        let what = "tasks accepted from a task that is dropped";
        test.check_eq(what, 0, accepted.load(Ordering::SeqCst), "core 6");
        for thread in &threads {
            let token = tasks.token();
            let posted = core.post(*thread, move |_| drop(token));
            test.check_eq("a task after the stop is accepted", false, posted.is_ok(), "core 6");
        }
        test.check_eq("tasks dropped, later ones too", count + threads.len(), tasks.dropped(), "core 6");
        drop(core);
        Ok(())
    })?;
    test.stop_if_failed()?;

    let harness = Harness::start(test)?;
    for thread in &threads {
        let token = timers.token();
        harness.on(*thread, move |context| context.after(Duration::from_secs(3600), move |_| drop(token)))?;
    }
    harness.finish(test, &[])?;
    test.check_eq("timers dropped", threads.len(), timers.dropped(), "core 6");
    Ok(())
}

/// The core holds the task, and the task holds the core.
fn task_holds_the_core(test: &TestContext) -> Result {
    let runtime = retry::start(|| builder(test), test.make).map_err(Failure::from_start)?;
    let core = Arc::clone(runtime.core());
    for thread in core.threads() {
        let held = Arc::clone(&core);
        let _ = core.post(thread, move |context| {
            context.core().request_stop();
            drop(held);
        });
        let held = Arc::clone(&core);
        let _ = core.post(thread, move |_| drop(held));
    }
    stop(runtime)?;
    for thread in core.threads() {
        let held = Arc::clone(&core);
        let _ = core.post(thread, move |_| drop(held));
    }
    Ok(())
}
