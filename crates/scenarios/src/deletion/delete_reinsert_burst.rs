//! One number is deleted and inserted thousands of times within one turn of a thread's loop, wanted each time. HAProxy
//! once cleared the update bit at insert while the number was still listed, and wrote past the end of the list
//! (bug 18); the list still has one place per number, and a delete can still leave more behind (suspect 6).

use std::io::{PipeReader, Write};
use std::os::fd::RawFd;
use std::sync::Arc;

use fd_core::ids::{ThreadId, ThreadMask};
use fd_core::{Context, FdHandle, InsertOptions, ReadyGuard};
use metadata::{Axes, Layer};

use super::monitor::HandlerMonitor;
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::transport::{at_number, copy_at, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/delete-reinsert-burst",
    title: "After thousands of lives of one number in one turn, the last one is polled and reported exactly once",
    layer: Layer::Contract,
    clauses: &["S8", "S10", "S13", "S16", "L1", "L3", "bug 18", "bug 22", "bug 65", "suspect 6"],
    axes: Axes { threads: &[1, 2, 4, 8], ..Axes::PLAIN },
    run,
};

/// Far more than any list has room for at first.
const LIVES: u64 = 5000;

/// Who may use each of the lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sharing {
    /// The thread that makes them: its private list.
    Private,
    /// Its whole group: the shared list.
    Shared,
    /// Now the one, now the other.
    Mixed,
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    for sharing in [Sharing::Private, Sharing::Shared, Sharing::Mixed] {
        for last_shared in [false, true] {
            burst(test, &mut harness, sharing, last_shared)?;
            test.all_hold()?;
        }
    }
    harness.finish(test, &[])
}

fn burst(
    test: &mut TestContext,
    harness: &mut Harness,
    sharing: Sharing,
    last_shared: bool,
) -> Result<(), Failure> {
    let about = |what: &str| format!("{what} after a {sharing:?} burst, the last shared: {last_shared}");
    let thread = harness.thread(0);
    let everybody = harness.core().table().threads(thread.group());
    let alone = everybody == thread.mask();
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    // Never polled: a registration that ends in the turn that began it does not get as far as the kernel.
    let (idle, keep) = std::io::pipe().map_err(Failure::broken)?;
    let monitor = HandlerMonitor::new(&ends.near);
    let handler = monitor.recording();
    let last = if last_shared { everybody } else { thread.mask() };
    let (number, options, near) = (monitor.number(), harness.options(), ends.near);
    let mut random = fastrand::Rng::with_seed(test.seed);
    harness.fence_all()?;
    let before = harness.activity(thread);

    let burst = harness.on(thread, move |context| {
        // The number is made free; the file that will have it last waits under another one.
        let waiting = near.try_clone().map_err(|error| error.to_string())?;
        drop(near);
        let mut private = 0;
        for _ in 0..LIVES {
            let shared = match sharing {
                Sharing::Private => false,
                Sharing::Shared => true,
                Sharing::Mixed => random.bool(),
            };
            let mask = if shared { everybody } else { thread.mask() };
            private += u64::from(!shared || alone);
            let registration = short_registration(context, &idle, number, thread, mask)?;
            context.registration(registration).delete().map_err(|error| error.to_string())?;
        }
        let near = at_number(waiting, number).map_err(|error| error.to_string())?;
        let inserted = context.core().insert(near, handler, thread.group(), last, options);
        let handle = inserted.map_err(|error| error.to_string())?;
        context.registration(handle).want_recv().map_err(|error| error.to_string())?;
        Ok::<_, String>((handle, private))
    })?;
    let (handle, private) = burst.map_err(Failure::Wrong)?;
    drop(keep);
    harness.fence_all()?;
    let entry = harness.core().entry(handle).map_err(Failure::broken)?;
    test.check_eq(about("polled by"), last.bits(), entry.polled_recv.bits(), "L1, L3, bug 22");
    test.check_eq(about("updates owed"), 0, entry.update_mask.bits(), "bug 65");
    let dropped = harness.activity(thread).since(&before).poll_drop;
    test.cost_eq(about("updates of lives that were over"), private, dropped, "S8, S16: one each, none lost");

    ends.far.write_all(b"once").map_err(Failure::broken)?;
    harness.wait_until(&about("the report"), || monitor.text() == "once")?;
    harness.fence_all()?;
    let with_data = monitor.recorder.seen().iter().filter(|seen| !seen.bytes.is_empty()).count();
    test.check_eq(about("reports with data"), 1, with_data, "S7");
    if last == thread.mask() {
        test.check_eq(about("reports"), 1, monitor.calls(), "S8: registered once");
    }
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    Ok(())
}

/// A registration of `number`, wanted; its file is a copy of `idle`.
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
