//! A runtime is stopped or dropped on one of its own threads. That thread used to wait for itself, which
//! panicked, and the registrations did not end.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fd_core::{Builder, Runtime};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{DropCounter, DropToken, both_ends, stop};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/stopped-from-inside",
    title: "A runtime that one of its own threads stops or drops, in any callback, ends with everything in it",
    layer: Layer::Contract,
    clauses: &["S4", "L8", "core 14"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// The callback in which the runtime ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    Handler,
    /// In the drop of a handler that has deleted itself.
    HandlerDrop,
    Task,
    Timer,
    SignalAction,
}

/// How the callback ends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    RequestStop,
    Stop,
    Drop,
}

/// Holds the runtime for the thread that ends it, and reports the result.
#[derive(Clone)]
struct End {
    how: How,
    runtime: Arc<Mutex<Option<Runtime>>>,
    sender: Sender<Result>,
}

impl End {
    fn now(&self) {
        let Some(runtime) = unpoisoned(&self.runtime).take() else { return };
        let answer = match self.how {
            How::RequestStop => {
                runtime.core().request_stop();
                // For the scenario to stop it from outside, too.
                *unpoisoned(&self.runtime) = Some(runtime);
                Ok(())
            }
            How::Stop => stop(runtime),
            How::Drop => {
                drop(runtime);
                Ok(())
            }
        };
        let _ = self.sender.send(answer);
    }
}

/// A handler that ends the runtime when it is called or dropped.
struct Ending {
    end: End,
    at: Where,
    _token: DropToken,
}

impl Handler for Ending {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let _ = if self.at == Where::Handler { ready.registration().stop_recv() } else { Ok(()) };
        match self.at {
            Where::Handler => self.end.now(),
            _ => drop(ready.registration().delete()),
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.at == Where::HandlerDrop {
            self.end.now();
        }
    }
}

fn run(test: &mut TestContext) -> Result {
    for at in [Where::Handler, Where::HandlerDrop, Where::Task, Where::Timer, Where::SignalAction] {
        for how in [How::RequestStop, How::Stop, How::Drop] {
            ended(test, at, how)?;
            test.stop_if_failed()?;
        }
    }
    Ok(())
}

fn ended(test: &mut TestContext, at: Where, how: How) -> Result {
    let about = |what: &str| format!("{how:?} in {at:?}: {what}");
    let (sender, receiver) = channel();
    let end = End { how, runtime: Arc::default(), sender };
    let with_signal = |builder: Builder| {
        let end = end.clone();
        builder.signal(Signal::SIGUSR1 as i32, move |_| end.now())
    };
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start_with(test, with_signal, |_| Ok(()))?;
    let (near, mut far) = both_ends(test)?;
    let tally = DropCounter::default();
    let ending = Ending { end: end.clone(), at, _token: tally.token() };
    // The last thread: the first one handles the signals.
    let threads = harness.threads();
    let thread = *threads.last().ok_or_else(|| Failure::Broken("no thread".into()))?;
    harness.insert_recv(near, Arc::new(ending), thread)?;
    let mut peers = Vec::new();
    for thread in &threads {
        // A registration and a timer on every thread.
        let (near, far) = both_ends(test)?;
        let token = tally.token();
        let handler = move |_: &ReadyGuard<'_>| {
            let _ = &token;
        };
        harness.insert_recv(near, Arc::new(handler), *thread)?;
        peers.push(far);
        let token = tally.token();
        harness.on(*thread, move |context| context.after(Duration::from_secs(3600), move |_| drop(token)))?;
    }
    harness.fence_all()?;
    sleepers.wait(&harness)?;
    let (slot, tokens) = (Arc::clone(&end.runtime), 1 + 2 * threads.len());
    harness.finish_with(test, &[], |test, runtime| {
        let core = Arc::clone(runtime.core());
        *unpoisoned(&slot) = Some(runtime);
        match at {
            Where::Handler | Where::HandlerDrop => far.write_all(b"x")?,
            Where::Task => drop(core.post(thread, move |_| end.now())),
            Where::Timer => {
                let set = move |context: &Context| {
                    context.after(Duration::ZERO, move |_| end.now());
                };
                let _ = core.post(thread, set);
            }
            Where::SignalAction => kill(Pid::this(), Signal::SIGUSR1)?,
        }
        let answer = receiver.recv_timeout(patience());
        answer.map_err(|_| Failure::Wrong(about("the call does not return")))??;
        // No call waits for the other threads of the runtime.
        Harness::wait_with_core(&core, &about("every peer sees the end"), || {
            far.ended() && peers.iter().all(FarEnd::ended)
        })?;
        Harness::wait_with_core(&core, &about("every handler and timer is dropped"), || {
            tally.dropped() >= tokens
        })?;
        if how == How::RequestStop {
            // Only now: its own stop would wake a thread that the request has not woken.
            let runtime = unpoisoned(&slot).take();
            runtime.map_or(Ok(()), stop)?;
        }
        drop((far, peers));
        test.check_eq(about("handlers and timers dropped"), tokens, tally.dropped(), "core 14");
        let is_accepted = core.post(thread, |_| ()).is_ok();
        test.check_eq(about("a task afterwards is accepted"), false, is_accepted, "core 6");
        Ok(())
    })
}
