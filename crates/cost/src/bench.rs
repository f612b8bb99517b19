//! A poller with its descriptors, and the operations that are measured on it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use fastrand::Rng;
use metadata::Mode;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{read, write};
use selector::{Changed, Interest, MakeSelector, Selector, Unsupported};

use crate::{Failure, Operation, Plan, floor};

/// The descriptors that one round registers, modifies, removes, closes or hands over.
pub(crate) const BATCH: usize = 16;

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
    /// Whether the batch is with the other poller.
    is_over: bool,
}

impl Bench {
    pub(crate) fn new(make: MakeSelector, plan: &Plan) -> Result<Self, Failure> {
        let poller = make()?;
        let other = (plan.operation == Operation::HandOver).then(make).transpose()?;
        if poller.process().is_some() {
            let reason = "it is a program: what would be measured is the way to it";
            return Err(Failure::Unsupported(reason.to_owned()));
        }
        if !poller.capabilities().modes.contains(&plan.mode) {
            return Err(Failure::Unsupported(format!("it has no {} mode", plan.mode.name())));
        }
        let ends = connections(plan.descriptors)?;
        let bench = Self { poller, other, ends, random: Rng::with_seed(7), is_over: false };
        for (index, end) in bench.ends.iter().enumerate() {
            bench.add(end.as_raw_fd(), index, plan.mode)?;
        }
        Ok(bench)
    }

    fn add(&self, fd: RawFd, token: usize, mode: Mode) -> Result<(), Failure> {
        done(self.poller.add(fd, token as u64, Interest::READ, mode))
    }

    /// Does the operation of a plan this many times. Returns its mean cost in nanoseconds.
    pub(crate) fn operation(&mut self, plan: &Plan, rounds: u32) -> Result<f64, Failure> {
        match plan.operation {
            Operation::Register => self.extras(rounds, |bench, extras| bench.register(extras, plan.mode)),
            Operation::Remove => self.extras(rounds, |bench, extras| {
                bench.register(extras, plan.mode)?;
                bench.unregister(extras)
            }),
            Operation::Close => self.close(rounds, plan.mode),
            Operation::Modify => self.modify(rounds, plan.mode),
            Operation::WaitOne => self.wait_one(rounds),
            Operation::WaitAll => self.wait_all(rounds, plan.mode),
            Operation::HandOver => self.hand_over(rounds, plan.mode),
            Operation::Wake => Err(Failure::Unsupported("it needs another thread".to_owned())),
        }
    }

    /// Does the floor of the operation this many times. Returns its mean cost in nanoseconds.
    pub(crate) fn floor(&mut self, plan: &Plan, rounds: u32) -> Result<f64, Failure> {
        match plan.operation {
            Operation::WaitOne => self.poll_one(rounds),
            Operation::WaitAll => self.poll_all(rounds),
            Operation::Close => self.close_only(rounds),
            Operation::HandOver => floor::fcntl_each(&self.ends, rounds, 2),
            _ => floor::fcntl_each(&self.ends, rounds, 1),
        }
    }

    /// Measures an action on other descriptors than the registered ones, and removes them again.
    fn extras(
        &mut self,
        rounds: u32,
        action: impl Fn(&Self, &[OwnedFd]) -> Result<Duration, Failure>,
    ) -> Result<f64, Failure> {
        let extras = self.duplicates()?;
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            took += action(self, &extras)?;
            // After a removal, there is nothing left to remove.
            extras.iter().for_each(|extra| drop(self.poller.remove(extra.as_raw_fd())));
        }
        Ok(per_operation(took, rounds, BATCH))
    }

    /// Other descriptors of the first connection, which is idle.
    fn duplicates(&self) -> Result<Vec<OwnedFd>, Failure> {
        (0..BATCH).map(|_| Ok(self.ends[0].try_clone()?)).collect()
    }

    fn register(&self, extras: &[OwnedFd], mode: Mode) -> Result<Duration, Failure> {
        let begun = Instant::now();
        for (index, extra) in extras.iter().enumerate() {
            self.add(extra.as_raw_fd(), self.ends.len() + index, mode)?;
        }
        Ok(begun.elapsed())
    }

    fn unregister(&self, extras: &[OwnedFd]) -> Result<Duration, Failure> {
        let begun = Instant::now();
        for extra in extras {
            done(self.poller.remove(extra.as_raw_fd()))?;
        }
        Ok(begun.elapsed())
    }

    fn close(&self, rounds: u32, mode: Mode) -> Result<f64, Failure> {
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let extras = self.duplicates()?;
            self.register(&extras, mode)?;
            let begun = Instant::now();
            for extra in extras {
                done(self.poller.remove(extra.as_raw_fd()))?;
                drop(extra);
            }
            took += begun.elapsed();
        }
        Ok(per_operation(took, rounds, BATCH))
    }

    fn close_only(&self, rounds: u32) -> Result<f64, Failure> {
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let extras = self.duplicates()?;
            let begun = Instant::now();
            drop(extras);
            took += begun.elapsed();
        }
        Ok(per_operation(took, rounds, BATCH))
    }

    /// Changes the interest of descriptors all over the range to sending, and back in the next round.
    fn modify(&mut self, rounds: u32, mode: Mode) -> Result<f64, Failure> {
        let mut took = Duration::ZERO;
        for round in 0..2 * rounds {
            let interest = if round % 2 == 0 { Interest::WRITE } else { Interest::READ };
            let begun = Instant::now();
            for index in spread(self.ends.len()) {
                done(self.poller.modify(self.ends[index].as_raw_fd(), index as u64, interest, mode))?;
            }
            took += begun.elapsed();
        }
        Ok(per_operation(took, 2 * rounds, spread(self.ends.len()).count()))
    }

    fn wait_one(&mut self, rounds: u32) -> Result<f64, Failure> {
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let ready = self.active();
            self.send(ready)?;
            let begun = Instant::now();
            let events = self.poller.wait(BATCH, Some(Duration::ZERO));
            took += begun.elapsed();
            let tokens: Vec<_> = events?.iter().map(|event| event.token).collect();
            if tokens != [ready as u64] {
                let wrong = format!(
                    "descriptor {ready} of {} is ready, and {tokens:?} were reported",
                    self.ends.len()
                );
                return Err(io::Error::other(wrong).into());
            }
            self.receive(ready)?;
        }
        Ok(took.as_nanos() as f64 / f64::from(rounds))
    }

    fn poll_one(&mut self, rounds: u32) -> Result<f64, Failure> {
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
        Ok(took.as_nanos() as f64 / f64::from(rounds))
    }

    fn wait_all(&mut self, rounds: u32, mode: Mode) -> Result<f64, Failure> {
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
                let begun = Instant::now();
                let events = self.poller.wait(all, Some(Duration::ZERO));
                took += begun.elapsed();
                let before = reported;
                for event in events? {
                    let index = usize::try_from(event.token).unwrap_or(usize::MAX);
                    if let Some(seen) = seen.get_mut(index).filter(|seen| !**seen) {
                        (*seen, reported) = (true, reported + 1);
                    }
                }
                if reported == before {
                    let wrong = format!("{all} descriptors are ready, and {reported} were reported");
                    return Err(io::Error::other(wrong).into());
                }
            }
        }
        (0..all).try_for_each(|index| self.receive(index))?;
        Ok(took.as_nanos() as f64 / f64::from(rounds) / all as f64)
    }

    fn poll_all(&mut self, rounds: u32) -> Result<f64, Failure> {
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
        Ok(took.as_nanos() as f64 / f64::from(rounds) / all as f64)
    }

    /// Hands descriptors over to the other poller, and back in the next round.
    fn hand_over(&mut self, rounds: u32, mode: Mode) -> Result<f64, Failure> {
        let Some(other) = &self.other else {
            return Err(Failure::Unsupported("there is no other poller".to_owned()));
        };
        let mut took = Duration::ZERO;
        for _ in 0..rounds {
            let (from, to) = if self.is_over { (other, &self.poller) } else { (&self.poller, other) };
            let begun = Instant::now();
            for index in spread(self.ends.len()) {
                let fd = self.ends[index].as_raw_fd();
                done(from.remove(fd))?;
                done(to.add(fd, index as u64, Interest::READ, mode))?;
            }
            took += begun.elapsed();
            self.is_over = !self.is_over;
        }
        Ok(per_operation(took, rounds, spread(self.ends.len()).count()))
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

fn per_operation(took: Duration, rounds: u32, batch: usize) -> f64 {
    took.as_nanos() as f64 / f64::from(rounds) / batch as f64
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

fn set_nonblocking(fd: &OwnedFd) -> Result<(), Errno> {
    let flags = nix::fcntl::OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | nix::fcntl::OFlag::O_NONBLOCK)).map(drop)
}

/// Returns why a change was not made.
pub(crate) fn done(changed: Changed) -> Result<(), Failure> {
    match changed {
        Changed::Done => Ok(()),
        Changed::Unsupported(Unsupported(reason)) => Err(Failure::Unsupported(reason)),
        refused @ Changed::Refused(_) => Err(Failure::Unsupported(format!("the poller answered {refused}"))),
    }
}
