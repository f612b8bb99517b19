//! Takeovers on more processors than a machine has: the code of the protocol runs, and its time is simulated.
//!
//! Each simulated processor is a thread. Before each read-modify-write it waits until no other processor is
//! at an earlier time, so that one thread runs at a time, and every run is the same. A read-modify-write
//! costs little if the processor was the last to write the cache line, and a transfer of the line otherwise.
//! A line serves one processor at a time. Loads cost nothing: those of a takeover are of the lines that it
//! writes, or of lines that no takeover writes. Nor does its count, beside the handler, which a new owner
//! fetches anyway.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::entry::error::MoveError;
use crate::poller::Capabilities;
use crate::shared::clock::Clock;
use crate::shared::context::Context;
use crate::shared::options::InsertOptions;
use crate::table::{FdHandle, FdTable};
use crate::testing::{HIGH, core_of, group, handler, open_high, thread};
use crate::words::counted::observed;
use crate::words::ids::ThreadMask;

/// Picoseconds of a read-modify-write with the code up to the next one, if the line was written by this
/// processor: a takeover, measured by `just bench-protocol`, divided by its three.
const OWN_LINE: u64 = 6_000;
/// Picoseconds of the same with a transfer of the line from another processor of the socket.
const TRANSFER: u64 = 60_000;
/// Bytes.
const LINE: usize = 64;
/// The greatest number of processors: that of the threads of a group.
const PROCESSORS: usize = 64;
/// As many as `just bench --takeovers` has.
const DESCRIPTORS: usize = 1024;
/// More than the greatest number of a descriptor: two simulations may run at once.
const CAPACITY: usize = HIGH as usize + 3 * DESCRIPTORS;
/// The takeovers that each processor attempts.
const ATTEMPTS: usize = 100;

/// The clocks of the processors, and the cache lines.
struct Machine {
    state: Mutex<State>,
    /// By processor: its turn may have come.
    turn: Vec<Condvar>,
}

struct State {
    /// By processor, in picoseconds; `None` after its end.
    clocks: Vec<Option<u64>>,
    /// By the address of the line: who wrote it last, and until when it serves that processor.
    lines: HashMap<usize, (usize, u64)>,
}

impl State {
    /// The processor at the earliest time.
    fn first(&self) -> Option<usize> {
        let running = self.clocks.iter().enumerate().filter_map(|(index, clock)| Some(((*clock)?, index)));
        running.min().map(|(_, index)| index)
    }
}

impl Machine {
    fn new(processors: usize) -> Self {
        let state = State { clocks: vec![Some(0); processors], lines: HashMap::new() };
        Self { state: Mutex::new(state), turn: (0..processors).map(|_| Condvar::new()).collect() }
    }

    /// Waits until this processor is the one at the earliest time, and charges it for the access that
    /// follows. No other processor runs before its next access.
    fn access(&self, me: usize, address: usize) {
        let mut state = self.state.lock().unwrap();
        loop {
            let first = state.first().expect("this processor runs");
            let now = state.clocks[me].expect("this processor runs");
            if first != me {
                self.turn[first].notify_one();
                state = self.turn[me].wait(state).unwrap();
                continue;
            }
            let line = state.lines.get(&(address / LINE)).copied();
            if let Some((_, free)) = line.filter(|(_, free)| *free > now) {
                state.clocks[me] = Some(free);
                continue;
            }
            let is_own = line.is_some_and(|(writer, _)| writer == me);
            let end = now + if is_own { OWN_LINE } else { TRANSFER };
            state.lines.insert(address / LINE, (me, end));
            state.clocks[me] = Some(end);
            return;
        }
    }

    fn end(&self, me: usize) -> u64 {
        let mut state = self.state.lock().unwrap();
        let clock = state.clocks[me].take().expect("it ends once");
        if let Some(first) = state.first() {
            self.turn[first].notify_one();
        }
        clock
    }
}

/// Takeovers per simulated microsecond, and those that found the descriptor in use. `common` is the address
/// of a line that each attempt writes besides.
fn simulate(processors: usize, common: Option<usize>) -> (f64, u64) {
    // Many systems allow fewer without it.
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard.min(CAPACITY as rlim_t), hard).unwrap();
    let table = FdTable::new(CAPACITY, &[PROCESSORS]).unwrap();
    let (core, _) = core_of(table, Capabilities::ALL, Clock::System);
    let insert = |_| {
        core.insert(open_high(), handler(), group(1), ThreadMask::first(1), InsertOptions::default()).unwrap()
    };
    let handles: Vec<FdHandle> = (0..DESCRIPTORS).map(insert).collect();
    let owned = handles.iter().map(|handle| (*handle, core.registration(*handle).owner().unwrap()));
    let owned: Arc<[_]> = owned.collect();
    let machine = Arc::new(Machine::new(processors));
    let processor = |me: usize| {
        let (machine, owned) = (Arc::clone(&machine), Arc::clone(&owned));
        let core = Arc::clone(&core);
        move || {
            let context = Context::new(core, thread(1, me));
            let (mut taken, mut busy) = (0, 0);
            let ran_on = Arc::clone(&machine);
            // A linear congruential generator (Knuth, MMIX).
            let mut random = me as u64;
            observed(
                move |address| ran_on.access(me, address),
                || {
                    for _ in 0..ATTEMPTS {
                        if let Some(common) = common {
                            machine.access(me, common);
                        }
                        random = random
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        let (handle, owner) = owned[(random >> 33) as usize % owned.len()];
                        match context.takeover(handle, owner) {
                            Ok(()) => taken += 1,
                            Err(MoveError::Busy) => busy += 1,
                            Err(error) => panic!("{error}"),
                        }
                    }
                },
            );
            (taken, busy, machine.end(me))
        }
    };
    let ended: Vec<(u64, u64, u64)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..processors).map(|me| scope.spawn(processor(me))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for handle in handles {
        core.registration(handle).delete().unwrap();
    }
    let taken: u64 = ended.iter().map(|ended| ended.0).sum();
    let time = ended.iter().map(|ended| ended.2).max().unwrap();
    (taken as f64 * 1e6 / time as f64, ended.iter().map(|ended| ended.1).sum())
}

/// The rate grows with the processors, because takeovers of different descriptors write no line in common.
/// One common line alone bounds it for any number of processors.
#[test]
fn takeovers_scale_with_the_processors_because_they_share_no_line() {
    println!("| processors | takeovers per microsecond | per processor | busy | with one common line |");
    println!("|---|---|---|---|---|");
    // A processor alone, whose every takeover begins with a transfer.
    let bound = 1e6 / (TRANSFER + 2 * OWN_LINE) as f64;
    for processors in [2, 4, 8, 16, 32, 64] {
        let (rate, busy) = simulate(processors, None);
        let (with_common, _) = simulate(processors, Some(usize::MAX));
        let each = rate / processors as f64;
        println!("| {processors} | {rate:.0} | {each:.1} | {busy} | {with_common:.0} |");
        assert!(each > bound * 0.8, "{processors} processors: {each} each, {bound} without others");
        assert!(with_common <= 1.05e6 / TRANSFER as f64, "{processors} processors: {with_common}");
    }
}

#[test]
fn a_simulation_is_repeatable() {
    assert_eq!(simulate(8, None), simulate(8, None));
}
