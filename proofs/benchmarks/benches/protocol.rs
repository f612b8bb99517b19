//! The cost of the protocol, as ratios within one run.
//!
//! Each operation is compared with two others on the same number of entries: an entry behind a mutex, which
//! is the obvious implementation, and the bare read-modify-writes of the protocol (docs/performance.md),
//! which are a lower bound. `ci/proofs.sh bench-protocol` prints the ratios after criterion's own
//! report.
//!
//! Without contention, one thread performs the operation, and the entries stay in the cache of its processor.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "a benchmark that gets no thread may panic")]

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::hint::black_box;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use fd_core::ids::{GroupId, ThreadId, ThreadMask};
use fd_core::poller::{
    Backend, BackendError, Capabilities, Change, DeregisterReason, Event, Events, Interest, Limits, Poller,
    Wake,
};
use fd_core::{Context, FdHandle, FdTable, Handler, InsertOptions, OwnerId, ReadyGuard, Runtime};

/// Entries per measurement: as many as one batch holds, and few enough to stay in the cache.
const ENTRIES: usize = 256;

/// A timeout that does not come.
const IDLE: Duration = Duration::from_secs(3600);

/// A backend without a kernel: it reports the events of its scripts.
struct Scripted {
    threads: Box<[Arc<Script>]>,
}

#[derive(Default)]
struct Script {
    thread: OnceLock<Thread>,
    woken: AtomicBool,
    /// The number of events still to report. The entries are reported in turn.
    remaining: AtomicUsize,
    entries: Mutex<Vec<FdHandle>>,
    /// Gets the time from the first event to the wait after the last one.
    done: Mutex<Option<Sender<Duration>>>,
}

static SCRIPTS: OnceLock<Mutex<Vec<Arc<Script>>>> = OnceLock::new();

fn scripted(limits: &Limits) -> Result<Box<dyn Backend>, BackendError> {
    let threads: Box<[_]> = (0..limits.threads).map(|_| Arc::new(Script::default())).collect();
    *SCRIPTS.get_or_init(Mutex::default).lock().unwrap() = threads.to_vec();
    Ok(Box::new(Scripted { threads }))
}

impl Wake for Script {
    fn wake(&self) {
        self.woken.store(true, SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

impl Backend for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn poller(&self, thread: ThreadId) -> io::Result<Box<dyn Poller>> {
        Ok(Box::new(ScriptedPoller { script: Arc::clone(&self.threads[thread.index()]), started: None }))
    }

    fn waker(&self, thread: ThreadId) -> Option<Arc<dyn Wake>> {
        Some(self.threads[thread.index()].clone())
    }

    fn forget(&self, _: RawFd, _: GroupId, _: ThreadMask, _: ThreadMask, _: DeregisterReason) {}
}

struct ScriptedPoller {
    script: Arc<Script>,
    started: Option<Instant>,
}

impl Poller for ScriptedPoller {
    fn update(&mut self, change: &Change) -> Option<Interest> {
        Some(change.wanted)
    }

    fn wait(&mut self, _: &FdTable, timeout: Option<Duration>, batch: &mut Vec<Event>) -> io::Result<()> {
        let script = &self.script;
        let remaining = script.remaining.load(SeqCst);
        if remaining == 0 {
            if let Some(started) = self.started.take() {
                let took = started.elapsed();
                script.done.lock().unwrap().take().unwrap().send(took).unwrap();
            }
            script.thread.get_or_init(std::thread::current);
            if !script.woken.swap(false, SeqCst) && timeout != Some(Duration::ZERO) {
                std::thread::park_timeout(Duration::from_millis(1));
            }
            return Ok(());
        }
        let entries = script.entries.lock().unwrap();
        let count = remaining.min(entries.len()).min(batch.capacity());
        let event = |handle: &FdHandle| Event {
            fd: handle.number(),
            generation: handle.generation(),
            events: Events::READY_R,
        };
        self.started.get_or_insert_with(Instant::now);
        batch.extend(entries.iter().take(count).map(event));
        script.remaining.fetch_sub(count, SeqCst);
        Ok(())
    }

    fn rebuild(&mut self, _: bool) -> io::Result<()> {
        Ok(())
    }
}

fn thread(index: usize) -> ThreadId {
    ThreadId::new(GroupId::new(1).unwrap(), index).unwrap()
}

fn descriptor() -> OwnedFd {
    OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open("/dev/null").unwrap().into()
}

thread_local! {
    static RUNS: Cell<u64> = const { Cell::new(0) };
    static BACK: Cell<Option<OwnedFd>> = const { Cell::new(None) };
}

/// A handler that counts its runs, in each thread for itself: two threads must share no cache line but those
/// of the operation.
struct Counter;

impl Counter {
    fn count(&self) {
        RUNS.set(black_box(RUNS.get() + 1));
    }
}

impl Handler for Counter {
    fn ready(&self, _: &ReadyGuard<'_>) {
        self.count();
    }
}

/// A handler that keeps a disowned descriptor.
struct Keep;

impl Handler for Keep {
    fn ready(&self, _: &ReadyGuard<'_>) {}

    fn released(&self, fd: OwnedFd) {
        BACK.set(Some(fd));
    }
}

/// A runtime of two threads with [`ENTRIES`] descriptors.
struct Bench {
    runtime: Runtime,
    handler: Arc<Counter>,
    handles: Arc<[FdHandle]>,
    scripts: Vec<Arc<Script>>,
}

impl Bench {
    fn new(mask: ThreadMask) -> Self {
        let runtime = Runtime::builder().group(2).capacity(4 * ENTRIES).start(scripted).unwrap();
        let scripts = SCRIPTS.get().unwrap().lock().unwrap().clone();
        let handler = Arc::new(Counter);
        let options = InsertOptions::default();
        let core = runtime.core();
        let insert =
            |_| core.insert(descriptor(), handler.clone(), GroupId::new(1).unwrap(), mask, options).unwrap();
        let handles: Arc<[FdHandle]> = (0..ENTRIES).map(insert).collect();
        handles.iter().for_each(|handle| core.registration(*handle).want_recv().unwrap());
        Self { runtime, handler, handles, scripts }
    }

    /// Starts `action` on a worker thread. The receiver gets its result.
    fn start<R: Send + 'static>(
        &self,
        index: usize,
        action: impl FnOnce(&Context) -> R + Send + 'static,
    ) -> Receiver<R> {
        let (sender, receiver) = channel();
        let task = move |context: &Context| sender.send(action(context)).unwrap();
        self.runtime.core().post(thread(index), task).unwrap();
        receiver
    }

    /// Reports `rounds` events on every entry, on each of `threads` threads at once.
    fn dispatch(&self, rounds: usize, threads: usize) -> Duration {
        let begin = |(index, script): (usize, &Arc<Script>)| {
            let (sender, receiver) = channel();
            *script.done.lock().unwrap() = Some(sender);
            *script.entries.lock().unwrap() = self.handles.to_vec();
            script.remaining.store(rounds * ENTRIES, SeqCst);
            self.runtime.core().wake(thread(index));
            receiver
        };
        longest(self.scripts.iter().take(threads).enumerate().map(begin).collect())
    }
}

/// Waits for all threads.
fn longest(threads: Vec<Receiver<Duration>>) -> Duration {
    threads.into_iter().map(|thread| thread.recv().unwrap()).max().unwrap()
}

fn timed(action: impl FnOnce()) -> Duration {
    let start = Instant::now();
    action();
    start.elapsed()
}

/// The obvious implementation: the same fields behind a lock.
struct Guarded(Mutex<Fields>);

struct Fields {
    generation: u32,
    owner: usize,
    running: u64,
    allowed: u64,
    update: u64,
    state: u32,
    handler: Option<Arc<Counter>>,
}

fn guarded(handler: &Arc<Counter>) -> Box<[Guarded]> {
    let fields = || Fields {
        generation: 0,
        owner: 1,
        running: 0,
        allowed: 1,
        update: 0,
        state: 1,
        handler: Some(handler.clone()),
    };
    (0..ENTRIES).map(|_| Guarded(Mutex::new(fields()))).collect()
}

impl Guarded {
    fn takeover(&self, me: u64) {
        let mut fields = self.0.lock().unwrap();
        if fields.generation == 0 && fields.owner == 1 && fields.running == 0 {
            fields.allowed = me;
            fields.state &= !1;
        }
    }

    fn report(&self, me: u64) {
        let handler = {
            let mut fields = self.0.lock().unwrap();
            if fields.generation != 0 || fields.allowed & me == 0 {
                return;
            }
            fields.running |= me;
            fields.state |= 0x100;
            // The lock is not held while the handler runs, so a reference must keep the handler alive.
            fields.handler.clone()
        };
        if let Some(handler) = handler {
            handler.count();
        }
        self.0.lock().unwrap().running &= !me;
    }

    fn want_stop(&self, me: u64) {
        {
            let mut fields = self.0.lock().unwrap();
            fields.state |= 1;
            fields.update |= me;
        }
        self.0.lock().unwrap().state &= !1;
    }

    fn insert_delete(&self, handler: &Arc<Counter>) {
        {
            let mut fields = self.0.lock().unwrap();
            fields.handler = Some(handler.clone());
            fields.allowed = 1;
        }
        let mut fields = self.0.lock().unwrap();
        fields.allowed = 0;
        fields.generation = fields.generation.wrapping_add(1);
        fields.handler = None;
    }
}

/// The read-modify-writes of the protocol, as docs/performance.md counts them.
#[derive(Default)]
#[repr(align(64))]
struct Bare {
    running: AtomicU64,
    allowed: AtomicU64,
    update: AtomicU64,
    word: AtomicU64,
    state: AtomicU64,
}

impl Bare {
    fn takeover(&self, me: u64) {
        if self.running.compare_exchange(0, me, SeqCst, SeqCst).is_ok() {
            let old = self.allowed.load(SeqCst);
            let _ = self.allowed.compare_exchange(old, me, SeqCst, SeqCst);
            self.running.fetch_and(!me, SeqCst);
        }
    }

    fn report(&self, me: u64) {
        self.running.fetch_or(me, SeqCst);
        self.running.fetch_and(!me, SeqCst);
    }

    fn want_stop(&self, me: u64) {
        self.word.fetch_add(1, SeqCst);
        self.state.fetch_or(1, SeqCst);
        self.update.fetch_or(me, SeqCst);
        self.word.fetch_sub(1, SeqCst);
        self.state.fetch_and(!1, SeqCst);
    }

    fn want_stop_inside(&self, me: u64) {
        self.state.fetch_or(1, SeqCst);
        self.update.fetch_or(me, SeqCst);
        self.state.fetch_and(!1, SeqCst);
    }

    fn insert_delete(&self) {
        // Claim, publish; pin, mark, mask, retire, free.
        let _ = self.word.compare_exchange(0, 0x8000, SeqCst, SeqCst);
        self.word.fetch_xor(0x8001, SeqCst);
        self.word.fetch_add(0x10000, SeqCst);
        self.state.fetch_or(1, SeqCst);
        self.allowed.swap(0, SeqCst);
        self.word.fetch_sub(0x10000, SeqCst);
        self.word.swap(0, SeqCst);
    }
}

/// Runs `action` on one thread, or on two at once, and returns the time per thread.
fn on_threads(threads: usize, action: impl Fn(u64) + Sync) -> Duration {
    let start = Instant::now();
    std::thread::scope(|scope| {
        (0..threads).for_each(|index| {
            let action = &action;
            scope.spawn(move || action(1 << index));
        });
    });
    start.elapsed()
}

/// The three variants of one operation. Each gets a number of rounds over all entries, and the number of
/// threads that perform them at the same time.
struct Operation<'a> {
    name: &'static str,
    protocol: Box<dyn Fn(usize, usize) -> Duration + 'a>,
    mutex: Box<dyn Fn(usize, usize) -> Duration + 'a>,
    atomics: Box<dyn Fn(usize, usize) -> Duration + 'a>,
}

fn takeover(bench: &Bench, rounds: usize, threads: usize) -> Duration {
    let owner = OwnerId::of(&bench.handler);
    let start = |index: usize| {
        let handles = bench.handles.clone();
        bench.start(index, move |context| {
            let take_all = || {
                for handle in handles.iter() {
                    // With two threads, the other one may be in the middle of a takeover of this entry.
                    let _ = context.takeover(*handle, owner);
                }
            };
            if threads > 1 {
                return timed(|| (0..rounds).for_each(|_| take_all()));
            }
            let round = |_| {
                // This thread gives them to the other one, so they stay in this processor's cache.
                give_all(context, &handles);
                timed(take_all)
            };
            (0..rounds).map(round).sum()
        })
    };
    // No poller has a descriptor at first: a takeover of one that it has makes an update.
    for index in 0..bench.scripts.len() {
        let handles = bench.handles.clone();
        let stop_all = move |context: &Context| {
            handles.iter().for_each(|handle| context.registration(*handle).stop_recv().unwrap());
            handles.iter().for_each(|handle| _ = context.takeover(*handle, owner));
        };
        // A later task runs in a later iteration, after the updates.
        bench.start(index, stop_all).recv().unwrap();
    }
    longest((0..threads).map(start).collect())
}

/// Makes the second thread the owner of every descriptor.
fn give_all(context: &Context, handles: &[FdHandle]) {
    handles.iter().for_each(|handle| context.registration(*handle).migrate_on(thread(1)).unwrap());
}

fn want_stop(bench: &Bench, rounds: usize, threads: usize) -> Duration {
    let start = |index: usize| {
        let handles = bench.handles.clone();
        bench.start(index, move |context| {
            timed(|| {
                for _ in 0..rounds {
                    for handle in handles.iter() {
                        let fd = context.registration(*handle);
                        fd.want_recv().unwrap();
                        fd.stop_recv().unwrap();
                    }
                }
            })
        })
    };
    longest((0..threads).map(start).collect())
}

/// The same inside the registration, as a handler calls it: the running bit is set already, once for all
/// rounds.
fn want_stop_inside(bench: &Bench, rounds: usize, threads: usize) -> Duration {
    let start = |index: usize| {
        let handles = bench.handles.clone();
        bench.start(index, move |context| {
            let call = |ready: &ReadyGuard<'_>| {
                let fd = ready.registration();
                for _ in 0..rounds {
                    fd.want_recv().unwrap();
                    fd.stop_recv().unwrap();
                }
            };
            timed(|| handles.iter().for_each(|handle| context.enter(*handle, call).unwrap()))
        })
    };
    longest((0..threads).map(start).collect())
}

/// Moves the timeout of a registration to a later time, as a handler does it at every read.
fn timeout_inside(bench: &Bench, rounds: usize, threads: usize) -> Duration {
    let start = |index: usize| {
        let handles = bench.handles.clone();
        bench.start(index, move |context| {
            let call = |ready: &ReadyGuard<'_>| {
                let fd = ready.registration();
                (0..rounds).for_each(|_| fd.set_timeout(Some(IDLE)).unwrap());
            };
            timed(|| handles.iter().for_each(|handle| context.enter(*handle, call).unwrap()))
        })
    };
    longest((0..threads).map(start).collect())
}

/// The timers of an ordered map: the obvious implementation of timeouts that are moved.
#[derive(Default)]
struct Ordered {
    due: Mutex<Due>,
}

#[derive(Default)]
struct Due {
    in_order: BTreeSet<(Instant, usize)>,
    of_entry: HashMap<usize, Instant>,
}

impl Ordered {
    fn set(&self, entry: usize) {
        let due = Instant::now() + IDLE;
        let mut all = self.due.lock().unwrap();
        if let Some(former) = all.of_entry.insert(entry, due) {
            all.in_order.remove(&(former, entry));
        }
        all.in_order.insert((due, entry));
    }
}

/// Inserts and disowns: a registration without the system calls that open, check and close. It allocates
/// memory for the source and its handler, and frees it.
fn insert_delete(bench: &Bench, rounds: usize, threads: usize) -> Duration {
    let start = |index: usize| {
        let mut fd = Some(descriptor());
        bench.start(index, move |context| {
            let options = InsertOptions { assume_nonblocking: true, ..InsertOptions::default() };
            let (core, id) = (context.core(), context.id());
            timed(|| {
                for _ in 0..rounds * ENTRIES {
                    let source = fd.take().unwrap();
                    let inserted = core.insert(source, Keep, id.group(), id.mask(), options);
                    context.registration(inserted.unwrap()).disown().unwrap();
                    fd = BACK.take();
                }
            })
        })
    };
    longest((0..threads).map(start).collect())
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let exclusive = Bench::new(thread(0).mask());
    let shared = Bench::new(ThreadMask::first(2));
    let bench = |threads: usize| if threads == 1 { &exclusive } else { &shared };
    let handler = Arc::new(Counter);
    let locked = guarded(&handler);
    let (ordered, begun) = (Ordered::default(), Instant::now());
    let bare: Box<[Bare]> = (0..ENTRIES).map(|_| Bare::default()).collect();
    let repeat = |rounds: usize, threads: usize, action: &(dyn Fn(usize, u64) + Sync)| {
        on_threads(threads, |me| (0..rounds).for_each(|_| (0..ENTRIES).for_each(|entry| action(entry, me))))
    };
    let operations = [
        Operation {
            name: "takeover",
            // A takeover needs a descriptor of one thread, so both threads use the exclusive ones.
            protocol: Box::new(|rounds, threads| takeover(&exclusive, rounds, threads)),
            mutex: Box::new(|rounds, threads| repeat(rounds, threads, &|n, me| locked[n].takeover(me))),
            atomics: Box::new(|rounds, threads| repeat(rounds, threads, &|n, me| bare[n].takeover(me))),
        },
        Operation {
            name: "dispatch",
            protocol: Box::new(|rounds, threads| bench(threads).dispatch(rounds, threads)),
            mutex: Box::new(|rounds, threads| repeat(rounds, threads, &|n, me| locked[n].report(me))),
            atomics: Box::new(|rounds, threads| repeat(rounds, threads, &|n, me| bare[n].report(me))),
        },
        Operation {
            name: "want-stop",
            protocol: Box::new(|rounds, threads| want_stop(bench(threads), rounds, threads)),
            mutex: Box::new(|rounds, threads| repeat(rounds, threads, &|n, me| locked[n].want_stop(me))),
            atomics: Box::new(|rounds, threads| repeat(rounds, threads, &|n, me| bare[n].want_stop(me))),
        },
        Operation {
            name: "want-stop-inside",
            protocol: Box::new(|rounds, threads| want_stop_inside(bench(threads), rounds, threads)),
            mutex: Box::new(|rounds, threads| repeat(rounds, threads, &|n, me| locked[n].want_stop(me))),
            atomics: Box::new(|rounds, threads| {
                repeat(rounds, threads, &|n, me| bare[n].want_stop_inside(me))
            }),
        },
        Operation {
            name: "timeout-inside",
            protocol: Box::new(|rounds, threads| timeout_inside(bench(threads), rounds, threads)),
            mutex: Box::new(|rounds, threads| repeat(rounds, threads, &|n, _| ordered.set(n))),
            // The time, and one exchange.
            atomics: Box::new(|rounds, threads| {
                repeat(rounds, threads, &|n, _| {
                    let due = begun.elapsed() + IDLE;
                    black_box(bare[n].state.swap(due.as_nanos() as u64, SeqCst));
                })
            }),
        },
        Operation {
            name: "insert-delete",
            protocol: Box::new(|rounds, threads| insert_delete(&exclusive, rounds, threads)),
            mutex: Box::new(|rounds, threads| {
                repeat(rounds, threads, &|n, _| locked[n].insert_delete(&handler))
            }),
            atomics: Box::new(|rounds, threads| repeat(rounds, threads, &|n, _| bare[n].insert_delete())),
        },
    ];
    let mut ratios = Vec::new();
    for operation in &operations {
        for (threads, label) in [(1, "uncontended"), (2, "contended")] {
            if ["takeover", "dispatch", "want-stop-inside", "timeout-inside"].contains(&operation.name) {
                // An earlier measurement may have changed the owner of the entries.
                exclusive.start(0, reset(&exclusive)).recv().unwrap();
            }
            ratios.push((operation.name, label, measure(&mut criterion, operation, threads, label)));
        }
    }
    criterion.final_summary();
    print_ratios(&ratios);
}

/// Measures the three variants of an operation. Returns the best time of each, in nanoseconds per entry.
fn measure(criterion: &mut Criterion, operation: &Operation<'_>, threads: usize, label: &str) -> [f64; 3] {
    let mut group = criterion.benchmark_group(format!("{}/{label}", operation.name));
    group.throughput(criterion::Throughput::Elements(ENTRIES as u64));
    let mut best = [f64::INFINITY; 3];
    let variants = [&operation.protocol, &operation.mutex, &operation.atomics];
    for ((name, variant), best) in ["protocol", "mutex", "atomics"].iter().zip(variants).zip(&mut best) {
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter_custom(|rounds| {
                let took = variant(rounds as usize, threads);
                *best = best.min(took.as_nanos() as f64 / (rounds as usize * ENTRIES) as f64);
                took
            });
        });
    }
    group.finish();
    best
}

fn print_ratios(ratios: &[(&str, &str, [f64; 3])]) {
    println!("\nbest of each run, per operation and thread");
    println!(
        "{:18}{:14}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "", "", "protocol", "mutex", "atomics", "÷ mutex", "÷ atomics"
    );
    for (name, label, [protocol, mutex, atomics]) in ratios {
        if protocol.is_finite() {
            let (to_mutex, to_atomics) = (protocol / mutex, protocol / atomics);
            println!(
                "{name:18}{label:14}{protocol:>9.1} ns{mutex:>9.1} ns{atomics:>9.1} ns{to_mutex:>12.2}{to_atomics:>12.2}"
            );
        }
    }
}

/// Makes the first thread the owner of every descriptor, with receiving active.
fn reset(bench: &Bench) -> impl FnOnce(&Context) + Send + use<> {
    let (handles, owner) = (bench.handles.clone(), OwnerId::of(&bench.handler));
    move |context| {
        for handle in handles.iter() {
            context.takeover(*handle, owner).unwrap();
            context.registration(*handle).want_recv().unwrap();
        }
    }
}
