//! Threads that share some work, and the result of the work.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use metadata::Mode;
use nix::errno::Errno;
use nix::unistd::write;
use selector::{Changed, Event, FENCE, Interest, Refusal, Selector, Token};

use super::descriptors::Scratch;
use super::fenced_poller::{FencedPoller, ROOM};
use super::waiters::{self, Waited, Waiter};
use super::{Interpreter, broken, call_failed, descriptors, settle};
use crate::verbs::{Name, Storm, WaitArguments, Work};
use crate::{Setting, Stopped};

/// The work that one thread has done.
#[derive(Default)]
pub(super) struct WorkDone {
    accepted: usize,
    /// Errors of accept(2) other than `EAGAIN`, failed modifications, and changes of a storm that fail
    /// otherwise than for a registration that another thread has made or removed, or a closed number.
    errors: usize,
    /// Waits that returned no event although the descriptor was ready all the time.
    missed: usize,
    collected: Vec<Token>,
}

/// Several threads with the same work.
#[derive(Default)]
pub(super) struct WorkerPool {
    work: Option<Work>,
    threads: Vec<Waiter>,
    clients: Vec<OwnedFd>,
    pairs: Vec<(OwnedFd, OwnedFd)>,
    /// The tokens of the pairs.
    tokens: Vec<Token>,
}

impl WorkerPool {
    /// Returns whether threads are working.
    pub(super) fn is_at_work(&self) -> bool {
        !self.threads.is_empty()
    }
}

/// Waits and handles events until the fence is reported.
fn until_the_fence(selector: &dyn Selector, mut work: impl FnMut(&Event)) -> Result<(), Errno> {
    loop {
        let events = selector.wait(ROOM, None)?;
        events.iter().filter(|event| event.token != FENCE).for_each(&mut work);
        if events.iter().any(|event| event.token == FENCE) {
            return Ok(());
        }
    }
}

fn ended(result: Result<(), Errno>, done: WorkDone) -> Waited {
    result.map_or_else(Waited::Failed, |()| Waited::Worked(done))
}

fn accept(selector: &dyn Selector, listener: RawFd, mode: Mode) -> Waited {
    // SAFETY: the script's listener outlives the script's threads.
    let borrowed = unsafe { BorrowedFd::borrow_raw(listener) };
    let mut done = WorkDone::default();
    let result = until_the_fence(selector, |event| {
        loop {
            match descriptors::accept_one(&borrowed) {
                Ok(Ok(_)) => done.accepted += 1,
                Ok(Err(Errno::EAGAIN)) => break,
                _ => {
                    done.errors += 1;
                    break;
                }
            }
            if matches!(mode, Mode::Level | Mode::Exclusive) {
                break;
            }
        }
        if matches!(mode, Mode::OneShot | Mode::Dispatch | Mode::EdgeOneShot) {
            let armed = selector.modify(listener, event.token, Interest::READ, mode);
            done.errors += usize::from(armed != Changed::Done);
        }
    });
    ended(result, done)
}

fn look(selector: &dyn Selector, times: usize) -> Waited {
    let mut done = WorkDone::default();
    for _ in 0..times {
        match selector.wait(ROOM, Some(Duration::ZERO)) {
            Ok(events) => done.missed += usize::from(events.is_empty()),
            Err(errno) => return Waited::Failed(errno),
        }
    }
    Waited::Worked(done)
}

fn collect(selector: &dyn Selector) -> Waited {
    let mut done = WorkDone::default();
    let result = until_the_fence(selector, |event| done.collected.push(event.token));
    ended(result, done)
}

/// Changes registrations beside other threads, and waits after each change. Returns the number of errors.
fn storm(selector: &dyn Selector, storm: &Storm, (fd, token): (RawFd, Token), setting: Setting) -> usize {
    let mode = setting.mode;
    let mut errors = 0;
    let mut change = |changed: Changed| {
        let is_race =
            |refusal: &Refusal| matches!(refusal.errno, Errno::EEXIST | Errno::ENOENT | Errno::EBADF);
        let is_fine = match &changed {
            Changed::Done => true,
            Changed::Refused(refusals) => refusals.iter().all(is_race),
            Changed::Unsupported(_) => false,
        };
        let waited = selector.wait(ROOM, Some(Duration::ZERO));
        errors += usize::from(!is_fine || waited.is_err());
    };
    match storm {
        Storm::Remove(_) => {
            change(selector.add(fd, token, Interest::READ, mode));
            change(selector.modify(fd, token, Interest::NONE, mode));
            change(selector.remove(fd));
        }
        Storm::Modify(_) => {
            change(selector.modify(fd, token, Interest::NONE, mode));
            change(selector.modify(fd, token, Interest::READ, mode));
        }
        Storm::Close => match descriptors::pair(setting, &mut Scratch::default()) {
            Err(_) => errors += 1,
            Ok((near, far)) => {
                change(selector.add(near.as_raw_fd(), token, Interest::READ, mode));
                if write(&far, &[0]).is_err() {
                    errors += 1;
                }
            }
        },
    }
    errors
}

impl Interpreter {
    pub(super) fn start_workers(
        &mut self,
        count: usize,
        work: &Work,
        alone: bool,
        poller: &str,
    ) -> Result<String, Stopped> {
        let poller = self.poller(poller)?;
        let capabilities = poller.selector.capabilities();
        capabilities.shared_wait.map_err(|why| Stopped::Unsupported(why.into()))?;
        if matches!(work, Work::Collect | Work::Storm(..)) {
            capabilities.changes_seen_by_waiters.map_err(|why| Stopped::Unsupported(why.into()))?;
        }
        let mode = self.setting.mode;
        let setting = self.setting;
        let (number, token) = match work {
            Work::Accept(name) => (self.number(name)?, 0),
            Work::Storm(Storm::Remove(name) | Storm::Modify(name), _) => {
                (self.number(name)?, poller.token(name))
            }
            Work::Storm(Storm::Close, _) => (-1, poller.token("pair")),
            Work::Look(_) | Work::Collect => (-1, 0),
        };
        for _ in 0..count {
            let own = if alone { Arc::new(poller.duplicate(self.setting)?) } else { Arc::clone(&poller) };
            let task = work.clone();
            let thread = Waiter::with_work(own, WaitArguments::NoTimeout, move |selector| match task {
                Work::Accept(_) => accept(selector, number, mode),
                Work::Storm(kind, times) => {
                    let errors = (0..times).map(|_| storm(selector, &kind, (number, token), setting)).sum();
                    Waited::Worked(WorkDone { errors, ..WorkDone::default() })
                }
                Work::Look(times) => look(selector, times),
                Work::Collect => collect(selector),
            })?;
            self.worker_pool.threads.push(thread);
        }
        self.worker_pool.work = Some(work.clone());
        Ok("ok".into())
    }

    pub(super) fn connect_clients(
        &mut self,
        count: usize,
        listener: &Name,
        one_by_one: bool,
    ) -> Result<String, Stopped> {
        let address = self.actor(listener)?.address.clone();
        let address = address.ok_or_else(|| broken(format!("'{listener}' does not listen")))?;
        for _ in 0..count {
            if one_by_one {
                // The threads that have served the client before this one sleep again. Before the first
                // client, each thread sleeps in its first wait.
                self.settle.round_trip()?;
                let responder = self.responder()?;
                waiters::wait_until_idle(&mut self.worker_pool.threads, &responder)?;
            }
            let client = descriptors::fresh(self.setting.transport)?;
            match descriptors::connect_to(&client, &address) {
                Ok(()) => {}
                Err(Errno::EINPROGRESS) => {
                    let patience = self.setting.patience;
                    settle::wait_for(&client, settle::WRITABLE, "the end of the handshake", patience)?;
                }
                Err(errno) => return Err(call_failed("connect", errno)),
            }
            self.worker_pool.clients.push(client);
        }
        self.settle.round_trip()?;
        Ok("ok".into())
    }

    pub(super) fn write_pairs(&mut self, count: usize) -> Result<String, Stopped> {
        let setting = self.setting;
        let mode = setting.mode;
        let poller: Arc<FencedPoller> = self.poller(crate::verbs::FIRST)?;
        for index in 0..count {
            let pair = descriptors::pair(setting, &mut self.scratch)?;
            let label = format!("pair-{index}");
            match poller.add(std::os::fd::AsRawFd::as_raw_fd(&pair.0), &label, Interest::READ, mode) {
                Changed::Done => self.worker_pool.tokens.push(poller.token(&label)),
                Changed::Unsupported(unsupported) => return Err(unsupported.into()),
                refused => return Err(broken(format!("add: {refused}"))),
            }
            self.worker_pool.pairs.push(pair);
        }
        for (_, far) in &self.worker_pool.pairs {
            write(far, &[0]).map_err(|errno| call_failed("write", errno))?;
        }
        self.settle.round_trip()?;
        Ok("ok".into())
    }

    /// Ends all threads, and returns the work of each.
    fn finish_workers(&mut self) -> Result<Vec<WorkDone>, Stopped> {
        let mut threads = std::mem::take(&mut self.worker_pool.threads);
        waiters::end_all(&mut threads, &*self.responder()?)?;
        let done = threads
            .iter_mut()
            .map(|thread| thread.take_work().ok_or_else(|| broken("a thread did not finish its work")));
        done.collect()
    }

    /// Ends the work. Returns how many threads have taken part.
    pub(super) fn sharing_summary(&mut self) -> Result<String, Stopped> {
        let done = self.finish_workers()?;
        let busy = done.iter().filter(|done| done.accepted > 0).count();
        Ok(format!("served by {busy} of {}", done.len()))
    }

    /// Ends the work. Returns its result.
    pub(super) fn work_summary(&mut self) -> Result<String, Stopped> {
        let mut all = WorkDone::default();
        for done in self.finish_workers()? {
            all.accepted += done.accepted;
            all.errors += done.errors;
            all.missed += done.missed;
            all.collected.extend(done.collected);
        }
        Ok(match &self.worker_pool.work {
            Some(Work::Accept(_)) => {
                format!("accepted={}/{} errors={}", all.accepted, self.worker_pool.clients.len(), all.errors)
            }
            Some(Work::Look(_)) => format!("missed={}", all.missed),
            Some(Work::Storm(..)) => format!("errors={}", all.errors),
            Some(Work::Collect) | None => {
                let times = |token| all.collected.iter().filter(|seen| *seen == token).count();
                let counts: Vec<_> = self.worker_pool.tokens.iter().map(times).collect();
                let lost = counts.iter().filter(|count| **count == 0).count();
                let twice = counts.iter().filter(|count| **count > 1).count();
                format!("lost={lost} twice={twice} of {}", counts.len())
            }
        })
    }
}
