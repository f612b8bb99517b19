//! The change list for kqueue lost changes in three ways: the kernel stopped at the first change that failed
//! (`ebaba7542`), the changes of a descriptor overwrote those of the descriptor before it (`c55b88ece`), and
//! a descriptor without changes dropped all of them (`5ab33944c`).

use crate::deletion::monitor::HandlerMonitor;
use crate::descriptor_limit;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/changes-lost-in-one-pass",
    title: "Each of many changes in one iteration takes effect, even if changes before or after it fail",
    layer: Layer::Contract,
    clauses: &["L1", "S11", "bug 19", "bug 21", "bug 23"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], threads: &[1], ..Axes::PLAIN },
    run,
};

/// More changes than one call submits.
const ENDPOINTS: usize = 96;

/// The pending update of a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Polled for receiving and no longer wanted: removed in both directions, although one of them is not
    /// registered.
    Gone,
    /// Not polled and wanted.
    Fresh,
    /// Polled and wanted, as before.
    Same,
    /// Polled for receiving, and wanted for sending, too.
    More,
}

struct Endpoint {
    kind: Kind,
    handle: FdHandle,
    monitor: Arc<HandlerMonitor>,
    far: FarEnd,
}

fn run(test: &mut TestContext) -> Result {
    descriptor_limit::raise(2 * ENDPOINTS as nix::libc::rlim_t + 64)?;
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    let thread = harness.thread(0);
    let mut endpoints = Vec::new();
    for index in 0..ENDPOINTS {
        let kind = [Kind::Gone, Kind::Fresh, Kind::Same, Kind::More][index % 4];
        let ends = test.pair()?;
        let monitor = HandlerMonitor::new(&ends.near);
        let handler = monitor.doing(|monitor, ready| {
            let _ = ready.registration().stop_send();
            monitor.recorder.record(ready);
        });
        let handle = harness.insert(ends.near, handler, thread)?;
        if kind != Kind::Fresh {
            harness.registration(handle).want_recv()?;
        }
        endpoints.push(Endpoint { kind, handle, monitor, far: ends.far });
    }
    harness.fence(thread)?;

    let changes: Vec<_> = endpoints.iter().map(|endpoint| (endpoint.kind, endpoint.handle)).collect();
    let changed = harness.on(thread, move |context| {
        changes.into_iter().try_for_each(|(kind, handle)| {
            let fd = context.registration(handle);
            match kind {
                // Requests an update that then finds no interest.
                Kind::Gone => fd.stop_recv().and_then(|()| fd.want_send()).and_then(|()| fd.stop_send()),
                Kind::Fresh => fd.want_recv(),
                Kind::Same => fd.stop_recv().and_then(|()| fd.want_recv()),
                Kind::More => fd.want_send(),
            }
        })
    })?;
    changed?;
    for endpoint in &endpoints {
        let expected = endpoint.kind != Kind::Gone;
        let what =
            format!("number {} ({:?}) is polled: {expected}", endpoint.monitor.number(), endpoint.kind);
        sleepers.wait_until(&harness, &what, || {
            let entry = harness.entry(endpoint.handle);
            entry.is_ok_and(|entry| entry.polled_recv.contains(thread.mask()) == expected)
        })?;
    }
    for endpoint in &mut endpoints {
        endpoint.far.write_all(b"data")?;
    }
    for endpoint in endpoints.iter().filter(|endpoint| endpoint.kind != Kind::Gone) {
        let what = format!("the data of number {} ({:?})", endpoint.monitor.number(), endpoint.kind);
        harness.wait_until(&what, || endpoint.monitor.text() == "data")?;
    }
    harness.fence(thread)?;
    let calls = |kind| -> usize {
        endpoints
            .iter()
            .filter(|endpoint| endpoint.kind == kind)
            .map(|endpoint| endpoint.monitor.calls())
            .sum()
    };
    test.check_eq("calls for descriptors that are no longer wanted", 0, calls(Kind::Gone), "L6");
    let fresh = calls(Kind::Fresh);
    test.check_eq("calls for descriptors that are newly wanted", ENDPOINTS / 4, fresh, "bugs 19, 21 and 23");
    test.check_eq("calls for descriptors that stay wanted", ENDPOINTS / 4, calls(Kind::Same), "bug 23");
    drop(endpoints);
    harness.finish(test, &[])
}
