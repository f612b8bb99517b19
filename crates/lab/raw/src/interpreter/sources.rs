//! Sources that are filters of the poller: on a system with kqueue, timers, processes, signals, watched files
//! and user events.

use std::os::fd::RawFd;
use std::sync::Arc;

use nix::errno::Errno;
use selector::{Source, TimerSetting};

use super::fenced_poller::FencedPoller;
use super::{Actor, Interpreter, broken, descriptors, signals};
use crate::Stopped;
use crate::verbs::{Action, Call, Change, DescriptorKind, FIRST};

/// The first number of sources without a descriptor. No descriptor has one as large.
pub(super) const NUMBERS: RawFd = 1 << 24;

/// A change of a source's state.
struct Applied {
    /// The first error of a poller.
    result: Result<(), Errno>,
    /// The pollers that have the source registered.
    registered: Vec<Arc<FencedPoller>>,
}

impl Interpreter {
    /// Makes a source, if the poller has a filter for this kind. Returns whether it has.
    pub(super) fn make_source(&mut self, name: &str, kind: &DescriptorKind) -> Result<bool, Stopped> {
        if self.poller(FIRST)?.selector.sources().is_none() {
            return Ok(false);
        }
        match kind {
            DescriptorKind::Timer => self.add_source(name, Source::Timer(TimerSetting::Unset))?,
            DescriptorKind::UserEvent => self.add_source(name, Source::UserEvent { triggers: false })?,
            DescriptorKind::Signal => {
                self.require_same_process("a signal reaches this process only")?;
                self.add_source(name, Source::Signal(signals::SOURCE as i32))?;
                self.actor(name)?.signals = vec![signals::SOURCE];
            }
            DescriptorKind::Process => {
                let process = self.child_process()?;
                self.add_source(name, Source::Process(process.id()))?;
                self.actor(name)?.process = Some(process);
            }
            DescriptorKind::WatchedFile => {
                let path = self.scratch.path()?;
                let fd = descriptors::file(&path, 0, 0)?;
                let actor = self.add_actor(name, fd)?;
                actor.path = Some(path);
                actor.source = Some(Source::File);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn add_source(&mut self, name: &str, source: Source) -> Result<(), Stopped> {
        if self.actors.get(name).is_some_and(Actor::is_open) {
            return Err(broken(format!("'{name}' exists already and is open")));
        }
        let number = self.next_source;
        self.next_source += 1;
        self.files += 1;
        let actor = Actor { number, source: Some(source), file: self.files, ..Actor::none() };
        self.actors.insert(name.to_owned(), actor);
        Ok(())
    }

    fn source(&self, name: &str) -> Option<Source> {
        self.actors.get(name).and_then(|actor| actor.source)
    }

    /// Returns whether it is a filter of the poller.
    pub(super) fn is_filter(&self, name: &str) -> bool {
        self.source(name).is_some()
    }

    /// Returns whether it is a timer that is a filter and expires again and again.
    pub(super) fn is_repeating(&self, name: &str) -> bool {
        matches!(self.source(name), Some(Source::Timer(TimerSetting::Repeating(_))))
    }

    /// Returns whether the clause reads from a filter, whose events have all that there is.
    pub(super) fn has_nothing_to_read(&self, action: &Action) -> bool {
        matches!(action, Action::Call(name, Call::Reads(_) | Call::Drains) if self.source(name).is_some())
    }

    /// Refuses a question about the registration of a timer that is not set: kqueue has no such, so no call
    /// would answer it.
    pub(super) fn require_filter(&self, change: &Change) -> Result<(), Stopped> {
        match self.source(&change.descriptor) {
            Some(Source::Timer(TimerSetting::Unset)) => {
                let why = format!("{} has no timer that is not set", self.poller_name);
                Err(Stopped::Unsupported(why))
            }
            _ => Ok(()),
        }
    }

    /// Tells a poller which source a number stands for, before a registration.
    pub(super) fn declare(&self, name: &str, poller: &FencedPoller) -> Result<(), Stopped> {
        let (Some(source), number) = (self.source(name), self.number(name)?) else { return Ok(()) };
        poller.stands_for(number, source)
    }

    /// Ends the trigger of a user event that a change of its registration has delivered.
    pub(super) fn has_triggered(&mut self, name: &str, poller: &FencedPoller) -> Result<(), Stopped> {
        if self.source(name) == Some(Source::UserEvent { triggers: true }) {
            self.actor(name)?.source = Some(Source::UserEvent { triggers: false });
            self.declare(name, poller)?;
        }
        Ok(())
    }

    /// Sets a timer that is a filter, in each poller that has it. Returns `None` if it is a descriptor.
    pub(super) fn set_source_timer(
        &mut self,
        name: &str,
        setting: TimerSetting,
    ) -> Result<Option<Result<(), Errno>>, Stopped> {
        match self.source(name) {
            Some(Source::Timer(_)) => {
                self.apply(name, Source::Timer(setting)).map(|applied| Some(applied.result))
            }
            _ => Ok(None),
        }
    }

    /// Triggers a user event in each poller that has it, or with its next registration.
    pub(super) fn triggers(
        &mut self,
        name: &str,
        poller: Option<&str>,
    ) -> Result<Result<(), Errno>, Stopped> {
        let Some(Source::UserEvent { .. }) = self.source(name) else {
            return Err(broken(format!("'{name}' is not a user event")));
        };
        let source = Source::UserEvent { triggers: true };
        if let Some(poller) = poller {
            let (poller, number) = (self.poller(poller)?, self.number(name)?);
            poller.stands_for(number, source)?;
            let result = poller.selector.sources().and_then(|sources| sources.apply(number));
            self.declare(name, &poller)?;
            return Ok(result.unwrap_or(Err(Errno::ENOENT)));
        }
        let Applied { result, registered } = self.apply(name, source)?;
        for poller in registered {
            self.has_triggered(name, &poller)?;
        }
        Ok(result)
    }

    /// Changes the state of a source in each poller that has it registered.
    fn apply(&mut self, name: &str, source: Source) -> Result<Applied, Stopped> {
        self.actor(name)?.source = Some(source);
        let number = self.number(name)?;
        let of_threads = self.threads.values().chain(&self.waiters).map(|waiter| &waiter.poller);
        let mut pollers: Vec<Arc<FencedPoller>> = Vec::new();
        for poller in self.pollers.values().chain(of_threads) {
            if !pollers.iter().any(|known| Arc::ptr_eq(known, poller)) {
                pollers.push(Arc::clone(poller));
            }
        }
        let (mut all, mut registered) = (Ok(()), Vec::new());
        for poller in pollers {
            let Some(sources) = poller.selector.sources() else { continue };
            poller.stands_for(number, source)?;
            if let Some(result) = sources.apply(number) {
                all = all.and(result);
                registered.push(poller);
            }
        }
        Ok(Applied { result: all, registered })
    }
}
