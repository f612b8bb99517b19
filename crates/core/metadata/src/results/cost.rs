//! What an operation of a poller costs.

use std::collections::BTreeMap;

#[cfg(any(test, feature = "schema"))]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cost of one operation of one poller, with a number of registered descriptors. `pollmatrix cost`
/// measures it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Cost {
    /// The target whose run measured it.
    pub target: String,
    /// The poller: `epoll`, `mio`.
    pub poller: String,
    /// The operation: `wait-one`.
    pub operation: String,
    /// `level` or `edge`.
    pub mode: String,
    /// The number of threads that did it at once, each with its own poller.
    pub threads: u32,
    /// The number of descriptors that each poller had.
    pub descriptors: u64,
    /// What was measured.
    #[serde(flatten)]
    pub outcome: CostOutcome,
    /// The system calls of one operation. Absent if it was not measured, and in earlier files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// Why several threads were not bound to processors. Absent if they were, and for one thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unbound: Option<String>,
}

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum CostOutcome {
    /// The cost, as a ratio to a floor that was measured alternately.
    Measured {
        /// The median of the ratios.
        ratio: f64,
        /// The lower end of the 95 % confidence interval of that median.
        low: f64,
        /// The upper end.
        high: f64,
        /// The median cost, in nanoseconds.
        nanoseconds: f64,
        /// The median cost of the floor, in nanoseconds.
        floor: f64,
        /// The number of pairs of samples.
        pairs: u32,
    },
    /// The interval was too wide for a figure.
    Noise {
        /// The lower end of the interval.
        low: f64,
        /// The upper end.
        high: f64,
        /// The number of pairs of samples.
        pairs: u32,
    },
    /// It was not measured.
    NotMeasured {
        /// The reason.
        reason: String,
    },
}

/// The system calls of one operation. They do not depend on the speed of the machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Calls {
    /// They were counted, in a traced process.
    Counted {
        /// The number of system calls.
        total: f64,
        /// The number of each: `epoll_ctl`.
        by_name: BTreeMap<String, f64>,
    },
    /// They were not counted.
    NotCounted {
        /// The reason.
        reason: String,
    },
}

/// What a cost is of: all but its outcome.
pub type CostKey<'a> = (&'a str, &'a str, &'a str, &'a str, u32, u64);

impl Cost {
    /// Returns what it is the cost of: target, operation, mode, poller, threads, descriptors.
    pub fn key(&self) -> CostKey<'_> {
        (&self.target, &self.operation, &self.mode, &self.poller, self.threads, self.descriptors)
    }
}
