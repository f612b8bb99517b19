//! The operations of one thread, or of a pair of threads, each with its floor.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use metadata::Operation;
use selector::{Interest, Mode};

use crate::clock::Stopwatch;
use crate::field::{Field, batch, byte_from, byte_to, pair};
use crate::floors::{self, LookUp, PipeWake};
use crate::poller::{Failure, MakePoller, Poller};
use crate::side::{Side, Sides};

/// The token of a descriptor that is none of the field's.
const OTHER: u64 = 1 << 30;
/// The greatest number of descriptors that a round registers, removes or closes.
const BATCH: usize = 32;
/// The room of a wait for one descriptor.
const ROOM: usize = 64;
/// How often a round wakes.
const WAKES: u32 = 16;
/// A wait without the expected event fails after this time.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many waits may report nothing although descriptors are ready: a library can have events of its own.
const SPURIOUS: u32 = 3;

/// Returns the sides of each thread.
pub fn sides(
    make: MakePoller<'_>,
    operation: Operation,
    mode: Mode,
    descriptors: usize,
    threads: usize,
) -> Result<Vec<Sides>, Failure> {
    let poller = || match make() {
        Ok(poller) => Ok(Arc::from(poller)),
        Err(error) => Err(Failure::of_io("creating the poller", &error)),
    };
    if !operation.is_of_pairs() {
        let one = |_| of_one(poller()?, operation, mode, descriptors);
        return (0..threads).map(one).collect();
    }
    if !threads.is_multiple_of(2) {
        return Err(Failure::Unsupported("it takes pairs of threads".into()));
    }
    let mut sides = Vec::new();
    for _ in 0..threads / 2 {
        let fields = [Field::new(poller()?, mode, descriptors)?, Field::new(poller()?, mode, descriptors)?];
        let operations = match operation {
            Operation::HandOver => hand_over(fields)?,
            _ => wake(fields),
        };
        sides.extend(operations.into_iter().zip(pipe_wakes()?).map(|(operation, floor)| [operation, floor]));
    }
    Ok(sides)
}

fn of_one(
    poller: Arc<dyn Poller>,
    operation: Operation,
    mode: Mode,
    descriptors: usize,
) -> Result<Sides, Failure> {
    match operation {
        Operation::WaitOne | Operation::WaitAll => {
            waits(poller, mode, descriptors, operation == Operation::WaitAll)
        }
        _ => changes(poller, operation, mode, descriptors),
    }
}

/// The operations that change registrations: of the last ones of so many.
fn changes(
    poller: Arc<dyn Poller>,
    operation: Operation,
    mode: Mode,
    descriptors: usize,
) -> Result<Sides, Failure> {
    let size = (descriptors / 2).clamp(1, BATCH);
    let field = Field::new(poller, mode, descriptors.saturating_sub(size))?;
    // Another socket: what happens to the batch must not touch the field.
    let ends = pair()?;
    let looked_up = batch(&ends.0, size)?;
    let socket = || ends.0.try_clone().map_err(|error| Failure::of_io("dup", &error));
    let floor: Box<dyn Side> = match operation {
        Operation::Close => Box::new(floors::Close { of: socket()?, size }),
        _ => Box::new(LookUp(looked_up)),
    };
    let batch = match operation {
        Operation::Close => Vec::new(),
        _ => batch(&ends.0, size)?,
    };
    let change = Change { operation, field, ends, batch, size, is_wide: false };
    if matches!(operation, Operation::Modify | Operation::Remove) {
        change.batch.iter().try_for_each(|fd| change.add(fd))?;
    }
    Ok([Box::new(change), floor])
}

struct Change {
    operation: Operation,
    field: Field,
    ends: (UnixStream, UnixStream),
    batch: Vec<OwnedFd>,
    size: usize,
    /// Whether the registrations have interest in writing, too.
    is_wide: bool,
}

impl Change {
    fn add(&self, fd: &OwnedFd) -> Result<(), Failure> {
        self.field.poller.add(fd.as_raw_fd(), OTHER, Interest::READ, self.field.mode)
    }

    fn remove(&self, fd: &OwnedFd) -> Result<(), Failure> {
        self.field.poller.remove(fd.as_raw_fd())
    }
}

impl Side for Change {
    fn per_round(&self) -> u32 {
        self.size as u32
    }

    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure> {
        match self.operation {
            Operation::Register => {
                watch.section(|| self.batch.iter().try_for_each(|fd| self.add(fd)))?;
                self.batch.iter().try_for_each(|fd| self.remove(fd))
            }
            Operation::Modify => {
                self.is_wide = !self.is_wide;
                let interest = if self.is_wide { Interest::READ.or(Interest::WRITE) } else { Interest::READ };
                let Field { poller, mode, .. } = &self.field;
                let modify = |fd: &OwnedFd| poller.modify(fd.as_raw_fd(), OTHER, interest, *mode);
                watch.section(|| self.batch.iter().try_for_each(modify))
            }
            Operation::Remove => {
                watch.section(|| self.batch.iter().try_for_each(|fd| self.remove(fd)))?;
                self.batch.iter().try_for_each(|fd| self.add(fd))
            }
            _ => {
                let batch = batch(&self.ends.0, self.size)?;
                batch.iter().try_for_each(|fd| self.add(fd))?;
                watch.section(|| {
                    for fd in batch {
                        self.remove(&fd)?;
                        floors::close(fd)?;
                    }
                    Ok(())
                })
            }
        }
    }
}

/// Waits while one or all of the descriptors are ready.
fn waits(poller: Arc<dyn Poller>, mode: Mode, descriptors: usize, is_all: bool) -> Result<Sides, Failure> {
    let ready = if is_all { descriptors } else { 1 };
    let idle = Field::new(Arc::clone(&poller), mode, descriptors - ready)?;
    let active = Field::new(poller, mode, ready)?;
    let is_edge = mode != Mode::Level;
    // The descriptors of the floor have a socket of their own: it is read and written in turn.
    let ends = pair()?;
    if !is_edge {
        byte_to(&active.ends.1)?;
        byte_to(&ends.1)?;
    }
    let times = (4096 / descriptors).clamp(1, 64) as u32;
    let floor = floors::Poll::new(batch(&ends.0, ready)?, ends, is_edge, times);
    let room = if is_all { descriptors } else { ROOM };
    Ok([Box::new(Wait { _idle: idle, active, is_edge, ready, room, times }), Box::new(floor)])
}

struct Wait {
    _idle: Field,
    active: Field,
    is_edge: bool,
    ready: usize,
    room: usize,
    times: u32,
}

impl Wait {
    /// Waits until every ready descriptor was reported.
    fn wait(&self) -> Result<(), Failure> {
        let (mut reported, mut spurious) = (0, 0);
        while reported < self.ready {
            match self.active.poller.wait(self.room, Some(Duration::ZERO))? {
                0 if spurious == SPURIOUS => {
                    return Err(Failure::Failed(format!(
                        "a wait reports {reported} of {} ready descriptors",
                        self.ready
                    )));
                }
                0 => spurious += 1,
                events => reported += events,
            }
        }
        Ok(())
    }
}

impl Side for Wait {
    fn per_round(&self) -> u32 {
        self.times
    }

    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure> {
        watch.section(|| {
            for _ in 0..self.times {
                if self.is_edge {
                    byte_to(&self.active.ends.1)?;
                }
                self.wait()?;
                if self.is_edge {
                    byte_from(&self.active.ends.0)?;
                }
            }
            Ok(())
        })
    }
}

/// The floors of two threads that wake each other.
fn pipe_wakes() -> Result<[Box<dyn Side>; 2], Failure> {
    let pipe = || io::pipe().map_err(|error| Failure::of_io("pipe", &error));
    let ((first, to_first), (second, to_second)) = (pipe()?, pipe()?);
    let one = PipeWake { to: to_second, from: first, is_first: true, times: WAKES };
    let other = PipeWake { to: to_first, from: second, is_first: false, times: WAKES };
    Ok([Box::new(one), Box::new(other)])
}

/// Two threads that wake each other from their waits.
fn wake(fields: [Field; 2]) -> [Box<dyn Side>; 2] {
    let turn = Arc::new(AtomicU64::new(0));
    let pollers = fields.each_ref().map(|field| Arc::clone(&field.poller));
    let mut index = 0;
    fields.map(|own| {
        let other = Arc::clone(&pollers[1 - index]);
        let is_first = index == 0;
        index += 1;
        Box::new(Wake { own, other, turn: Arc::clone(&turn), is_first, taken: 0 }) as Box<dyn Side>
    })
}

struct Wake {
    own: Field,
    other: Arc<dyn Poller>,
    /// The number of wake-ups by both threads. The Release store of a wake-up pairs with the Acquire load
    /// after the wait that it ends.
    turn: Arc<AtomicU64>,
    is_first: bool,
    /// The number of wake-ups that this thread knows of.
    taken: u64,
}

impl Wake {
    fn wake(&mut self) -> Result<(), Failure> {
        self.taken += 1;
        self.turn.store(self.taken, Ordering::Release);
        self.other.wake()
    }

    /// Waits at least once, as the wake-up ends this wait even if it came before.
    fn wait(&mut self) -> Result<(), Failure> {
        self.taken += 1;
        let begun = Instant::now();
        loop {
            self.own.poller.wait(ROOM, Some(PATIENCE))?;
            if self.turn.load(Ordering::Acquire) >= self.taken {
                return Ok(());
            }
            if begun.elapsed() >= PATIENCE {
                return Err(Failure::Failed(format!("no wake-up arrived in {PATIENCE:?}")));
            }
        }
    }
}

impl Side for Wake {
    fn per_round(&self) -> u32 {
        WAKES
    }

    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure> {
        watch.section(|| {
            for _ in 0..WAKES {
                if self.is_first {
                    self.wake()?;
                    self.wait()?;
                } else {
                    self.wait()?;
                    self.wake()?;
                }
            }
            Ok(())
        })
    }
}

/// Two threads that hand a ready descriptor to each other.
fn hand_over(fields: [Field; 2]) -> Result<[Box<dyn Side>; 2], Failure> {
    let ends = pair()?;
    byte_to(&ends.1)?;
    let ends = Arc::new(ends);
    let fd = ends.0.as_raw_fd();
    fields[0].poller.add(fd, OTHER, Interest::READ, fields[0].mode)?;
    let pollers = fields.each_ref().map(|field| Arc::clone(&field.poller));
    let mut index = 0;
    Ok(fields.map(|own| {
        let other = Arc::clone(&pollers[1 - index]);
        let is_first = index == 0;
        index += 1;
        Box::new(HandOver { own, other, fd, _ends: Arc::clone(&ends), is_first }) as Box<dyn Side>
    }))
}

struct HandOver {
    own: Field,
    other: Arc<dyn Poller>,
    fd: RawFd,
    _ends: Arc<(UnixStream, UnixStream)>,
    is_first: bool,
}

impl HandOver {
    fn give(&self) -> Result<(), Failure> {
        self.own.poller.remove(self.fd)?;
        self.other.add(self.fd, OTHER, Interest::READ, self.own.mode)
    }

    fn receive(&self) -> Result<(), Failure> {
        let begun = Instant::now();
        while self.own.poller.wait(ROOM, Some(PATIENCE))? == 0 {
            if begun.elapsed() >= PATIENCE {
                return Err(Failure::Failed(format!("no descriptor arrived in {PATIENCE:?}")));
            }
        }
        Ok(())
    }
}

impl Side for HandOver {
    fn per_round(&self) -> u32 {
        WAKES
    }

    fn round(&mut self, watch: &mut Stopwatch) -> Result<(), Failure> {
        watch.section(|| {
            for _ in 0..WAKES {
                if self.is_first {
                    self.give()?;
                    self.receive()?;
                } else {
                    self.receive()?;
                    self.give()?;
                }
            }
            Ok(())
        })
    }
}
