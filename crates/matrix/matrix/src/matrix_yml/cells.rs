//! The cells of a matrix.

use std::time::Duration;

use metadata::{CellId, Layer, Variant};

use crate::matrix_yml::file::{Matrix, Scenario};

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
        self.scenarios.iter().flat_map(|scenario| self.cells_of(scenario)).collect()
    }

    /// Returns the cell of this id, if the matrix has it.
    pub fn cell(&self, id: &CellId) -> Option<Cell> {
        let of_id = self.scenarios.iter().filter(|scenario| scenario.id == id.scenario);
        of_id.flat_map(|scenario| self.cells_of(scenario)).find(|cell| cell.id == *id)
    }

    fn cells_of<'m>(&'m self, scenario: &'m Scenario) -> impl Iterator<Item = Cell> + use<'m> {
        self.backends.iter().flat_map(move |backend| {
            let variants = scenario.variants.iter().copied().filter(move |variant| {
                backend.triggers.contains(&variant.trigger)
                    && !scenario.exclude.iter().any(|exclude| exclude.matches(variant, &backend.id))
            });
            variants.map(move |variant| Cell {
                id: CellId {
                    scenario: scenario.id.clone(),
                    variant: variant.to_string(),
                    backend: backend.id.clone(),
                },
                variant,
                layer: scenario.layer,
                timeout: scenario.timeout,
            })
        })
    }
}
