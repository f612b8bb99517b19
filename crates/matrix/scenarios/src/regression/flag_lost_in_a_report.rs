//! Other threads set flags while a report is entered into the state word. If only one thread may use the
//! descriptor, HAProxy stores the word without an atomic read-modify-write, and loses the flags (suspect 3);
//! once it truncated the word to its low byte (bug 47).

use super::about;
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/flag-lost-in-a-report",
    title: "A flag survives a report, a stop and every other change of the state",
    layer: Layer::Contract,
    clauses: &["S14", "S15", "bug 47", "suspect 3"],
    axes: Axes { transports: &[Transport::Unix], ..Axes::PLAIN },
    run,
};

const FLAGS: State = State::CLONED.or(State::EXPORTED).or(State::LINGER_RISK);

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    set_during_a_report(test, &mut harness)?;
    deleted_during_a_report(test, &mut harness)?;
    kept_by_every_call(test, &mut harness)?;
    harness.finish(test, &[])
}

fn flags(harness: &Harness, handle: FdHandle) -> Result<State> {
    Ok(harness.entry(handle)?.state.and(FLAGS))
}

fn set_during_a_report(test: &mut TestContext, harness: &mut Harness) -> Result {
    let runner = harness.thread(0);
    let mut endpoint = Endpoint::start(test, harness, runner)?;
    let handle = endpoint.handle;
    let drawing = "
        main   | runner           | marker
        writes |                  |
               | at ReportEntered |
               |                  | marks = Ok(())
               | continues        |
        ";
    about(&endpoint, "marked as cloned during a report", "suspect 3")
        .worker("runner", runner)
        .outsider("marker")
        .action("marks", move |participant| participant.registration(handle).mark_cloned())
        .main_action("writes", || endpoint.write(b"x"))
        .run(test, harness, drawing)?;
    endpoint.wait_for_bytes(harness, b"x")?;
    test.check_eq("flags after the report", State::CLONED, flags(harness, handle)?, "suspect 3");
    test.stop_if_failed()?;
    endpoint.end(harness)
}

/// The close token is a flag, too.
fn deleted_during_a_report(test: &mut TestContext, harness: &mut Harness) -> Result {
    let runner = harness.thread(0);
    let mut endpoint = Endpoint::start(test, harness, runner)?;
    let core = Arc::clone(harness.core());
    let before = core.registration_counts().closed;
    let drawing = "
        main       | runner           | deleter
        writes     |                  |
                   | at ReportEntered |
                   |                  | deletes = Ok(())
                   | continues        |
        closes     |                  |
                   | ends             |
        closed = 1 |                  |
        ";
    about(&endpoint, "deleted during a report", "S14, suspect 3")
        .worker("runner", runner)
        .outsider("deleter")
        .main_action("writes", || endpoint.write(b"x"))
        .main_action("closes", || {
            let is_closed = || core.registration_counts().closed > before;
            Harness::wait_with_core(&core, "the runner closes it", is_closed)
        })
        .main_action("closed", || Ok(core.registration_counts().closed - before))
        .run(test, harness, drawing)
}

fn kept_by_every_call(test: &mut TestContext, harness: &mut Harness) -> Result {
    let thread = harness.thread(0);
    let ends = test.pair()?;
    let options = InsertOptions { cloned: true, exported: true, reset_on_close: true, ..harness.options() };
    let handle = harness.core().insert(ends.near, Recorder::new(), thread.group(), thread.mask(), options)?;
    let states = harness.on(thread, move |context| {
        let fd = context.registration(handle);
        let calls: [(_, Result<(), _>); 8] = [
            ("want_recv", fd.want_recv()),
            ("cant_recv", fd.cant_recv()),
            ("may_both", fd.may_both()),
            ("stop_recv", fd.stop_recv()),
            ("cond_send", fd.cond_send()),
            ("want_recv again", fd.want_recv()),
            ("cant_send", fd.cant_send()),
            ("stop_both", fd.stop_both()),
        ];
        calls.map(|(name, _)| name).join(", ")
    })?;
    let entry = harness.entry(handle)?;
    test.check_eq(format!("flags after {states}"), FLAGS, entry.state.and(FLAGS), "bug 47");
    test.check_eq("active after them", State::default(), entry.state.and(State::ACTIVE), "protocol 10.2");
    harness.registration(handle).delete().map_err(|error| Failure::Wrong(error.to_string()))
}
