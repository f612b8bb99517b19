//! The cells of a matrix.

use std::time::Duration;

use metadata::{CellId, Layer, Variant};

use crate::file::Matrix;

/// One scenario on one backend with one set of parameters: one process, one result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The unique id of the cell.
    pub id: CellId,
    /// The parameters that the variant of the id encodes.
    pub variant: Variant,
    /// The layer of the scenario: contract or characterisation.
    pub layer: Layer,
    /// The time limit of one attempt.
    pub timeout: Duration,
}

impl Matrix {
    /// Returns every cell in the order of matrix.yml, backend by backend within a scenario.
    ///
    /// Includes the cells of backends that this machine does not have. A backend without edge triggers has no
    /// edge cells.
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
