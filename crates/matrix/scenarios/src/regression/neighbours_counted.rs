//! One of many neighbouring numbers is ready. HAProxy's select reported the other numbers of the same word as
//! well, and its poll counted skips while it built its array (bug 51).

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/neighbours-counted",
    title: "A ready descriptor is reported alone: no thread runs, skips or drops an event of a neighbouring number",
    layer: Layer::Contract,
    clauses: &["S3", "S18", "L5", "bug 51"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 4], ..Axes::PLAIN },
    run,
};

/// More than the bits of one word of select's sets.
const NEIGHBOURS: usize = 70;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let threads = harness.threads();
    let mut all = Vec::new();
    for index in 0..NEIGHBOURS {
        let thread = threads[index % threads.len()];
        let ends = test.pair()?;
        let recorder = Recorder::new();
        let handle = harness.insert_recv(ends.near, recorder.clone(), thread)?;
        all.push((handle, recorder, ends.far, thread));
    }
    harness.fence_all()?;
    // Every third one is deleted: its number is free.
    for (handle, ..) in all.iter().step_by(3) {
        harness.registration(*handle).delete()?;
    }
    harness.fence_all()?;
    let before: Vec<_> = threads.iter().map(|thread| harness.activity(*thread)).collect();
    let mut written = vec![0; threads.len()];
    let mut elsewhere = 0;
    for (index, (_, recorder, far, thread)) in all.iter_mut().enumerate() {
        if index % 3 == 0 {
            continue;
        }
        far.write_all(b"x")?;
        harness.wait_until("its report", || recorder.reports() == 1)?;
        written[index % threads.len()] += 1;
        elsewhere += recorder.reports() - recorder.reports_on(*thread);
    }
    test.check_eq("reports on another thread", 0, elsewhere, "S3");
    for ((thread, before), written) in threads.iter().zip(before).zip(written) {
        let since = harness.activity(*thread).since(&before);
        let at = |what: &str| format!("{what} of thread {thread}");
        test.check_eq(at("handlers run"), written, since.fd_run, "S18");
        test.check_cost_eq(at("skips"), 0, since.poll_skip, "bug 51");
        test.check_cost_eq(at("drops"), 0, since.poll_drop, "bug 51");
    }
    for (handle, ..) in all.iter().enumerate().filter(|(index, _)| index % 3 != 0).map(|(_, one)| one) {
        harness.registration(*handle).delete()?;
    }
    drop(all);
    harness.finish(test, &[])
}
