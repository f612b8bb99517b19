//! The parameters of a cell, and the variant name that stands for them in ids.

use std::fmt;
use std::str::FromStr;

use fd_core::poller::Trigger;

/// What the descriptors under test are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transport {
    /// A TCP connection over loopback.
    Tcp,
    /// A UNIX stream socket pair, or a UNIX listener.
    Unix,
    /// A pipe.
    Pipe,
}

impl Transport {
    /// Every transport.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Unix, Self::Pipe];

    /// The name used in ids and in matrix.yml.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Pipe => "pipe",
        }
    }
}

/// The parameters of one cell, apart from its backend.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Params {
    /// The descriptors under test.
    pub transport: Transport,
    /// Level or edge.
    pub trigger: Trigger,
    /// Worker threads in all.
    pub threads: usize,
    /// Groups that they are spread over.
    pub groups: usize,
}

/// The name of a trigger in ids and in matrix.yml.
pub const fn trigger_name(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Level => "level",
        Trigger::Edge => "edge",
    }
}

/// `tcp-level-4t2g`: transport, trigger, threads, groups.
impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trigger = trigger_name(self.trigger);
        write!(f, "{}-{}-{}t{}g", self.transport.name(), trigger, self.threads, self.groups)
    }
}

/// A variant name that is not of the form `tcp-level-4t2g`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is not a variant: expected TRANSPORT-TRIGGER-THREADStGROUPSg, for example tcp-level-4t2g")]
pub struct ParseParamsError(String);

impl FromStr for Params {
    type Err = ParseParamsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let mut parts = text.split('-');
            let (transport, trigger, shape) = (parts.next()?, parts.next()?, parts.next()?);
            let (threads, groups) = shape.strip_suffix('g')?.split_once('t')?;
            let params = Self {
                transport: Transport::ALL.into_iter().find(|t| t.name() == transport)?,
                trigger: [Trigger::Level, Trigger::Edge].into_iter().find(|t| trigger_name(*t) == trigger)?,
                threads: threads.parse().ok()?,
                groups: groups.parse().ok()?,
            };
            (parts.next().is_none() && params.to_string() == text).then_some(params)
        };
        parse().ok_or_else(|| ParseParamsError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_name_reads_back() {
        for transport in Transport::ALL {
            for trigger in [Trigger::Level, Trigger::Edge] {
                let params = Params { transport, trigger, threads: 8, groups: 2 };
                assert_eq!(params.to_string().parse(), Ok(params));
            }
        }
    }

    #[test]
    fn other_spellings_of_a_variant_are_refused() {
        for text in
            ["", "tcp", "tcp-level", "tcp-level-04t1g", "tcp-level-4t1g-", "tcp-level-4t", "udp-level-4t1g"]
        {
            assert!(text.parse::<Params>().is_err(), "{text}");
        }
    }
}
