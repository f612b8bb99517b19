//! Scenarios that matrix.yml only names: their catalogue says what they are about and what they are run over. Said twice,
//! it would be said in two ways one day.

use std::time::Duration;

use metadata::{Layer, Mode, Transport, nearest};
use serde_saphyr::Location;

use crate::error::MatrixError;
use crate::file::{Axes, DefaultsText, Exclude, Matrix, Scenario, ScenarioText};
use crate::validate::{Problem, check_exclude, check_scenario};

/// A scenario as its catalogue describes it. It has one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// `group/name`.
    pub id: String,
    /// The property or the question, as a sentence.
    pub title: String,
    /// Contract or characterisation.
    pub layer: Layer,
    /// What the descriptors under test are.
    pub transports: Vec<Transport>,
    /// Level, edge.
    pub triggers: Vec<Mode>,
}

/// An entry of matrix.yml without a title: `group/name`, or `group/*` for all of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    id: String,
    exclude: Vec<(Exclude, Location)>,
    timeout: Duration,
    file: String,
    at: Location,
}

impl Named {
    pub(crate) fn check(text: ScenarioText, file: &str, defaults: &DefaultsText) -> Result<Self, Problem> {
        let id = text.id.value;
        let elsewhere = [
            ("layer", text.layer.is_some()),
            ("transports", text.transports.is_some()),
            ("triggers", text.triggers.is_some()),
            ("threads", text.threads.is_some()),
            ("groups", text.groups.is_some()),
        ];
        if let Some((key, _)) = elsewhere.iter().find(|(_, given)| *given) {
            let help = "without a title a catalogue says all of that: remove the key, or give a title";
            return Err((format!("{id} has '{key}' and no title"), help.into()));
        }
        Ok(Self {
            id,
            exclude: text.exclude.into_iter().map(|exclude| (exclude.value, exclude.referenced)).collect(),
            timeout: Duration::from_secs(text.timeout.unwrap_or(defaults.timeout)),
            file: file.to_owned(),
            at: text.id.referenced,
        })
    }

    fn means(&self, scenario: &Described) -> bool {
        match self.id.strip_suffix("/*") {
            Some(group) => scenario.id.split_once('/').is_some_and(|(of, _)| of == group),
            None => self.id == scenario.id,
        }
    }

    fn wrong(&self, at: Location, (message, help): Problem) -> MatrixError {
        let (line, column) = (at.line(), at.column());
        MatrixError::Malformed { file: self.file.clone(), line, column, message, help }
    }
}

impl Matrix {
    /// Adds the scenarios that the file only names, in the catalogue's order.
    ///
    /// # Errors
    /// The first entry that names nothing, or something wrong, with line, column and what to do.
    pub fn describe(mut self, catalogue: &[Described]) -> Result<Self, MatrixError> {
        for named in std::mem::take(&mut self.named) {
            let first = self.scenarios.len();
            for described in catalogue.iter().filter(|described| named.means(described)) {
                let scenario = Scenario {
                    id: described.id.clone(),
                    title: described.title.clone(),
                    layer: described.layer,
                    axes: Axes {
                        transports: described.transports.clone(),
                        triggers: described.triggers.clone(),
                        threads: vec![1],
                        groups: vec![1],
                    },
                    exclude: named.exclude.iter().map(|(exclude, _)| exclude.clone()).collect(),
                    timeout: named.timeout,
                };
                check_scenario(&scenario, &self.scenarios)
                    .map_err(|problem| named.wrong(named.at, problem))?;
                self.scenarios.push(scenario);
            }
            let meant: Vec<_> = self.scenarios[first..].iter().collect();
            if meant.is_empty() {
                return Err(named.wrong(named.at, unknown(&named.id, catalogue)));
            }
            for (exclude, at) in &named.exclude {
                check_exclude(exclude, &meant, &self.backends)
                    .map_err(|problem| named.wrong(*at, problem))?;
            }
        }
        Ok(self)
    }
}

fn unknown(id: &str, catalogue: &[Described]) -> Problem {
    let groups = catalogue.iter().filter_map(|described| described.id.split_once('/'));
    let mut known: Vec<_> = groups.map(|(group, _)| format!("{group}/*")).collect();
    known.dedup();
    known.extend(catalogue.iter().map(|described| described.id.clone()));
    let help = match nearest(id, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "give it a title, or name a scenario or a GROUP/* that a catalogue describes".into(),
    };
    (format!("'{id}' has no title, and no catalogue describes it"), help)
}
