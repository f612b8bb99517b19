//! The lines between this machine and the agent in a virtual machine.
//!
//! The lines of the executor pass unchanged. A line of the agent can follow the text of a console, as theirs
//! can. Text for the executor is sent in pieces, each after the agent has taken the one before, because a
//! serial port drops what it cannot hold.

use serde::{Deserialize, Serialize};

/// The greatest length of a piece of text, in bytes. FreeBSD's uart(4) holds 384 bytes of input, and drops
/// what comes while it is full (seen on 12.3); an escape doubles a character, and the line adds 27.
pub const PIECE: usize = 128;
/// The interval between two signs of life to the agent, in seconds.
pub const ALIVE_SECONDS: u64 = 15;
/// How long the agent waits for a sign of life before it ends the machine, in seconds.
pub const SILENT_SECONDS: u64 = 300;

/// A line to the agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "host", rename_all = "kebab-case")]
pub enum Order {
    /// Start the executable with these arguments.
    Run {
        /// The arguments.
        arguments: Vec<String>,
    },
    /// Text for its standard input.
    Input {
        /// The text, at most [`PIECE`] bytes.
        text: String,
    },
    /// The machine is still in use.
    Alive,
    /// Keep the machine up without this connection, with a shell on its console.
    Keep,
}

/// A line from the agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "guest", rename_all = "kebab-case")]
pub enum Message {
    /// The agent runs.
    Ready,
    /// The last text was taken.
    Taken,
    /// Text that the executable wrote to standard error.
    Error {
        /// The text.
        text: String,
    },
    /// The executable ended, with this exit code.
    Exit {
        /// The exit code; that of a shell for a signal.
        code: u8,
    },
}

impl Order {
    /// Returns the line.
    pub fn to_text(&self) -> String {
        metadata::json_line(self)
    }

    /// Returns the order in a line, which can follow foreign text.
    pub fn find(text: &str) -> Option<Self> {
        find(text, "{\"host\":")
    }
}

impl Message {
    /// Returns the line.
    pub fn to_text(&self) -> String {
        metadata::json_line(self)
    }

    /// Returns the message in a line, which can follow foreign text.
    pub fn find(text: &str) -> Option<Self> {
        find(text, "{\"guest\":")
    }
}

fn find<T: for<'de> Deserialize<'de>>(text: &str, mark: &str) -> Option<T> {
    let at = text.find(mark)?;
    serde_json::from_str(text[at..].trim_end_matches(['\r', '\n'])).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_after_the_text_of_a_console() {
        let text = Message::Exit { code: 3 }.to_text();
        assert_eq!(text, "{\"guest\":\"exit\",\"code\":3}\n");
        assert_eq!(Message::find(&format!("[ 1.2] usb: {text}")), Some(Message::Exit { code: 3 }));
        assert_eq!(Message::find(&text[..10]), None);
        assert_eq!(Order::find("{\"host\":\"alive\"}\r\n"), Some(Order::Alive));
        assert_eq!(Order::find("{\"guest\":\"ready\"}"), None);
    }
}
