//! Selects cells by the user's arguments.

use metadata::{Layer, did_you_mean, nearest};
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use crate::matrix_yml::cells::Cell;
use crate::matrix_yml::file::Matrix;
use crate::matrix_yml::shard::Shard;

/// A selection of cells. An empty list does not restrict it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Selection {
    /// Cells whose id begins with one of these.
    pub prefixes: Vec<String>,
    /// Cells of one of these backends.
    pub backends: Vec<String>,
    /// Cells whose id contains one of these, or matches one that has a `*` or `?` in it.
    pub filters: Vec<String>,
    /// Cells of this layer.
    pub layer: Option<Layer>,
    /// One machine's part of the cells that the other fields select.
    #[serde(default)]
    pub shard: Option<Shard>,
}

/// A selection that does not fit the matrix.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SelectError {
    /// No id begins with the prefix.
    #[error("no cell's id begins with '{prefix}'")]
    Prefix {
        /// The prefix.
        prefix: String,
        /// The remedy.
        help: String,
    },
    /// No backend has this name.
    #[error("there is no backend '{name}'")]
    Backend {
        /// The name.
        name: String,
        /// The remedy.
        help: String,
    },
    /// Each part matches some cell, but no cell matches all of them.
    #[error("no cell matches {0}")]
    Nothing(String),
}

impl SelectError {
    /// Returns the remedy.
    pub fn help(&self) -> String {
        match self {
            Self::Prefix { help, .. } | Self::Backend { help, .. } => help.clone(),
            Self::Nothing(_) => "`pollmatrix list` shows every id".into(),
        }
    }
}

impl Selection {
    /// Returns the selected cells of `matrix`, in its order.
    ///
    /// # Errors
    /// A prefix or backend does not exist, with the nearest one that does, or the fields other than the shard
    /// select no cell.
    pub fn apply(&self, matrix: &Matrix) -> Result<Vec<Cell>, SelectError> {
        let cells = matrix.cells();
        for name in &self.backends {
            if matrix.backend(name).is_none() {
                let names = matrix.backends.iter().map(|backend| backend.id.as_str());
                return Err(SelectError::Backend { name: name.clone(), help: did_you_mean(name, names) });
            }
        }
        for prefix in &self.prefixes {
            if !cells.iter().any(|cell| cell.id.to_string().starts_with(prefix.as_str())) {
                let help = suggest(prefix, matrix, &cells);
                return Err(SelectError::Prefix { prefix: prefix.clone(), help });
            }
        }
        let mut selected: Vec<_> = cells.into_iter().filter(|cell| self.selects(cell)).collect();
        if selected.is_empty() {
            return Err(SelectError::Nothing(self.describe()));
        }
        // A shard without cells is no error: its machine has nothing to run.
        selected.retain(|cell| self.shard.is_none_or(|shard| shard.contains(&cell.id.to_string())));
        Ok(selected)
    }

    fn selects(&self, cell: &Cell) -> bool {
        let id = cell.id.to_string();
        let any = |list: &[String], matches: &dyn Fn(&str) -> bool| {
            list.is_empty() || list.iter().any(|wanted| matches(wanted))
        };
        any(&self.prefixes, &|prefix| id.starts_with(prefix))
            && any(&self.backends, &|backend| cell.id.backend == backend)
            && any(&self.filters, &|filter| matches_filter(filter, &id))
            && self.layer.is_none_or(|layer| layer == cell.layer)
    }

    /// Returns the selection as arguments in one line, for messages.
    pub fn describe(&self) -> String {
        let mut words = self.prefixes.clone();
        words.extend(self.backends.iter().map(|backend| format!("--backend {backend}")));
        words.extend(self.filters.iter().map(|filter| format!("--filter '{filter}'")));
        words.extend(self.layer.map(|layer| format!("--layer {layer}")));
        words.extend(self.shard.map(|shard| format!("--shard {shard}")));
        if words.is_empty() { "everything".into() } else { words.join(" ") }
    }

    /// Returns the arguments that select the same cells. No arguments select every cell.
    pub fn arguments(&self) -> Vec<String> {
        let option = |name: &str, value: String| [name.to_owned(), value];
        let mut words = self.prefixes.clone();
        words.extend(self.backends.iter().flat_map(|name| option("--backend", name.clone())));
        words.extend(self.filters.iter().flat_map(|text| option("--filter", text.clone())));
        words.extend(self.layer.into_iter().flat_map(|layer| option("--layer", layer.to_string())));
        words.extend(self.shard.into_iter().flat_map(|shard| option("--shard", shard.to_string())));
        words
    }
}

/// Returns whether `id` contains `filter`, or matches it as a pattern if it has a `*` or `?`.
pub fn matches_filter(filter: &str, id: &str) -> bool {
    if filter.contains(['*', '?']) { WildMatch::new(filter).matches(id) } else { id.contains(filter) }
}

/// Suggests the nearest group, scenario or cell. Suggests a cell only for a prefix with two slashes, because
/// for a shorter one too many cells are equally near.
fn suggest(prefix: &str, matrix: &Matrix, cells: &[Cell]) -> String {
    let ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
    let scenarios = || matrix.scenarios.iter().map(|scenario| scenario.id.as_str());
    let found = match prefix.matches('/').count() {
        0 => nearest(prefix, matrix.groups()).or_else(|| {
            // The name of a scenario without its group.
            let names = scenarios().filter_map(|id| id.split('/').nth(1));
            let name = nearest(prefix, names)?;
            scenarios().find(|id| id.split('/').nth(1) == Some(name))
        }),
        1 => nearest(prefix, scenarios()),
        _ => nearest(prefix, ids.iter().map(String::as_str)),
    };
    match found {
        Some(id) => format!("did you mean '{id}'?"),
        None => "`pollmatrix list` shows every id".into(),
    }
}
