//! From the entries of matrix.yml, and what the scenarios' own files say, to the scenarios that are run.

use std::time::Duration;

use metadata::{Axes, Description, nearest};
use serde_saphyr::{Location, Spanned};

use crate::file::{Backend, DefaultsText, Scenario, ScenarioText};
use crate::validate::{Problem, check_exclude, check_scenario};

/// What is wrong, and where.
type Misplaced = (Location, Problem);

/// The scenarios that the entries stand for. They are in the order of the entries, those of a `group/*` in the order of
/// their catalogue.
pub(crate) fn scenarios(
    entries: &[ScenarioText],
    catalogue: &[Description],
    backends: &[Backend],
    defaults: &DefaultsText,
) -> Result<Vec<Scenario>, Misplaced> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    // Of each scenario, the entry that counts.
    let mut owners: Vec<&ScenarioText> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let (id, place) = (&entry.id.value, entry.id.referenced);
        if entries[..index].iter().any(|earlier| earlier.id.value == *id) {
            return Err((place, (format!("the entry {id} is there twice"), "remove one of them".into())));
        }
        let meant: Vec<_> = catalogue.iter().filter(|scenario| entry.means(scenario)).collect();
        if meant.is_empty() {
            return Err((place, unknown(id, catalogue)));
        }
        for description in meant {
            // Its own entry counts, wherever it is; its place is that of the first entry that means it.
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
            let meant: Vec<_> = owned.map(|(scenario, _)| scenario).collect();
            check_exclude(&entry.id.value, exclude, &meant, backends)
                .map_err(|problem| (*referenced, problem))?;
        }
    }
    Ok(scenarios)
}

impl ScenarioText {
    fn means(&self, scenario: &Description) -> bool {
        match self.id.value.strip_suffix("/*") {
            Some(group) => scenario.id.split_once('/').is_some_and(|(of, _)| of == group),
            None => self.id.value == scenario.id,
        }
    }

    /// What the scenario is run over: what its file says, unless this says otherwise.
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
        None => "name a scenario that this pollmatrix has, or a GROUP/* of them".into(),
    };
    (format!("there is no scenario '{id}'"), help)
}
