//! The lines of the protocol. docs/adapters.md describes them.

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::RawFd;
use std::time::Duration;

use metadata::{Interface, PATH_NAME_HELP, Transport, Word, is_path_name};
#[cfg(test)]
use schemars::JsonSchema;
use selector::{Act, Token};
use serde::{Deserialize, Serialize};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// A line: an object with one key.
#[cfg(test)]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "pollmatrix adapter protocol")]
pub enum Line {
    /// A line to the adapter's standard input.
    Command(Command),
    /// A line from the adapter's standard output.
    Answer(Answer),
    /// A line from the standard output of an adapter whose `hello` has `times`.
    Timed(Timed),
}

/// A command to an adapter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// The first command. The answer is `hello`, or `unsupported` if the adapter does not support this
    /// system.
    Hello {
        /// The version of the protocol.
        protocol: u32,
    },
    /// Receive a copy of a descriptor, which the line carries (`SCM_RIGHTS`). Later commands name it by this
    /// number.
    Take {
        /// The name of the descriptor in later commands.
        fd: RawFd,
        /// The number that the copy must have. Sent only if `hello` has `numbers`. It is at least
        /// 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<RawFd>,
    },
    /// Register a descriptor.
    Add(Registration),
    /// Change the interest, the mode and the token of a registration.
    Modify(Registration),
    /// Remove a registration.
    Remove {
        /// The descriptor.
        fd: RawFd,
    },
    /// Close the copy of a descriptor, but do not remove its registration. A later `take` may use the number
    /// again.
    Closed {
        /// The descriptor.
        fd: RawFd,
    },
    /// Wait for events. The answer is `events`, or `errno` if the call failed.
    Wait {
        /// The maximum number of events.
        room: usize,
        /// The timeout in milliseconds, possibly with a fraction. The wait must not be shorter. `null` is no
        /// limit.
        timeout_ms: Option<f64>,
    },
    /// End the wait that is in progress. Sent only if `hello` has `wake`. The answer follows that of the
    /// wait.
    Wake {},
    /// Close the poller's own descriptor. With `fd`: close that descriptor, and nothing else.
    Close {
        /// The descriptor, which the adapter has made. Sent only if `hello` has `acts`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fd: Option<RawFd>,
    },
    /// Make an unconnected socket, or a pipe, non-blocking. Later commands name it by this number. This
    /// command and those up to `shut` are sent only if `hello` has `acts`.
    Open {
        /// The name of the descriptor in later commands. Of a pipe, it is the reading end.
        fd: RawFd,
        /// The kind, one of `acts`.
        kind: Kind,
        /// The name of a pipe's writing end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<RawFd>,
    },
    /// Bind a socket. The answer is `address`.
    Bind {
        /// The descriptor.
        fd: RawFd,
        /// The address: `127.0.0.1:0` for a free port, or a path.
        address: String,
    },
    /// Make a socket, bind it, and listen. The answer is `address`.
    Listen {
        /// The name of the descriptor in later commands.
        fd: RawFd,
        /// The kind, one of `acts`.
        kind: Kind,
        /// The address: `127.0.0.1:0` for a free port, or a path.
        address: String,
        /// The length of the accept queue.
        backlog: usize,
    },
    /// Connect a socket without waiting for the connection: the answer may be `errno`, `EINPROGRESS`.
    Connect {
        /// The descriptor.
        fd: RawFd,
        /// The address.
        address: String,
    },
    /// Accept a connection. Later commands name it by this number.
    Accept {
        /// The name of the accepted connection in later commands.
        fd: RawFd,
        /// The listener.
        from: RawFd,
    },
    /// Read once. The answer is `count`, 0 at the end of file.
    Read {
        /// The descriptor.
        fd: RawFd,
        /// The maximum number of bytes.
        room: usize,
    },
    /// Write once. The answer is `count`.
    Write {
        /// The descriptor.
        fd: RawFd,
        /// The number of bytes, which may have any value. 0 is an empty datagram.
        bytes: usize,
    },
    /// Shut a connection.
    Shut {
        /// The descriptor.
        fd: RawFd,
        /// The direction.
        how: Shut,
    },
    /// Return to the state after `hello`. Close the poller and all copies of descriptors, and make
    /// another poller. Sent only if `hello` has `reset`.
    Reset {},
}

/// A registration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Registration {
    /// The descriptor.
    pub fd: RawFd,
    /// The token of its events.
    pub token: String,
    /// The interest. An empty list is `events == 0`.
    pub interest: Vec<Interest>,
    /// When the descriptor is reported again.
    pub mode: Mode,
}

/// A part of the interest of a registration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Interest {
    /// `POLLIN`.
    Read,
    /// `POLLOUT`.
    Write,
    /// `POLLPRI`.
    Urgent,
    /// `POLLRDHUP`.
    PeerShut,
}

/// When a descriptor is reported again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As long as it is ready.
    Level,
    /// When it becomes ready.
    Edge,
    /// Once, until the registration is modified.
    OneShot,
    /// As `one_shot`, on systems with two kinds of it: `EV_DISPATCH`.
    Dispatch,
    /// Level; of several pollers, at least one is woken, but not necessarily all.
    Exclusive,
    /// Edge; of several pollers, at least one is woken, but not necessarily all.
    ExclusiveEdge,
    /// When it becomes ready, and once, until the registration is modified.
    EdgeOneShot,
}

/// A kind of descriptor that an adapter makes itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A pipe within the adapter.
    Pipe,
    /// A TCP socket. Its address is `127.0.0.1:PORT`.
    Tcp,
    /// A UDP socket. Its address is `127.0.0.1:PORT`.
    Udp,
    /// A UNIX stream socket. Its address is a path.
    Unix,
}

/// The side of a connection that is shut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shut {
    /// `SHUT_RD`.
    Read,
    /// `SHUT_WR`.
    Write,
    /// `SHUT_RDWR`.
    Both,
}

/// An answer of an adapter. Each command has one answer, in the order of the commands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The answer to `hello`.
    Hello(Hello),
    /// The command succeeded.
    Ok {},
    /// The poller refused the command with this error: `EEXIST`, or the number of an error whose name the
    /// adapter does not know.
    Errno(String),
    /// The poller cannot express the command, for this reason.
    Unsupported(String),
    /// The answer to `wait`: the events in the poller's order.
    Events(Vec<WireEvent>),
    /// The number of bytes that were read or written.
    Count(usize),
    /// The address of a socket.
    Address(String),
    /// The adapter does not know this command, or the line is not a command.
    Unknown(String),
}

/// An answer, and the time that the poller's own calls took.
#[cfg(test)]
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Timed {
    /// The command succeeded.
    Ok(TimedOk),
    /// The answer to `wait`.
    Events(TimedEvents),
}

/// `ok`, with a time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimedOk {
    /// The command succeeded.
    pub ok: Nothing,
    /// The time of the poller's calls.
    pub took: Took,
}

/// `events`, with a time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimedEvents {
    /// The events in the poller's order.
    pub events: Vec<WireEvent>,
    /// The time of the poller's calls.
    pub took: Took,
}

/// An object without fields.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A time that the adapter measured around the calls of its poller, by a monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Took {
    /// Nanoseconds.
    pub ns: u64,
}

/// The identity and the features of an adapter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The version of the protocol.
    pub protocol: u32,
    /// The name in the published answers: lower-case letters, digits, `-`, `_` and `.`, without `..`.
    #[cfg_attr(test, schemars(regex(pattern = r"^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*\.?$")))]
    pub name: String,
    /// The version of the poller.
    pub version: String,
    /// The modes of the poller.
    pub modes: Vec<Mode>,
    /// What each word of the poller's events means. The name of an error, such as `EBADF`, needs no
    /// declaration. A detail in parentheses is no part of a word: `R` is the word of `R(data=3)`.
    #[serde(default)]
    #[cfg_attr(test, schemars(required, extend("minProperties" = 1)))]
    pub words: BTreeMap<String, Word>,
    /// The interface of the kernel that the poller is built over, on this system. Left out if it is another
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<OverInterface>"))]
    pub over: Option<Interface>,
    /// Whether the adapter accepts `wake` during a wait.
    #[serde(default)]
    pub wake: bool,
    /// Whether the adapter accepts `reset`.
    #[serde(default)]
    pub reset: bool,
    /// Whether a wait returns at most `room` events. Without it, the poller has no limit, and an
    /// answer may have more events.
    #[serde(default = "yes")]
    pub room: bool,
    /// Whether each `ok` and each `events` has `took`.
    #[serde(default)]
    pub times: bool,
    /// The kinds of descriptors that the adapter makes and acts on itself. With any, it gets no
    /// `take` and no `closed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<Kind>,
    /// Whether the adapter accepts `at` in `take`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub numbers: bool,
}

/// The schema of [`Interface`].
#[cfg(test)]
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, schemars(rename = "Interface"))]
#[expect(dead_code, reason = "only its schema is used")]
enum OverInterface {
    Epoll,
    Kqueue,
    Poll,
    Select,
}

fn yes() -> bool {
    true
}

/// One event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(rename = "Event"))]
pub struct WireEvent {
    /// The token of the registration, unchanged.
    pub token: String,
    /// The poller's own words for the event, in its order: `["IN", "HUP"]`.
    #[cfg_attr(test, schemars(inner(regex(pattern = r"^[^\s|]+$"))))]
    pub says: Vec<String>,
}

impl Answer {
    /// Reads a line of the output, with or without a time.
    pub(crate) fn read(text: &str) -> serde_json::Result<(Self, Option<Duration>)> {
        let answer = match serde_json::from_str(text) {
            Ok(answer) => return Ok((answer, None)),
            Err(error) if !text.contains("\"took\"") => return Err(error),
            // Not as `Timed`, whose errors name no reason.
            Err(_) => serde_json::from_str::<TimedOk>(text).map(|timed| (Self::Ok {}, timed.took)),
        };
        let events = || serde_json::from_str::<TimedEvents>(text);
        let answer = match answer {
            Err(_) if text.contains("\"events\"") => {
                events().map(|timed| (Self::Events(timed.events), timed.took))
            }
            other => other,
        };
        answer.map(|(answer, took)| (answer, Some(Duration::from_nanos(took.ns))))
    }
}

impl Command {
    pub(crate) fn hello() -> Self {
        Self::Hello { protocol: PROTOCOL }
    }

    pub(crate) fn add(fd: RawFd, token: Token, interest: selector::Interest, mode: selector::Mode) -> Self {
        Self::Add(registration(fd, token, interest, mode))
    }

    pub(crate) fn modify(
        fd: RawFd,
        token: Token,
        interest: selector::Interest,
        mode: selector::Mode,
    ) -> Self {
        Self::Modify(registration(fd, token, interest, mode))
    }

    /// Returns the command for an act. The error is a kind of descriptor that the protocol does not have.
    pub(crate) fn act(fd: RawFd, act: &Act) -> Result<Self, Transport> {
        Ok(match act {
            Act::Open(kind) => Self::Open { fd, kind: (*kind).try_into()?, peer: None },
            Act::OpenPipe(peer) => Self::Open { fd, kind: Kind::Pipe, peer: Some(*peer) },
            Act::Bind(address) => Self::Bind { fd, address: address.clone() },
            Act::Listen { kind, address, backlog } => {
                Self::Listen { fd, kind: (*kind).try_into()?, address: address.clone(), backlog: *backlog }
            }
            Act::Connect(address) => Self::Connect { fd, address: address.clone() },
            Act::Accept(from) => Self::Accept { fd, from: *from },
            Act::Read(room) => Self::Read { fd, room: *room },
            Act::Write(bytes) => Self::Write { fd, bytes: *bytes },
            Act::Shut(how) => Self::Shut { fd, how: (*how).into() },
            Act::Close => Self::Close { fd: Some(fd) },
        })
    }

    pub(crate) fn wait(room: usize, timeout: Option<Duration>) -> Self {
        Self::Wait { room, timeout_ms: timeout.map(|timeout| timeout.as_secs_f64() * 1000.0) }
    }
}

fn registration(fd: RawFd, token: Token, interest: selector::Interest, mode: selector::Mode) -> Registration {
    let requested = [
        (interest.read, Interest::Read),
        (interest.write, Interest::Write),
        (interest.urgent, Interest::Urgent),
        (interest.peer_shut, Interest::PeerShut),
    ];
    Registration {
        fd,
        token: token.to_string(),
        interest: requested.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name).collect(),
        mode: mode.into(),
    }
}

impl From<selector::Mode> for Mode {
    fn from(mode: selector::Mode) -> Self {
        match mode {
            selector::Mode::Level => Self::Level,
            selector::Mode::Edge => Self::Edge,
            selector::Mode::OneShot => Self::OneShot,
            selector::Mode::Dispatch => Self::Dispatch,
            selector::Mode::Exclusive => Self::Exclusive,
            selector::Mode::ExclusiveEdge => Self::ExclusiveEdge,
            selector::Mode::EdgeOneShot => Self::EdgeOneShot,
        }
    }
}

impl From<Mode> for selector::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Level => Self::Level,
            Mode::Edge => Self::Edge,
            Mode::OneShot => Self::OneShot,
            Mode::Dispatch => Self::Dispatch,
            Mode::Exclusive => Self::Exclusive,
            Mode::ExclusiveEdge => Self::ExclusiveEdge,
            Mode::EdgeOneShot => Self::EdgeOneShot,
        }
    }
}

impl TryFrom<Transport> for Kind {
    type Error = Transport;

    fn try_from(transport: Transport) -> Result<Self, Transport> {
        match transport {
            Transport::Pipe => Ok(Self::Pipe),
            Transport::Tcp => Ok(Self::Tcp),
            Transport::Udp => Ok(Self::Udp),
            Transport::Unix => Ok(Self::Unix),
            other => Err(other),
        }
    }
}

impl From<Kind> for Transport {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Pipe => Self::Pipe,
            Kind::Tcp => Self::Tcp,
            Kind::Udp => Self::Udp,
            Kind::Unix => Self::Unix,
        }
    }
}

impl From<selector::Shut> for Shut {
    fn from(how: selector::Shut) -> Self {
        match how {
            selector::Shut::Read => Self::Read,
            selector::Shut::Write => Self::Write,
            selector::Shut::Both => Self::Both,
        }
    }
}

/// The line, without its end.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// The line, without its end.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Hello {
    /// Checks the version, the name, the modes and the words. The error is the reason.
    pub(crate) fn validate(&self) -> Result<(), String> {
        if self.protocol != PROTOCOL {
            return Err(format!("protocol is {}, expected {PROTOCOL}", self.protocol));
        }
        if self.numbers && !self.acts.is_empty() {
            return Err("numbers is about take, which an adapter with acts does not get".into());
        }
        if !is_path_name(&self.name) {
            return Err(format!("'{}' is not a name: {PATH_NAME_HELP}", self.name));
        }
        if self.modes.is_empty() {
            return Err("modes is empty".into());
        }
        if self.words.is_empty() {
            return Err(format!(
                "{} declares no words: say what each word of its events means, \"words\": {{\"READ\": \"readable\"}}",
                self.name
            ));
        }
        Ok(())
    }
}
