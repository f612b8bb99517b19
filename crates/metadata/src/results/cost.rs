//! The cost of one operation of a poller.

use std::cmp::Ordering;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::axes::Mode;
use crate::named;

named! {
    /// An operation whose cost is measured.
    Operation, "operation":
    /// Register a descriptor.
    Register = "register",
    /// Change the interest of a registered descriptor.
    Modify = "modify",
    /// Remove the registration of a descriptor.
    Remove = "remove",
    /// Wait while one of the registered descriptors is ready.
    WaitOne = "wait-one",
    /// Wait while every registered descriptor is ready.
    WaitAll = "wait-all",
    /// Wake another thread from its wait.
    Wake = "wake",
    /// Move a ready descriptor to the poller of another thread, which waits.
    HandOver = "hand-over",
    /// Remove the registration of a descriptor, and close the descriptor.
    Close = "close",
}

impl Operation {
    /// Returns what the operation does, for headings.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Register => "Register a descriptor",
            Self::Modify => "Modify a registration",
            Self::Remove => "Remove a registration",
            Self::WaitOne => "Wait, one descriptor is ready",
            Self::WaitAll => "Wait, all descriptors are ready",
            Self::Wake => "Wake another thread",
            Self::HandOver => "Hand a descriptor to another thread",
            Self::Close => "Close a registered descriptor",
        }
    }

    /// Returns the unavoidable part, which the ratios are relative to.
    pub const fn floor(self) -> &'static str {
        match self {
            Self::Register | Self::Modify | Self::Remove => "one fcntl(F_GETFD) of the descriptor",
            Self::WaitOne => "one poll(2) of the ready descriptor alone",
            Self::WaitAll => "one poll(2) of the same descriptors",
            Self::Wake | Self::HandOver => "one write(2) to a pipe, and the read(2) that it wakes",
            Self::Close => "one close(2) of an unregistered descriptor",
        }
    }

    /// Returns whether the operation needs two threads for each pair of pollers.
    pub const fn is_of_pairs(self) -> bool {
        matches!(self, Self::Wake | Self::HandOver)
    }
}

/// The cost of one operation of one poller.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// `wait-one/level-1000d-1t@epoll`. Stable.
    pub id: String,
    /// `register`, `modify`, `remove`, `wait-one`, `wait-all`, `wake`, `hand-over` or `close`.
    #[schemars(with = "String")]
    pub operation: Operation,
    /// The backend or the subject: `epoll`, `mio`.
    pub poller: String,
    /// The target that it was measured on: `x86_64-linux-gnu`.
    pub target: String,
    /// The mode of the registrations: `level` or `edge`.
    #[schemars(with = "String")]
    pub trigger: Mode,
    /// The number of registered descriptors of each poller.
    pub descriptors: u32,
    /// The number of threads that perform the operation at the same time, each with its own poller.
    pub threads: u32,
    /// The unavoidable part, which the ratio is relative to.
    pub floor: String,
    /// The figure, or why there is none.
    pub outcome: CostOutcome,
    /// The command that measures it again.
    pub reproducer: String,
}

/// A figure, or the reason why there is none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum CostOutcome {
    /// The cost was measured.
    Measured(Figure),
    /// The samples vary too much for a figure.
    Noise {
        /// The width of the 95 % confidence interval, in percent of the ratio.
        spread_percent: f64,
        /// The greatest width that was accepted, in percent of the ratio.
        limit_percent: f64,
    },
    /// The poller or the system cannot do it.
    Unsupported {
        /// Why.
        reason: String,
    },
    /// The measurement failed.
    Failed {
        /// Why.
        reason: String,
    },
    /// It was planned and not measured.
    NotRun {
        /// Why.
        reason: String,
    },
}

/// A measured cost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The median of the ratios of the pairs: the cost of the operation, divided by that of the floor.
    pub ratio: f64,
    /// The 95 % confidence interval of that median.
    pub interval: [f64; 2],
    /// The median processor time of one operation, in nanoseconds, of all threads that take part in it.
    pub nanoseconds: f64,
    /// The median processor time of the floor, in nanoseconds.
    pub floor_nanoseconds: f64,
    /// The number of pairs of samples.
    pub pairs: u32,
    /// The number of system calls of one operation. Absent if this machine cannot count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_calls: Option<f64>,
}

impl Cost {
    /// Returns the id of an operation of a poller: `wait-one/level-1000d-1t@epoll`.
    pub fn id_of(
        operation: Operation,
        trigger: Mode,
        descriptors: u32,
        threads: u32,
        poller: &str,
    ) -> String {
        format!("{operation}/{trigger}-{descriptors}d-{threads}t@{poller}")
    }

    /// Returns the figure, if there is one.
    pub fn figure(&self) -> Option<&Figure> {
        match &self.outcome {
            CostOutcome::Measured(figure) => Some(figure),
            _ => None,
        }
    }

    /// Compares costs in the order of reports: by operation, trigger, threads, descriptors, poller, target.
    pub fn compare(&self, other: &Self) -> Ordering {
        let key = |cost: &Self| (cost.operation, cost.trigger, cost.threads, cost.descriptors);
        key(self).cmp(&key(other)).then_with(|| self.poller.cmp(&other.poller)).then_with(|| {
            // Files of other versions can have other ids for the rest.
            (&self.target, &self.id).cmp(&(&other.target, &other.id))
        })
    }
}

impl CostOutcome {
    /// Returns the name of the status, as in results.json.
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Measured(_) => "measured",
            Self::Noise { .. } => "noise",
            Self::Unsupported { .. } => "unsupported",
            Self::Failed { .. } => "failed",
            Self::NotRun { .. } => "not-run",
        }
    }

    /// Returns why there is no figure, if there is none.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Measured(_) => None,
            Self::Noise { spread_percent, limit_percent } => Some(format!(
                "noise: the interval is {spread_percent:.0} % wide, more than {limit_percent:.0} %"
            )),
            Self::Unsupported { reason } | Self::Failed { reason } | Self::NotRun { reason } => {
                Some(reason.clone())
            }
        }
    }
}

/// `4.10 (4.02 to 4.18)`, `noise`, `n/a`, `failed`, `not run`.
impl fmt::Display for CostOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured(Figure { ratio, interval: [low, high], .. }) => {
                write!(f, "{} ({} to {})", digits(*ratio), digits(*low), digits(*high))
            }
            Self::Noise { .. } => f.write_str("noise"),
            Self::Unsupported { .. } => f.write_str("n/a"),
            Self::Failed { .. } => f.write_str("failed"),
            Self::NotRun { .. } => f.write_str("not run"),
        }
    }
}

/// Returns a ratio with about three digits.
fn digits(ratio: f64) -> String {
    match ratio {
        _ if ratio < 10.0 => format!("{ratio:.2}"),
        _ if ratio < 100.0 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::{Results, Status};

    #[test]
    fn costs_are_written_and_read_unchanged() {
        let mut results = samples::results("here", &[("a", "epoll", Status::Pass)]);
        let outcomes = [
            samples::measured(0.25),
            CostOutcome::Noise { spread_percent: 31.4, limit_percent: 10.0 },
            CostOutcome::Unsupported { reason: "FD_SETSIZE".into() },
            CostOutcome::Failed { reason: "timeout".into() },
            CostOutcome::NotRun { reason: "interrupted".into() },
        ];
        results.costs = (1..).zip(outcomes).map(|(n, outcome)| samples::cost("epoll", n, outcome)).collect();
        let text = results.to_json();
        assert_eq!(Results::read(text.as_bytes()), Ok(results.clone()), "{text}");
        // A line for each of them.
        assert_eq!(text.matches("\n    {\"id\":\"wait-one/level-").count(), 5, "{text}");
        results.cells.clear();
        assert_eq!(Results::read(results.to_json().as_bytes()), Ok(results));
    }

    #[test]
    fn files_without_costs_are_read_and_written_without_them() {
        let results = samples::results("here", &[("a", "epoll", Status::Pass)]);
        let text = results.to_json();
        assert!(!text.contains("costs"), "{text}");
        assert_eq!(Results::read(text.as_bytes()), Ok(results));
    }

    #[test]
    fn an_outcome_is_shown_with_about_three_digits() {
        assert_eq!(samples::measured(4.1).to_string(), "4.10 (3.69 to 4.51)");
        assert_eq!(samples::measured(1234.5).to_string(), "1234 (1111 to 1358)");
        let noise = CostOutcome::Noise { spread_percent: 31.4, limit_percent: 10.0 };
        assert_eq!((noise.to_string(), noise.status()), ("noise".into(), "noise"));
        assert_eq!(noise.reason().unwrap(), "noise: the interval is 31 % wide, more than 10 %");
    }
}
