//! Where CI runs a target.

use serde::Deserialize;

use crate::matrix_yml::axes::Vm;

/// Where CI runs a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ci {
    /// On a hosted machine.
    Hosted {
        /// The label that selects the machine.
        label: String,
        /// The names of the runners that are used there.
        runners: Vec<String>,
        /// The number of machines that share the cells of each runner.
        shards: usize,
    },
    /// In a virtual machine, natively.
    Vm {
        /// The system to boot.
        system: Vm,
        /// The releases; each has its own machine.
        releases: Vec<String>,
    },
}

/// [`Ci`] as matrix.yml spells it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CiText {
    #[serde(rename = "runs-on")]
    pub(crate) label: Option<String>,
    pub(crate) runners: Option<Vec<String>>,
    pub(crate) shards: Option<usize>,
    pub(crate) vm: Option<Vm>,
    pub(crate) releases: Option<Vec<String>>,
}
