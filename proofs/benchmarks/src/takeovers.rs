//! How many takeovers the threads of a runtime make in a second, and whether each of them is exclusive.
//!
//! Each thread takes random descriptors over from the others as quickly as it can, so nearly each entry was
//! last written by another thread: the hardest case for the cache. A part of the descriptors have traffic.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use fastrand::Rng;
use fd_core::error::MoveError;
use fd_core::{Context, FdHandle, Handler, InsertOptions, OwnerId, ReadyGuard, Runtime};
use nix::unistd::{read, write};

use crate::loops::BACKEND;

/// The takeovers of one task. After each task, the thread polls.
const IN_A_TASK: u32 = 1024;
/// No thread.
const NOBODY: usize = usize::MAX;

/// What to measure.
pub struct Plan {
    /// The threads.
    pub threads: usize,
    /// The descriptors.
    pub descriptors: usize,
    /// How many of them have traffic: a byte that is always on its way.
    pub busy: usize,
    /// The number of changes of owners after which it ends, if the traffic has begun: few changes can be made
    /// before a thread polls.
    pub changes: u64,
    /// The time after which it ends.
    pub time: Duration,
}

/// What was measured.
pub struct Measured {
    /// The changes of owners. Each was exclusive.
    pub changes: u64,
    /// The reports of traffic.
    pub events: u64,
    /// The time.
    pub elapsed: Duration,
}

impl Measured {
    /// Changes of owners per second.
    pub fn rate(&self) -> f64 {
        self.changes as f64 / self.elapsed.as_secs_f64()
    }
}

/// The handler of a descriptor, and the words of its owner. They are read and written by relaxed loads and
/// stores, which order nothing themselves: two users at once find each other's mark, or lose a count.
struct Owned {
    /// The thread that uses the descriptor at the moment.
    user: AtomicUsize,
    /// The thread that used it last.
    owner: AtomicUsize,
    changes: AtomicU64,
    events: AtomicU64,
    violations: AtomicU64,
    /// The other end, if there is traffic.
    far: Option<OwnedFd>,
}

impl Owned {
    /// Uses the descriptor as this thread, for an event if it may not change its owner.
    fn used(&self, thread: usize, event: Option<&OwnedFd>) {
        let before = self.user.load(Relaxed);
        self.user.store(thread, Relaxed);
        let is_change = self.owner.load(Relaxed) != thread;
        if is_change {
            self.owner.store(thread, Relaxed);
            self.changes.store(self.changes.load(Relaxed) + 1, Relaxed);
        }
        if let Some(near) = event {
            let far = self.far.as_ref().expect("only those with another end have interest");
            let moved = read(near, &mut [0]).and_then(|_| write(far, b"x"));
            moved.expect("the byte is there, and the pipe has room for it");
            self.events.store(self.events.load(Relaxed) + 1, Relaxed);
        }
        let after = self.user.load(Relaxed);
        self.user.store(NOBODY, Relaxed);
        if (before, after) != (NOBODY, thread) || (is_change && event.is_some()) {
            self.violations.fetch_add(1, Relaxed);
        }
    }
}

impl Handler for Owned {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.used(ready.context().id().index(), Some(ready.source()));
    }
}

/// What all threads share.
struct Shared {
    descriptors: Box<[(FdHandle, Arc<Owned>)]>,
    ends: AtomicBool,
}

/// Takes descriptors over, then posts itself again.
fn take(context: &Context, shared: Arc<Shared>, mut random: Rng, ended: Sender<()>) {
    let thread = context.id().index();
    for _ in 0..IN_A_TASK {
        let (handle, owned) = &shared.descriptors[random.usize(..shared.descriptors.len())];
        let action = |ready: &ReadyGuard<'_>, owned: &Arc<Owned>| {
            owned.used(thread, None);
            // A takeover ends the interest.
            if owned.far.is_some() {
                ready.registration().want_recv().expect("it is in use");
            }
        };
        match context.takeover_with(*handle, OwnerId::of(owned), action) {
            // Busy: another thread uses it.
            Ok(()) | Err(MoveError::Busy) => {}
            Err(refused) => panic!("a takeover was refused: {refused}"),
        }
    }
    if shared.ends.load(Relaxed) {
        return drop(ended);
    }
    let posted = context.core().post(context.id(), move |context| take(context, shared, random, ended));
    posted.expect("the runtime stops only after the end");
}

/// Changes owners until the plan ends, and calls `progress` once per second with their number so far.
///
/// # Errors
/// The error of a system call; or a takeover or an event was not exclusive, or the core has counted other
/// changes of owners than the owners.
pub fn measure(plan: &Plan, progress: impl Fn(u64)) -> io::Result<Measured> {
    let runtime = Runtime::builder().group(plan.threads).start(BACKEND).map_err(io::Error::other)?;
    let core = runtime.core();
    let first = core.threads().next().ok_or(io::ErrorKind::NotFound)?;
    let insert = |index| {
        let (near, far) = io::pipe()?;
        let far = (index < plan.busy).then(|| OwnedFd::from(far));
        let owned = Arc::new(Owned {
            user: AtomicUsize::new(NOBODY),
            owner: AtomicUsize::new(first.index()),
            changes: AtomicU64::new(0),
            events: AtomicU64::new(0),
            violations: AtomicU64::new(0),
            far,
        });
        let options = InsertOptions { assume_nonblocking: true, ..InsertOptions::default() };
        let inserted =
            core.insert(OwnedFd::from(near), Arc::clone(&owned), first.group(), first.mask(), options);
        let handle = inserted.map_err(|error| io::Error::other(error.reason))?;
        if let Some(far) = &owned.far {
            write(far, b"x")?;
            core.registration(handle).want_recv().map_err(io::Error::other)?;
        }
        Ok((handle, owned))
    };
    let descriptors = (0..plan.descriptors).map(insert).collect::<io::Result<_>>()?;
    let shared = Arc::new(Shared { descriptors, ends: AtomicBool::new(false) });

    let (ended, all_ended) = channel();
    let begin = Instant::now();
    for thread in core.threads() {
        let (shared, ended) = (Arc::clone(&shared), ended.clone());
        let random = Rng::with_seed(thread.index() as u64);
        core.post(thread, move |context| take(context, shared, random, ended)).map_err(io::Error::other)?;
    }
    drop(ended);
    let sum = |count: fn(&Owned) -> &AtomicU64| {
        shared.descriptors.iter().map(|(_, owned)| count(owned).load(Relaxed)).sum::<u64>()
    };
    let mut told = begin;
    let is_done =
        || sum(|owned| &owned.changes) >= plan.changes && (plan.busy == 0 || sum(|owned| &owned.events) > 0);
    while begin.elapsed() < plan.time && !is_done() {
        // It ends early after a panic only.
        if runtime.wait(Some(plan.time.min(Duration::from_millis(100)))) {
            break;
        }
        if told.elapsed() >= Duration::from_secs(1) {
            told = Instant::now();
            progress(sum(|owned| &owned.changes));
        }
    }
    shared.ends.store(true, Relaxed);
    // It ends when every thread has dropped its sender.
    all_ended.into_iter().for_each(|()| ());
    let elapsed = begin.elapsed();
    let is_counted = |(handle, owned): &(FdHandle, Arc<Owned>)| {
        core.entry(*handle).is_ok_and(|entry| entry.takeovers == owned.changes.load(Relaxed) as u32)
    };
    let wrong = shared.descriptors.iter().filter(|descriptor| !is_counted(descriptor)).count();
    runtime.stop().map_err(|error| io::Error::other(error.to_string()))?;
    let violations = sum(|owned| &owned.violations);
    if (wrong, violations) != (0, 0) {
        let why = format!(
            "{violations} uses were not exclusive, and of {wrong} descriptors the core and the owners have \
             counted different takeovers"
        );
        return Err(io::Error::other(why));
    }
    Ok(Measured { changes: sum(|owned| &owned.changes), events: sum(|owned| &owned.events), elapsed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(threads: usize) -> Plan {
        Plan { threads, descriptors: 64, busy: 8, changes: 50_000, time: Duration::MAX }
    }

    #[test]
    fn two_threads_take_over_from_each_other_beside_traffic() {
        let measured = measure(&plan(2), |_| ()).unwrap();
        assert!(measured.changes >= 50_000 && measured.events > 0 && measured.rate() > 0.0);
    }

    #[test]
    fn one_thread_has_nobody_to_take_from() {
        let alone = Plan { time: Duration::from_millis(50), ..plan(1) };
        assert_eq!(measure(&alone, |_| ()).unwrap().changes, 0);
    }

    #[test]
    fn a_use_inside_another_is_a_violation() {
        let number = AtomicU64::default;
        let owned = Owned {
            user: AtomicUsize::new(1),
            owner: AtomicUsize::new(1),
            changes: number(),
            events: number(),
            violations: number(),
            far: None,
        };
        owned.used(1, None);
        assert_eq!(owned.violations.load(Relaxed), 1);
        owned.used(0, None);
        assert_eq!((owned.violations.load(Relaxed), owned.changes.load(Relaxed)), (1, 1));
    }
}
