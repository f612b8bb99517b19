//! A program of any language as a poller: commands as lines of JSON to its standard input, answers from its standard
//! output.
//!
//! The protocol is docs/subjects.md. Standard input is a UNIX socket, because the descriptors under test have to get
//! there. The program is asked one thing at a time; only a wake-up may come while it waits.

mod conversation;
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

use metadata::Mode;
use nix::errno::Errno;
use selector::{
    Capabilities, Changed, Event, Interest, MakeSelector, Record, Selector, Token, Unsupported, View,
};

pub(crate) use self::conversation::{Conversation, Fault, Start};
pub use self::messages::show_messages;
pub(crate) use self::wire::{Answer, Command};
use self::wire::{Hello, Words};
pub use self::wire::{PROTOCOL, schema};
use crate::{column, errno};

/// How long a subject may take to start, and to answer what is no wait, on a machine of ordinary speed.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How the subject is made that this command line starts. What it answers slower than with this patience is no answer:
/// [`PATIENCE`], and more on a slow machine. Kept for the life of this process.
pub fn process(command_line: Vec<String>, patience: Duration) -> MakeSelector {
    Box::leak(Box::new(move || start(&command_line, patience)))
}

/// Starts the subject. What it answers slower than with this patience is no answer.
pub(crate) fn start(command_line: &[String], patience: Duration) -> io::Result<Box<dyn Selector>> {
    match Conversation::begin(command_line, PATIENCE.max(patience)) {
        Ok((conversation, hello)) => Ok(Box::new(Process::new(conversation, hello, patience))),
        Err(Start::Unsupported(reason)) => Err(io::Error::new(io::ErrorKind::Unsupported, reason)),
        Err(Start::Broken(fault)) => Err(io::Error::other(fault)),
    }
}

struct Process {
    id: i32,
    name: String,
    modes: Vec<Mode>,
    wakes: bool,
    patience: Duration,
    /// Held while an answer is outstanding.
    conversation: Mutex<Conversation>,
    /// The numbers that it knows, and whether its copy is open.
    taken: Mutex<BTreeMap<RawFd, bool>>,
    /// The conversation's, for what is said while an answer is outstanding.
    commands: Arc<UnixStream>,
    /// Locked for moments only. A wait's command is sent under it, and so is a wake-up's: they arrive in this order.
    wait: Mutex<Waiting>,
    failure: Mutex<Option<String>>,
}

#[derive(Default)]
struct Waiting {
    in_progress: bool,
    /// A wake-up that no wait has seen.
    woken: bool,
    /// How many wake-ups the current wait was sent: each has an answer after the wait's.
    sent: usize,
}

impl Process {
    fn new(conversation: Conversation, hello: Hello, patience: Duration) -> Self {
        Self {
            id: conversation.id(),
            name: hello.name,
            modes: hello.modes.into_iter().map(Mode::from).collect(),
            wakes: hello.wake,
            patience,
            commands: conversation.commands(),
            conversation: Mutex::new(conversation),
            taken: Mutex::default(),
            wait: Mutex::default(),
            failure: Mutex::default(),
        }
    }

    /// Asks for a change. A descriptor that is named is given first, unless it has it.
    fn change(&self, names: Option<RawFd>, command: &Command) -> Changed {
        if lock(&self.wait).in_progress {
            return Changed::unsupported("a subject in another process is told nothing while it waits");
        }
        let mut conversation = lock(&self.conversation);
        if self.has_failed() {
            return Changed::refused(Errno::EPROTO);
        }
        if let Some(fd) = names.filter(|fd| !self.has(*fd)) {
            match conversation.give(fd) {
                // It is closed here and there: what a poller says of such a number is a question of its own.
                Ok(Err(Errno::EBADF)) if lock(&self.taken).contains_key(&fd) => {}
                Ok(Err(errno)) => {
                    let why = format!("descriptor {fd} cannot be given to another process: {errno:?}");
                    return Changed::unsupported(why);
                }
                Ok(Ok(())) => {
                    let answer = conversation.answer(self.patience);
                    match self.answered(&conversation, answer) {
                        Changed::Done => drop(lock(&self.taken).insert(fd, true)),
                        refused => return refused,
                    }
                }
                Err(fault) => return self.fail(fault),
            }
        }
        let answer = conversation.ask(command, self.patience);
        self.answered(&conversation, answer)
    }

    /// Its copy is open.
    fn has(&self, fd: RawFd) -> bool {
        lock(&self.taken).get(&fd) == Some(&true)
    }

    fn answered(&self, conversation: &Conversation, answer: Result<Answer, Fault>) -> Changed {
        match answer {
            Ok(Answer::Ok {}) => Changed::Done,
            Ok(Answer::Errno(name)) => match errno::named(&name) {
                Some(errno) => Changed::refused(errno),
                None => self.flaw(conversation, &Fault::NoErrno { name }),
            },
            Ok(Answer::Unsupported(reason)) => Changed::Unsupported(Unsupported(reason)),
            Ok(Answer::Unknown(command)) => Changed::unsupported(format!("it does not know {command}")),
            Ok(other) => self.flaw(conversation, &Fault::Unfit { answer: other.to_string() }),
            Err(fault) => self.fail(fault),
        }
    }

    fn fail(&self, fault: Fault) -> Changed {
        // What came after the first is its consequence.
        lock(&self.failure).get_or_insert_with(|| fault.to_string());
        Changed::refused(Errno::EPROTO)
    }

    /// What it said last cannot be.
    fn flaw(&self, conversation: &Conversation, fault: &Fault) -> Changed {
        lock(&self.failure).get_or_insert_with(|| format!("{}: {fault}", conversation.last_line()));
        Changed::refused(Errno::EPROTO)
    }

    fn has_failed(&self) -> bool {
        lock(&self.failure).is_some()
    }

    fn waited(
        &self,
        conversation: &Conversation,
        answer: Result<Answer, Fault>,
        room: usize,
    ) -> Result<Vec<Event>, Errno> {
        match answer {
            Ok(Answer::Events(events)) if events.len() > room => {
                self.flaw(conversation, &Fault::TooMany { events: events.len(), room });
                Err(Errno::EPROTO)
            }
            Ok(Answer::Events(events)) => {
                let heard: Result<Vec<_>, Fault> = events.into_iter().map(heard).collect();
                heard.map_err(|fault| {
                    self.flaw(conversation, &fault);
                    Errno::EPROTO
                })
            }
            other => match self.answered(conversation, other) {
                Changed::Refused(refusals) => {
                    Err(refusals.first().map_or(Errno::EPROTO, |first| first.errno))
                }
                Changed::Done => {
                    self.flaw(conversation, &Fault::Unfit { answer: Answer::Ok {}.to_string() });
                    Err(Errno::EPROTO)
                }
                Changed::Unsupported(Unsupported(reason)) => {
                    self.flaw(conversation, &Fault::CannotWait { reason });
                    Err(Errno::EPROTO)
                }
            },
        }
    }
}

impl Selector for Process {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            modes: self.modes.clone(),
            shared_wait: Err("a subject in another process is asked one thing at a time"),
            changes_seen_by_waiters: Err("a subject in another process is told nothing while it waits"),
            own_numbers: Err("descriptors have other numbers in another process"),
            raw_records: false,
        }
    }

    fn views(&self, mode: Mode) -> &'static [View] {
        if self.modes.contains(&mode) { column::views(&self.name) } else { &[] }
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

    /// A second thread begins its wait when the first one's is over.
    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, Errno> {
        let mut conversation = lock(&self.conversation);
        if self.has_failed() {
            return Err(Errno::EPROTO);
        }
        let (sent, limit) = {
            let mut waiting = lock(&self.wait);
            let timeout = if std::mem::take(&mut waiting.woken) { Some(Duration::ZERO) } else { timeout };
            waiting.in_progress = true;
            let sent = conversation.tell(&Command::wait(room, timeout));
            (sent, timeout.map(|timeout| timeout.saturating_add(self.patience)))
        };
        let answer = sent.and_then(|()| match limit {
            Some(limit) => conversation.answer(limit),
            None => conversation.answer_at_some_time(),
        });
        let wake_ups = {
            let mut waiting = lock(&self.wait);
            waiting.in_progress = false;
            std::mem::take(&mut waiting.sent)
        };
        let events = self.waited(&conversation, answer, room);
        for _ in 0..wake_ups {
            if self.has_failed() {
                return Err(Errno::EPROTO);
            }
            let answer = conversation.answer(self.patience);
            if self.answered(&conversation, answer) != Changed::Done {
                self.fail(Fault::NoWake);
            }
        }
        events
    }

    fn wake(&self) -> Result<(), Unsupported> {
        if !self.wakes {
            return Err(Unsupported(format!("{} says that a wait of it cannot be ended", self.name)));
        }
        let mut waiting = lock(&self.wait);
        if !waiting.in_progress {
            waiting.woken = true;
        } else if waiting.sent == 0 {
            if let Err(fault) = conversation::tell(&self.commands, &Command::Wake {}) {
                let reason = fault.to_string();
                self.fail(fault);
                return Err(Unsupported(reason));
            }
            waiting.sent = 1;
        }
        Ok(())
    }

    fn close(&self) -> Result<Result<(), Errno>, Unsupported> {
        match self.change(None, &Command::Close {}) {
            Changed::Done => Ok(Ok(())),
            Changed::Refused(refusals) => {
                Ok(Err(refusals.first().map_or(Errno::EPROTO, |first| first.errno)))
            }
            Changed::Unsupported(unsupported) => Err(unsupported),
        }
    }

    fn closed(&self, fd: RawFd) -> Result<(), Unsupported> {
        if !self.has(fd) {
            return Ok(());
        }
        match self.change(None, &Command::Closed { fd }) {
            Changed::Done => {
                lock(&self.taken).insert(fd, false);
                Ok(())
            }
            Changed::Unsupported(why) => Err(why),
            Changed::Refused(_) => {
                self.fail(Fault::NotClosed { fd });
                Ok(())
            }
        }
    }

    fn process(&self) -> Option<i32> {
        Some(self.id)
    }

    fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }
}

fn heard(Words { token, says }: Words) -> Result<Event, Fault> {
    let is_word = |word: &String| {
        !word.is_empty() && !word.contains(|letter: char| letter.is_whitespace() || letter == '|')
    };
    if let Some(word) = says.iter().find(|word| !is_word(word)) {
        return Err(Fault::NoWord { word: word.clone() });
    }
    match token.parse() {
        Ok(token) => Ok(Event { token, record: Record::Names(says) }),
        Err(_) => Err(Fault::NoToken { token }),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::thread;

    use super::*;
    use crate::testing::lacks;

    fn adapter(poller: &str) -> Process {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects/python/adapter.py");
        let command_line = ["python3", path, poller].map(String::from);
        let (conversation, hello) = Conversation::begin(&command_line, PATIENCE).unwrap();
        Process::new(conversation, hello, PATIENCE)
    }

    fn add(subject: &Process, fd: RawFd) -> Changed {
        subject.add(fd, 1, Interest::READ, Mode::Level)
    }

    /// Not deferred to the end of a wait that may have none.
    #[test]
    fn it_is_told_nothing_while_it_waits() {
        if lacks("python3") {
            return;
        }
        let subject = adapter("poll");
        let (reader, _writer) = io::pipe().unwrap();
        assert_eq!(add(&subject, reader.as_raw_fd()), Changed::Done);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| subject.wait(8, None));
            while !lock(&subject.wait).in_progress {
                thread::yield_now();
            }
            assert!(matches!(add(&subject, reader.as_raw_fd()), Changed::Unsupported(_)));
            assert!(matches!(subject.remove(reader.as_raw_fd()), Changed::Unsupported(_)));
            assert!(subject.close().is_err());
            // A copy that nobody closes would be a lie about every later answer. Of another one there is nothing to tell.
            assert!(subject.closed(reader.as_raw_fd()).is_err());
            assert_eq!(subject.closed(999_999), Ok(()));
            subject.wake().unwrap();
            assert_eq!(waiting.join().unwrap(), Ok(vec![]));
            assert_eq!(subject.failure(), None);
        });
    }

    #[test]
    fn what_is_closed_here_and_there_is_still_a_question() {
        if lacks("python3") {
            return;
        }
        let subject = adapter("poll");
        let (reader, _writer) = io::pipe().unwrap();
        let fd = reader.as_raw_fd();
        assert_eq!(
            add(&subject, 999_999),
            Changed::unsupported("descriptor 999999 cannot be given to another process: EBADF")
        );
        assert_eq!(add(&subject, fd), Changed::Done);
        drop(reader);
        subject.closed(fd).unwrap();
        let events = subject.wait(8, Some(Duration::ZERO)).unwrap();
        assert_eq!(events, [Event { token: 1, record: Record::Names(vec!["NVAL".into()]) }]);
        assert_eq!(subject.remove(fd), Changed::Done);
        assert_eq!(subject.remove(fd), Changed::refused(Errno::ENOENT));
        assert_eq!(subject.failure(), None);
    }

    /// The first reason counts; what is answered afterwards is its consequence.
    #[test]
    fn after_a_failure_nothing_is_asked_any_more() {
        if lacks("python3") {
            return;
        }
        let subject = adapter("poll");
        let (reader, _writer) = io::pipe().unwrap();
        lock(&subject.conversation).end(PATIENCE);
        let refused = Changed::refused(Errno::EPROTO);
        assert_eq!(add(&subject, reader.as_raw_fd()), refused);
        let failure = subject.failure().unwrap();
        assert!(failure.starts_with(r#"it ended (exit status: 0) with no answer to {"take":"#), "{failure}");
        assert_eq!(subject.wait(8, None), Err(Errno::EPROTO));
        assert_eq!(subject.modify(reader.as_raw_fd(), 1, Interest::READ, Mode::Level), refused);
        assert_eq!(subject.failure(), Some(failure));
    }
}
