//! A line of the exploration: a script, with the transport and the mode in which it is performed.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use metadata::{Mode, Transport};
use raw::verbs::{Clause, Script};

/// A script with its transport and its mode: `unix level: own and peer are connected, add own?, wait`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The kind of descriptors.
    pub transport: Transport,
    /// The mode of registrations for which the script names none.
    pub mode: Mode,
    /// The script.
    pub script: Script,
}

impl Line {
    /// Returns the line with other clauses.
    #[must_use]
    pub fn with(&self, clauses: Vec<Clause>) -> Self {
        Self { transport: self.transport, mode: self.mode, script: Script { clauses } }
    }

    /// Returns the clauses.
    pub fn clauses(&self) -> &[Clause] {
        &self.script.clauses
    }

    /// Returns whether the order of lines puts this one first: fewer clauses, then fewer characters, then by
    /// the alphabet.
    pub fn is_simpler_than(&self, other: &Self) -> bool {
        self.rank() < other.rank()
    }

    /// Returns the key of the order of lines.
    pub fn rank(&self) -> (usize, usize, String) {
        let text = self.to_string();
        (self.clauses().len(), text.len(), text)
    }
}

impl Hash for Line {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.transport.name(), self.mode.name(), self.script)
    }
}

fn parse<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((head, script)) = text.split_once(':') else {
            return Err("a line begins with a transport, a mode and a colon: 'unix level: …'".into());
        };
        let [transport, mode] = head.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(format!("'{head}' is not a transport and a mode: write 'unix level: …'"));
        };
        Ok(Self { transport: parse(transport)?, mode: parse(mode)?, script: parse(script.trim())? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_printed_as_it_is_parsed() {
        let text = "unix-dgram edge: own and peer are connected, add own?, peer sends 1?, wait";
        assert_eq!(text.parse::<Line>().unwrap().to_string(), text);
    }

    #[test]
    fn a_line_without_a_head_names_what_it_lacks() {
        for (text, expected) in [
            ("own is fresh", "begins with a transport"),
            ("unix: own is fresh", "not a transport and a mode"),
            ("unxi level: own is fresh", "unxi"),
            ("unix levle: own is fresh", "levle"),
            ("unix level: own is fersh", "column"),
        ] {
            let error = text.parse::<Line>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn fewer_clauses_are_simpler_than_fewer_characters() {
        let line = |text: &str| text.parse::<Line>().unwrap();
        let one = line("unix-dgram edge: own and peer are connected");
        let two = line("tcp level: own is fresh, wait");
        assert!(one.is_simpler_than(&two) && !two.is_simpler_than(&one) && !one.is_simpler_than(&one));
    }
}
