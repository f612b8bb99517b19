//! User code panics, in each place where the core runs or drops it. The panic of a handler that had deleted
//! its own descriptor was lost.

use std::os::fd::OwnedFd;
use std::time::Duration;

use fd_core::{Runtime, WorkerError};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{DropCounter, DropToken, both_ends};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/panics",
    title: "A panic in a handler, task or timer, or in its drop, is reported and ends the runtime with everything in it",
    layer: Layer::Contract,
    clauses: &["S4", "L8", "L9", "core 7", "core 17"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// The prefix of every intended panic's message.
const ON_PURPOSE: &str = "on purpose: ";

/// The code that panics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Panics {
    Handler,
    /// The handler, after it has deleted its own descriptor.
    HandlerThatDeleted,
    HandlerThatDisowned,
    /// The handler, after it has deleted its own descriptor, and then its drop.
    HandlerAndItsDrop,
    HandlerDrop,
    Released,
    /// `released`, and then the drop of the handler.
    ReleasedAndDrop,
    Entered,
    /// The closure of `enter`, after it has deleted the descriptor.
    EnteredAndDeleted,
    Task,
    Timer,
    SignalAction,
    /// These are dropped when the runtime stops.
    TaskDroppedAtStop,
    TimerDroppedAtStop,
    HandlerDroppedAtStop,
}

impl Panics {
    const ALL: [Self; 15] = [
        Self::Handler,
        Self::HandlerThatDeleted,
        Self::HandlerThatDisowned,
        Self::HandlerAndItsDrop,
        Self::HandlerDrop,
        Self::Released,
        Self::ReleasedAndDrop,
        Self::Entered,
        Self::EnteredAndDeleted,
        Self::Task,
        Self::Timer,
        Self::SignalAction,
        Self::TaskDroppedAtStop,
        Self::TimerDroppedAtStop,
        Self::HandlerDroppedAtStop,
    ];

    fn in_ready(self) -> bool {
        use Panics::{Handler, HandlerAndItsDrop, HandlerThatDeleted, HandlerThatDisowned};
        matches!(self, Handler | HandlerThatDeleted | HandlerThatDisowned | HandlerAndItsDrop)
    }

    fn in_drop(self) -> bool {
        use Panics::{HandlerAndItsDrop, HandlerDrop, HandlerDroppedAtStop, ReleasedAndDrop};
        matches!(self, HandlerAndItsDrop | HandlerDrop | HandlerDroppedAtStop | ReleasedAndDrop)
    }

    /// Returns the message of the first panic.
    fn first(self) -> &'static str {
        match self {
            _ if self.in_ready() => "ready",
            Self::Released | Self::ReleasedAndDrop => "released",
            Self::HandlerDrop | Self::HandlerDroppedAtStop => "drop",
            Self::Entered | Self::EnteredAndDeleted => "entered",
            Self::TaskDroppedAtStop | Self::TimerDroppedAtStop => "dropped unrun",
            _ => "run",
        }
    }
}

fn panic_on_purpose(what: &str) -> ! {
    std::panic::panic_any(format!("{ON_PURPOSE}{what}"))
}

/// Silences the intended panics. Any other panic ends the cell.
fn expect_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if !text.is_some_and(|text| text.starts_with(ON_PURPOSE)) {
            print(panic);
        }
    }));
}

struct Panicking {
    what: Panics,
    _token: DropToken,
}

impl Handler for Panicking {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let _ = match self.what {
            Panics::HandlerThatDisowned | Panics::Released | Panics::ReleasedAndDrop => {
                ready.registration().disown()
            }
            Panics::Handler => Ok(()),
            _ => ready.registration().delete(),
        };
        if self.what.in_ready() {
            panic_on_purpose("ready");
        }
    }

    fn released(&self, fd: OwnedFd) {
        drop(fd);
        if matches!(self.what, Panics::Released | Panics::ReleasedAndDrop) {
            panic_on_purpose("released");
        }
    }
}

impl Drop for Panicking {
    fn drop(&mut self) {
        if self.what.in_drop() {
            panic_on_purpose("drop");
        }
    }
}

/// Dropped with a task or timer that has not run.
struct Unrun {
    _token: DropToken,
}

impl Drop for Unrun {
    fn drop(&mut self) {
        panic_on_purpose("dropped unrun");
    }
}

fn run(test: &mut TestContext) -> Result {
    expect_panics();
    for what in Panics::ALL {
        panics(test, what)?;
        test.stop_if_failed()?;
    }
    Ok(())
}

fn panics(test: &mut TestContext, what: Panics) -> Result {
    let about = |of: &str| format!("{what:?} panics: {of}");
    let tally = DropCounter::default();
    let action = |_: &Context| panic_on_purpose("run");
    let sleepers = Sleepers::watch();
    let mut harness =
        Harness::start_with(test, |builder| builder.signal(Signal::SIGUSR1 as i32, action), |_| Ok(()))?;
    // The first thread handles all signals.
    let thread = harness.thread(0);
    let (near, mut far) = both_ends(test)?;
    let panicking = Panicking { what, _token: tally.token() };
    let handle = harness.insert_recv(near, Arc::new(panicking), thread)?;
    let mut peers = Vec::new();
    for thread in harness.threads() {
        let (near, far) = both_ends(test)?;
        let token = tally.token();
        let handler = move |_: &ReadyGuard<'_>| {
            let _ = &token;
        };
        harness.insert(near, Arc::new(handler), thread)?;
        peers.push(far);
    }
    harness.fence_all()?;
    sleepers.wait(&harness)?;
    let tokens = 1 + harness.threads().len() + usize::from(matches!(what.first(), "dropped unrun"));
    harness.finish_with(test, &[], |test, runtime| {
        trigger(&runtime, what, handle, &mut far, &tally)?;
        let core = Arc::clone(runtime.core());
        let is_ended = || far.ended() && peers.iter().all(FarEnd::ended) && tally.dropped() == tokens;
        if what != Panics::HandlerDroppedAtStop {
            // The call of `stop` would wake a thread that the panic has not woken.
            Harness::wait_with_core(&core, &about("the runtime ends"), is_ended)?;
        }
        let expected = format!("{thread}: {ON_PURPOSE}{}", what.first());
        let error = match runtime.stop() {
            Ok(()) => "none".to_owned(),
            Err(WorkerError::Poller { thread, source }) => format!("{thread}: {source}"),
            Err(WorkerError::Panic { thread, panic }) => {
                format!("{thread}: {}", panic.downcast_ref::<String>().map_or("no text", String::as_str))
            }
        };
        // The thread that ends last drops the handlers; it can be any thread.
        let same = match what {
            Panics::HandlerDroppedAtStop => error.ends_with(&format!("{ON_PURPOSE}drop")),
            _ => error == expected,
        };
        test.check(about("the error of the stop"), expected, error, "core 7", same);
        test.check_eq(about("every peer sees the end"), true, is_ended(), "L8");
        test.check_eq(about("handlers, tasks and timers dropped"), tokens, tally.dropped(), "S4, L8");
        drop((far, peers));
        Ok(())
    })
}

/// Causes the panic, or prepares the one that the stop causes.
fn trigger(
    runtime: &Runtime,
    what: Panics,
    handle: FdHandle,
    far: &mut FarEnd,
    tally: &DropCounter,
) -> Result {
    let core = runtime.core();
    let thread = core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?;
    let unrun = |tally: &DropCounter| Unrun { _token: tally.token() };
    match what {
        Panics::Entered | Panics::EnteredAndDeleted => {
            let _ = core.post(thread, move |context| {
                let _ = context.enter(handle, |ready: &ReadyGuard<'_>| {
                    if what == Panics::EnteredAndDeleted {
                        let _ = ready.registration().delete();
                    }
                    panic_on_purpose("entered")
                });
            });
        }
        Panics::Task => drop(core.post(thread, |_| panic_on_purpose("run"))),
        Panics::Timer => {
            let _ = core.post(thread, |context| {
                context.after(Duration::ZERO, |_| panic_on_purpose("run"));
            });
        }
        Panics::SignalAction => kill(Pid::this(), Signal::SIGUSR1)?,
        Panics::TaskDroppedAtStop => {
            let unrun = unrun(tally);
            let _ = core.post(thread, move |context| {
                // Queued behind this task; the loop does not reach it any more.
                let _ = context.core().post(context.id(), move |_| std::mem::forget(unrun));
                context.core().request_stop();
            });
        }
        Panics::TimerDroppedAtStop => {
            let unrun = unrun(tally);
            let _ = core.post(thread, move |context| {
                context.after(Duration::from_secs(3600), move |_| std::mem::forget(unrun));
                context.core().request_stop();
            });
        }
        Panics::HandlerDroppedAtStop => {}
        _ => far.write_all(b"x")?,
    }
    Ok(())
}
