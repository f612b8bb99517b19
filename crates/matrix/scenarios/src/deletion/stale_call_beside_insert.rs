//! Calls with a stale handle run beside the next registration of the number. Each call used to take its
//! reference before it compared the generation: enough of these calls delayed an insertion (1.6 s and 14.4 s,
//! beside 8 callers), and the end of a registration, which both wait until no reference is left. HAProxy's
//! `fd_grab_tgid` does the same.

use std::sync::mpsc::channel;

use fd_core::FdCore;

use super::monitor::HandlerMonitor;
use crate::prelude::*;
use crate::threads;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/stale-call-beside-insert",
    title: "A call with a stale handle delays neither the insertion nor the end of the number's next registration",
    layer: Layer::Contract,
    clauses: &["L7", "L9", "core 10"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], ..Axes::PLAIN },
    run,
};

/// The name of a call, and the call, which returns whether it was refused.
type Call = (&'static str, fn(&FdCore, FdHandle) -> bool);

const CALLS: [Call; 6] = [
    ("want", |core, handle| core.registration(handle).want_recv().is_err()),
    ("stop", |core, handle| core.registration(handle).stop_recv().is_err()),
    ("delete", |core, handle| core.registration(handle).delete().is_err()),
    ("disown", |core, handle| core.registration(handle).disown().is_err()),
    ("duplicate", |core, handle| core.registration(handle).duplicate().is_err()),
    ("entry", |core, handle| core.entry(handle).is_err()),
];

/// Stale calls that are held at the point where they are refused, and their results.
struct Callers {
    held: Vec<HeldThread>,
    results: std::sync::mpsc::Receiver<(&'static str, bool)>,
}

impl Callers {
    fn start(harness: &Harness, points: &Checkpoints, stale: FdHandle, when: &str) -> Result<Self> {
        let (sender, results) = channel();
        let mut held = Vec::new();
        for (name, call) in CALLS {
            let thread = format!("{name} {when}");
            held.push(points.hold_thread(&thread, Point::PinRefused, stale.number()));
            let (core, sender) = (Arc::clone(harness.core()), sender.clone());
            let caller = std::thread::Builder::new().name(thread).spawn(move || {
                let refused = call(&core, stale);
                // Before the result: the end of the harness checks which descriptors the core has open.
                drop(core);
                let _ = sender.send((name, refused));
            });
            caller?;
        }
        held.iter().try_for_each(HeldThread::reached)?;
        Ok(Self { held, results })
    }

    /// Releases the calls and checks that each is refused.
    fn end(self, test: &mut TestContext) -> Result {
        let Self { held, results } = self;
        held.iter().for_each(HeldThread::release);
        for _ in CALLS {
            let (name, refused) = results.recv_timeout(patience()).map_err(Failure::broken)?;
            test.check_eq(format!("{name} with the stale handle is refused"), true, refused, "S7");
        }
        Ok(())
    }
}

/// Runs `action` on a thread of its own and waits for its result: the action may hang.
fn with_time_limit<R: Send + 'static>(what: &str, action: impl FnOnce() -> R + Send + 'static) -> Result<R> {
    let (sender, result) = channel();
    threads::spawn(move || {
        let _ = sender.send(action());
    })?;
    let timed_out = |_| Failure::Wrong(format!("{what} waits for calls with a stale handle (L7)"));
    result.recv_timeout(patience()).map_err(timed_out)
}

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let points = Checkpoints::watch();
    let thread = harness.thread(0);
    let [first, second] = [test.pair(), test.pair()];
    let (first, mut second) = (first?, second?);
    let stale = harness.insert(first.near, Recorder::new(), thread)?;
    harness.registration(stale).delete()?;
    let near = at_number(second.near, stale.number())?;

    let monitor = HandlerMonitor::new(&near);
    let before = Callers::start(&harness, &points, stale, "before the insertion")?;
    let (core, handler, options) = (Arc::clone(harness.core()), monitor.recording(), harness.options());
    let handle = with_time_limit("an insertion", move || {
        let inserted = core.insert(near, handler, thread.group(), thread.mask(), options);
        drop(core);
        inserted.map_err(|refused| refused.reason)
    })?;
    let handle = handle?;
    let meanwhile = Callers::start(&harness, &points, stale, "beside the registration")?;
    let references = harness.entry(handle)?.references;
    test.check_eq("references of the stale calls", 0, references, "L7, core 10");
    harness.registration(handle).want_recv()?;
    std::io::Write::write_all(&mut second.far, b"next")?;
    harness.wait_until("the next registration's data", || monitor.text() == "next")?;
    let core = Arc::clone(harness.core());
    let deleted = with_time_limit("the end of a registration", move || {
        let deleted = core.registration(handle).delete();
        drop(core);
        deleted
    })?;
    deleted?;
    harness.wait_until("the peer sees the end", || second.far.ended())?;
    before.end(test)?;
    meanwhile.end(test)?;
    harness.fence_all()?;
    drop((points, first.far, second.far));
    harness.finish(test, &[])
}
