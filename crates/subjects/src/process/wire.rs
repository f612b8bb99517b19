//! The lines of the protocol. docs/subjects.md describes them.

use std::fmt;
use std::os::fd::RawFd;
use std::time::Duration;

use schemars::JsonSchema;
use selector::Token;
use serde::{Deserialize, Serialize};

/// The newest version of the protocol. An adapter may speak any version from 1 on.
pub const PROTOCOL: u32 = 2;

/// The oldest version of the protocol that an adapter may speak.
pub const OLDEST: u32 = 1;

/// A line: an object with one key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "pollmatrix subject protocol")]
pub enum Line {
    /// A line to the adapter's standard input.
    Command(Command),
    /// A line from the adapter's standard output.
    Answer(Answer),
}

/// A command to an adapter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// The first command. The answer is `hello`, or `unsupported` if the adapter does not support this
    /// system.
    Hello {
        /// The oldest version of the protocol that pollmatrix speaks.
        protocol: u32,
        /// The newest version that it speaks. Left out by versions of pollmatrix that speak one version only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        up_to: Option<u32>,
    },
    /// Receive a copy of a descriptor, which the line carries (`SCM_RIGHTS`). Later commands name it by this
    /// number.
    Take {
        /// The name of the descriptor in later commands.
        fd: RawFd,
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
    /// Close the poller's own descriptor.
    Close {},
    /// Version 2: return to the state after `hello`. Close the poller and all copies of descriptors, and make
    /// another poller. Sent only if `hello` has `reset`.
    Reset {},
}

/// A registration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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

/// When a descriptor is reported again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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
}

/// An answer of an adapter. Each command has one answer, in the order of the commands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The answer to `hello`.
    Hello(Hello),
    /// The command succeeded.
    Ok {},
    /// The poller refused the command with this error: `EEXIST`.
    Errno(String),
    /// The poller cannot express the command, for this reason.
    Unsupported(String),
    /// The answer to `wait`: the events in the poller's order.
    Events(Vec<WireEvent>),
    /// The adapter does not know this command, or the line is not a command.
    Unknown(String),
}

/// The identity and the features of an adapter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The version of the protocol that the adapter speaks.
    pub protocol: u32,
    /// The name in the published answers: lower-case letters, digits, `-`, `_` and `.`.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]*$"))]
    pub name: String,
    /// The version of the poller.
    pub version: String,
    /// The modes of the poller.
    pub modes: Vec<Mode>,
    /// Whether the adapter accepts `wake` during a wait.
    #[serde(default)]
    pub wake: bool,
    /// Version 2: whether the adapter accepts `reset`.
    #[serde(default)]
    pub reset: bool,
    /// Version 2: whether a wait returns at most `room` events. Without it, the poller has no limit, and an
    /// answer may have more events.
    #[serde(default = "yes")]
    pub room: bool,
}

fn yes() -> bool {
    true
}

/// One event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Event")]
pub struct WireEvent {
    /// The token of the registration, unchanged.
    pub token: String,
    /// The poller's own words for the event, in its order: `["IN", "HUP"]`.
    #[schemars(inner(regex(pattern = r"^[^\s|]+$")))]
    pub says: Vec<String>,
}

/// Returns the JSON schema of the protocol's lines: docs/subject-protocol.schema.json.
pub fn schema() -> String {
    let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Line))
        .expect("the types have string keys and no fallible parts");
    text.push('\n');
    text
}

impl Command {
    pub(crate) fn hello() -> Self {
        Self::Hello { protocol: OLDEST, up_to: Some(PROTOCOL) }
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
    /// Checks the version, the name and the modes. The error is the reason.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
        let has_valid_start =
            self.name.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit());
        if !(OLDEST..=PROTOCOL).contains(&self.protocol) {
            return Err(format!("protocol is {}, expected {OLDEST} to {PROTOCOL}", self.protocol));
        }
        if self.protocol < 2 && (self.reset || !self.room) {
            return Err(format!("reset and room need protocol 2, and protocol is {}", self.protocol));
        }
        if !has_valid_start || !self.name.bytes().all(is_allowed) {
            let name = &self.name;
            return Err(format!("'{name}' is not a name: use lower-case letters, digits, '-', '_' and '.'"));
        }
        if self.modes.is_empty() { Err("modes is empty".into()) } else { Ok(()) }
    }
}
