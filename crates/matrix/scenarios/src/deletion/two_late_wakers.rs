//! Two threads are woken for a shared descriptor that a third thread deletes. Each of the three is held at
//! every relevant point of the protocol, and they are released in every order. The errors that this finds:
//! each late thread waits endlessly for the other's running bit (bug 67); both find that they are the last
//! user, and both close (bug 66); the last user has read the thread mask too early, and no thread closes
//! (suspect 1).

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use super::monitor::HandlerMonitor;
use crate::interleaving::Interleaving;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/two-late-wakers",
    title: "Of two late threads and the deleter of a shared FD exactly one closes it, in every order, and no thread hangs",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "S14", "L4", "L7", "bug 66", "bug 67", "suspect 1"],
    axes: Axes { threads: &[2, 4], ..Axes::PLAIN },
    run,
};

/// The points at which a late thread is held. From the third on, its handler has run.
const REPORT_POINTS: [Point; 5] = [
    Point::ReportBeforeRunning,
    Point::ReportRunningSet,
    Point::ReportHandlerDone,
    Point::ExitBegun,
    Point::ExitRunningCleared,
];

/// The points at which the deleter is held.
const DELETE_POINTS: [Point; 2] = [Point::DeleteMarked, Point::DeleteMaskCleared];

/// The orders in which the threads are released: 0 and 1 are the late threads, 2 is the deleter.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let threads = harness.threads();
    let group = harness.thread(0).group();
    let wakers: Vec<_> = threads.iter().copied().filter(|thread| thread.group() == group).take(2).collect();
    let [first, second] = wakers[..] else {
        return Err(Failure::Unsupported("needs two threads in one group".into()));
    };
    let deleter = threads.into_iter().find(|thread| *thread != first && *thread != second);
    let mut rounds = 0;
    for (index, first_point) in REPORT_POINTS.into_iter().enumerate() {
        // The two threads are interchangeable.
        for second_point in REPORT_POINTS[index..].iter().copied() {
            for (delete, order) in
                DELETE_POINTS.into_iter().flat_map(|delete| ORDERS.map(|order| (delete, order)))
            {
                let schedule = Schedule {
                    wakers: [first, second],
                    deleter,
                    at: [first_point, second_point],
                    delete,
                    order,
                };
                run_schedule(test, &mut harness, schedule)?;
                test.stop_if_failed()?;
                rounds += 1;
            }
        }
    }
    test.record_counter("rounds", rounds);
    harness.finish(test, &[])
}

#[derive(Clone, Copy, Debug)]
struct Schedule {
    wakers: [ThreadId; 2],
    /// `None`: a thread outside the runtime.
    deleter: Option<ThreadId>,
    at: [Point; 2],
    delete: Point,
    order: [usize; 3],
}

impl Schedule {
    /// Returns how many of the two late threads run the handler: those held after it, and those released
    /// while the thread mask still contains their bits.
    fn handlers_run(self) -> usize {
        let place = |thread| self.order.iter().position(|ordered| *ordered == thread);
        let allowed = |waker| self.delete == Point::DeleteMarked && place(waker) < place(2);
        (0..2).filter(|waker| !REPORT_POINTS[..2].contains(&self.at[*waker]) || allowed(*waker)).count()
    }

    /// Draws the interleaving. First, both late threads stop at the beginning of their reports, so that
    /// neither reads the data that the other must see. A released thread may be the one that ends the
    /// registration: it then waits for the threads that still have to exit.
    fn drawing(self) -> String {
        let begin = Point::ReportBeforeRunning;
        let mut steps = vec![("main", "writes".to_owned())];
        steps.extend(COLUMNS[..2].iter().map(|waker| (*waker, format!("at {}", begin.name()))));
        let moved = (0..2).filter(|waker| self.at[*waker] != begin);
        steps.extend(moved.map(|waker| (COLUMNS[waker], format!("at {}", self.at[waker].name()))));
        steps.push((COLUMNS[2], format!("deletes at {}", self.delete.name())));
        steps.push(("main", "counts".into()));
        for thread in self.order {
            steps.push((COLUMNS[thread], "continues".into()));
            steps.push(("main", format!("see-{}-go", COLUMNS[thread])));
        }
        steps.push((COLUMNS[2], "ends = Ok(())".into()));
        // Before a fence wakes a thread.
        steps.push(("main", "closes".into()));
        steps.extend(COLUMNS[..2].iter().map(|waker| (*waker, "ends".to_owned())));
        let columns = ["main", COLUMNS[0], COLUMNS[1], COLUMNS[2]];
        let line = |cells: [&str; 4]| cells.map(|cell| format!("{cell:24}")).join("| ");
        let lines = steps
            .iter()
            .map(|(name, step)| line(columns.map(|column| if column == *name { step.as_str() } else { "" })));
        std::iter::once(line(columns)).chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// The columns of the two late threads and of the deleter.
const COLUMNS: [&str; 3] = ["first", "second", "deleter"];

fn run_schedule(test: &mut TestContext, harness: &mut Harness, schedule: Schedule) -> Result {
    let ends = test.pair()?;
    let far = RefCell::new(ends.far);
    let monitor = HandlerMonitor::new(&ends.near);
    // Hundreds of rounds: the option avoids connections in TIME_WAIT.
    let options = InsertOptions { reset_on_close: true, ..harness.options() };
    let both = schedule.wakers[0].mask().or(schedule.wakers[1].mask());
    let handle =
        harness.core().insert(ends.near, monitor.recording(), schedule.wakers[0].group(), both, options)?;
    harness.registration(handle).want_recv()?;
    harness.wait_until_polled(handle, both)?;
    let closed = harness.closed();
    let deleted = Arc::new(AtomicBool::new(false));
    let returned = Arc::clone(&deleted);
    let loops = [const { Cell::new(0) }; 2];
    let core = Arc::clone(harness.core());
    // The thread has exited, or it ends the registration and waits for the others.
    let has_ended = || core.entry(handle).is_err();
    let count = |waker: usize| Harness::activity_of(&core, schedule.wakers[waker]).loops;
    let has_iterated = |waker: usize| count(waker) > loops[waker].get();
    let wait_for = |what: &'static str, happened: &dyn Fn() -> bool| {
        Harness::wait_with_core(&core, what, || happened() || has_ended())
    };
    Interleaving::about(handle, format!("{schedule:?}"), "S4, L7, bug 66, bug 67")
        .worker(COLUMNS[0], schedule.wakers[0])
        .worker(COLUMNS[1], schedule.wakers[1])
        .caller(COLUMNS[2], schedule.deleter)
        .action("deletes", move |participant| {
            let answer = participant.registration(handle).delete();
            returned.store(true, Ordering::SeqCst);
            answer
        })
        .main_action("writes", || far.borrow_mut().write_all(b"x").map_err(Failure::broken))
        // Both are held, so a wait that ended earlier does not count as an iteration after the release.
        .main_action("counts", || {
            (0..2).for_each(|waker| loops[waker].set(count(waker)));
            Ok(())
        })
        .main_action("see-first-go", || wait_for("the first late thread continues", &|| has_iterated(0)))
        .main_action("see-second-go", || wait_for("the second late thread continues", &|| has_iterated(1)))
        .main_action("see-deleter-go", || {
            wait_for("the deleter continues", &|| deleted.load(Ordering::SeqCst))
        })
        .main_action("closes", || {
            Harness::wait_with_core(&core, "the last user closes, and the peer sees the end", || {
                monitor.dropped() > 0 && far.borrow().ended()
            })
        })
        .run(test, harness, &schedule.drawing())?;
    let ran = schedule.handlers_run();
    test.check_eq(format!("handler calls: {schedule:?}"), ran, monitor.calls(), "S6");
    test.check_eq(format!("handlers dropped: {schedule:?}"), 1, monitor.dropped(), "S4");
    test.check_eq(format!("closed: {schedule:?}"), 1, harness.closed() - closed, "S4");
    test.stop_if_failed()?;
    harness.fence_all()?;
    test.check_eq(format!("handler calls afterwards: {schedule:?}"), ran, monitor.calls(), "S6");
    Ok(())
}
