//! Cells and their ids: `group/name/variant@backend`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::axes::{Layer, Transport, Trigger};
use crate::file::{Matrix, Scenario};

/// The parameters of a cell apart from its backend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variant {
    /// What the descriptors under test are.
    pub transport: Transport,
    /// Level or edge.
    pub trigger: Trigger,
    /// Worker threads in all.
    pub threads: usize,
    /// Groups that they are spread over.
    pub groups: usize,
}

/// `tcp-level-4t2g`: the same spelling as the scenarios' own parameters.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}t{}g", self.transport, self.trigger, self.threads, self.groups)
    }
}

/// One scenario on one backend with one set of parameters: one process, one result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Where it is addressed.
    pub id: CellId,
    /// The parameters that the id's variant stands for.
    pub variant: Variant,
    /// Contract or characterisation.
    pub layer: Layer,
    /// How long one attempt may take.
    pub timeout: Duration,
}

/// A cell's id in its parts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CellId {
    /// `group/name`.
    pub scenario: String,
    /// `tcp-level-2t1g`. Text, so that an id of another version of the matrix can still be shown.
    pub variant: String,
    /// `epoll`.
    pub backend: String,
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}@{}", self.scenario, self.variant, self.backend)
    }
}

/// Text that is not a cell's id.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is not the id of a cell: expected GROUP/NAME/VARIANT@BACKEND")]
pub struct ParseCellIdError(String);

impl FromStr for CellId {
    type Err = ParseCellIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (path, backend) = text.split_once('@')?;
            let (scenario, variant) = path.rsplit_once('/')?;
            let (group, name) = scenario.split_once('/')?;
            let complete = [group, name, variant, backend].iter().all(|part| !part.is_empty());
            (complete && !name.contains('/')).then(|| Self {
                scenario: scenario.into(),
                variant: variant.into(),
                backend: backend.into(),
            })
        };
        parse().ok_or_else(|| ParseCellIdError(text.into()))
    }
}

impl Scenario {
    /// The variants that the axes span, without those that have more groups than threads. Excludes are not
    /// looked at: they may name a backend.
    pub fn variants(&self) -> impl Iterator<Item = Variant> + '_ {
        let axes = &self.axes;
        axes.transports.iter().flat_map(move |&transport| {
            axes.triggers.iter().flat_map(move |&trigger| {
                axes.threads.iter().flat_map(move |&threads| {
                    let groups = axes.groups.iter().filter(move |&&groups| groups <= threads);
                    groups.map(move |&groups| Variant { transport, trigger, threads, groups })
                })
            })
        })
    }
}

impl Matrix {
    /// Every cell, for every backend whether or not it exists on this machine: in the order of matrix.yml,
    /// backend by backend within a scenario. A backend without edge triggers has no edge cells.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for scenario in &self.scenarios {
            for backend in &self.backends {
                let variants = scenario.variants().filter(|variant| {
                    backend.triggers.contains(&variant.trigger)
                        && !scenario.exclude.iter().any(|exclude| exclude.matches(variant, &backend.id))
                });
                cells.extend(variants.map(|variant| Cell {
                    id: CellId {
                        scenario: scenario.id.clone(),
                        variant: variant.to_string(),
                        backend: backend.id.clone(),
                    },
                    variant,
                    layer: scenario.layer,
                    timeout: scenario.timeout,
                }));
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back() {
        let text = "migration/idle-takeover/tcp-level-2t1g@epoll";
        let id: CellId = text.parse().unwrap();
        assert_eq!((id.scenario.as_str(), id.backend.as_str()), ("migration/idle-takeover", "epoll"));
        assert_eq!(id.to_string(), text);
    }

    #[test]
    fn incomplete_ids_are_refused() {
        for text in ["", "a/b@c", "a/b/c", "a/b/c@", "/b/c@d", "a/b/c/d@e"] {
            assert!(text.parse::<CellId>().is_err(), "{text}");
        }
    }
}
