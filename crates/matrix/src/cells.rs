//! The cells that a matrix stands for.

use std::time::Duration;

use metadata::{CellId, Layer, Variant};

use crate::file::Matrix;

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

impl Matrix {
    /// Every cell, for every backend whether or not it exists on this machine: in the order of matrix.yml,
    /// backend by backend within a scenario. A backend without edge triggers has no edge cells.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for scenario in &self.scenarios {
            for backend in &self.backends {
                let variants = scenario.variants.iter().copied().filter(|variant| {
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
