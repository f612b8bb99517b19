//! One number is deleted and inserted thousands of times within one iteration of a thread's loop, each time
//! with read interest. HAProxy once cleared the update bit at insert while the number was still listed, and
//! wrote past the end of the list (bug 18). The list still has one place per number, and a delete can still
//! leave additional entries (suspect 6).

use std::io::PipeReader;
use std::os::fd::RawFd;

use fd_core::ids::ThreadMask;

use super::monitor::HandlerMonitor;
use crate::prelude::*;
use crate::transport::copy_at;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/delete-reinsert-burst",
    title: "After thousands of registrations of one number in one iteration, the last one is polled and reported exactly once",
    layer: Layer::Contract,
    clauses: &["S8", "S10", "S13", "S16", "L1", "L3", "bug 18", "bug 22", "bug 65", "suspect 6"],
    axes: Axes { threads: &[1, 2, 4, 8], ..Axes::PLAIN },
    run,
};

/// Far more than the initial capacity of any list.
const REGISTRATIONS: u64 = 5000;

/// The threads that may use each of the registrations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sharing {
    /// The thread that makes them: its private list is used.
    Private,
    /// The whole group of that thread: the shared list is used.
    Shared,
    /// One or the other, at random.
    Mixed,
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for sharing in [Sharing::Private, Sharing::Shared, Sharing::Mixed] {
        for last_shared in [false, true] {
            burst(test, &mut harness, sharing, last_shared)?;
            test.stop_if_failed()?;
        }
    }
    harness.finish(test, &[])
}

fn burst(test: &mut TestContext, harness: &mut Harness, sharing: Sharing, last_shared: bool) -> Result {
    let label = |what: &str| format!("{what} after a {sharing:?} burst, the last shared: {last_shared}");
    let thread = harness.thread(0);
    let group_mask = harness.core().table().threads(thread.group());
    let alone = group_mask == thread.mask();
    let mut ends = test.pair()?;
    // Never polled: a registration that ends in the iteration that began it does not reach the kernel.
    let (idle, keep) = std::io::pipe()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handler = monitor.recording();
    let last = if last_shared { group_mask } else { thread.mask() };
    let (number, options, near) = (monitor.number(), harness.options(), ends.near);
    let mut random = fastrand::Rng::with_seed(test.seed);
    harness.fence_all()?;
    let before = harness.activity(thread);

    let burst = harness.on(thread, move |context| {
        // Frees the number. The file that gets the number last waits under another number.
        let parked = near.try_clone().map_err(|error| error.to_string())?;
        drop(near);
        let mut private = 0;
        for _ in 0..REGISTRATIONS {
            let shared = match sharing {
                Sharing::Private => false,
                Sharing::Shared => true,
                Sharing::Mixed => random.bool(),
            };
            let mask = if shared { group_mask } else { thread.mask() };
            private += u64::from(!shared || alone);
            let registration = short_registration(context, &idle, number, thread, mask)?;
            context.registration(registration).delete().map_err(|error| error.to_string())?;
        }
        let near = at_number(parked, number).map_err(|error| error.to_string())?;
        let inserted = context.core().insert(near, handler, thread.group(), last, options);
        let handle = inserted.map_err(|error| error.to_string())?;
        context.registration(handle).want_recv().map_err(|error| error.to_string())?;
        Ok::<_, String>((handle, private))
    })?;
    let (handle, private) = burst.map_err(Failure::Wrong)?;
    drop(keep);
    harness.wait_until_polled(handle, last)?;
    harness.fence_all()?;
    let entry = harness.core().entry(handle)?;
    test.check_eq(label("polled by"), last.bits(), entry.polled_recv.bits(), "L1, L3, bug 22");
    test.check_eq(label("pending updates"), 0, entry.update_mask.bits(), "bug 65");
    let dropped = harness.activity(thread).since(&before).poll_drop;
    let what = label("updates of ended registrations");
    test.check_cost_eq(what, private, dropped, "S8, S16: one for each registration");

    test.check_eq(label("calls without data"), 0, monitor.calls(), "S7");
    harness.reported_by_each(last, &monitor.recorder, &mut ends.far, b"once")?;
    harness.fence_all()?;
    let with_data = monitor.recorder.seen().iter().filter(|seen| !seen.bytes.is_empty()).count();
    test.check_eq(label("reports with data"), 1, with_data, "S7");
    if last == thread.mask() {
        test.check_eq(label("reports"), 1, monitor.calls(), "S8: registered once");
    }
    harness.registration(handle).delete()?;
    Ok(())
}

/// Registers a copy of `idle` under `number`, with read interest.
fn short_registration(
    context: &Context,
    idle: &PipeReader,
    number: RawFd,
    thread: ThreadId,
    mask: ThreadMask,
) -> Result<FdHandle, String> {
    let fd = copy_at(idle, number).map_err(|error| error.to_string())?;
    let options = InsertOptions { cloned: true, assume_nonblocking: true, ..InsertOptions::default() };
    let handler = Arc::new(|_: &ReadyGuard<'_>| ());
    let registration = context.core().insert(fd, handler, thread.group(), mask, options);
    let registration = registration.map_err(|error| error.to_string())?;
    context.registration(registration).want_recv().map_err(|error| error.to_string())?;
    Ok(registration)
}
