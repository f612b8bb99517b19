//! A runtime stops while its threads, and other threads, are in the middle of calls.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fastrand::Rng;
use fd_core::{FdCore, OwnerId, Runtime};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{DropCounter, both_ends, idle, stop};
use crate::prelude::*;
use crate::threads;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/calls-beside-stop",
    title: "A stop at any step of a call, of a report or on the way to sleep ends the runtime, and the call returns",
    layer: Layer::Contract,
    clauses: &["S4", "L2", "L8", "L9", "core 6", "core 8"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], threads: &[2, 4], ..Axes::PLAIN },
    run,
};

/// The call or the loop step that is in progress when the runtime stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Call {
    /// By a thread of no group.
    Want,
    Delete,
    /// By a worker thread, as all that follow but `Migrate`.
    OwnDelete,
    Migrate,
    Takeover,
    Report,
    Update,
    Sleep,
}

/// The steps. At each of them a thread is held while the stop begins.
const STEPS: [(Call, Point); 20] = [
    (Call::Want, Point::UpdateBitsSet),
    (Call::Delete, Point::DeleteMarked),
    (Call::Delete, Point::DeleteMaskCleared),
    (Call::Delete, Point::RetiredBeforeClose),
    (Call::Delete, Point::Closed),
    (Call::OwnDelete, Point::DeleteMarked),
    (Call::OwnDelete, Point::DeleteMaskCleared),
    (Call::OwnDelete, Point::RetiredBeforeClose),
    (Call::Migrate, Point::MoveLocked),
    (Call::Migrate, Point::MoveDone),
    (Call::Takeover, Point::TakeoverRunningSet),
    (Call::Takeover, Point::TakeoverMaskSet),
    (Call::Report, Point::ReportBeforeRunning),
    (Call::Report, Point::ReportRunningSet),
    (Call::Report, Point::ReportHandlerDone),
    (Call::Report, Point::ExitRunningCleared),
    (Call::Update, Point::ApplyBegun),
    (Call::Sleep, Point::WorkDone),
    (Call::Sleep, Point::SleepAnnounced),
    (Call::Sleep, Point::BeforeWait),
];

/// How many runtimes are stopped while threads make random calls.
const ROUNDS: usize = 40;
/// Threads of no group that make random calls.
const CALLERS: usize = 2;
/// Descriptors that these calls use.
const DESCRIPTORS: usize = 8;

fn run(test: &mut TestContext) -> Result {
    for (call, point) in STEPS {
        forced(test, call, point)?;
        test.stop_if_failed()?;
    }
    let mut random = Rng::with_seed(test.seed);
    for _ in 0..ROUNDS {
        unforced(test, &mut random)?;
        test.stop_if_failed()?;
    }
    Ok(())
}

/// Ignores the result of a call: the runtime may have ended by then.
fn ignored<T>(_: T) {}

/// Holds a thread in the middle of the call until the stop has begun, and releases it during the stop.
fn forced(test: &mut TestContext, call: Call, point: Point) -> Result {
    let about = |what: &str| format!("stop while {call:?} is at {point:?}: {what}");
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    let (owner, other) = (harness.thread(0), harness.thread(1));
    let (near, mut far) = both_ends(test)?;
    let recorder = Recorder::new();
    let id = recorder.id();
    let handle = harness.insert_recv(near, recorder, owner)?;
    harness.fence_all()?;
    let points = Checkpoints::watch();
    let fd = if call == Call::Sleep { -1 } else { handle.number() };
    let caller = match call {
        Call::Want | Call::Delete | Call::Migrate => "caller".to_owned(),
        Call::Takeover => format!("worker {other}"),
        _ => format!("worker {owner}"),
    };
    let held = points.hold_thread(&caller, point, fd);
    let (sender, receiver) = channel();
    let outside = |action: fn(&FdCore, FdHandle, ThreadId)| {
        let (core, sender) = (Arc::clone(harness.core()), sender.clone());
        let named = std::thread::Builder::new().name("caller".into());
        let spawned = named.spawn(move || {
            action(&core, handle, other);
            drop(core);
            let _ = sender.send(());
        });
        spawned.map(drop).map_err(Failure::broken)
    };
    match call {
        Call::Want => outside(|core, handle, _| ignored(core.registration(handle).want_send()))?,
        Call::Delete => outside(|core, handle, _| ignored(core.registration(handle).delete()))?,
        Call::Migrate => outside(|core, handle, to| ignored(core.registration(handle).migrate_on(to)))?,
        Call::OwnDelete => {
            ignored(harness.core().post(owner, move |context| ignored(context.registration(handle).delete())))
        }
        Call::Takeover => {
            ignored(harness.core().post(other, move |context| ignored(context.takeover(handle, id))))
        }
        Call::Update => ignored(
            harness.core().post(owner, move |context| ignored(context.registration(handle).want_send())),
        ),
        Call::Report => std::io::Write::write_all(&mut far, b"x")?,
        Call::Sleep => harness.core().wake(owner),
    }
    held.reached()?;
    // The others sleep, and the stop must wake them.
    let others = harness.threads().into_iter().filter(|thread| caller != format!("worker {thread}"));
    sleepers.wait_for(&harness, &others.collect::<Vec<_>>())?;
    harness.finish_with(test, &[], |test, runtime| {
        let core = Arc::clone(runtime.core());
        let stopping = stop_elsewhere(runtime)?;
        Harness::wait_with_core(&core, &about("the stop begins"), || core.is_stopping())?;
        held.release();
        let ended = stopping.recv_timeout(patience());
        ended.map_err(|_| Failure::Wrong(about("the stop does not end")))??;
        if matches!(call, Call::Want | Call::Delete | Call::Migrate) {
            let returned = receiver.recv_timeout(patience());
            returned.map_err(|_| Failure::Wrong(about("the call does not return")))?;
        }
        test.check_eq(about("the peer sees the end"), true, far.ended(), "L8");
        drop((far, points));
        Ok(())
    })
}

fn stop_elsewhere(runtime: Runtime) -> Result<std::sync::mpsc::Receiver<Result>> {
    let (sender, receiver) = channel();
    threads::spawn(move || {
        let _ = sender.send(stop(runtime));
    })?;
    Ok(receiver)
}

/// The state that the callers of one round share.
struct Shared {
    core: Arc<FdCore>,
    handles: Vec<(FdHandle, OwnerId)>,
    finished: AtomicBool,
    tally: DropCounter,
    transport: metadata::Transport,
}

impl Shared {
    /// Makes one random call and ignores its result. Returns how many tokens it has handed to tasks and
    /// timers.
    fn step(&self, context: Option<&Context>, random: &mut Rng) -> usize {
        let threads: Vec<_> = self.core.threads().collect();
        let thread = threads[random.usize(..threads.len())];
        let (handle, owner) = self.handles[random.usize(..self.handles.len())];
        let fd =
            context.map_or_else(|| self.core.registration(handle), |context| context.registration(handle));
        match random.u32(..9) {
            0 => ignored(fd.want_recv()),
            1 => ignored(fd.want_send().and_then(|()| fd.stop_send())),
            2 => ignored(fd.migrate_on(thread)),
            3 => ignored(context.map(|context| context.takeover(handle, owner))),
            4 if random.u32(..8) == 0 => ignored(fd.delete()),
            5 => ignored(fd.duplicate()),
            6 => {
                if let Ok(ends) = crate::transport::pair(self.transport) {
                    let (group, mask) = (thread.group(), thread.mask());
                    if let Ok(handle) =
                        self.core.insert(ends.near, idle(), group, mask, InsertOptions::default())
                    {
                        let _ = self.core.registration(handle).delete();
                    }
                }
            }
            7 => {
                let token = self.tally.token();
                let _ = self.core.post(thread, move |_| drop(token));
                return 1;
            }
            8 => {
                if let Some(context) = context {
                    let token = self.tally.token();
                    context.after(Duration::from_micros(random.u64(..500)), move |_| drop(token));
                    return 1;
                }
                let _ = kill(Pid::this(), Signal::SIGUSR1);
            }
            _ => {}
        }
        0
    }
}

/// Makes a few calls on a worker thread, and posts itself for the next iteration.
fn call_repeatedly(context: &Context, shared: Arc<Shared>, given: Arc<AtomicUsize>, mut random: Rng) {
    for _ in 0..10 {
        given.fetch_add(shared.step(Some(context), &mut random), Ordering::SeqCst);
    }
    if !shared.finished.load(Ordering::SeqCst) {
        let core = Arc::clone(context.core());
        let _ = core.post(context.id(), move |context| call_repeatedly(context, shared, given, random));
    }
}

/// Makes random calls of all kinds on worker threads and others, and stops the runtime at a random moment.
fn unforced(test: &mut TestContext, random: &mut Rng) -> Result {
    // A signal that arrives after the end of the runtime has no handler, and must not end the process.
    let harness =
        Harness::start_with(test, |builder| builder.signal(Signal::SIGUSR1 as i32, |_| ()), |_| Ok(()))?;
    let (mut handles, mut peers): (Vec<(FdHandle, OwnerId)>, Vec<FarEnd>) = Default::default();
    for index in 0..DESCRIPTORS {
        let (near, far) = both_ends(test)?;
        let recorder = Recorder::new();
        handles.push((harness.insert(near, recorder.clone(), harness.thread(index))?, recorder.id()));
        peers.push(far);
    }
    let shared = Arc::new(Shared {
        core: Arc::clone(harness.core()),
        handles,
        finished: AtomicBool::new(false),
        tally: DropCounter::default(),
        transport: test.params.transport,
    });
    let given = Arc::new(AtomicUsize::new(0));
    for thread in harness.threads() {
        let (shared, given, random) = (Arc::clone(&shared), Arc::clone(&given), random.fork());
        let _ = harness.core().post(thread, move |context| call_repeatedly(context, shared, given, random));
    }
    let callers: Vec<JoinHandle<usize>> = (0..CALLERS)
        .map(|_| {
            let (shared, mut random) = (Arc::clone(&shared), random.fork());
            threads::spawn(move || {
                let mut given = 0;
                while !shared.finished.load(Ordering::SeqCst) {
                    given += shared.step(None, &mut random);
                }
                given
            })
        })
        .collect::<Result<_, _>>()?;
    let pause = random.u64(..2_000);
    harness.finish_with(test, &[], |test, runtime| {
        // Not a sleep: frequent signals would interrupt and resume it endlessly.
        let stop_at = Instant::now() + Duration::from_micros(pause);
        while Instant::now() < stop_at {
            std::thread::yield_now();
        }
        let stopping = stop_elsewhere(runtime)?;
        let ended = stopping.recv_timeout(patience());
        ended.map_err(|_| Failure::Wrong("the stop does not end".into()))??;
        shared.finished.store(true, Ordering::SeqCst);
        let mut tokens = given.load(Ordering::SeqCst);
        for caller in callers {
            tokens += caller.join().map_err(|_| Failure::Broken("a caller panicked".into()))?;
        }
        let open = peers.iter().filter(|far| !far.ended()).count();
        test.check_eq("peers that do not see the end", 0, open, "L8");
        test.check_eq("tasks and timers dropped, run or not", tokens, shared.tally.dropped(), "core 6");
        test.record_counter("tasks and timers in the last round", tokens as u64);
        drop((shared, peers));
        Ok(())
    })
}
