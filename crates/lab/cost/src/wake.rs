//! Waking a thread that waits.
//!
//! One thread waits in the poller or for a byte of a pipe, and answers with a byte. It is the same thread for
//! the operation and for its floor, because where the system runs a thread decides most of the cost.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use selector::{Interest, MakeSelector, Selector};

use crate::bench::{connections, done, require_mode};
use crate::clock::{BATCH, Sample, marked};
use crate::processors::Processors;
use crate::{Failure, Plan, calls};

/// Where the thread waits next.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Place {
    Poller,
    /// The poller, and the wait is marked for a tracer.
    MarkedPoller,
    Pipe,
    /// Nowhere: it ends.
    Nowhere,
}

/// A thread that waits. It is in its place except between a wake-up and its answer.
pub(crate) struct WakeBench {
    poller: Arc<dyn Selector>,
    pipe: PipeWriter,
    answers: PipeReader,
    /// The next place of the thread.
    next: Arc<AtomicU8>,
    waiter: Option<JoinHandle<()>>,
    /// Registered, and never ready.
    _ends: Vec<OwnedFd>,
}

impl WakeBench {
    /// The thread that waits is bound to the second of the processors, and with `traced` it is traced.
    pub(crate) fn new(
        make: MakeSelector,
        plan: &Plan,
        processors: &Processors,
        traced: bool,
    ) -> Result<Self, Failure> {
        let poller: Arc<dyn Selector> = Arc::from(make()?);
        if poller.process().is_some() {
            return Err(Failure("it is a program: a wake-up takes the way to it".into()));
        }
        require_mode(&*poller, plan)?;
        let ends = connections(plan.descriptors)?;
        for (index, end) in ends.iter().enumerate() {
            done(poller.add(end.as_raw_fd(), index as u64, Interest::READ, plan.mode))?;
        }
        // Before there is a thread that only a wake-up ends.
        poller.wake()?;
        let (to_thread, pipe_end) = pipe()?;
        let (answers, answer) = pipe()?;
        let next = Arc::new(AtomicU8::new(Place::Poller as u8));
        let waiter = std::thread::Builder::new().spawn({
            let (poller, next, processors) = (Arc::clone(&poller), Arc::clone(&next), processors.clone());
            move || {
                // What cannot be done here, the other thread cannot do either, and it says so.
                let _ = processors.bind(1);
                let _ = if traced { calls::be_traced() } else { Ok(()) };
                wait_and_answer(&*poller, to_thread, &next, answer);
            }
        })?;
        let bench = Self { poller, pipe: pipe_end, answers, next, waiter: Some(waiter), _ends: ends };
        // The answer to the first wake-up.
        bench.answer()?;
        Ok(bench)
    }

    pub(crate) fn operation(&self, rounds: u32) -> Result<Sample, Failure> {
        self.rounds(rounds, || self.wake())
    }

    pub(crate) fn floor(&self, rounds: u32) -> Result<Sample, Failure> {
        // The thread leaves the poller, and returns to it with the last answer.
        self.go_to(Place::Pipe);
        self.wake()?;
        self.answer()?;
        let sample = self.rounds(rounds, || Ok((&self.pipe).write_all(b"x")?))?;
        self.go_to(Place::Poller);
        (&self.pipe).write_all(b"x")?;
        self.answer()?;
        Ok(sample)
    }

    /// Marks the wake-ups, and as many waits of the other thread. The answers are not marked.
    pub(crate) fn marked(&self, rounds: u32) -> Result<Sample, Failure> {
        self.go_to(Place::MarkedPoller);
        self.wake()?;
        self.answer()?;
        for round in 1..=rounds {
            if round == rounds {
                self.go_to(Place::Poller);
            }
            marked(|| self.wake())?;
            self.answer()?;
        }
        Ok(Sample::new(Duration::ZERO, rounds, 1))
    }

    fn rounds(&self, rounds: u32, wake: impl Fn() -> Result<(), Failure>) -> Result<Sample, Failure> {
        let begun = Instant::now();
        for _ in 0..rounds {
            wake()?;
            self.answer()?;
        }
        Ok(Sample::new(begun.elapsed(), rounds, 1))
    }

    fn wake(&self) -> Result<(), Failure> {
        Ok(self.poller.wake()?)
    }

    /// Chooses where the thread waits after its next wake-up.
    fn go_to(&self, place: Place) {
        self.next.store(place as u8, Ordering::Release);
    }

    fn answer(&self) -> Result<(), Failure> {
        Ok((&self.answers).read_exact(&mut [0])?)
    }
}

/// Waits in one place after the other. Each wake-up has one answer, which follows the choice of the next
/// place.
fn wait_and_answer(poller: &dyn Selector, mut pipe: PipeReader, next: &AtomicU8, mut answer: PipeWriter) {
    let mut place = Place::Poller as u8;
    while place != Place::Nowhere as u8 {
        let wait = || poller.wait(BATCH, None).is_ok();
        let is_woken = if place == Place::Poller as u8 {
            wait()
        } else if place == Place::MarkedPoller as u8 {
            marked(wait)
        } else {
            matches!(pipe.read(&mut [0]), Ok(1))
        };
        // The wake-up orders this read after the write of the thread that wakes.
        place = next.load(Ordering::Acquire);
        if !is_woken || answer.write_all(b"x").is_err() {
            return;
        }
    }
}

impl Drop for WakeBench {
    fn drop(&mut self) {
        self.go_to(Place::Nowhere);
        // Wherever it waits.
        let _ = self.poller.wake();
        let _ = self.pipe.write_all(b"x");
        if let Some(waiter) = self.waiter.take() {
            let _ = waiter.join();
        }
    }
}
