//! Refuses results whose names could lead a path, an address or an id of a page elsewhere.

use super::cell::CellResult;
use super::cost::Cost;
use super::file::{NotRun, Results, Run};
use super::visible::one_line;
use crate::cell_id::CellId;
use crate::path_names::is_path_name;

/// The number of characters of a value that an error shows.
const SHOWN: usize = 100;

/// The error for a field of results that cannot be a part of a path.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the field `{field}` is '{}', which cannot be a part of a path", shown(value))]
pub struct PathNameError {
    /// The field: `cells[3].target`.
    pub field: String,
    /// Its value.
    pub value: String,
}

/// Returns the beginning of a value of any length, on one line.
fn shown(value: &str) -> String {
    let mut shown = one_line(&value.chars().take(SHOWN).collect::<String>()).into_owned();
    if value.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

impl PathNameError {
    /// Returns the error for the same field inside of `outer`.
    fn inside(self, outer: impl FnOnce() -> String) -> Self {
        Self { field: format!("{}.{}", outer(), self.field), ..self }
    }
}

/// A part of results. Programs that read results check it before they use it: it may come from another
/// machine.
pub trait PathNames {
    /// Checks each field of which a path, an address or an id of a page is made.
    ///
    /// # Errors
    /// The first field that [`is_path_name`] refuses.
    fn check_path_names(&self) -> Result<(), PathNameError>;
}

/// Checks one field.
///
/// # Errors
/// [`is_path_name`] refuses its value.
pub fn check_path_name(field: &str, value: &str) -> Result<(), PathNameError> {
    if is_path_name(value) { Ok(()) } else { Err(refused(field, value)) }
}

fn refused(field: &str, value: &str) -> PathNameError {
    PathNameError { field: field.to_owned(), value: value.to_owned() }
}

/// Checks the id of a scenario: `migration/idle-takeover`.
fn check_scenario(field: &str, id: &str) -> Result<(), PathNameError> {
    let is_id = id.split_once('/').is_some_and(|(family, name)| is_path_name(family) && is_path_name(name));
    if is_id { Ok(()) } else { Err(refused(field, id)) }
}

impl PathNames for Run {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        check_path_name("target", &self.target)?;
        check_path_name("runner", &self.runner)?;
        check_path_name("os", &self.os)?;
        // A target that is named after its kernel has the processor in its name.
        check_path_name("arch", &self.arch)?;
        self.kqueue_library().map_or(Ok(()), |library| check_path_name("kqueue", library))?;
        self.adapters.keys().try_for_each(|name| check_path_name("adapters", name))
    }
}

impl PathNames for NotRun {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        check_path_name("target", &self.target)?;
        check_path_name("os", &self.os)
    }
}

impl PathNames for CellResult {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        check_path_name("target", &self.target)?;
        check_path_name("backend", &self.backend)?;
        check_scenario("scenario", &self.scenario)?;
        match self.id.parse::<CellId>() {
            Ok(id) if is_path_name(&id.variant) && is_path_name(&id.backend) => {
                check_scenario("id", &id.scenario)
            }
            _ => Err(refused("id", &self.id)),
        }
        .map_err(|_| refused("id", &self.id))
    }
}

impl PathNames for Cost {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        check_path_name("target", &self.target)?;
        check_path_name("poller", &self.poller)?;
        check_path_name("operation", &self.operation)?;
        check_path_name("mode", &self.mode)
    }
}

impl PathNames for Results {
    fn check_path_names(&self) -> Result<(), PathNameError> {
        all("runs", &self.runs)?;
        all("not_run", &self.not_run)?;
        self.scenarios.keys().try_for_each(|id| check_scenario("scenarios", id))?;
        all("cells", &self.cells)?;
        all("costs", &self.costs)
    }
}

fn all<T: PathNames>(list: &str, elements: &[T]) -> Result<(), PathNameError> {
    for (index, element) in elements.iter().enumerate() {
        element.check_path_names().map_err(|error| error.inside(|| format!("{list}[{index}]")))?;
    }
    Ok(())
}
