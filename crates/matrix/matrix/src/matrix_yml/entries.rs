//! Combines the entries of matrix.yml with the scenarios' own descriptions.

use std::time::Duration;

use metadata::{Axes, Description, nearest};
use serde_saphyr::{Location, Spanned};

use crate::matrix_yml::file::{Backend, DefaultsText, Scenario, ScenarioText};
use crate::matrix_yml::validate::{Problem, check_exclude, check_scenario};

/// A problem and its place in the file.
type LocatedProblem = (Location, Problem);

/// Returns the scenarios that the entries select, in the order of the entries. The scenarios of a `group/*`
/// are in the order of the catalogue.
pub(crate) fn scenarios(
    entries: &[ScenarioText],
    catalogue: &[Description],
    backends: &[Backend],
    defaults: &DefaultsText,
) -> Result<Vec<Scenario>, LocatedProblem> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    // The entry that applies to each scenario.
    let mut owners: Vec<&ScenarioText> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let (id, place) = (&entry.id.value, entry.id.referenced);
        if entries[..index].iter().any(|earlier| earlier.id.value == *id) {
            return Err((place, (format!("the entry {id} appears twice"), "remove one of them".into())));
        }
        let selected: Vec<_> = catalogue.iter().filter(|scenario| entry.selects(scenario)).collect();
        if selected.is_empty() {
            return Err((place, unknown(id, catalogue)));
        }
        for description in selected {
            // The entry for exactly this scenario applies, wherever it is in the file. The scenario's
            // position is that of the first entry that selects it.
            if scenarios.iter().any(|earlier| earlier.id == description.id) {
                continue;
            }
            let own = entries.iter().find(|entry| entry.id.value == description.id).unwrap_or(entry);
            let scenario = own.scenario(description, defaults);
            check_scenario(&scenario, &own.axes(description))
                .map_err(|problem| (own.id.referenced, problem))?;
            scenarios.push(scenario);
            owners.push(own);
        }
    }
    for entry in entries {
        for Spanned { value: exclude, referenced, .. } in &entry.exclude {
            let owned = scenarios.iter().zip(&owners).filter(|(_, owner)| std::ptr::eq(**owner, entry));
            let selected: Vec<_> = owned.map(|(scenario, _)| scenario).collect();
            check_exclude(&entry.id.value, exclude, &selected, backends)
                .map_err(|problem| (*referenced, problem))?;
        }
    }
    Ok(scenarios)
}

impl ScenarioText {
    fn selects(&self, scenario: &Description) -> bool {
        match self.id.value.strip_suffix("/*") {
            Some(group) => scenario.id.split_once('/').is_some_and(|(of, _)| of == group),
            None => self.id.value == scenario.id,
        }
    }

    /// Returns the axes to run the scenario over: those of its description, where this entry does not
    /// override them.
    fn axes<'a>(&'a self, description: &'a Description) -> Axes<'a> {
        let own = description.axes;
        Axes {
            transports: self.transports.as_deref().unwrap_or(own.transports),
            triggers: self.triggers.as_deref().unwrap_or(own.triggers),
            threads: self.threads.as_deref().unwrap_or(own.threads),
            groups: self.groups.as_deref().unwrap_or(own.groups),
        }
    }

    fn scenario(&self, description: &Description, defaults: &DefaultsText) -> Scenario {
        Scenario {
            id: description.id.to_owned(),
            title: description.title.to_owned(),
            layer: description.layer,
            variants: self.axes(description).variants().collect(),
            exclude: self.exclude.iter().map(|exclude| exclude.value.clone()).collect(),
            timeout: Duration::from_secs(self.timeout.unwrap_or(defaults.timeout)),
        }
    }
}

fn unknown(id: &str, catalogue: &[Description]) -> Problem {
    let groups = catalogue.iter().filter_map(|scenario| scenario.id.split_once('/'));
    let mut known: Vec<_> = groups.map(|(group, _)| format!("{group}/*")).collect();
    known.dedup();
    known.extend(catalogue.iter().map(|scenario| scenario.id.to_owned()));
    let help = match nearest(id, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "name a scenario of this pollmatrix, or FAMILY/* for all of a group".into(),
    };
    (format!("there is no scenario '{id}'"), help)
}
