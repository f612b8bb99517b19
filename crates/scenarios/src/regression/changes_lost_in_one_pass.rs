//! Three ways in which kqueue's change list lost changes: the kernel stopped at the first one that failed
//! (`ebaba7542`), each descriptor's changes were written over those before it (`c55b88ece`), and a descriptor with
//! nothing to change dropped them all (`5ab33944c`).

use std::io::Write;
use std::sync::Arc;

use fd_core::FdHandle;
use metadata::{Axes, Layer, Transport};

use super::set_up::raise_limit;
use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{Far, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/changes-lost-in-one-pass",
    title: "Of many changes in one pass each takes effect, whatever becomes of those before and after it",
    layer: Layer::Contract,
    clauses: &["L1", "S11", "bug 19", "bug 21", "bug 23"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// More changes than are submitted at once.
const SUBJECTS: usize = 96;

/// What a pass finds to do for a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Polled for receiving and no longer wanted: removed in both directions, one of which is not there.
    Gone,
    /// Not polled and wanted.
    Fresh,
    /// Polled and wanted, as before.
    Same,
    /// Polled for receiving, and wanted for sending, too.
    More,
}

struct Subject {
    kind: Kind,
    handle: FdHandle,
    watch: Arc<HandlerMonitor>,
    far: Far,
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    raise_limit(2 * SUBJECTS as nix::libc::rlim_t + 64)?;
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut subjects = Vec::new();
    for index in 0..SUBJECTS {
        let kind = [Kind::Gone, Kind::Fresh, Kind::Same, Kind::More][index % 4];
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        let watch = HandlerMonitor::new(&ends.near);
        let recording = Arc::clone(&watch);
        let handler = watch.doing(move |ready| {
            let _ = ready.registration().stop_send();
            recording.recorder.record(ready);
        });
        let handle = harness.insert(ends.near, handler, thread)?;
        if kind != Kind::Fresh {
            harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        }
        subjects.push(Subject { kind, handle, watch, far: ends.far });
    }
    harness.fence(thread)?;

    let changes: Vec<_> = subjects.iter().map(|subject| (subject.kind, subject.handle)).collect();
    let changed = harness.on(thread, move |context| {
        changes.into_iter().try_for_each(|(kind, handle)| {
            let fd = context.registration(handle);
            match kind {
                // An update is asked for, which then finds nothing wanted.
                Kind::Gone => fd.stop_recv().and_then(|()| fd.want_send()).and_then(|()| fd.stop_send()),
                Kind::Fresh => fd.want_recv(),
                Kind::Same => fd.stop_recv().and_then(|()| fd.want_recv()),
                Kind::More => fd.want_send(),
            }
        })
    })?;
    changed.map_err(Failure::broken)?;
    harness.fence(thread)?;

    for subject in &mut subjects {
        let polled = harness.entry(subject.handle)?.polled_recv.contains(thread.mask());
        let expected = subject.kind != Kind::Gone;
        if polled != expected {
            let what = format!("number {} ({:?}) is polled", subject.watch.number(), subject.kind);
            test.check_eq(what, expected, polled, "S11");
        }
        subject.far.write_all(b"heard").map_err(Failure::broken)?;
    }
    for subject in subjects.iter().filter(|subject| subject.kind != Kind::Gone) {
        let what = format!("the data of number {} ({:?})", subject.watch.number(), subject.kind);
        harness.wait_until(&what, || subject.watch.text() == "heard")?;
    }
    harness.fence(thread)?;
    let calls = |kind| -> usize {
        subjects.iter().filter(|subject| subject.kind == kind).map(|subject| subject.watch.calls()).sum()
    };
    test.check_eq("calls for what is gone", 0, calls(Kind::Gone), "L6");
    test.check_eq("calls for what is fresh", SUBJECTS / 4, calls(Kind::Fresh), "bugs 19, 21 and 23");
    test.check_eq("calls for what stays", SUBJECTS / 4, calls(Kind::Same), "bug 23");
    drop(subjects);
    harness.finish(test, &[])
}
