//! Two threads are woken for a shared descriptor that a third deletes, every one of the three held at every place of
//! the protocol that matters, and let go in every order. What happened: each late thread waited for the other's
//! running bit, for ever (bug 67); both found themselves last, and both closed (bug 66); the last one had read the
//! thread mask too early, and nobody closed (suspect 1).

use std::io::Write;
use std::os::fd::RawFd;

use fd_core::InsertOptions;
use fd_core::checkpoint::{self, Point};
use fd_core::ids::ThreadId;

use super::watch::{Watch, delete_on};
use crate::catalogue::{Layer, Scenario};
use crate::gate::Gate;
use crate::lab::Lab;
use crate::transport::pair;
use crate::trial::{Failure, Trial, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/two-late-wakers",
    title: "Of two late threads and the deleter of a shared FD exactly one closes it, in every order, and none hangs",
    layer: Layer::Contract,
    clauses: &["S4", "S5", "S6", "S14", "L4", "L7", "bug 66", "bug 67", "suspect 1"],
    run,
};

/// Where a late thread is held. From the third on, its handler has run.
const REPORT: [Point; 5] = [
    Point::ReportBeforeRunning,
    Point::ReportRunningSet,
    Point::ReportHandlerDone,
    Point::LeaveBegun,
    Point::LeaveRunningCleared,
];

/// Where the deleter is held, if it is.
const DELETE: [Option<Point>; 3] = [None, Some(Point::DeleteTokenSet), Some(Point::DeleteMaskCleared)];

/// In which order they go on: 0 and 1 the late threads, 2 the deleter.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    let threads = lab.threads();
    let group = lab.thread(0).group();
    let wakers: Vec<_> = threads.iter().copied().filter(|thread| thread.group() == group).take(2).collect();
    let [first, second] = wakers[..] else {
        return Err(Failure::Unsupported("needs two threads in one group".into()));
    };
    let deleter = threads.into_iter().find(|thread| *thread != first && *thread != second);
    let mut names = Vec::new();
    for thread in [first, second] {
        names.push(lab.on(thread, |_| std::thread::current().id())?);
    }
    let mut rounds = 0;
    for (index, one) in REPORT.into_iter().enumerate() {
        // The two are alike.
        for (other, delete) in REPORT[index..].iter().flat_map(|other| DELETE.map(|delete| (*other, delete)))
        {
            // A deleter that is not held has gone already.
            for order in ORDERS.into_iter().filter(|order| delete.is_some() || order[0] == 2) {
                let plan = Plan { wakers: [first, second], deleter, at: [one, other], delete, order };
                play(trial, &mut lab, plan, [names[0], names[1]])?;
                trial.all_hold()?;
                rounds += 1;
            }
        }
    }
    trial.count("rounds", rounds);
    lab.finish(trial, &[])
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    wakers: [ThreadId; 2],
    /// `None`: a thread of no group.
    deleter: Option<ThreadId>,
    at: [Point; 2],
    delete: Option<Point>,
    order: [usize; 3],
}

impl Plan {
    /// How many of the two run the handler: those held behind it, and those that go on while the thread mask still
    /// allows them.
    fn handlers_run(self) -> usize {
        let place = |one| self.order.iter().position(|other| *other == one);
        let allowed = |waker| self.delete == Some(Point::DeleteTokenSet) && place(waker) < place(2);
        (0..2).filter(|waker| !REPORT[..2].contains(&self.at[*waker]) || allowed(*waker)).count()
    }
}

fn play(
    trial: &mut Trial,
    lab: &mut Lab,
    plan: Plan,
    names: [std::thread::ThreadId; 2],
) -> Result<(), Failure> {
    let wrong = |what: &str| Failure::Wrong(format!("{what}: {plan:?}"));
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let watch = Watch::new(&ends.near);
    // Hundreds of rounds: no TIME_WAIT is left behind.
    let options = InsertOptions { reset_on_close: true, ..lab.options() };
    let both = plan.wakers[0].mask().or(plan.wakers[1].mask());
    let handle = lab
        .core()
        .insert(ends.near, watch.recording(), plan.wakers[0].group(), both, options)
        .map_err(Failure::broken)?;
    lab.core().fd(handle).want_recv().map_err(Failure::broken)?;
    // Whichever thread was woken has done the update, for all if the backend shares what it polls; then both of the two go
    // to sleep with it.
    lab.fence_all()?;
    plan.wakers.into_iter().try_for_each(|thread| lab.fence(thread))?;
    let stage = Stage::install(watch.number(), names, plan);
    let closed = lab.core().lives().closed;

    ends.far.write_all(b"x").map_err(Failure::broken)?;
    if !stage.harvested.wait_for(2) {
        return Err(wrong("not both threads were woken"));
    }
    stage.harvested.open();
    if !stage.held[..2].iter().all(|gate| gate.wait_for(1)) {
        return Err(wrong("a late thread did not come to its place"));
    }
    let told = delete_on(lab, plan.deleter, handle);
    if plan.delete.is_some() && !stage.held[2].wait_for(1) {
        return Err(wrong("the deleter did not come to its place"));
    }
    let mut deleted = None;
    for one in plan.order {
        let loops = || plan.wakers.get(one).map(|thread| lab.activity(*thread).loops);
        let before = loops();
        stage.held[one].open();
        // It has gone, or ends the life and waits for the others.
        lab.wait_until(&format!("number {one} goes on: {plan:?}"), || {
            deleted = deleted.or_else(|| told.try_recv().ok());
            let gone = if one == 2 { deleted.is_some() } else { loops() > before };
            gone || lab.core().entry(handle).is_err()
        })?;
    }
    let deleted = deleted.or_else(|| told.recv_timeout(patience()).ok());
    lab.wait_until(&format!("the close: {plan:?}"), || watch.dropped() > 0)?;
    checkpoint::remove();
    let ran = plan.handlers_run();
    trial.check_eq(format!("delete: {plan:?}"), "Some(Ok(()))".into(), format!("{deleted:?}"), "L7");
    trial.check_eq(format!("handler calls: {plan:?}"), ran, watch.entered(), "S6");
    trial.check_eq(format!("handlers dropped: {plan:?}"), 1, watch.dropped(), "S4");
    trial.check_eq(format!("closed: {plan:?}"), 1, lab.core().lives().closed - closed, "S4");
    trial.all_hold()?;
    lab.fence_all()?;
    if watch.entered() != ran {
        return Err(wrong("the handler was called once more"));
    }
    lab.wait_until("the peer sees the end", || ends.far.ended())
}

/// The gates that hold the three.
struct Stage {
    /// Both late threads stop here first, so that neither drains what the other is to see.
    harvested: Gate,
    held: [Gate; 3],
}

impl Stage {
    fn install(number: RawFd, names: [std::thread::ThreadId; 2], plan: Plan) -> Self {
        let stage = Self { harvested: Gate::new(), held: [Gate::new(), Gate::new(), Gate::new()] };
        let (harvested, held) = (stage.harvested.clone(), stage.held.clone());
        checkpoint::install(move |point, fd| {
            if fd != number {
                return;
            }
            let name = std::thread::current().id();
            match names.iter().position(|waker| *waker == name) {
                Some(waker) => {
                    if point == Point::ReportBeforeRunning {
                        harvested.pass();
                    }
                    if point == plan.at[waker] {
                        held[waker].pass();
                    }
                }
                None if Some(point) == plan.delete => held[2].pass(),
                None => {}
            }
        });
        stage
    }
}
