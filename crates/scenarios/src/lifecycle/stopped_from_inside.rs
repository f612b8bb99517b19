//! A runtime is stopped or dropped on one of its own threads. That thread waited for itself, which is a panic, and the
//! registrations did not end.

use std::io::Write;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fd_core::{Builder, Context, Handler, ReadyGuard, Runtime};
use metadata::{Axes, Layer, Mode, Transport};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Tallied, Tally, both_ends, stopped};
use crate::catalogue::Scenario;
use crate::deletion::registration::unpoisoned;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext, patience};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/stopped-from-inside",
    title: "A runtime that one of its own threads stops or drops, wherever that is, ends with everything that it had",
    layer: Layer::Contract,
    clauses: &["S4", "L8", "core 14"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[1, 2], ..Axes::PLAIN },
    run,
};

/// Where it happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    Handler,
    /// In the drop of a handler that has deleted itself.
    HandlerDrop,
    Task,
    Timer,
    SignalAction,
}

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    RequestStop,
    Stop,
    Drop,
}

/// Where the runtime is put for the thread that ends it, and how that thread tells what came of it.
#[derive(Clone)]
struct End {
    how: How,
    runtime: Arc<Mutex<Option<Runtime>>>,
    tell: Sender<Result<(), Failure>>,
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
            How::Stop => stopped(runtime),
            How::Drop => {
                drop(runtime);
                Ok(())
            }
        };
        let _ = self.tell.send(answer);
    }
}

/// Ends the runtime when it is dropped itself, or before.
struct Ending {
    end: End,
    at: Where,
    _token: Tallied,
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

fn run(test: &mut TestContext) -> Result<(), Failure> {
    for at in [Where::Handler, Where::HandlerDrop, Where::Task, Where::Timer, Where::SignalAction] {
        for how in [How::RequestStop, How::Stop, How::Drop] {
            ended(test, at, how)?;
            test.all_hold()?;
        }
    }
    Ok(())
}

fn ended(test: &mut TestContext, at: Where, how: How) -> Result<(), Failure> {
    let about = |what: &str| format!("{how:?} in {at:?}: {what}");
    let (tell, told) = channel();
    let end = End { how, runtime: Arc::default(), tell };
    let with_signal = |builder: Builder| {
        let end = end.clone();
        builder.signal(Signal::SIGUSR1 as i32, move |_| end.now())
    };
    let mut harness = Harness::start_with(test, with_signal, |_| Ok(()))?;
    let (near, mut far) = both_ends(test)?;
    let tally = Tally::default();
    let ending = Ending { end: end.clone(), at, _token: tally.token() };
    // The last thread: the first one, which leaves last or not, has the signals.
    let threads = harness.threads();
    let thread = *threads.last().ok_or_else(|| Failure::Broken("no thread".into()))?;
    let handle = harness.insert(near, Arc::new(ending), thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    let mut peers = Vec::new();
    for thread in &threads {
        // Something that waits on every thread: a registration, a timer.
        let (near, far) = both_ends(test)?;
        let token = tally.token();
        let handler = move |_: &ReadyGuard<'_>| {
            let _ = &token;
        };
        let handle = harness.insert(near, Arc::new(handler), *thread)?;
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        peers.push(far);
        let token = tally.token();
        harness.on(*thread, move |context| context.after(Duration::from_secs(3600), move |_| drop(token)))?;
    }
    harness.fence_all()?;
    let (slot, tokens) = (Arc::clone(&end.runtime), 1 + 2 * threads.len());
    harness.finish_by(test, &[], |test, runtime| {
        let core = Arc::clone(runtime.core());
        *unpoisoned(&slot) = Some(runtime);
        match at {
            Where::Handler | Where::HandlerDrop => far.write_all(b"x").map_err(Failure::broken)?,
            Where::Task => drop(core.post(thread, move |_| end.now())),
            Where::Timer => {
                let set = move |context: &Context| context.after(Duration::ZERO, move |_| end.now());
                let _ = core.post(thread, set);
            }
            Where::SignalAction => kill(Pid::this(), Signal::SIGUSR1).map_err(Failure::broken)?,
        }
        let answer = told.recv_timeout(patience());
        answer.map_err(|_| Failure::Wrong(about("the call does not return")))??;
        if how == How::RequestStop {
            let runtime = unpoisoned(&slot).take();
            runtime.map_or(Ok(()), stopped)?;
        }
        // Nobody waits for the threads of the others.
        Harness::wait(&core, &about("every peer sees the end"), || {
            far.ended() && peers.iter().all(crate::transport::Far::ended)
        })?;
        Harness::wait(&core, &about("every handler and timer is dropped"), || tally.dropped() >= tokens)?;
        drop((far, peers));
        test.check_eq(about("handlers and timers dropped"), tokens, tally.dropped(), "core 14");
        test.check_eq(about("a task afterwards is accepted"), false, core.post(thread, |_| ()).is_ok(), "core 6");
        Ok(())
    })
}
