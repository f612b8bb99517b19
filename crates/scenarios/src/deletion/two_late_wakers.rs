//! Two threads are woken for a shared descriptor that a third deletes, every one of the three held at every place of
//! the protocol that matters, and let go in every order. What happened: each late thread waited for the other's
//! running bit, for ever (bug 67); both found themselves last, and both closed (bug 66); the last one had read the
//! thread mask too early, and nobody closed (suspect 1).

use std::cell::Cell;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fd_core::InsertOptions;
use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use metadata::{Axes, Layer};

use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::interleaving::Interleaving;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/two-late-wakers",
    title: "Of two late threads and the deleter of a shared FD exactly one closes it, in every order, and none hangs",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "S14", "L4", "L7", "bug 66", "bug 67", "suspect 1"],
    axes: Axes { threads: &[2, 4], ..Axes::PLAIN },
    run,
};

/// Where a late thread is held. From the third on, its handler has run.
const REPORT: [Point; 5] = [
    Point::ReportBeforeRunning,
    Point::ReportRunningSet,
    Point::ReportHandlerDone,
    Point::ExitBegun,
    Point::ExitRunningCleared,
];

/// Where the deleter is held.
const DELETE: [Point; 2] = [Point::DeleteTokenSet, Point::DeleteMaskCleared];

/// In which order they go on: 0 and 1 the late threads, 2 the deleter.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let threads = harness.threads();
    let group = harness.thread(0).group();
    let wakers: Vec<_> = threads.iter().copied().filter(|thread| thread.group() == group).take(2).collect();
    let [first, second] = wakers[..] else {
        return Err(Failure::Unsupported("needs two threads in one group".into()));
    };
    let deleter = threads.into_iter().find(|thread| *thread != first && *thread != second);
    let mut rounds = 0;
    for (index, one) in REPORT.into_iter().enumerate() {
        // The two are alike.
        for other in REPORT[index..].iter().copied() {
            for (delete, order) in DELETE.into_iter().flat_map(|delete| ORDERS.map(|order| (delete, order))) {
                let plan = Plan { wakers: [first, second], deleter, at: [one, other], delete, order };
                play(test, &mut harness, plan)?;
                test.all_hold()?;
                rounds += 1;
            }
        }
    }
    test.count("rounds", rounds);
    harness.finish(test, &[])
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    wakers: [ThreadId; 2],
    /// `None`: a thread of no group.
    deleter: Option<ThreadId>,
    at: [Point; 2],
    delete: Point,
    order: [usize; 3],
}

impl Plan {
    /// How many of the two run the handler: those held behind it, and those that go on while the thread mask still
    /// allows them.
    fn handlers_run(self) -> usize {
        let place = |one| self.order.iter().position(|other| *other == one);
        let allowed = |waker| self.delete == Point::DeleteTokenSet && place(waker) < place(2);
        (0..2).filter(|waker| !REPORT[..2].contains(&self.at[*waker]) || allowed(*waker)).count()
    }

    /// Both late threads stop at the beginning of their reports first, so that neither drains what the other is to see.
    /// Who goes on may be the one that ends the registration, and then waits for those who are still to leave.
    fn drawing(self) -> String {
        let begin = Point::ReportBeforeRunning;
        let mut steps = vec![("us", "writes".to_owned())];
        steps.extend(CAST[..2].iter().map(|waker| (*waker, format!("at {}", begin.name()))));
        let moved = (0..2).filter(|waker| self.at[*waker] != begin);
        steps.extend(moved.map(|waker| (CAST[waker], format!("at {}", self.at[waker].name()))));
        steps.push((CAST[2], format!("deletes at {}", self.delete.name())));
        steps.push(("us", "counts".into()));
        for one in self.order {
            steps.push((CAST[one], "goes on".into()));
            steps.push(("us", format!("see-{}-go", CAST[one])));
        }
        steps.push((CAST[2], "ends = Ok(())".into()));
        steps.extend(CAST[..2].iter().map(|waker| (*waker, "ends".to_owned())));
        let columns = ["us", CAST[0], CAST[1], CAST[2]];
        let line = |cells: [&str; 4]| cells.map(|cell| format!("{cell:24}")).join("| ");
        let lines = steps
            .iter()
            .map(|(who, step)| line(columns.map(|column| if column == *who { step.as_str() } else { "" })));
        std::iter::once(line(columns)).chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// The columns of the two late threads and of the deleter.
const CAST: [&str; 3] = ["first", "second", "deleter"];

fn play(test: &mut TestContext, harness: &mut Harness, plan: Plan) -> Result<(), Failure> {
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let monitor = HandlerMonitor::new(&ends.near);
    // Hundreds of rounds: no TIME_WAIT is left behind.
    let options = InsertOptions { reset_on_close: true, ..harness.options() };
    let both = plan.wakers[0].mask().or(plan.wakers[1].mask());
    let handle = harness
        .core()
        .insert(ends.near, monitor.recording(), plan.wakers[0].group(), both, options)
        .map_err(Failure::broken)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    // Whichever thread was woken has done the update, for all if the backend shares what it polls; then both of the two go
    // to sleep with it.
    harness.fence_all()?;
    plan.wakers.into_iter().try_for_each(|thread| harness.fence(thread))?;
    let closed = harness.core().registration_counts().closed;
    let deleted = Arc::new(AtomicBool::new(false));
    let returned = Arc::clone(&deleted);
    let loops = [const { Cell::new(0) }; 2];
    let core = Arc::clone(harness.core());
    // It has gone, or ends the registration and waits for the others.
    let over = || core.entry(handle).is_err();
    let count = |waker: usize| Harness::activity_of(&core, plan.wakers[waker]).loops;
    let turned = |waker: usize| count(waker) > loops[waker].get();
    let see = |what: &'static str, gone: &dyn Fn() -> bool| Harness::wait(&core, what, || gone() || over());
    Interleaving::about(handle, format!("{plan:?}"), "S4, L7, bug 66, bug 67")
        .worker(CAST[0], plan.wakers[0])
        .worker(CAST[1], plan.wakers[1])
        .caller(CAST[2], plan.deleter)
        .does("deletes", move |participant| {
            let answer = participant.registration(handle).delete();
            returned.store(true, Ordering::SeqCst);
            answer
        })
        .we("writes", || ends.far.write_all(b"x").map_err(Failure::broken))
        // Both are held: a wait that ended early is not taken for one that goes on.
        .we("counts", || {
            (0..2).for_each(|waker| loops[waker].set(count(waker)));
            Ok(())
        })
        .we("see-first-go", || see("the first late thread goes on", &|| turned(0)))
        .we("see-second-go", || see("the second late thread goes on", &|| turned(1)))
        .we("see-deleter-go", || see("the deleter goes on", &|| deleted.load(Ordering::SeqCst)))
        .play(test, harness, &plan.drawing())?;
    harness.wait_until(&format!("the close: {plan:?}"), || monitor.dropped() > 0)?;
    let ran = plan.handlers_run();
    test.check_eq(format!("handler calls: {plan:?}"), ran, monitor.calls(), "S6");
    test.check_eq(format!("handlers dropped: {plan:?}"), 1, monitor.dropped(), "S4");
    test.check_eq(format!("closed: {plan:?}"), 1, harness.core().registration_counts().closed - closed, "S4");
    test.all_hold()?;
    harness.fence_all()?;
    test.check_eq(format!("handler calls afterwards: {plan:?}"), ran, monitor.calls(), "S6");
    harness.wait_until("the peer sees the end", || ends.far.ended())
}
