//! A poller under a check, and how its silence is proven.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use metadata::Mode;
use selector::{Changed, Event, Interest, Selector, Token};

use super::Outcome;

/// Why a check does not pass.
pub enum Flaw {
    Unsupported(String),
    Failed(String),
}

pub type Verdict = Result<(), Flaw>;

/// Something that went wrong.
pub fn failed<T>(seen: impl Into<String>) -> Result<T, Flaw> {
    Err(Flaw::Failed(seen.into()))
}

impl From<io::Error> for Flaw {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Unsupported => Self::Unsupported(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Ok(()) => Self::Passed,
            Err(Flaw::Unsupported(reason)) => Self::Unsupported(reason),
            Err(Flaw::Failed(seen)) => Self::Failed(seen),
        }
    }
}

/// Room for everything that a check makes ready, its fence too.
pub const ROOM: usize = 16;
/// The fence's. Programs may keep numbers in doubles.
pub const FENCE: Token = u32::MAX as Token;

pub struct Trial {
    pub selector: Box<dyn Selector>,
    /// How long what is ready may take to be reported.
    pub patience: Duration,
    /// In which registrations are made where it does not matter.
    pub mode: Mode,
    fence: (PipeReader, PipeWriter),
}

impl Trial {
    pub fn new(selector: Box<dyn Selector>, patience: Duration) -> Result<Self, Flaw> {
        let modes = selector.capabilities().modes;
        let preferred = [Mode::Level, Mode::Edge].into_iter().find(|mode| modes.contains(mode));
        let Some(mode) = preferred.or(modes.first().copied()) else { return failed("it has no modes") };
        let trial = Self { selector, patience, mode, fence: io::pipe()? };
        trial.add(trial.fence.0.as_raw_fd(), FENCE, Interest::READ, mode)?;
        Ok(trial)
    }

    /// Registers a descriptor, which has to be possible.
    pub fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Verdict {
        self.expect_done("add", self.selector.add(fd, token, interest, mode))
    }

    /// Changes a registration, which has to be possible.
    pub fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Verdict {
        self.expect_done("modify", self.selector.modify(fd, token, interest, mode))
    }

    /// Takes a registration out, which has to be possible.
    pub fn remove(&self, fd: RawFd) -> Verdict {
        self.expect_done("remove", self.selector.remove(fd))
    }

    /// Says that a descriptor was closed here, which has to be possible while nobody waits.
    pub fn closed(&self, fd: RawFd) -> Verdict {
        let told = self.selector.closed(fd).or_else(|why| failed(why.to_string()));
        self.expect_alive().and(told)
    }

    fn expect_done(&self, call: &str, changed: Changed) -> Verdict {
        self.expect_alive()?;
        match changed {
            Changed::Done => Ok(()),
            Changed::Unsupported(reason) => Err(Flaw::Unsupported(reason.0)),
            refused => failed(format!("{call} was refused: {refused}")),
        }
    }

    /// One wait. The fence is silent, and so nothing of it is expected.
    pub fn wait(&self, room: usize, timeout: Duration) -> Result<Vec<Event>, Flaw> {
        let waited = self.selector.wait(room, Some(timeout));
        self.expect_alive()?;
        let events = waited.or_else(|errno| failed(format!("wait: {errno:?}")))?;
        if events.len() > room {
            return failed(format!("{} events where there is room for {room}", events.len()));
        }
        Ok(events)
    }

    /// What is ready: at least one event, all of them with this token.
    pub fn expect_ready(&self, token: Token) -> Verdict {
        let events = self.wait(ROOM, self.patience)?;
        if events.is_empty() {
            return failed(format!("it is ready, and not reported within {} s", self.patience.as_secs_f32()));
        }
        expect_only(token, &events)
    }

    /// Nothing is reported before a fence that comes later.
    pub fn expect_silence(&self) -> Verdict {
        let events = self.hear()?;
        if events.is_empty() {
            Ok(())
        } else {
            failed(format!("it is not ready, and is reported: {}", text(&events)))
        }
    }

    /// Everything that is reported up to the fence, whose own events are left out.
    pub fn hear(&self) -> Result<Vec<Event>, Flaw> {
        let fd = self.fence.0.as_raw_fd();
        (&self.fence.1).write_all(b"f")?;
        let mut heard = Vec::new();
        // Level-triggered registrations are reported each time, but not for ever before the fence.
        for _ in 0..ROOM {
            let events = self.wait(ROOM, self.patience)?;
            if events.is_empty() {
                break;
            }
            let is_over = events.iter().any(|event| event.token == FENCE);
            heard.extend(events.into_iter().filter(|event| event.token != FENCE));
            if is_over {
                (&self.fence.0).read_exact(&mut [0])?;
                if matches!(self.mode, Mode::OneShot | Mode::Dispatch) {
                    self.modify(fd, FENCE, Interest::READ, self.mode)?;
                }
                return Ok(heard);
            }
        }
        failed(format!(
            "a later event, with the token {FENCE}, is not reported within {} s; there was: {}",
            self.patience.as_secs_f32(),
            text(&heard)
        ))
    }

    /// What cannot be asked any more fails whatever was asked.
    pub fn expect_alive(&self) -> Verdict {
        self.selector.failure().map_or(Ok(()), failed)
    }
}

/// Nothing else has been reported.
pub fn expect_only(token: Token, events: &[Event]) -> Verdict {
    match events.iter().any(|event| event.token != token) {
        false => Ok(()),
        true => failed(format!("token {token} is ready, and reported is: {}", text(events))),
    }
}

/// Events as a person reads them: `7: IN|HUP, 8: OUT`.
pub fn text(events: &[Event]) -> String {
    let all: Vec<_> = events.iter().map(|event| format!("{}: {}", event.token, event.record)).collect();
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}
