//! The lines of the protocol. docs/subjects.md says what they mean.

use std::fmt;
use std::os::fd::RawFd;
use std::time::Duration;

use schemars::JsonSchema;
use selector::Token;
use serde::{Deserialize, Serialize};

/// The version of the protocol. Another one is another protocol.
pub const PROTOCOL: u32 = 1;

/// What can be said: a line, an object with one key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "pollmatrix subject protocol")]
pub enum Line {
    /// To the subject's standard input.
    Command(Command),
    /// From its standard output.
    Answer(Answer),
}

/// What a subject is told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// First of all. Answered by `hello`, or by `unsupported` if there is nothing to ask here.
    Hello {
        /// The version that the other side speaks.
        protocol: u32,
    },
    /// Here is a copy of a descriptor: the line carries it (`SCM_RIGHTS`). The number is its name from now on.
    Take {
        /// Its name in every later command.
        fd: RawFd,
    },
    /// Register it.
    Add(Registration),
    /// Change what it is registered for, its mode and its token.
    Modify(Registration),
    /// Take the registration out.
    Remove {
        /// Whose.
        fd: RawFd,
    },
    /// The copy is to be closed, and nothing else: no registration is taken out. Its name may be used again by `take`.
    Closed {
        /// Which.
        fd: RawFd,
    },
    /// Wait. Answered by `events`, or by `errno` if the call failed.
    Wait {
        /// How many events there may be at most.
        room: usize,
        /// How long at most, in milliseconds, a fraction too: never less. `null` is for ever.
        timeout_ms: Option<f64>,
    },
    /// Comes while it waits, if `hello` says `wake`: the wait has to end. Answered after the wait.
    Wake {},
    /// Close the poller itself.
    Close {},
}

/// What is registered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    /// Which descriptor.
    pub fd: RawFd,
    /// What events of it are to be called.
    pub token: String,
    /// What is asked for; nothing is `events == 0`.
    pub interest: Vec<Interest>,
    /// When it is reported again.
    pub mode: Mode,
}

/// What a registration asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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

/// When a registration is reported again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As long as it is ready.
    Level,
    /// When it becomes ready.
    Edge,
    /// Once, until it is modified.
    OneShot,
    /// As `one_shot`, where there are two of that kind: `EV_DISPATCH`.
    Dispatch,
    /// Level, and of several pollers not all are woken.
    Exclusive,
    /// Edge, and of several pollers not all are woken.
    ExclusiveEdge,
}

/// What a subject answers: one answer to each command, in their order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// To `hello`.
    Hello(Hello),
    /// It is done.
    Ok {},
    /// The poller refused it: `EEXIST`.
    Errno(String),
    /// It cannot be expressed; why.
    Unsupported(String),
    /// To `wait`: in the order in which the poller gave them.
    Events(Vec<Words>),
    /// This command, or what is no command, is not known.
    Unknown(String),
}

/// Who a subject is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The version that it speaks.
    pub protocol: u32,
    /// What its answers are published under: lower-case letters, digits, `-`, `_` and `.`.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]*$"))]
    pub name: String,
    /// The version of what it makes accessible.
    pub version: String,
    /// The modes that there are.
    pub modes: Vec<Mode>,
    /// Whether `wake` may come while it waits.
    #[serde(default)]
    pub wake: bool,
}

/// One event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The registration's, as it came.
    pub token: String,
    /// What was said of it, in the poller's own words and order: `["IN", "HUP"]`.
    #[schemars(inner(regex(pattern = r"^[^\s|]+$")))]
    pub says: Vec<String>,
}

/// The JSON schema of the protocol's lines: docs/subject-protocol.schema.json.
pub fn schema() -> String {
    let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Line))
        .expect("the types have string keys and no fallible parts");
    text.push('\n');
    text
}

impl Command {
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

    pub(crate) fn wait(room: usize, timeout: Option<Duration>) -> Self {
        Self::Wait { room, timeout_ms: timeout.map(|timeout| timeout.as_secs_f64() * 1000.0) }
    }
}

fn registration(fd: RawFd, token: Token, interest: selector::Interest, mode: selector::Mode) -> Registration {
    let asked = [
        (interest.read, Interest::Read),
        (interest.write, Interest::Write),
        (interest.urgent, Interest::Urgent),
        (interest.peer_shut, Interest::PeerShut),
    ];
    Registration {
        fd,
        token: token.to_string(),
        interest: asked.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name).collect(),
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
        }
    }
}

/// As it is sent, without the end of the line.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// As it is sent, without the end of the line.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Hello {
    /// What is wrong with it.
    pub(crate) fn flaw(&self) -> Option<String> {
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
        let begins =
            self.name.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit());
        if self.protocol != PROTOCOL {
            return Some(format!("it speaks protocol {}, this is protocol {PROTOCOL}", self.protocol));
        }
        if !begins || !self.name.bytes().all(is_plain) {
            return Some(format!("'{}' is no name: lower-case letters, digits, '-', '_' and '.'", self.name));
        }
        self.modes.is_empty().then(|| "it has no modes".into())
    }
}
