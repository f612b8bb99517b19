//! The outcome of a change, and its notation.

use std::fmt;

use metadata::Outcome;
use nix::errno::Errno;

use crate::record::Filter;

/// The refusal of a registration, per filter if the poller has filters: `[add:EPERM]`, `[W add:EPIPE]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The filter, if the poller has filters.
    pub filter: Option<Filter>,
    /// The error of the call.
    pub errno: Errno,
}

/// The reason why a poller cannot express a call. It is not a failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported(pub String);

/// The outcome of a call that changes a registration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Changed {
    /// The poller made the whole change.
    Done,
    /// The poller refused the change, or the filters that are listed.
    Refused(Vec<Refusal>),
    /// The poller cannot express the change.
    Unsupported(Unsupported),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        if let Some(filter) = self.filter {
            write!(f, "{filter} ")?;
        }
        write!(f, "add:{:?}]", self.errno)
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of a call: `0`, `ENOENT`, `R:EBADF W:EBADF`, or the reason why the poller cannot express it.
impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcome().fmt(f)
    }
}

impl Changed {
    /// Returns the result of the call.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Done => Outcome::Done,
            Self::Refused(refusals) => match refusals.as_slice() {
                [Refusal { filter: None, errno }] => Outcome::Failed(format!("{errno:?}")),
                of_filters => {
                    let of =
                        |filter: Option<Filter>| filter.map_or_else(String::new, |filter| filter.to_string());
                    let each =
                        of_filters.iter().map(|refusal| (of(refusal.filter), format!("{:?}", refusal.errno)));
                    Outcome::Filters(each.collect())
                }
            },
            Self::Unsupported(Unsupported(reason)) => Outcome::Other(reason.clone()),
        }
    }

    /// Returns the refusal of a whole call.
    pub fn refused(errno: Errno) -> Self {
        Self::Refused(vec![Refusal { filter: None, errno }])
    }

    /// Returns that the poller cannot express the call.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported(Unsupported(reason.into()))
    }
}

impl From<Result<(), Errno>> for Changed {
    fn from(result: Result<(), Errno>) -> Self {
        result.map_or_else(Self::refused, |()| Self::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(filter: Filter, errno: Errno) -> Refusal {
        Refusal { filter: Some(filter), errno }
    }

    #[test]
    fn refusals_are_written_as_they_are_published() {
        #[rustfmt::skip]
        let table = [
            (Refusal { filter: None, errno: Errno::EPERM }, "[add:EPERM]"),
            (refusal(Filter::Write, Errno::EPIPE),          "[W add:EPIPE]"),
            (refusal(Filter::Read,  Errno::EINVAL),         "[R add:EINVAL]"),
            (refusal(Filter::Read,  Errno::ENODEV),         "[R add:ENODEV]"),
            (refusal(Filter::Write, Errno::ENXIO),          "[W add:ENXIO]"),
        ];
        for (refusal, written) in table {
            assert_eq!(refusal.to_string(), written);
        }
    }

    #[test]
    fn calls_are_written_by_their_result() {
        let both = vec![refusal(Filter::Read, Errno::EBADF), refusal(Filter::Write, Errno::EBADF)];
        let table = [
            (Changed::Done, "0"),
            (Changed::from(Err(Errno::EEXIST)), "EEXIST"),
            (Changed::Refused(both), "R:EBADF W:EBADF"),
            (Changed::unsupported("no such mode"), "no such mode"),
        ];
        for (changed, written) in table {
            assert_eq!(changed.to_string(), written);
        }
        assert_eq!(Changed::from(Ok(())), Changed::Done);
    }
}
