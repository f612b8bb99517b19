//! A poller with its descriptors, and the operations that are measured on it.

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use fastrand::Rng;
use metadata::Mode;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{close, read, write};
use selector::{Changed, Interest, MakeSelector, Selector, set_nonblocking};

use crate::clock::{BATCH, Clock, Sample};
use crate::{Failure, Operation, Plan, floor};

/// The descriptors that become ready one at a time. All others stay idle.
const ACTIVE: usize = 64;

/// A poller with its descriptors. Each is one end of a connection, and its partner is the other end, so every
/// descriptor can be made ready.
pub(crate) struct Bench {
    poller: Box<dyn Selector>,
    /// The poller that descriptors are handed over to.
    other: Option<Box<dyn Selector>>,
    ends: Vec<OwnedFd>,
    random: Rng,
    clock: Clock,
    /// Whether the batch is with the other poller.
    is_over: bool,
}

impl Bench {
    pub(crate) fn new(make: MakeSelector, plan: &Plan, clock: Clock) -> Result<Self, Failure> {
        let poller = make()?;
        let other = (plan.operation == Operation::HandOver).then(make).transpose()?;
        let clock = match (clock, poller.process()) {
            (clock, None) => clock,
            (Clock::Marks, Some(_)) => {
                return Err(Failure("it is a program, which is not traced".into()));
            }
            (Clock::Here, Some(_)) if poller.spent().is_some() => Clock::Program,
            (_, Some(_)) => {
                let reason = "it is a program without `times`: what would be measured is the way to it";
                return Err(Failure(reason.into()));
            }
        };
        require_mode(&*poller, plan)?;
        let ends = connections(plan.descriptors)?;
        let bench = Self { poller, other, ends, random: Rng::with_seed(7), clock, is_over: false };
        for (index, end) in bench.ends.iter().enumerate() {
            bench.add(end.as_raw_fd(), index, plan.mode).map_err(|failure| bench.explained(failure))?;
        }
        Ok(bench)
    }

    fn add(&self, fd: RawFd, token: usize, mode: Mode) -> Result<(), Failure> {
        done(self.poller.add(fd, token as u64, Interest::READ, mode))
    }

    /// Why a poller in another process fails is known to it alone.
    fn explained(&self, failure: Failure) -> Failure {
        let mut pollers = std::iter::once(&self.poller).chain(&self.other);
        let its_own = pollers.find_map(|poller| poller.failure());
        its_own.map_or(failure, |its_own| Failure(its_own.reason))
    }

    /// Does the operation of a plan this many times.
    pub(crate) fn operation(&mut self, plan: &Plan, rounds: u32) -> Result<Sample, Failure> {
        self.perform(plan, rounds).map_err(|failure| self.explained(failure))
    }

    fn perform(&mut self, plan: &Plan, rounds: u32) -> Result<Sample, Failure> {
        match plan.operation {
            Operation::Register => self.register(rounds, plan.mode),
            Operation::Remove => self.remove(rounds, plan.mode),
            Operation::Close => self.close(rounds, plan.mode),
            Operation::Modify => self.modify(rounds, plan.mode),
            Operation::WaitOne => self.wait_one(rounds),
            Operation::WaitAll => self.wait_all(rounds, plan.mode),
            Operation::HandOver => self.hand_over(rounds, plan.mode),
            Operation::Wake => Err(Failure("it needs another thread".into())),
        }
    }

    /// Does the floor of the operation this many times.
    pub(crate) fn floor(&mut self, plan: &Plan, rounds: u32) -> Result<Sample, Failure> {
        match plan.operation {
            Operation::WaitOne => self.poll_one(rounds),
            Operation::WaitAll => self.poll_all(rounds),
            Operation::Close => self.close_only(rounds),
            Operation::HandOver => floor::fcntl_each(&self.ends, rounds, 2),
            _ => floor::fcntl_each(&self.ends, rounds, 1),
        }
    }

    /// Performs what is measured, and adds its time.
    fn timed<T>(&self, took: &mut Duration, section: impl FnOnce() -> T) -> T {
        let pollers = std::iter::once(&self.poller).chain(&self.other);
        self.clock.time(took, || pollers.clone().filter_map(|poller| poller.spent()).sum(), section)
    }

    /// Other descriptors of the first connection, which is idle.
    fn duplicates(&self) -> Result<Vec<OwnedFd>, Failure> {
        (0..BATCH).map(|_| Ok(self.ends[0].try_clone()?)).collect()
    }

    fn add_all(&self, extras: &[OwnedFd], mode: Mode) -> Result<(), Failure> {
        let mut all = extras.iter().enumerate();
        all.try_for_each(|(index, extra)| self.add(extra.as_raw_fd(), self.ends.len() + index, mode))
    }

    fn remove_all(&self, extras: &[OwnedFd]) -> Result<(), Failure> {
        extras.iter().try_for_each(|extra| done(self.poller.remove(extra.as_raw_fd())))
    }

    /// Closes a descriptor, and the copy of a poller in another process.
    fn close_both(&self, extra: OwnedFd) -> Result<(), Failure> {
        let fd = extra.as_raw_fd();
        // In a debug build, dropping it makes another system call before.
        close(extra)?;
        Ok(self.poller.closed(fd)?)
    }

    fn register(&self, rounds: u32, mode: Mode) -> Result<Sample, Failure> {
        let extras = self.duplicates()?;
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            self.timed(&mut took, || self.add_all(&extras, mode))?;
            self.remove_all(&extras)?;
        }
        extras.into_iter().try_for_each(|extra| self.close_both(extra))?;
        Ok(Sample::new(took, rounds, BATCH))
    }

    fn remove(&self, rounds: u32, mode: Mode) -> Result<Sample, Failure> {
        let extras = self.duplicates()?;
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            self.add_all(&extras, mode)?;
            self.timed(&mut took, || self.remove_all(&extras))?;
        }
        extras.into_iter().try_for_each(|extra| self.close_both(extra))?;
        Ok(Sample::new(took, rounds, BATCH))
    }

    fn close(&self, rounds: u32, mode: Mode) -> Result<Sample, Failure> {
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let extras = self.duplicates()?;
            self.add_all(&extras, mode)?;
            self.timed(&mut took, || {
                extras.into_iter().try_for_each(|extra| {
                    done(self.poller.remove(extra.as_raw_fd()))?;
                    self.close_both(extra)
                })
            })?;
        }
        Ok(Sample::new(took, rounds, BATCH))
    }

    fn close_only(&self, rounds: u32) -> Result<Sample, Failure> {
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let extras = self.duplicates()?;
            let begun = Instant::now();
            extras.into_iter().try_for_each(close)?;
            took += begun.elapsed();
        }
        Ok(Sample::new(took, rounds, BATCH))
    }

    /// Changes the interest of descriptors all over the range to sending, and back in the next round.
    fn modify(&mut self, rounds: u32, mode: Mode) -> Result<Sample, Failure> {
        let mut took = Duration::ZERO;
        for round in 0..2 * rounds {
            let interest = if round % 2 == 0 { Interest::WRITE } else { Interest::READ };
            self.timed(&mut took, || {
                spread(self.ends.len()).try_for_each(|index| {
                    done(self.poller.modify(self.ends[index].as_raw_fd(), index as u64, interest, mode))
                })
            })?;
        }
        Ok(Sample::new(took, 2 * rounds, spread(self.ends.len()).count()))
    }

    fn wait_one(&mut self, rounds: u32) -> Result<Sample, Failure> {
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let ready = self.active();
            self.send(ready)?;
            let events = self.timed(&mut took, || self.poller.wait(BATCH, Some(Duration::ZERO)));
            let tokens: Vec<_> = events?.iter().map(|event| event.token).collect();
            if tokens != [ready as u64] {
                let count = self.ends.len();
                let wrong = format!("descriptor {ready} of {count} is ready, and {tokens:?} were reported");
                return Err(Failure(wrong));
            }
            self.receive(ready)?;
        }
        Ok(Sample::new(took, rounds, 1))
    }

    fn poll_one(&mut self, rounds: u32) -> Result<Sample, Failure> {
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let ready = self.active();
            self.send(ready)?;
            let mut polled = [PollFd::new(self.ends[ready].as_fd(), PollFlags::POLLIN)];
            let begun = Instant::now();
            let count = poll(&mut polled, PollTimeout::ZERO);
            took += begun.elapsed();
            debug_assert_eq!(count, Ok(1));
            count?;
            self.receive(ready)?;
        }
        Ok(Sample::new(took, rounds, 1))
    }

    fn wait_all(&mut self, rounds: u32, mode: Mode) -> Result<Sample, Failure> {
        let all = self.ends.len();
        (0..all).try_for_each(|index| self.send(index))?;
        let mut took = Duration::ZERO;
        for round in 0..rounds {
            if mode == Mode::Edge && round > 0 {
                // Another byte is another edge.
                (0..all).try_for_each(|index| self.receive(index))?;
                (0..all).try_for_each(|index| self.send(index))?;
            }
            let mut seen = vec![false; all];
            let mut reported = 0;
            // A poller may report some, and the others in its next waits.
            while reported < all {
                let events = self.timed(&mut took, || self.poller.wait(all, Some(Duration::ZERO)));
                let before = reported;
                for event in events? {
                    let index = usize::try_from(event.token).unwrap_or(usize::MAX);
                    if let Some(seen) = seen.get_mut(index).filter(|seen| !**seen) {
                        (*seen, reported) = (true, reported + 1);
                    }
                }
                if reported == before {
                    let wrong = format!("{all} descriptors are ready, and {reported} were reported");
                    return Err(Failure(wrong));
                }
            }
        }
        (0..all).try_for_each(|index| self.receive(index))?;
        Ok(Sample::new(took, rounds, all))
    }

    fn poll_all(&mut self, rounds: u32) -> Result<Sample, Failure> {
        let all = self.ends.len();
        (0..all).try_for_each(|index| self.send(index))?;
        let took = {
            let mut polled: Vec<_> =
                self.ends.iter().map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN)).collect();
            let begun = Instant::now();
            for _ in 0..rounds {
                poll(&mut polled, PollTimeout::ZERO)?;
            }
            begun.elapsed()
        };
        (0..all).try_for_each(|index| self.receive(index))?;
        Ok(Sample::new(took, rounds, all))
    }

    /// Hands descriptors over to the other poller, and back in the next round.
    fn hand_over(&mut self, rounds: u32, mode: Mode) -> Result<Sample, Failure> {
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let other = self.other.as_ref().ok_or_else(|| Failure("there is no other poller".into()))?;
            let (from, to) = if self.is_over { (other, &self.poller) } else { (&self.poller, other) };
            self.timed(&mut took, || {
                spread(self.ends.len()).try_for_each(|index| {
                    let fd = self.ends[index].as_raw_fd();
                    done(from.remove(fd))?;
                    done(to.add(fd, index as u64, Interest::READ, mode))
                })
            })?;
            self.is_over = !self.is_over;
        }
        Ok(Sample::new(took, rounds, spread(self.ends.len()).count()))
    }

    /// Chooses the descriptor that becomes ready: one of a few all over the range, so that what is measured
    /// is not how long the memory of so many sockets takes.
    fn active(&mut self) -> usize {
        let count = self.ends.len();
        let active = ACTIVE.min(count);
        self.random.usize(..active) * count / active
    }

    /// Makes a descriptor ready.
    fn send(&self, index: usize) -> Result<(), Failure> {
        write(&self.ends[partner(index)], b"x")?;
        Ok(())
    }

    /// Makes a descriptor idle again.
    fn receive(&self, index: usize) -> Result<(), Failure> {
        read(&self.ends[index], &mut [0])?;
        Ok(())
    }
}

/// The other end of a descriptor's connection.
const fn partner(index: usize) -> usize {
    index ^ 1
}

/// The positions of a batch, all over the range, each once.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let batch = BATCH.min(count);
    (0..batch).map(move |index| index * count / batch)
}

/// Opens connections with this many ends, rounded up to an even number.
pub(crate) fn connections(ends: usize) -> Result<Vec<OwnedFd>, Failure> {
    let mut all = Vec::with_capacity(ends + 1);
    while all.len() < ends {
        let (one, other) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::empty())?;
        for end in [one, other] {
            set_nonblocking(&end)?;
            all.push(end);
        }
    }
    Ok(all)
}

/// Checks that the poller has the mode of a plan.
pub(crate) fn require_mode(poller: &dyn Selector, plan: &Plan) -> Result<(), Failure> {
    match poller.capabilities().modes.contains(&plan.mode) {
        true => Ok(()),
        false => Err(Failure(format!("it has no {} mode", plan.mode.name()))),
    }
}

/// Returns why a change was not made.
pub(crate) fn done(changed: Changed) -> Result<(), Failure> {
    match changed {
        Changed::Done => Ok(()),
        Changed::Unsupported(unsupported) => Err(unsupported.into()),
        refused @ Changed::Refused(_) => Err(Failure(format!("the poller answered {refused}"))),
    }
}
