//! A thread outside the runtime forks, and the child stops or drops the runtime. The worker threads do not
//! exist there, and their unfinished calls must end nevertheless.

use std::os::fd::OwnedFd;

use fd_core::Runtime;
use fd_core::error::InsertRefused;

use super::child::{Child, Report};
use super::held_at_fork::{Place, Scene};
use super::{both_ends, idle};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/fork-drops-runtime",
    title: "A forked child that stops its copy of the runtime ends every registration, and the parent's runtime continues",
    layer: Layer::Contract,
    clauses: &["S4", "L8", "L9", "core 11"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Some(Harness::start(test)?);
    for place in Place::ALL {
        for stops in [true, false] {
            beside_a_held_thread(test, &mut harness, place, stops)?;
        }
    }
    harness.take().map_or(Ok(()), |harness| harness.finish(test, &[]))
}

fn beside_a_held_thread(
    test: &mut TestContext,
    harness: &mut Option<Harness>,
    place: Place,
    stops: bool,
) -> Result {
    let running = harness.as_mut().ok_or_else(|| Failure::Broken("no harness".into()))?;
    let when = format!("{place:?}, {}", if stops { "stopped" } else { "dropped" });
    let (first, other) = (running.thread(0), running.thread(1));
    let mut numbers: Vec<_> = running.core().entries().0.iter().map(|entry| entry.handle.number()).collect();
    let scene = Scene::set(test, running, place, other, first)?;
    numbers.retain(|number| *number != scene.number);
    let (spare, spare_far) = both_ends(test)?;
    let mut spare = Some(spare);
    let woken = running.activity(first).wake_thread;
    let mut child = Child::fork(|report| {
        let (Some(harness), Some(spare)) = (harness.take(), spare.take()) else { return };
        in_the_child(report, harness.into_runtime(), stops, spare);
        report.eq("the number is open", place.leaves_number(), descriptors::is_open(scene.number));
        let open = numbers.iter().filter(|number| descriptors::is_open(**number)).count();
        report.eq("other numbers of the table that are open", 0, open);
    })?;
    child.record(test, &when, "core 11")?;
    drop((child, spare, spare_far));
    let running = harness.as_mut().ok_or_else(|| Failure::Broken("no harness".into()))?;
    running.fence(first)?;
    let wakes = running.activity(first).wake_thread - woken;
    test.check_eq(format!("{when}: wake-ups of the parent's thread"), 0, wakes, "core 16");
    scene.end(running, &when)?;
    running.fence_all()
}

fn in_the_child(report: Report, runtime: Runtime, stops: bool, spare: OwnedFd) {
    let core = Arc::clone(runtime.core());
    let thread = core.threads().next().expect("a thread");
    if stops {
        report.eq("stop", "Ok(())".to_owned(), format!("{:?}", runtime.stop()));
    } else {
        drop(runtime);
    }
    report.eq("registrations", 0, core.table().used());
    let inserted = core.insert(spare, idle(), thread.group(), thread.mask(), InsertOptions::default());
    let inserted = inserted.map_err(|refused| refused.reason).map(|_| ());
    report.eq("an insertion", Err(InsertRefused::Stopping), inserted);
    report.eq("a task is accepted", false, core.post(thread, |_| ()).is_ok());
}
