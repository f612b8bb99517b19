//! Where CI runs a target.

use serde::Deserialize;

use crate::axes::Vm;

/// Where CI runs a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ci {
    /// On a hosted machine.
    Runner {
        /// The label that selects the machine.
        label: String,
        /// The names of the ways that are used there.
        via: Vec<String>,
        /// How many machines share the cells of each way.
        shards: usize,
    },
    /// In a virtual machine, natively.
    Vm {
        /// What is booted.
        system: Vm,
        /// The releases, each in a machine of its own.
        releases: Vec<String>,
    },
}

/// [`Ci`] as it is written.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CiText {
    pub(crate) runner: Option<String>,
    pub(crate) via: Option<Vec<String>>,
    pub(crate) shards: Option<usize>,
    pub(crate) vm: Option<Vm>,
    pub(crate) releases: Option<Vec<String>>,
}
