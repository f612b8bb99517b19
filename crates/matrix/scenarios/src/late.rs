//! Late data: what a far end sends over a socket arrives some milliseconds later, drawn by seed.
//!
//! On Linux, a write to a loopback socket returns after the bytes have reached the other end. Elsewhere TCP
//! is asynchronous over loopback, too (FreeBSD 12.3: up to 301 ms), so a scenario that writes and then fences
//! may prove nothing. With late data, such a scenario fails on Linux.
//!
//! A thread of this process sends what the far ends wrote: it needs no descriptors, which scenarios count.

use std::collections::VecDeque;
use std::io;
use std::net::Shutdown;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use fastrand::Rng;
use nix::errno::Errno;
use nix::sys::signal::SigSet;

use crate::mutex::unpoisoned;
use crate::patience::patience;

/// The most bytes of one far end that wait to be sent. A write beyond them waits, as for a full buffer.
const MOST_WAITING: usize = 1 << 16;
/// The pause before another attempt to send into a full buffer.
const RETRY: Duration = Duration::from_millis(1);

/// The process that sends late, and its sender. A forked child has no such thread: it sends at once.
static SENDER: OnceLock<(u32, Sender)> = OnceLock::new();

/// A connected socket that sends without waiting.
pub(crate) trait SendNow {
    /// Sends as much as fits now.
    fn send_now(&self, bytes: &[u8]) -> Result<usize, Errno>;
    /// Ends the sending direction.
    fn shut_down(&self, direction: Shutdown) -> io::Result<()>;
}

/// Delays the data of all far ends by up to `most`, each time by another time. Applies to the whole process,
/// from the first call on.
///
/// # Errors
/// Those of the creation of a thread.
pub fn delay_data(seed: u64, most: Duration) -> io::Result<()> {
    let sender = || Sender {
        most,
        random: Mutex::new(Rng::with_seed(seed)),
        lanes: Mutex::default(),
        changed: Condvar::new(),
        writes: AtomicU64::new(0),
    };
    let (_, sender) = SENDER.get_or_init(|| (std::process::id(), sender()));
    let (ready, started) = std::sync::mpsc::channel();
    std::thread::Builder::new().name("late-data".into()).spawn(move || {
        // Signals are for the threads of the scenario.
        let _ = SigSet::all().thread_block();
        let _ = ready.send(());
        sender.run();
    })?;
    started.recv().map_err(io::Error::other)
}

/// Returns the sender of this process, if data are late.
fn sender() -> Option<&'static Sender> {
    SENDER.get().filter(|(process, _)| *process == std::process::id()).map(|(_, sender)| sender)
}

/// Returns how many writes this process has delayed.
pub fn delayed_writes() -> u64 {
    sender().map_or(0, |sender| sender.writes.load(Ordering::Relaxed))
}

/// Returns a lane for a new far end, if data are late.
pub(crate) fn lane(to: Arc<dyn SendNow + Send + Sync>) -> Option<Arc<Lane>> {
    sender().map(|_| Arc::new(Lane { to, state: Mutex::default() }))
}

struct Sender {
    most: Duration,
    random: Mutex<Rng>,
    /// The lanes with steps.
    lanes: Mutex<Vec<Arc<Lane>>>,
    /// A lane has a step, or has become shorter.
    changed: Condvar,
    writes: AtomicU64,
}

/// The steps of one far end that are not done yet, in their order.
pub(crate) struct Lane {
    to: Arc<dyn SendNow + Send + Sync>,
    state: Mutex<Steps>,
}

#[derive(Default)]
struct Steps {
    waiting: VecDeque<(Instant, Step)>,
    bytes: usize,
}

enum Step {
    Send(Vec<u8>),
    ShutDown(Shutdown),
}

impl Lane {
    /// Sends `bytes` later. Waits while too many bytes wait. Returns `false` if this process sends at once.
    pub(crate) fn send(self: &Arc<Self>, bytes: &[u8]) -> bool {
        let Some(sender) = sender() else { return false };
        sender.wait_until(|| self.steps().bytes <= MOST_WAITING);
        sender.writes.fetch_add(1, Ordering::Relaxed);
        sender.add(self, Step::Send(bytes.to_vec()));
        true
    }

    /// Ends the sending direction after everything that was sent. Returns `false` if this process does it at
    /// once.
    pub(crate) fn shut_down(self: &Arc<Self>, direction: Shutdown) -> bool {
        let Some(sender) = sender() else { return false };
        sender.add(self, Step::ShutDown(direction));
        true
    }

    /// Waits until everything is sent: before the far end is closed.
    pub(crate) fn flush(&self) {
        if let Some(sender) = sender() {
            sender.wait_until(|| self.is_empty());
        }
    }

    /// Drops what is not sent.
    pub(crate) fn discard(self: &Arc<Self>) {
        if let Some(sender) = sender() {
            // The sender holds this lock while it uses a lane.
            unpoisoned(&sender.lanes).retain(|lane| !Arc::ptr_eq(lane, self));
        }
    }

    /// Returns whether everything is sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps().waiting.is_empty()
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        unpoisoned(&self.state)
    }

    /// Does the steps that are due. Returns when the next one is.
    fn advance(&self, now: Instant) -> Option<Instant> {
        let mut guard = self.steps();
        let steps = &mut *guard;
        while let Some((due, step)) = steps.waiting.front_mut() {
            if *due > now {
                return Some(*due);
            }
            match step {
                Step::Send(bytes) => match self.to.send_now(bytes) {
                    Ok(sent) if sent < bytes.len() => {
                        bytes.drain(..sent);
                        steps.bytes -= sent;
                        continue;
                    }
                    Err(Errno::EINTR) => continue,
                    // FreeBSD answers ENOBUFS if the receiver's buffer is full.
                    Err(Errno::EAGAIN | Errno::ENOBUFS) => return Some(now + RETRY),
                    // Sent, or the connection has ended: what it has not sent is lost.
                    _ => steps.bytes -= bytes.len(),
                },
                Step::ShutDown(direction) => _ = self.to.shut_down(*direction),
            }
            steps.waiting.pop_front();
        }
        None
    }
}

impl Sender {
    fn add(&self, lane: &Arc<Lane>, step: Step) {
        let delay = self.most.mul_f64(unpoisoned(&self.random).f64());
        let mut lanes = unpoisoned(&self.lanes);
        let mut steps = lane.steps();
        // In the order of the steps.
        let due = steps
            .waiting
            .back()
            .map_or(Instant::now() + delay, |(last, _)| (*last).max(Instant::now() + delay));
        steps.bytes += if let Step::Send(bytes) = &step { bytes.len() } else { 0 };
        steps.waiting.push_back((due, step));
        drop(steps);
        if !lanes.iter().any(|known| Arc::ptr_eq(known, lane)) {
            lanes.push(Arc::clone(lane));
        }
        self.changed.notify_all();
    }

    fn run(&self) -> ! {
        let mut lanes = unpoisoned(&self.lanes);
        loop {
            let now = Instant::now();
            let mut next = None::<Instant>;
            lanes.retain(|lane| {
                let due = lane.advance(now);
                next = next.into_iter().chain(due).min();
                due.is_some()
            });
            self.changed.notify_all();
            lanes = match next {
                None => self.changed.wait(lanes).unwrap_or_else(std::sync::PoisonError::into_inner),
                Some(due) => {
                    let left = due.saturating_duration_since(Instant::now());
                    let waited = self.changed.wait_timeout(lanes, left);
                    waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
                }
            };
        }
    }

    /// Waits until `holds`, or until patience ends: the receiver reads no more.
    fn wait_until(&self, holds: impl Fn() -> bool) {
        let end = Instant::now() + patience();
        let mut lanes = unpoisoned(&self.lanes);
        while !holds() && Instant::now() < end {
            let waited = self.changed.wait_timeout(lanes, RETRY);
            lanes = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver that takes a few bytes at a time, and refuses every other call.
    #[derive(Default)]
    struct Slow(Mutex<(usize, Vec<u8>, bool)>);

    impl SendNow for Slow {
        fn send_now(&self, bytes: &[u8]) -> Result<usize, Errno> {
            let mut state = unpoisoned(&self.0);
            state.0 += 1;
            if state.0 % 2 == 1 {
                return Err(Errno::EAGAIN);
            }
            let some = bytes.len().min(7);
            state.1.extend_from_slice(&bytes[..some]);
            Ok(some)
        }

        fn shut_down(&self, _: Shutdown) -> io::Result<()> {
            unpoisoned(&self.0).2 = true;
            Ok(())
        }
    }

    fn sender(most: Duration) -> Sender {
        let (lanes, changed) = (Mutex::default(), Condvar::new());
        Sender { most, random: Mutex::new(Rng::with_seed(3)), lanes, changed, writes: AtomicU64::new(0) }
    }

    #[test]
    fn steps_are_done_in_their_order_and_not_before_their_time() {
        let (sender, slow) = (sender(Duration::from_millis(20)), Arc::new(Slow::default()));
        let lane = Arc::new(Lane { to: slow.clone(), state: Mutex::default() });
        let begin = Instant::now();
        for part in ["one, ", "two, ", "three and the rest"] {
            sender.add(&lane, Step::Send(part.into()));
        }
        sender.add(&lane, Step::ShutDown(Shutdown::Write));
        let due: Vec<_> = lane.steps().waiting.iter().map(|(due, _)| *due).collect();
        assert!(due.is_sorted() && due.iter().all(|due| *due > begin), "{due:?}");
        assert!(*due.last().unwrap() <= Instant::now() + Duration::from_millis(20));
        assert_eq!(lane.advance(begin), Some(due[0]), "nothing is due yet");
        assert!(unpoisoned(&slow.0).1.is_empty() && !lane.is_empty());

        let late = begin + Duration::from_secs(1);
        while let Some(next) = lane.advance(late) {
            assert_eq!(next, late + RETRY, "the buffer is full");
            assert!(!unpoisoned(&slow.0).2, "shut down before everything was sent");
        }
        assert_eq!(unpoisoned(&slow.0).1, b"one, two, three and the rest");
        assert!(unpoisoned(&slow.0).2 && lane.is_empty() && lane.steps().bytes == 0);
    }

    #[test]
    fn another_seed_gives_other_delays() {
        let delays = |seed| {
            let mut sender = sender(Duration::from_secs(3600));
            sender.random = Mutex::new(Rng::with_seed(seed));
            let to = Arc::new(Slow::default());
            let lane = |_| {
                let lane = Arc::new(Lane { to: to.clone(), state: Mutex::default() });
                sender.add(&lane, Step::Send(vec![1]));
                lane.advance(Instant::now()).unwrap()
            };
            let due: Vec<Instant> = (0..4).map(lane).collect();
            due.windows(2).map(|two| two[0] < two[1]).collect::<Vec<_>>()
        };
        assert_eq!(delays(1), delays(1));
        assert!((2..9).any(|seed| delays(seed) != delays(1)));
    }
}
