//! A model of the state that a script brings about: which descriptors exist, what is open, connected,
//! unread, registered, and which thread waits.
//!
//! The model decides which clause can follow. Everything that makes lines uses it: drawing, changing a line
//! of the corpus, and shrinking. It is stricter than the language: a clause that it allows leaves the
//! interpreter nothing to wait for that does not come. It does not predict answers.

use std::collections::{BTreeMap, BTreeSet};

use metadata::{Mode, Transport};
use raw::verbs::{
    Action, Call, Change, ChangeKind, Clause, DescriptorKind, Direction, Name, Process, ReadExtent,
    SocketOption, WaitArguments,
};
use selector::{Interest, PollBits};

use crate::line::Line;
use crate::side::Features;

/// The greatest number of descriptors of a script.
const DESCRIPTORS: usize = 7;
/// The greatest number of threads that wait in one poller.
const THREADS: usize = 4;
/// The greatest number of bytes of a clause, except for `fills`.
const BYTES: usize = 4096;

/// Why a clause cannot follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invalid(pub &'static str);

type Allowed = Result<(), Invalid>;

/// The kind of an open file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// One end of a connection, in both directions.
    End,
    /// The reading end of a pipe.
    Reader,
    /// The writing end of a pipe.
    Writer,
    /// A socket without a connection.
    Fresh,
    /// A socket that listens.
    Listener,
    /// An eventfd.
    Counter,
    /// A timer.
    Timer,
    /// The events of a watched file.
    Watch,
    /// A queue of the system, which is a poller, too.
    Queue,
    /// Anything else: a regular file, a device.
    #[default]
    Other,
}

/// An open file. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct File {
    kind: Kind,
    partner: Option<usize>,
    /// Messages or bytes that can be read: none, one, several.
    unread: u8,
    urgent: bool,
    full: bool,
    shut_read: bool,
    shut_write: bool,
    /// The other end has reset the connection, or it is not accepted.
    was_reset: bool,
    /// A listener's connections that are not accepted yet.
    pending: u8,
    /// A socket option is set.
    has_option: bool,
    /// The watched file is removed.
    is_removed: bool,
}

impl File {
    fn new(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }
}

#[derive(Clone, Debug)]
struct Actor {
    is_open: bool,
    file: usize,
}

#[derive(Clone, Debug)]
struct Registration {
    interest: Interest,
    mode: Mode,
    /// A wait has passed since it was made or changed.
    waited: bool,
}

/// What waits.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Waiting {
    Nothing,
    Thread(Name),
    Threads,
}

/// The state after some clauses.
#[derive(Clone, Debug)]
pub struct Model {
    transport: Transport,
    mode: Mode,
    features: Features,
    actors: BTreeMap<Name, Actor>,
    files: Vec<File>,
    /// By poller and descriptor.
    registrations: BTreeMap<(Name, Name), Registration>,
    /// The numbers that a closed descriptor had and another one has now.
    taken: BTreeSet<Name>,
    waiting: Waiting,
    /// A thread has waited: effects are no longer waited for.
    has_waited: bool,
}

impl Model {
    /// Returns the state before the first clause.
    pub fn new(transport: Transport, mode: Mode, features: &Features) -> Self {
        Self {
            transport,
            mode,
            features: features.clone(),
            actors: BTreeMap::new(),
            files: Vec::new(),
            registrations: BTreeMap::new(),
            taken: BTreeSet::new(),
            waiting: Waiting::Nothing,
            has_waited: false,
        }
    }

    /// Returns whether every clause of the line can follow the ones before it.
    pub fn allows(line: &Line, features: &Features) -> bool {
        let mut model = Self::new(line.transport, line.mode, features);
        features.modes.contains(&line.mode)
            && line.clauses().iter().all(|clause| model.advance(clause).is_ok())
    }

    /// Returns the open descriptors.
    pub fn open(&self) -> Vec<&Name> {
        self.actors.iter().filter(|(_, actor)| actor.is_open).map(|(name, _)| name).collect()
    }

    /// Returns the closed descriptors whose numbers are free.
    pub fn closed(&self) -> Vec<&Name> {
        let is_free = |(name, actor): &(&Name, &Actor)| !actor.is_open && !self.taken.contains(*name);
        self.actors.iter().filter(is_free).map(|(name, _)| name).collect()
    }

    /// Returns the modes of registrations other than the one that the line has.
    pub fn other_modes(&self) -> impl Iterator<Item = Mode> {
        self.features.modes.iter().copied().filter(|mode| *mode != self.mode)
    }

    /// Returns the open queues, which are pollers.
    pub fn queues(&self) -> Vec<&Name> {
        self.open().into_iter().filter(|name| self.kind(name) == Some(Kind::Queue)).collect()
    }

    /// Returns every descriptor, open or closed.
    pub fn all(&self) -> Vec<&Name> {
        self.actors.keys().collect()
    }

    /// Returns whether a descriptor has this name.
    pub fn has(&self, name: &str) -> bool {
        self.actors.contains_key(name)
    }

    /// Returns the kind of an open file.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        self.file(name).map(|file| file.kind)
    }

    /// Returns the thread that waits.
    pub fn thread(&self) -> Option<&Name> {
        match &self.waiting {
            Waiting::Thread(name) => Some(name),
            _ => None,
        }
    }

    /// Returns whether several threads wait.
    pub fn threads_wait(&self) -> bool {
        self.waiting == Waiting::Threads
    }

    /// Returns the first of `name`, `name2`, … that no descriptor has.
    pub fn fresh_name(&self, name: &str) -> Name {
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !self.has(name)).unwrap_or_else(|| name.to_owned())
    }

    /// Returns whether the poller has a registration of the descriptor.
    pub fn is_registered(&self, poller: &str, name: &str) -> bool {
        self.registrations.contains_key(&(poller.to_owned(), name.to_owned()))
    }

    /// Returns whether the poller has any registration.
    pub fn has_registrations(&self, poller: &str) -> bool {
        self.registrations.keys().any(|(other, _)| other == poller)
    }

    /// Returns the interest of each registration of a poller, by the name in the answers.
    pub fn interests(&self, poller: &str) -> BTreeMap<&str, Interest> {
        let of = self.registrations.iter().filter(|((other, _), _)| other == poller);
        of.map(|((_, name), registration)| (name.as_str(), registration.interest)).collect()
    }

    fn file(&self, name: &str) -> Option<&File> {
        self.files.get(self.actors.get(name)?.file)
    }

    fn file_mut(&mut self, name: &str) -> Option<&mut File> {
        self.files.get_mut(self.actors.get(name)?.file)
    }

    /// Returns whether some descriptor of the file is open.
    fn is_file_open(&self, file: usize) -> bool {
        self.actors.values().any(|actor| actor.is_open && actor.file == file)
    }

    fn descriptors_of(&self, file: usize) -> usize {
        self.actors.values().filter(|actor| actor.is_open && actor.file == file).count()
    }

    /// Returns the other end, if it is open.
    fn partner(&self, name: &str) -> Option<&File> {
        let partner = self.file(name)?.partner?;
        self.files.get(partner).filter(|_| self.is_file_open(partner))
    }

    /// Advances to the state after a clause.
    ///
    /// # Errors
    /// The clause cannot follow.
    pub fn advance(&mut self, clause: &Clause) -> Allowed {
        require(clause.process == Process::Own, "children are not modelled")?;
        if self.waiting != Waiting::Nothing {
            self.allow_while_waiting(&clause.action)?;
        }
        match &clause.action {
            Action::Make(name, kind) => self.make(name, kind),
            Action::Connect(one, other) => self.connect(one, other),
            Action::Call(name, call) => {
                let makes_fact = matches!(call, Call::Closes | Call::Listens { .. });
                require(clause.is_question || makes_fact, "a call can fail: it needs a question mark")?;
                let serial = matches!(self.transport, Transport::Tcp | Transport::Udp);
                let is_over = self.has_waited && self.waiting == Waiting::Nothing;
                require(!(serial && is_over), "its effect is not waited for after a thread has waited")?;
                self.call(name, call)
            }
            Action::Change(change) => {
                require(clause.is_question, "a change can fail: it needs a question mark")?;
                self.change(change)
            }
            Action::Wait { times, room, poller } => {
                require((1..=3).contains(times), "too many waits")?;
                room.map_or(Ok(()), |room| self.allow_room(room))?;
                self.pass_wait(poller);
                Ok(())
            }
            Action::ThreadWaits { thread, arguments, poller } => {
                match arguments {
                    WaitArguments::NoTimeout => {}
                    WaitArguments::Room(room) => self.allow_room(*room)?,
                    _ => return Err(Invalid("timeouts are not modelled")),
                }
                require(self.waiting == Waiting::Nothing, "a thread waits already")?;
                require(self.has_registrations(poller), "nothing is registered")?;
                self.waiting = Waiting::Thread(thread.clone());
                self.has_waited = true;
                self.pass_wait(poller);
                Ok(())
            }
            Action::ThreadAnswers(thread) => {
                require(self.thread() == Some(thread), "this thread does not wait")?;
                self.waiting = Waiting::Nothing;
                Ok(())
            }
            Action::Waiters { alone: true, .. } => Err(Invalid("copies of a poller are not modelled")),
            Action::Waiters { count, room, poller, .. } => {
                room.map_or(Ok(()), |room| self.allow_room(room))?;
                require(self.features.shared_wait, "one thread waits in this poller")?;
                require((2..=THREADS).contains(count), "too many threads")?;
                require(self.waiting == Waiting::Nothing, "a thread waits already")?;
                require(self.has_registrations(poller), "nothing is registered")?;
                self.waiting = Waiting::Threads;
                self.has_waited = true;
                self.pass_wait(poller);
                Ok(())
            }
            Action::ThreadsAnswer => {
                require(self.threads_wait(), "no threads wait")?;
                self.waiting = Waiting::Nothing;
                Ok(())
            }
            Action::Wake { times, .. } => {
                require(self.features.wakes, "the poller has no wake-up")?;
                require(*times <= 3, "too many wake-ups")
            }
            _ => Err(Invalid("this verb is not modelled")),
        }
    }

    /// While a thread waits, the poller gets no other call unless it allows that.
    fn allow_while_waiting(&self, action: &Action) -> Allowed {
        let allowed = match action {
            Action::Call(_, Call::Closes | Call::Resets | Call::TakesNumberOf(_) | Call::Replaces(_)) => {
                self.features.same_process
            }
            Action::Call(_, call) => !call.makes() && !matches!(call, Call::Accepts(_)),
            Action::Change(_) => self.features.changes_seen_by_waiters,
            Action::ThreadAnswers(_) | Action::ThreadsAnswer => true,
            // Of several threads it wakes one or more: the first one may take it before the others look.
            Action::Wake { .. } => !self.threads_wait(),
            _ => false,
        };
        require(allowed, "a thread waits")
    }

    fn allow_room(&self, room: usize) -> Allowed {
        require(self.features.room, "this program bounds the number of events")?;
        require((1..=8).contains(&room), "not a room for some events")
    }

    fn pass_wait(&mut self, poller: &str) {
        let of = self.registrations.iter_mut().filter(|((other, _), _)| other == poller);
        of.for_each(|(_, registration)| registration.waited = true);
    }

    fn require_new(&self, name: &str) -> Allowed {
        require(!self.has(name), "the name is in use")?;
        require(self.actors.len() < DESCRIPTORS, "too many descriptors")
    }

    fn add(&mut self, name: &str, file: File) -> usize {
        self.files.push(file);
        let file = self.files.len() - 1;
        self.actors.insert(name.to_owned(), Actor { is_open: true, file });
        file
    }

    fn is_socket(&self) -> bool {
        !matches!(self.transport, Transport::Pipe | Transport::Fifo | Transport::Pty | Transport::None)
    }

    /// Returns whether connections are made by a listener.
    fn has_listeners(&self) -> bool {
        matches!(self.transport, Transport::Tcp | Transport::Unix | Transport::Seqpacket)
    }

    fn make(&mut self, name: &str, kind: &DescriptorKind) -> Allowed {
        self.require_new(name)?;
        match kind {
            DescriptorKind::Fresh => {
                require(self.is_socket(), "not a socket")?;
                self.add(name, File::new(Kind::Fresh));
            }
            DescriptorKind::Copy(of) => {
                require(self.kind(of) != Some(Kind::Queue), "a poller has one name")?;
                let original = self.actors.get(of).filter(|actor| actor.is_open);
                let file = original.ok_or(Invalid("there is nothing to copy"))?.file;
                self.actors.insert(name.to_owned(), Actor { is_open: true, file });
            }
            DescriptorKind::File { size, .. } => {
                require(*size <= BYTES, "too large")?;
                self.add(name, File { unread: u8::from(*size > 0), ..File::new(Kind::Other) });
            }
            DescriptorKind::Device(path) => {
                require(path == "/dev/null" || path == "/dev/zero", "not a device of every system")?;
                self.add(name, File::new(Kind::Other));
            }
            DescriptorKind::Directory => drop(self.add(name, File::new(Kind::Other))),
            DescriptorKind::Eventfd => drop(self.add(name, File::new(Kind::Counter))),
            DescriptorKind::Timer | DescriptorKind::WallClockTimer => {
                self.add(name, File::new(Kind::Timer));
            }
            DescriptorKind::WatchedFile => drop(self.add(name, File::new(Kind::Watch))),
            DescriptorKind::Queue => drop(self.add(name, File::new(Kind::Queue))),
            DescriptorKind::Process
            | DescriptorKind::Thread(_)
            | DescriptorKind::FirstThread(_)
            | DescriptorKind::Signal
            | DescriptorKind::Signals(_)
            | DescriptorKind::WatchedDirectory
            | DescriptorKind::Private(_)
            | DescriptorKind::UserEvent
            | DescriptorKind::Slave(_)
            | DescriptorKind::SharedMemory
            | DescriptorKind::NoDescriptor => {
                return Err(Invalid("this kind of descriptor is not modelled"));
            }
        }
        Ok(())
    }

    fn connect(&mut self, one: &str, other: &str) -> Allowed {
        require(self.transport != Transport::None, "there is no transport")?;
        self.require_new(one)?;
        self.require_new(other)?;
        require(one != other, "two ends have two names")?;
        let (here, there) = match self.transport {
            Transport::Pipe | Transport::Fifo => (Kind::Reader, Kind::Writer),
            _ => (Kind::End, Kind::End),
        };
        let a = self.add(one, File::new(here));
        let b = self.add(other, File::new(there));
        self.files[a].partner = Some(b);
        self.files[b].partner = Some(a);
        Ok(())
    }

    fn call(&mut self, name: &str, call: &Call) -> Allowed {
        if let Call::Listens { backlog: None, beside: None } = call {
            require(self.has_listeners(), "no listener")?;
            if self.has(name) {
                let kind = self.actors.get(name).filter(|actor| actor.is_open).and_then(|_| self.kind(name));
                require(kind == Some(Kind::Fresh), "not a fresh socket")?;
                self.file_mut(name).ok_or(GONE)?.kind = Kind::Listener;
            } else {
                self.require_new(name)?;
                self.add(name, File::new(Kind::Listener));
            }
            return Ok(());
        }
        if let Call::Reaches(listener) = call {
            require(self.is_open(listener) && self.kind(listener) == Some(Kind::Listener), "no listener")?;
            self.require_new(name)?;
            let pending = &mut self.file_mut(listener).ok_or(GONE)?.pending;
            require(*pending < 3, "too many connections")?;
            *pending += 1;
            // The other end exists in the kernel. No descriptor has it before accept(2).
            self.add(name, File::new(Kind::End));
            return Ok(());
        }
        if let Call::Connects(None) = call {
            require(matches!(self.transport, Transport::Tcp | Transport::Udp), "not modelled")?;
            if self.has(name) {
                require(self.is_open(name) && self.kind(name) == Some(Kind::Fresh), "not a fresh socket")?;
            } else {
                self.require_new(name)?;
                self.add(name, File::new(Kind::Fresh));
            }
            let file = self.file_mut(name).ok_or(GONE)?;
            require(!file.was_reset, "it was refused once")?;
            file.was_reset = true;
            return Ok(());
        }
        require(self.is_open(name), "it is not open")?;
        match call {
            Call::Accepts(conn) => self.accept(name, conn),
            Call::Sends(bytes) => {
                require((1..=BYTES).contains(bytes), "not a number of bytes to send")?;
                self.send(name)
            }
            Call::SendsNothing => {
                require(self.transport == Transport::UnixDgram, "not a datagram socket")?;
                self.send(name)
            }
            Call::SendsUrgent => {
                require(matches!(self.transport, Transport::Tcp | Transport::Unix), "no urgent data")?;
                let partner = self.partner(name).ok_or(Invalid("there is no other end"))?;
                require(!partner.shut_read && !partner.was_reset && !partner.urgent, "no urgent data now")?;
                let file = self.file(name).ok_or(GONE)?;
                require(!file.shut_write && !file.was_reset && !file.full, "no urgent data now")?;
                self.with_partner(name, |partner| {
                    partner.urgent = true;
                    partner.unread = 2;
                });
                Ok(())
            }
            Call::Fills(None) => {
                require(self.kind(name) != Some(Kind::Other), "nothing to fill")?;
                require(
                    matches!(self.transport, Transport::Unix | Transport::Pipe | Transport::Tcp),
                    "no stream",
                )?;
                let file = self.file(name).ok_or(GONE)?;
                require(matches!(file.kind, Kind::End | Kind::Writer), "no stream")?;
                require(self.partner(name).is_some_and(|partner| !partner.urgent), "there is no other end")?;
                self.file_mut(name).ok_or(GONE)?.full = true;
                self.with_partner(name, |partner| partner.unread = 2);
                Ok(())
            }
            Call::Reads(ReadExtent::Calls(1..=2)) => self.read(name, true),
            Call::Reads(ReadExtent::Bytes(1..=BYTES)) => self.read(name, false),
            Call::Drains => {
                // Data that a copy has read, or that were discarded, would be waited for.
                let file = self.actors.get(name).ok_or(GONE)?.file;
                require(
                    self.actors.values().filter(|actor| actor.file == file).count() == 1,
                    "it has copies",
                )?;
                let file = self.file(name).ok_or(GONE)?;
                require(matches!(file.kind, Kind::End | Kind::Reader), "nothing to drain")?;
                require(!file.was_reset && !file.shut_read && !file.urgent, "data were discarded")?;
                require(self.file(name).is_some_and(|file| file.partner.is_some()), "no other end")?;
                self.read(name, true)
            }
            Call::ReceivesUrgent => {
                require(self.is_socket(), "not a socket")?;
                self.file_mut(name).ok_or(GONE)?.urgent = false;
                Ok(())
            }
            Call::Shuts(direction) => {
                require(self.is_socket() && self.kind(name) == Some(Kind::End), "not a connection")?;
                let partner = self.partner(name).is_some();
                require(partner || self.transport != Transport::Tcp, "there is no other end")?;
                let file = self.file_mut(name).ok_or(GONE)?;
                require(!file.was_reset, "it was reset")?;
                file.shut_read |= matches!(direction, Direction::Read | Direction::Both);
                file.shut_write |= matches!(direction, Direction::Write | Direction::Both);
                Ok(())
            }
            Call::Resets => {
                require(self.transport == Transport::Tcp, "no resets")?;
                let file = self.actors.get(name).ok_or(GONE)?.file;
                require(self.descriptors_of(file) == 1, "a copy is open")?;
                let state = self.file(name).ok_or(GONE)?;
                require(!state.was_reset && !state.shut_write, "there is nothing to reset")?;
                require(self.kind(name) == Some(Kind::End) && self.partner(name).is_some(), "no connection")?;
                self.with_partner(name, |partner| partner.was_reset = true);
                self.close(name);
                Ok(())
            }
            Call::Closes => {
                self.close(name);
                Ok(())
            }
            Call::TakesNumberOf(closed) => {
                require(self.features.own_numbers, "descriptors have other numbers in the poller")?;
                require(self.kind(name) != Some(Kind::Queue), "a poller keeps its number")?;
                let is_closed = self.actors.get(closed).is_some_and(|actor| !actor.is_open);
                require(is_closed && !self.taken.contains(closed), "its number is not free")?;
                self.taken.insert(closed.clone());
                Ok(())
            }
            Call::Sets(option) => {
                require(self.is_socket(), "not a socket")?;
                match option {
                    SocketOption::RcvLowat(1..=64) | SocketOption::SndLowat(1..=64) => {}
                    SocketOption::OobInline => require(self.transport == Transport::Tcp, "no urgent data")?,
                    _ => return Err(Invalid("this option is not modelled")),
                }
                self.file_mut(name).ok_or(GONE)?.has_option = true;
                Ok(())
            }
            Call::AsksError(1..=2) => require(self.is_socket(), "not a socket"),
            Call::Peeks(None) => {
                require(matches!(self.kind(name), Some(Kind::End | Kind::Fresh)), "not a socket")?;
                require(self.is_socket(), "not a socket")
            }
            Call::Counts(_) => self.marks(name, Kind::Counter, |counter| counter.unread = 1),
            Call::Starts | Call::Stops => self.marks(name, Kind::Timer, |timer| timer.unread = 0),
            Call::Expires => self.marks(name, Kind::Timer, |timer| timer.unread = 1),
            Call::Grows(1..=BYTES) | Call::Shrinks(0..=BYTES) | Call::IsRenamed => {
                self.marks(name, Kind::Watch, |watch| watch.unread = 2)
            }
            Call::IsRemoved => self.marks(name, Kind::Watch, |watch| {
                watch.unread = 2;
                watch.is_removed = true;
            }),
            Call::Replaces(other) => self.replace(name, other),
            _ => Err(Invalid("this verb is not modelled")),
        }
    }

    /// Changes a descriptor of this kind.
    fn marks(&mut self, name: &str, kind: Kind, change: impl FnOnce(&mut File)) -> Allowed {
        let file = self.file_mut(name).ok_or(GONE)?;
        require(file.kind == kind && !file.is_removed, "this kind of descriptor has no such call")?;
        change(file);
        Ok(())
    }

    /// Puts a copy of `name` over the number of `other`.
    fn replace(&mut self, name: &str, other: &str) -> Allowed {
        require(self.features.own_numbers, "descriptors have other numbers in the poller")?;
        require(name != other && self.is_open(other), "there is nothing to replace")?;
        // Nothing waits until the end of a connection that this closes has arrived.
        let is_serial = matches!(self.transport, Transport::Tcp | Transport::Udp);
        require(!is_serial, "its effect is not waited for")?;
        let is_queue = |name| self.kind(name) == Some(Kind::Queue);
        require(!is_queue(name) && !is_queue(other), "a poller has one name")?;
        let file = self.actors.get(name).ok_or(GONE)?.file;
        self.close(other);
        self.actors.insert(other.to_owned(), Actor { is_open: true, file });
        Ok(())
    }

    fn accept(&mut self, name: &str, conn: &str) -> Allowed {
        self.require_new(conn)?;
        let file = self.file_mut(name).ok_or(GONE)?;
        require(file.kind == Kind::Listener && file.pending > 0, "there is nothing to accept")?;
        file.pending -= 1;
        // The first connection that is not accepted yet is the one that is accepted.
        let client = self.files.iter().position(|file| file.kind == Kind::End && file.partner.is_none());
        let accepted = self.add(conn, File::new(Kind::End));
        if let Some(client) = client {
            let (unread, shut) = (self.files[client].full, self.files[client].shut_write);
            self.files[client].partner = Some(accepted);
            self.files[accepted].partner = Some(client);
            self.files[accepted].unread = if unread { 2 } else { 0 };
            self.files[accepted].was_reset = false;
            self.files[client].shut_write = shut;
        }
        Ok(())
    }

    fn is_open(&self, name: &str) -> bool {
        self.actors.get(name).is_some_and(|actor| actor.is_open)
    }

    fn with_partner(&mut self, name: &str, change: impl FnOnce(&mut File)) {
        let Some(partner) = self.file(name).and_then(|file| file.partner) else { return };
        if self.is_file_open(partner) {
            change(&mut self.files[partner]);
        }
    }

    fn send(&mut self, name: &str) -> Allowed {
        let file = self.file(name).ok_or(GONE)?;
        match file.kind {
            Kind::End => {
                // Another thread of the kernel passes the data of a pseudo-terminal on, if there is a reader.
                let is_pty = self.transport == Transport::Pty;
                require(!is_pty || self.partner(name).is_some(), "its effect is not certain")?;
                // A connection that is not accepted takes data; they are not followed.
                require(file.partner.is_some() || self.transport != Transport::Tcp, "it is not accepted")?;
                let partner = self.partner(name);
                // The kernel may or may not answer with a reset.
                let reset = file.shut_write || file.was_reset || file.full;
                let is_lost = partner.is_none_or(|partner| partner.shut_read || partner.shut_write);
                let inet = matches!(self.transport, Transport::Tcp | Transport::Udp);
                require(!(inet && (reset || is_lost)), "its effect is not certain")?;
            }
            Kind::Writer | Kind::Reader | Kind::Other | Kind::Counter => {}
            Kind::Timer | Kind::Watch | Kind::Queue => return Err(Invalid("it takes no data")),
            Kind::Fresh => require(self.transport != Transport::Udp || file.was_reset, "no address")?,
            Kind::Listener => return Err(Invalid("a listener sends nothing")),
        }
        self.with_partner(name, |partner| partner.unread = (partner.unread + 1).min(2));
        Ok(())
    }

    fn read(&mut self, name: &str, everything: bool) -> Allowed {
        require(!matches!(self.kind(name), Some(Kind::Listener | Kind::Queue)), "it has no data")?;
        let file = self.file_mut(name).ok_or(GONE)?;
        file.unread = if everything { 0 } else { file.unread.saturating_sub(1) };
        if everything {
            self.with_partner(name, |partner| partner.full = false);
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        if let Some(actor) = self.actors.get_mut(name) {
            actor.is_open = false;
        }
        let Some(file) = self.actors.get(name).map(|actor| actor.file) else { return };
        // A socket that is closed with unread data resets the connection.
        if !self.is_file_open(file) && self.files[file].unread > 0 && self.transport == Transport::Tcp {
            let partner = self.files[file].partner;
            partner.into_iter().for_each(|partner| self.files[partner].was_reset = true);
        }
    }

    fn change(&mut self, change: &Change) -> Allowed {
        require(change.label.is_none(), "names of registrations are not modelled")?;
        let has_bits = change.interest.is_some_and(|interest| interest.bits != PollBits::NONE);
        require(!has_bits, "bits of poll are not modelled")?;
        require(self.has(&change.descriptor), "there is no such descriptor")?;
        if self.has(&change.poller) {
            let is_open = self.is_open(&change.poller);
            require(is_open && self.kind(&change.poller) == Some(Kind::Queue), "not a poller")?;
        }
        let mode = change.mode.unwrap_or(self.mode);
        require(self.features.modes.contains(&mode), "the poller lacks the mode")?;
        let key = (change.poller.clone(), change.descriptor.clone());
        let registration =
            Registration { interest: change.interest.unwrap_or(Interest::ALL), mode, waited: false };
        match change.kind {
            ChangeKind::Watch => return Err(Invalid("use add")),
            ChangeKind::Add => drop(self.registrations.entry(key).or_insert(registration)),
            ChangeKind::Modify => {
                if let Some(known) = self.registrations.get_mut(&key) {
                    *known = registration;
                }
            }
            ChangeKind::Disable | ChangeKind::Enable => return Err(Invalid("this verb is not modelled")),
            ChangeKind::Remove => drop(self.registrations.remove(&key)),
        }
        Ok(())
    }

    /// Describes the state in which a clause begins: the descriptors and registrations that it concerns. The
    /// number of different descriptions is bounded.
    pub fn describe(&self, clause: &Clause) -> String {
        match &clause.action {
            Action::Wait { poller, .. }
            | Action::ThreadWaits { poller, .. }
            | Action::Waiters { poller, .. }
            | Action::Wake { poller, .. } => self.describe_poller(poller),
            Action::ThreadAnswers(_) | Action::ThreadsAnswer => self.describe_poller(raw::verbs::FIRST),
            Action::Call(name, _) => self.describe_actor(name),
            Action::Change(Change { descriptor, poller, .. }) => {
                let registration = self.registrations.get(&(poller.clone(), descriptor.clone()));
                let registered = registration.map(describe_registration).unwrap_or_default();
                format!("{} {registered}", self.describe_actor(descriptor))
            }
            _ => String::new(),
        }
    }

    fn describe_poller(&self, poller: &str) -> String {
        let of = self.registrations.iter().filter(|((other, _), _)| other == poller);
        let describe = |((_, name), registration): (&(Name, Name), &Registration)| {
            format!("{} {}", self.describe_actor(name), describe_registration(registration))
        };
        // A set: a second registration in the same state is no new state.
        of.map(describe).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("; ")
    }

    fn describe_actor(&self, name: &str) -> String {
        let Some(actor) = self.actors.get(name) else { return "none".into() };
        let file = &self.files[actor.file];
        let copies = self.descriptors_of(actor.file);
        let mut out = match (actor.is_open, copies) {
            (true, 1) => describe_file(file),
            (true, _) => format!("shared {}", describe_file(file)),
            (false, 0) => "closed".into(),
            (false, _) => format!("closed, copy open {}", describe_file(file)),
        };
        if self.taken.contains(name) {
            out += ", number taken";
        }
        if let Some(partner) = file.partner {
            out += " - ";
            out += &if self.is_file_open(partner) {
                describe_file(&self.files[partner])
            } else {
                "gone".to_owned()
            };
        }
        out
    }
}

const GONE: Invalid = Invalid("there is no such descriptor");

fn require(holds: bool, why: &'static str) -> Allowed {
    if holds { Ok(()) } else { Err(Invalid(why)) }
}

fn describe_file(file: &File) -> String {
    let mut out = format!("{:?}", file.kind);
    let flags = [
        (file.unread == 1, " unread"),
        (file.unread > 1, " more unread"),
        (file.urgent, " urgent"),
        (file.full, " full"),
        (file.shut_read, " shut read"),
        (file.shut_write, " shut write"),
        (file.was_reset, " reset"),
        (file.pending > 0, " pending"),
        (file.has_option, " option"),
        (file.is_removed, " removed"),
    ];
    flags.iter().filter(|(is_set, _)| *is_set).for_each(|(_, word)| out += word);
    out
}

fn describe_registration(registration: &Registration) -> String {
    let Interest { read, write, urgent, peer_shut, bits: _ } = registration.interest;
    let letters = [(read, 'r'), (write, 'w'), (urgent, 'u'), (peer_shut, 's')];
    let letters: String = letters.iter().filter(|(is_set, _)| *is_set).map(|(_, letter)| *letter).collect();
    let waited = if registration.waited { " waited" } else { "" };
    format!("[{letters} {}{waited}]", registration.mode.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features() -> Features {
        Features::every(&[Mode::Level, Mode::Edge])
    }

    fn allows(line: &str, features: &Features) -> bool {
        Model::allows(&line.parse().unwrap(), features)
    }

    #[test]
    fn a_line_of_the_modelled_verbs_is_allowed() {
        for line in [
            "unix level: own and peer are connected, add own?, peer sends 1?, wait, own reads?, peer closes, wait",
            "tcp edge: own listens, add own for reading?, client reaches own?, wait, own accepts conn?",
            "pipe level: own and peer are connected, add own?, t waits, peer sends 1?, t answers",
            "unix level: own and peer are connected, add own?, 2 threads wait, peer sends 1?, threads answer",
            "unix level: own and peer are connected, copy is a copy of own, add own?, own closes, wait",
        ] {
            assert!(allows(line, &features()), "{line}");
        }
    }

    #[test]
    fn a_clause_that_the_state_forbids_is_not_allowed() {
        for (line, why) in [
            ("unix level: own and peer are connected, own closes, own sends 1?", "closed"),
            ("unix level: own and peer are connected, add own", "no question mark"),
            ("unix oneshot: own and peer are connected, add own?", "the mode is missing"),
            ("unix level: own and peer are connected, t waits", "nothing is registered"),
            ("unix level: own and peer are connected, add own?, t waits, wait", "a thread waits"),
            ("unix level: own and peer are connected, add own?, 2 threads wait, wake", "a race"),
            ("tcp level: own and peer are connected, peer resets?, own shuts write?", "reset"),
            ("udp level: own and peer are connected, peer closes, own sends 1?", "the effect is not certain"),
            ("unix level: own listens, own accepts conn?", "nothing is pending"),
        ] {
            assert!(!allows(line, &features()), "{why}: {line}");
        }
    }

    #[test]
    fn features_that_a_side_lacks_restrict_lines() {
        let one = Features { shared_wait: false, own_numbers: false, same_process: false, ..features() };
        let both = features().and(&one);
        for line in [
            "unix level: own and peer are connected, add own?, 2 threads wait, threads answer",
            "unix level: own and peer are connected, copy is a copy of own, own closes, copy takes the number of own?",
            "unix level: own and peer are connected, add own?, t waits, peer closes, t answers",
        ] {
            assert!(allows(line, &features()) && !allows(line, &both), "{line}");
        }
    }

    #[test]
    fn the_description_has_the_state_of_both_ends_and_the_registration() {
        let line: Line =
            "unix edge: own and peer are connected, add own for reading?, peer sends 1?, peer closes, wait"
                .parse()
                .unwrap();
        let mut model = Model::new(line.transport, line.mode, &features());
        let (last, before) = line.clauses().split_last().unwrap();
        before.iter().for_each(|clause| model.advance(clause).unwrap());
        assert_eq!(model.describe(last), "End unread - gone [r edge]");
    }
}
