//! The context of a check: its poller, and the fence that proves the absence of events.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use metadata::Mode;
use selector::{Changed, Event, FENCE, Interest, Selector, Token, Unsupported};

use super::Outcome;
use super::ends::Ends;

/// The reason why a check does not pass.
pub enum NotPassed {
    Unsupported(String),
    Failed(String),
}

pub type Verdict = Result<(), NotPassed>;

/// Returns the failure of a check.
pub fn failed<T>(seen: impl Into<String>) -> Result<T, NotPassed> {
    Err(NotPassed::Failed(seen.into()))
}

impl From<io::Error> for NotPassed {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Unsupported => Self::Unsupported(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<Unsupported> for NotPassed {
    fn from(Unsupported(reason): Unsupported) -> Self {
        Self::Unsupported(reason)
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Ok(()) => Self::Passed,
            Err(NotPassed::Unsupported(reason)) => Self::Unsupported(reason),
            Err(NotPassed::Failed(seen)) => Self::Failed(seen),
        }
    }
}

/// Room for all descriptors that a check makes ready, and for its fence.
pub const ROOM: usize = 16;

/// The poller of a check, and its fence: a pipe whose readiness follows the events under test.
pub struct Context {
    pub selector: Box<dyn Selector>,
    /// The time within which a ready descriptor must be reported.
    pub patience: Duration,
    /// The mode of registrations for checks that do not depend on one.
    pub mode: Mode,
    fence: Ends,
}

impl Context {
    pub fn new(selector: Box<dyn Selector>, patience: Duration) -> Result<Self, NotPassed> {
        let modes = selector.capabilities().modes;
        let preferred = [Mode::Level, Mode::Edge].into_iter().find(|mode| modes.contains(mode));
        let Some(mode) = preferred.or(modes.first().copied()) else {
            return failed("the poller has no modes");
        };
        let fence = Ends::pipe(&*selector, patience)?;
        let context = Self { selector, patience, mode, fence };
        context.add(context.fence.fd, FENCE, Interest::READ, mode)?;
        Ok(context)
    }

    /// Makes a pipe, whose reading end is under test.
    pub fn pipe(&self) -> Result<Ends, NotPassed> {
        Ends::pipe(&*self.selector, self.patience)
    }

    /// Makes a pipe with a byte in it.
    pub fn readable_pipe(&self) -> Result<Ends, NotPassed> {
        let ends = self.pipe()?;
        ends.send()?;
        Ok(ends)
    }

    /// Makes a connection.
    pub fn connection(&self) -> Result<Ends, NotPassed> {
        Ends::connection(&*self.selector, self.patience)
    }

    /// Registers a descriptor. A refusal fails the check.
    pub fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Verdict {
        self.expect_done("add", self.selector.add(fd, token, interest, mode))
    }

    /// Changes a registration. A refusal fails the check.
    pub fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Verdict {
        self.expect_done("modify", self.selector.modify(fd, token, interest, mode))
    }

    /// Removes a registration. A refusal fails the check.
    pub fn remove(&self, fd: RawFd) -> Verdict {
        self.expect_done("remove", self.selector.remove(fd))
    }

    /// Reports to the poller that this process has closed a descriptor. A refusal fails the check, because no
    /// wait is in progress.
    pub fn expect_closed(&self, fd: RawFd) -> Verdict {
        let reported = self.selector.closed(fd).or_else(|reason| failed(reason.to_string()));
        self.expect_alive().and(reported)
    }

    fn expect_done(&self, call: &str, changed: Changed) -> Verdict {
        self.expect_alive()?;
        match changed {
            Changed::Done => Ok(()),
            Changed::Unsupported(unsupported) => Err(unsupported.into()),
            refused => failed(format!("{call} was refused: {refused}")),
        }
    }

    /// Waits once, and checks the number of events. The fence is not ready.
    pub fn wait(&self, room: usize, timeout: Duration) -> Result<Vec<Event>, NotPassed> {
        let waited = self.selector.wait(room, Some(timeout));
        self.expect_alive()?;
        let events = waited.or_else(|errno| failed(format!("wait: {errno:?}")))?;
        if events.len() > room && self.selector.limits_room().is_ok() {
            return failed(format!("{} events, but room for {room}", events.len()));
        }
        Ok(events)
    }

    /// Waits once, and expects at least one event, and only events with this token.
    pub fn expect_ready(&self, token: Token) -> Verdict {
        let events = self.wait(ROOM, self.patience)?;
        if events.is_empty() {
            return failed(format!("it is ready, but not reported within {} s", self.patience.as_secs_f32()));
        }
        expect_only(token, &events)
    }

    /// Expects no event before the fence.
    pub fn expect_silence(&self) -> Verdict {
        let events = self.events_before_fence()?;
        if events.is_empty() {
            Ok(())
        } else {
            failed(format!("it is not ready, but reported: {}", text(&events)))
        }
    }

    /// Makes the fence ready, and returns the events up to it, without its own.
    pub fn events_before_fence(&self) -> Result<Vec<Event>, NotPassed> {
        let fd = self.fence.fd;
        self.fence.send()?;
        let mut reported = Vec::new();
        // Level-triggered registrations may be reported several times before the fence, but not without a
        // limit.
        for _ in 0..ROOM {
            let events = self.wait(ROOM, self.patience)?;
            if events.is_empty() {
                break;
            }
            let has_fence = events.iter().any(|event| event.token == FENCE);
            reported.extend(events.into_iter().filter(|event| event.token != FENCE));
            if has_fence {
                self.fence.read(&*self.selector)?;
                if matches!(self.mode, Mode::OneShot | Mode::Dispatch | Mode::EdgeOneShot) {
                    self.modify(fd, FENCE, Interest::READ, self.mode)?;
                }
                return Ok(reported);
            }
        }
        failed(format!(
            "a later event, with the token {FENCE}, is not reported within {} s; reported: {}",
            self.patience.as_secs_f32(),
            text(&reported)
        ))
    }

    /// Fails the check if the poller has become unusable.
    pub fn expect_alive(&self) -> Verdict {
        self.selector.failure().map_or(Ok(()), |failure| failed(failure.reason))
    }
}

/// Expects only events with this token.
pub fn expect_only(token: Token, events: &[Event]) -> Verdict {
    match events.iter().any(|event| event.token != token) {
        false => Ok(()),
        true => failed(format!("token {token} is ready, but reported: {}", text(events))),
    }
}

/// Formats events: `7: IN|HUP, 8: OUT`.
pub fn text(events: &[Event]) -> String {
    let texts: Vec<_> = events.iter().map(|event| format!("{}: {}", event.token, event.record)).collect();
    if texts.is_empty() { "nothing".into() } else { texts.join(", ") }
}
