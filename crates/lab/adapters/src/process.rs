//! An adapter as a poller: a program that reads commands as lines of JSON from its standard input, and writes
//! answers to its standard output.
//!
//! The protocol is docs/adapters.md. Standard input is a UNIX socket, because it has to carry the descriptors
//! under test. One command is outstanding at a time; only a wake-up may be sent during a wait.

mod acts;
mod conversation;
mod ending;
mod lease;
mod messages;
#[cfg(test)]
mod session;
mod wire;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metadata::{Mode, Transport};
use nix::errno::Errno;
use selector::{
    Acts, Capabilities, Changed, Column, Event, Failure, Interest, MakeSelector, Record, Refusal, Selector,
    Token, Unsupported, View,
};

pub(crate) use self::conversation::{AdapterError, Conversation, StartError};
use self::lease::Lease;
pub use self::messages::show_messages;
pub use self::wire::PROTOCOL;
use self::wire::WireEvent;
pub(crate) use self::wire::{Answer, Command, Hello};
use crate::{errno, views};

/// The time for an adapter to start, and for each answer except that of a wait, on a machine of normal speed.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Returns a function that starts the adapter of this command line. `patience` is the time for each answer:
/// [`PATIENCE`], or more on a slow machine. This process keeps the function until it ends.
pub fn process(command_line: Vec<String>, patience: Duration) -> MakeSelector {
    Box::leak(Box::new(move || start(&command_line, patience)))
}

/// Starts an adapter. `patience` is the time for each answer.
pub(crate) fn start(command_line: &[String], patience: Duration) -> io::Result<Box<dyn Selector>> {
    if let Some(lease) = Lease::again(command_line, patience) {
        return Ok(Box::new(lease));
    }
    match Conversation::begin(command_line, PATIENCE.max(patience)) {
        Ok((conversation, hello)) => {
            let process = Process::new(conversation, hello, patience);
            Ok(Box::new(Lease::new(command_line, process)))
        }
        Err(StartError::Unsupported(reason)) => Err(io::Error::new(io::ErrorKind::Unsupported, reason)),
        // A limit of this process, not of the adapter: callers know these errors.
        Err(StartError::Failed(AdapterError::Start { source, .. }))
            if matches!(source.raw_os_error().map(Errno::from_raw), Some(Errno::EMFILE | Errno::ENFILE)) =>
        {
            Err(source)
        }
        Err(StartError::Failed(error)) => Err(io::Error::other(error)),
    }
}

/// The lowest number that a copy can be made to have. Lower ones may belong to the adapter.
pub(crate) const LOWEST_NUMBER: RawFd = 100;

/// The reason why a command cannot be sent during a wait.
const ONE_COMMAND: &str = "an adapter gets no command but wake while it waits";

struct Process {
    id: i32,
    name: String,
    version: String,
    modes: Vec<Mode>,
    column: Column,
    wakes: bool,
    resets: bool,
    limits_room: bool,
    /// The time of the poller's calls since it was asked for, if the adapter measures them.
    spent: Option<Mutex<Duration>>,
    /// The kinds of descriptors that the adapter makes itself.
    acts: Vec<Transport>,
    /// Whether copies have the numbers of this process.
    numbers: bool,
    patience: Duration,
    /// Locked while an answer is outstanding.
    conversation: Mutex<Conversation>,
    /// The numbers that the adapter has received, or the names of those that it has made, and whether its
    /// copy is open.
    copies: Mutex<BTreeMap<RawFd, bool>>,
    /// The standard input of the adapter, for a wake-up while an answer is outstanding.
    commands: Arc<UnixStream>,
    /// Locked only briefly. The commands of a wait and of a wake-up are sent under this lock, so they arrive
    /// in its order.
    wait: Mutex<WaitState>,
    failure: Mutex<Option<Failure>>,
}

#[derive(Default)]
struct WaitState {
    in_progress: bool,
    /// There is a wake-up that no wait has seen.
    woken: bool,
    /// The number of wake-ups that were sent during the current wait. Each has an answer after that of the
    /// wait.
    sent: usize,
}

impl Process {
    fn new(conversation: Conversation, hello: Hello, patience: Duration) -> Self {
        Self {
            id: conversation.id(),
            name: hello.name,
            version: hello.version,
            modes: hello.modes.into_iter().map(Mode::from).collect(),
            column: Column { over: hello.over, words: hello.words },
            wakes: hello.wake,
            resets: hello.reset,
            limits_room: hello.room,
            spent: hello.times.then(Mutex::default),
            numbers: hello.numbers,
            acts: hello.acts.into_iter().map(Transport::from).collect(),
            patience,
            commands: conversation.commands(),
            conversation: Mutex::new(conversation),
            copies: Mutex::default(),
            wait: Mutex::default(),
            failure: Mutex::default(),
        }
    }

    /// Locks the conversation for a command. `None`: the adapter has failed.
    ///
    /// # Errors
    /// A wait is in progress.
    fn between_commands(&self) -> Result<Option<MutexGuard<'_, Conversation>>, Unsupported> {
        if lock(&self.wait).in_progress {
            return Err(Unsupported(ONE_COMMAND.into()));
        }
        let conversation = lock(&self.conversation);
        Ok((!self.has_failed()).then_some(conversation))
    }

    /// Sends a command that changes something. Sends the descriptor `fd` first, unless the adapter has an
    /// open copy.
    fn change(&self, fd: Option<RawFd>, command: &Command) -> Changed {
        let mut conversation = match self.between_commands() {
            Err(unsupported) => return Changed::Unsupported(unsupported),
            Ok(None) => return Changed::refused(Errno::EPROTO),
            Ok(Some(conversation)) => conversation,
        };
        if let Some(fd) = fd.filter(|fd| !self.has_copy(*fd))
            && let Err(refused) = self.take(&mut conversation, fd)
        {
            return refused;
        }
        let answer = conversation.request(command, self.patience);
        self.spend(&conversation);
        self.changed(&conversation, answer)
    }

    /// Adds the time of the last answer. That of a `take` is no part of a poller's call.
    fn spend(&self, conversation: &Conversation) {
        if let (Some(spent), Some(took)) = (&self.spent, conversation.took()) {
            *lock(spent) += took;
        }
    }

    /// Sends a copy of a descriptor. The error is the answer to the change that needs it.
    fn take(&self, conversation: &mut Conversation, fd: RawFd) -> Result<(), Changed> {
        let is_known = lock(&self.copies).contains_key(&fd);
        if !self.acts.is_empty() {
            let reason = format!("{} makes the descriptors under test itself", self.name);
            return if is_known { Ok(()) } else { Err(Changed::unsupported(reason)) };
        }
        let at = Some(fd).filter(|fd| self.numbers && *fd >= LOWEST_NUMBER);
        // A copy gets the lowest free number of the adapter. That of a closed copy must stay free, because
        // the poller can have a registration of it: other copies take it until this one has a number of its
        // own.
        let closed = lock(&self.copies).values().filter(|is_open| !**is_open).count();
        let fillers = if at.is_some() || is_known { 0 } else { closed };
        let fillers: Vec<RawFd> = (0..=RawFd::MAX).rev().take(fillers).collect();
        let names = fillers.iter().map(|name| (*name, None)).chain([(fd, at)]);
        let taken = names.into_iter().try_for_each(|name| self.hand_over(conversation, fd, name));
        for name in fillers {
            if lock(&self.copies).remove(&name).is_none() {
                break; // It was refused.
            }
            let answer = conversation.request(&Command::Closed { fd: name }, self.patience);
            if self.changed(conversation, answer) != Changed::Done {
                return Err(self.fail(AdapterError::NotClosed { fd: name }));
            }
        }
        taken
    }

    /// Sends a copy of `fd` under a name, and for the number `at` in the adapter.
    fn hand_over(
        &self,
        conversation: &mut Conversation,
        fd: RawFd,
        (name, at): (RawFd, Option<RawFd>),
    ) -> Result<(), Changed> {
        match conversation.send_descriptor_with(fd, &Command::Take { fd: name, at }.to_string()) {
            // The number is closed in both processes. A scenario may record the poller's answer for it.
            Ok(Err(Errno::EBADF)) if lock(&self.copies).contains_key(&fd) => Ok(()),
            Ok(Err(errno)) => {
                let reason = format!("descriptor {fd} cannot be sent to another process: {errno:?}");
                Err(Changed::unsupported(reason))
            }
            Ok(Ok(())) => {
                let answer = conversation.receive(self.patience);
                match self.changed(conversation, answer) {
                    Changed::Done => {
                        lock(&self.copies).insert(name, true);
                        Ok(())
                    }
                    // The poller has not seen the descriptor: this is not its answer.
                    Changed::Refused(refusals) if !self.has_failed() => {
                        let errno = first_errno(&refusals);
                        let reason = format!("the adapter cannot take descriptor {fd}: {errno:?}");
                        Err(Changed::unsupported(reason))
                    }
                    refused => Err(refused),
                }
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Returns whether the adapter has an open copy of the descriptor.
    fn has_copy(&self, fd: RawFd) -> bool {
        lock(&self.copies).get(&fd) == Some(&true)
    }

    /// Converts the answer to a command that is not a wait.
    fn changed(&self, conversation: &Conversation, answer: Result<Answer, AdapterError>) -> Changed {
        match answer {
            Ok(Answer::Ok {}) => Changed::Done,
            Ok(Answer::Errno(name)) => match errno::named(&name) {
                Some(errno) => Changed::refused(errno),
                None => self.reject(conversation, &AdapterError::UnknownErrno { name }),
            },
            Ok(Answer::Unsupported(reason)) => Changed::Unsupported(Unsupported(reason)),
            Ok(Answer::Unknown(command)) => {
                Changed::unsupported(format!("the adapter does not know {command}"))
            }
            Ok(other) => self.reject(conversation, &AdapterError::WrongAnswer { answer: other.to_string() }),
            Err(error) => self.fail(error),
        }
    }

    /// Records a failure. Only the first one is kept, because the others are its consequences.
    fn fail(&self, error: AdapterError) -> Changed {
        let (reason, answer) = (error.to_string(), error.into_answer());
        lock(&self.failure).get_or_insert(Failure { reason, answer });
        Changed::refused(Errno::EPROTO)
    }

    /// Records that the last line is not a valid answer.
    fn reject(&self, conversation: &Conversation, error: &AdapterError) -> Changed {
        let reason = format!("{}: {error}", conversation.last_line());
        lock(&self.failure).get_or_insert(Failure { reason, answer: None });
        Changed::refused(Errno::EPROTO)
    }

    /// Returns the adapter to its state after `hello`, if it can. It has no copy of a descriptor then.
    fn reset(&self) -> bool {
        let is_reset = self.resets && self.change(None, &Command::Reset {}) == Changed::Done;
        lock(&self.copies).clear();
        *lock(&self.wait) = WaitState::default();
        is_reset
    }

    fn has_failed(&self) -> bool {
        lock(&self.failure).is_some()
    }

    /// Converts an event of the adapter.
    fn event(&self, WireEvent { token, says }: WireEvent) -> Result<Event, AdapterError> {
        let is_valid = |word: &str| {
            !word.is_empty() && !word.contains(|letter: char| letter.is_whitespace() || letter == '|')
        };
        for word in &says {
            if !is_valid(word) {
                return Err(AdapterError::InvalidWord { word: word.clone() });
            }
            // An error without a name is its number.
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            if let Some(word) = self.column.undeclared(word).filter(|_| !is_number) {
                return Err(AdapterError::UndeclaredWord { name: self.name.clone(), word: word.to_owned() });
            }
        }
        match token.parse() {
            Ok(token) => Ok(Event { token, record: Record::Names(says) }),
            Err(_) => Err(AdapterError::UnknownToken { token }),
        }
    }

    /// Converts the answer to a wait.
    fn waited(
        &self,
        conversation: &Conversation,
        answer: Result<Answer, AdapterError>,
        room: usize,
    ) -> Result<Vec<Event>, Errno> {
        match answer {
            Ok(Answer::Events(events)) if events.len() > room && self.limits_room => {
                self.reject(conversation, &AdapterError::TooMany { events: events.len(), room });
                Err(Errno::EPROTO)
            }
            Ok(Answer::Events(events)) => {
                let events: Result<Vec<_>, AdapterError> =
                    events.into_iter().map(|event| self.event(event)).collect();
                events.map_err(|error| {
                    self.reject(conversation, &error);
                    Errno::EPROTO
                })
            }
            other => match self.changed(conversation, other) {
                Changed::Refused(refusals) => Err(first_errno(&refusals)),
                Changed::Done => {
                    let error = AdapterError::WrongAnswer { answer: Answer::Ok {}.to_string() };
                    self.reject(conversation, &error);
                    Err(Errno::EPROTO)
                }
                Changed::Unsupported(Unsupported(reason)) => {
                    self.reject(conversation, &AdapterError::CannotWait { reason });
                    Err(Errno::EPROTO)
                }
            },
        }
    }
}

/// Its methods are those of the process: see [`lease`].
impl Selector for Lease {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> Option<String> {
        Some(self.version.clone())
    }

    fn column(&self) -> Column {
        self.column.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            modes: self.modes.clone(),
            shared_wait: Err("an adapter gets one command at a time"),
            changes_seen_by_waiters: Err(ONE_COMMAND),
            own_numbers: match self.numbers {
                true => Ok(()),
                false => Err("descriptors have other numbers in the process of an adapter"),
            },
            raw_records: false,
        }
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if self.modes.contains(&mode) { views::views(&self.name) } else { &[] }
    }

    fn add(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.change(Some(fd), &Command::add(fd, token, interest, mode))
    }

    fn modify(&self, fd: RawFd, token: Token, interest: Interest, mode: Mode) -> Changed {
        self.change(Some(fd), &Command::modify(fd, token, interest, mode))
    }

    fn remove(&self, fd: RawFd) -> Changed {
        self.change(Some(fd), &Command::Remove { fd })
    }

    fn limits_room(&self) -> Result<(), Unsupported> {
        let why = || Unsupported(format!("{} has no limit for the events of a wait", self.name));
        if self.limits_room { Ok(()) } else { Err(why()) }
    }

    /// A second thread begins its wait after the wait of the first one.
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let mut conversation = lock(&self.conversation);
        if self.has_failed() {
            return Err(Errno::EPROTO);
        }
        let (sent, limit) = {
            let mut wait = lock(&self.wait);
            let timeout = if std::mem::take(&mut wait.woken) { Some(Duration::ZERO) } else { timeout };
            wait.in_progress = true;
            let sent = conversation.send(&Command::wait(room, timeout));
            (sent, timeout.map(|timeout| timeout.saturating_add(self.patience)))
        };
        let answer = sent.and_then(|()| conversation.receive_within(limit));
        self.spend(&conversation);
        let wake_ups = {
            let mut wait = lock(&self.wait);
            wait.in_progress = false;
            std::mem::take(&mut wait.sent)
        };
        let events = self.waited(&conversation, answer, room);
        for _ in 0..wake_ups {
            if self.has_failed() {
                return Err(Errno::EPROTO);
            }
            let answer = conversation.receive(self.patience);
            if self.changed(&conversation, answer) != Changed::Done {
                self.fail(AdapterError::NoWake);
            }
        }
        events
    }

    fn wake(&self) -> Result<(), Unsupported> {
        if !self.wakes {
            return Err(Unsupported(format!("{} does not declare wake", self.name)));
        }
        let mut wait = lock(&self.wait);
        if !wait.in_progress {
            wait.woken = true;
        } else if wait.sent == 0 {
            // An error means that the program has ended: the wait in progress reports it.
            wait.sent = usize::from(conversation::send_command(&self.commands, &Command::Wake {}).is_ok());
        }
        Ok(())
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        match self.change(None, &Command::Close { fd: None }) {
            Changed::Done => Ok(Ok(())),
            Changed::Refused(refusals) => Ok(Err(first_errno(&refusals))),
            Changed::Unsupported(unsupported) => Err(unsupported),
        }
    }

    fn closed(&self, fd: RawFd) -> Result<(), Unsupported> {
        if !self.has_copy(fd) {
            return Ok(());
        }
        match self.change(None, &Command::Closed { fd }) {
            Changed::Done => {
                lock(&self.copies).insert(fd, false);
                Ok(())
            }
            Changed::Unsupported(unsupported) => Err(unsupported),
            Changed::Refused(_) => {
                self.fail(AdapterError::NotClosed { fd });
                Ok(())
            }
        }
    }

    fn opened(&self, fd: RawFd) -> Result<(), Unsupported> {
        if self.has_copy(fd) {
            return Ok(());
        }
        if self.numbers && fd < LOWEST_NUMBER {
            return Err(Unsupported(format!("the adapter itself may have the number {fd}")));
        }
        let Some(mut conversation) = self.between_commands()? else { return Ok(()) };
        match self.take(&mut conversation, fd) {
            Err(Changed::Unsupported(unsupported)) => Err(unsupported),
            // A failure is reported as such.
            _ => Ok(()),
        }
    }

    fn actor(&self) -> Option<&dyn Acts> {
        if self.acts.is_empty() { None } else { Some(&**self) }
    }

    fn process(&self) -> Option<i32> {
        Some(self.id)
    }

    fn spent(&self) -> Option<Duration> {
        self.spent.as_ref().map(|spent| std::mem::take(&mut *lock(spent)))
    }

    fn failure(&self) -> Option<Failure> {
        lock(&self.failure).clone()
    }
}

/// Returns the error of a refused change. An adapter names one.
fn first_errno(refusals: &[Refusal]) -> Errno {
    refusals.first().map_or(Errno::EPROTO, |first| first.errno)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, AsRawFd};
    use std::thread;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    use super::*;
    use crate::testing::lacks;

    fn begun(command_line: &[String], patience: Duration) -> Lease {
        let (conversation, hello) = Conversation::begin(command_line, PATIENCE).unwrap();
        Lease::new(command_line, Process::new(conversation, hello, patience))
    }

    /// Starts the example, if Python is installed.
    fn started() -> Option<Lease> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../adapters/python/adapter.py");
        (!lacks("python3")).then(|| begun(&["python3", path, "poll"].map(String::from), PATIENCE))
    }

    fn add(adapter: &Lease, fd: RawFd) -> Changed {
        adapter.add(fd, 1, Interest::READ, Mode::Level)
    }

    /// A command is not deferred to the end of the wait, because the wait may have no limit.
    #[test]
    fn an_adapter_gets_no_command_while_it_waits() {
        let Some(adapter) = started() else { return };
        let (reader, _writer) = io::pipe().unwrap();
        assert_eq!(add(&adapter, reader.as_raw_fd()), Changed::Done);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| adapter.wait(8, None));
            while !lock(&adapter.wait).in_progress {
                thread::yield_now();
            }
            assert!(matches!(add(&adapter, reader.as_raw_fd()), Changed::Unsupported(_)));
            assert!(matches!(adapter.remove(reader.as_raw_fd()), Changed::Unsupported(_)));
            assert!(adapter.close().is_err());
            // A copy that stays open would make every later answer wrong. For a number without a copy there
            // is no command.
            assert!(adapter.closed(reader.as_raw_fd()).is_err());
            assert_eq!(adapter.closed(999_999), Ok(()));
            adapter.wake().unwrap();
            assert_eq!(waiting.join().unwrap(), Ok(vec![]));
            assert_eq!(adapter.failure(), None);
        });
    }

    #[test]
    fn a_number_that_is_closed_in_both_processes_can_be_registered() {
        let Some(adapter) = started() else { return };
        let (reader, _writer) = io::pipe().unwrap();
        let fd = reader.as_raw_fd();
        assert_eq!(
            add(&adapter, 999_999),
            Changed::unsupported("descriptor 999999 cannot be sent to another process: EBADF")
        );
        assert_eq!(add(&adapter, fd), Changed::Done);
        drop(reader);
        adapter.closed(fd).unwrap();
        let events = adapter.wait(8, Some(Duration::ZERO)).unwrap();
        assert_eq!(events, [Event { token: 1, record: Record::Names(vec!["NVAL".into()]) }]);
        assert_eq!(adapter.remove(fd), Changed::Done);
        assert_eq!(adapter.remove(fd), Changed::refused(Errno::ENOENT));
        assert_eq!(adapter.failure(), None);
    }

    /// A copy that only fills the number of a closed one would stay, and the poller would report about it.
    #[test]
    fn a_refused_copy_leaves_the_number_of_a_closed_one_free() {
        if lacks("python3") {
            return;
        }
        let bad = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad_adapter.py");
        let command_line = ["python3", bad, "takes-three", "poll"].map(String::from);
        let adapter = begun(&command_line, PATIENCE);
        let [(first, _first), (second, _second), (third, mut writer)] = [(); 3].map(|()| io::pipe().unwrap());
        assert_eq!(add(&adapter, first.as_raw_fd()), Changed::Done);
        assert_eq!(add(&adapter, second.as_raw_fd()), Changed::Done);
        adapter.closed(first.as_raw_fd()).unwrap();
        io::Write::write_all(&mut writer, b"x").unwrap();
        let fd = third.as_raw_fd();
        let refused = Changed::unsupported(format!("the adapter cannot take descriptor {fd}: EMFILE"));
        assert_eq!(add(&adapter, fd), refused);
        let events = adapter.wait(8, Some(Duration::ZERO)).unwrap();
        assert_eq!(events, [Event { token: 1, record: Record::Names(vec!["NVAL".into()]) }]);
        assert_eq!(adapter.failure(), None);
    }

    /// Lower numbers may be those of the adapter's own descriptors.
    #[test]
    fn a_copy_has_the_same_number_if_it_is_large_enough() {
        let Some(adapter) = started() else { return };
        assert_eq!(adapter.capabilities().own_numbers, Ok(()));
        let (reader, _writer) = io::pipe().unwrap();
        assert!(adapter.opened(LOWEST_NUMBER - 1).is_err());
        let high = nix::fcntl::fcntl(&reader, nix::fcntl::FcntlArg::F_DUPFD_CLOEXEC(LOWEST_NUMBER)).unwrap();
        assert_eq!(adapter.opened(high), Ok(()));
        #[cfg(target_os = "linux")]
        assert!(std::fs::read_link(format!("/proc/{}/fd/{high}", adapter.id)).is_ok());
        assert_eq!(adapter.closed(high), Ok(()));
        #[cfg(target_os = "linux")]
        assert!(std::fs::read_link(format!("/proc/{}/fd/{high}", adapter.id)).is_err());
        nix::unistd::close(high).unwrap();
        assert_eq!(adapter.failure(), None);
    }

    /// An adapter that resets is used again, without the registrations and the copies of its last poller.
    /// Another one ends.
    #[test]
    fn a_program_that_resets_serves_several_pollers() {
        if lacks("python3") {
            return;
        }
        let bad = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad_adapter.py");
        for (mistake, again) in [("none", true), ("featureless", false)] {
            let command_line = ["python3", bad, mistake, "poll"].map(String::from);
            let (reader, mut writer) = io::pipe().unwrap();
            io::Write::write_all(&mut writer, b"x").unwrap();
            let first = start(&command_line, PATIENCE).unwrap();
            let id = first.process();
            assert_eq!(first.add(reader.as_raw_fd(), 1, Interest::READ, Mode::Level), Changed::Done);
            let meanwhile = start(&command_line, PATIENCE).unwrap();
            assert_ne!(meanwhile.process(), id, "it is in use");
            drop(first);
            let second = start(&command_line, PATIENCE).unwrap();
            assert_eq!(second.process() == id, again, "{mistake}");
            assert_eq!(second.wait(8, Some(Duration::ZERO)), Ok(vec![]), "{mistake}");
            drop(reader);
            // A child that another test starts has copies of all descriptors until it executes its program.
            let mut end = [PollFd::new(writer.as_fd(), PollFlags::empty())];
            let patience = PollTimeout::try_from(PATIENCE).unwrap();
            assert_eq!(poll(&mut end, patience), Ok(1), "{mistake}: a copy is open");
        }
    }

    /// The first failure is kept; later ones are its consequences.
    #[test]
    fn an_adapter_gets_no_command_after_a_failure() {
        let Some(adapter) = started() else { return };
        let (reader, _writer) = io::pipe().unwrap();
        lock(&adapter.conversation).end(PATIENCE);
        let refused = Changed::refused(Errno::EPROTO);
        assert_eq!(add(&adapter, reader.as_raw_fd()), refused);
        let failure = adapter.failure().unwrap();
        let expected = r#"the program ended (exit status: 0) without an answer to {"take":"#;
        assert!(failure.reason.starts_with(expected), "{failure}");
        assert_eq!(written(&failure).as_deref(), Some("exits(0)"));
        assert_eq!(adapter.wait(8, None), Err(Errno::EPROTO));
        assert_eq!(adapter.modify(reader.as_raw_fd(), 1, Interest::READ, Mode::Level), refused);
        assert_eq!(adapter.failure(), Some(failure));
    }

    fn written(failure: &Failure) -> Option<String> {
        failure.answer.as_ref().map(ToString::to_string)
    }

    /// Returns the failure of an adapter of two lines of shell: it answers `hello`, and does `then` at the
    /// next command.
    fn failure_of(then: &str) -> Failure {
        let hello = r#"{"hello":{"protocol":1,"name":"sh","version":"1","modes":["level"],"words":{"IN":"readable"}}}"#;
        let script = format!("read line; echo '{hello}'; read line; {then}");
        let command_line = ["sh", "-c", &script].map(String::from);
        let adapter = begun(&command_line, Duration::from_secs(2));
        assert_eq!(adapter.wait(8, Some(Duration::ZERO)), Err(Errno::EPROTO));
        adapter.failure().unwrap()
    }

    #[test]
    fn the_end_of_a_program_by_itself_is_its_answer() {
        for (then, expected) in [
            ("exit 3", Some("exits(3)")),
            ("kill -ABRT $$", Some("aborts(SIGABRT)")),
            ("kill -SEGV $$", Some("aborts(SIGSEGV)")),
            ("kill -KILL $$", None),
            ("exec >&-; read line", None),
        ] {
            let failure = failure_of(then);
            assert!(failure.reason.contains(r#"without an answer to {"wait":"#), "{failure}");
            assert_eq!(written(&failure).as_deref(), expected, "{failure}");
        }
    }

    /// A program that sleeps has lost the command, or the adapter has.
    #[test]
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    fn an_endless_loop_is_an_answer_and_a_long_sleep_is_none() {
        let spins = failure_of("while :; do :; done");
        assert_eq!(written(&spins).as_deref(), Some("spins"), "{spins}");
        assert!(spins.reason.ends_with("within 2 s, and the program computes"), "{spins}");
        let sleeps = failure_of("read line");
        assert_eq!(sleeps.answer, None, "{sleeps}");
        assert!(sleeps.reason.ends_with("within 2 s"), "{sleeps}");
    }
}
