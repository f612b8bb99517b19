//! Waking a thread that waits.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use selector::{Interest, MakeSelector, Selector, Unsupported};

use crate::bench::{BATCH, connections, done};
use crate::{Failure, Plan};

/// A thread that waits in a poller, and one that waits for a byte of a pipe. Each answers with a byte.
pub(crate) struct WakeBench {
    poller: Arc<dyn Selector>,
    answers: PipeReader,
    is_over: Arc<AtomicBool>,
    waiter: Option<JoinHandle<()>>,
    /// To the thread of the floor, and from it. Its end is the end of the thread.
    floor: Option<PipeWriter>,
    floor_answers: PipeReader,
    floor_thread: Option<JoinHandle<()>>,
    /// Registered, and never ready.
    _ends: Vec<OwnedFd>,
}

impl WakeBench {
    pub(crate) fn new(make: MakeSelector, plan: &Plan) -> Result<Self, Failure> {
        let poller: Arc<dyn Selector> = Arc::from(make()?);
        if poller.process().is_some() {
            let reason = "it is a program: what would be measured is the way to it";
            return Err(Failure::Unsupported(reason.to_owned()));
        }
        if !poller.capabilities().modes.contains(&plan.mode) {
            return Err(Failure::Unsupported(format!("it has no {} mode", plan.mode.name())));
        }
        let ends = connections(plan.descriptors)?;
        for (index, end) in ends.iter().enumerate() {
            done(poller.add(end.as_raw_fd(), index as u64, Interest::READ, plan.mode))?;
        }
        // Before there is a thread that only a wake-up ends.
        poller.wake().map_err(|Unsupported(reason)| Failure::Unsupported(reason))?;
        let (answers, answer) = pipe()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let waiter = std::thread::Builder::new().spawn({
            let (poller, is_over) = (Arc::clone(&poller), Arc::clone(&is_over));
            move || wait_and_answer(&*poller, &is_over, answer)
        })?;
        let (to_floor, floor) = pipe()?;
        let (floor_answers, floor_answer) = pipe()?;
        let floor_thread = std::thread::Builder::new().spawn(move || echo(to_floor, floor_answer))?;
        let bench = Self {
            poller,
            answers,
            is_over,
            waiter: Some(waiter),
            floor: Some(floor),
            floor_answers,
            floor_thread: Some(floor_thread),
            _ends: ends,
        };
        // The answer to the first wake-up.
        bench.answer(&bench.answers)?;
        Ok(bench)
    }

    pub(crate) fn operation(&self, rounds: u32) -> Result<f64, Failure> {
        let begun = Instant::now();
        for _ in 0..rounds {
            self.poller.wake().map_err(|Unsupported(reason)| Failure::Unsupported(reason))?;
            self.answer(&self.answers)?;
        }
        Ok(begun.elapsed().as_nanos() as f64 / f64::from(rounds))
    }

    pub(crate) fn floor(&self, rounds: u32) -> Result<f64, Failure> {
        let Some(mut floor) = self.floor.as_ref() else { return Ok(0.0) };
        let begun = Instant::now();
        for _ in 0..rounds {
            floor.write_all(b"x")?;
            self.answer(&self.floor_answers)?;
        }
        Ok(begun.elapsed().as_nanos() as f64 / f64::from(rounds))
    }

    fn answer(&self, mut answers: &PipeReader) -> Result<(), Failure> {
        Ok(answers.read_exact(&mut [0])?)
    }
}

fn wait_and_answer(poller: &dyn Selector, is_over: &AtomicBool, mut answer: PipeWriter) {
    // No pair: the wake-up orders it.
    while !is_over.load(Ordering::Acquire) {
        if poller.wait(BATCH, None).is_err() || answer.write_all(b"x").is_err() {
            return;
        }
    }
}

fn echo(mut from: PipeReader, mut to: PipeWriter) {
    let mut byte = [0];
    while matches!(from.read(&mut byte), Ok(1)) && to.write_all(&byte).is_ok() {}
}

impl Drop for WakeBench {
    fn drop(&mut self) {
        // No pair: the wake-up orders it.
        self.is_over.store(true, Ordering::Release);
        let _ = self.poller.wake();
        self.floor.take();
        let threads = [self.waiter.take(), self.floor_thread.take()];
        threads.into_iter().flatten().for_each(|thread| drop(thread.join()));
    }
}
