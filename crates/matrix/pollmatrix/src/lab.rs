//! The laboratory of this program: the crates that ask raw pollers, behind the trait by which the matrix
//! knows them.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::path::Path;
use std::slice;
use std::time::Duration;

use matrix::backends::{KQUEUE_LIBRARY, Poller};
use matrix::outcome::CellOutcome;
use matrix::{Environment, Error, Lab, environment};
use metadata::{Attempt, Scripted, Transport, Variant};
use raw::expectations::{Divergences, Expectations, ExpectationsError, is_overlay};
use selector::MakeSelector;

/// The crates of the laboratory, with the expectations of a run.
#[derive(Default)]
pub struct Laboratory {
    /// The contents of the folder that `--expectations` names.
    given: Option<Given>,
}

struct Given {
    divergences: Divergences,
    answers: Expectations,
    /// The built-in answers are below these.
    is_overlay: bool,
}

/// Returns the environment without any option.
pub fn environment() -> Environment {
    Environment::new(boxed())
}

/// Returns a laboratory that judges by the built-in expectations.
pub fn boxed() -> Box<dyn Lab> {
    Box::new(Laboratory::default())
}

impl Lab for Laboratory {
    fn scripted(&self) -> slice::Iter<'static, Scripted> {
        raw::scenarios()
    }

    fn behaviours(
        &self,
        text: &str,
        file: &str,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<&'static Scripted>, Error> {
        raw::read_behaviours(text, file, is_taken)
    }

    fn libraries(&self) -> Vec<Poller> {
        adapters::LIBRARIES.iter().map(|&adapters::Library { name, make }| Poller { name, make }).collect()
    }

    fn program(&self, command: Vec<String>, slow: NonZeroU32) -> MakeSelector {
        adapters::process(command, adapters::PATIENCE.saturating_mul(slow.get()))
    }

    fn expect(&mut self, folder: Option<&Path>, adapters: &[&'static str]) -> Result<(), Error> {
        self.given = match folder {
            Some(folder) => Some(load(folder, adapters)?),
            None => {
                // Here, because `judge` cannot report an error.
                Divergences::built_in()?;
                None
            }
        };
        Ok(())
    }

    fn run(
        &self,
        scripted: &Scripted,
        variant: Variant,
        poller: Poller,
        environment: &Environment,
        seed: u64,
        patience: Duration,
    ) -> Result<CellOutcome, Error> {
        let answers = self.answers(scripted, variant.transport, environment)?;
        Ok(raw::cell::run(scripted, variant, poller, (environment, &answers), seed, patience))
    }

    fn judge(&self, attempt: Attempt) -> Attempt {
        let given = self.given.as_ref().map(|given| &given.divergences);
        let divergences = given.or_else(|| Divergences::built_in().ok());
        let (Some(divergences), Some(os)) = (divergences, environment::os()) else { return attempt };
        divergences.judge(os, raw::cell::kernel().as_ref(), attempt)
    }
}

impl Laboratory {
    /// Returns the expected answers of this system's raw pollers and of the adapters, at least those to this
    /// scenario over this transport.
    fn answers(
        &self,
        scripted: &Scripted,
        transport: Transport,
        environment: &Environment,
    ) -> Result<Cow<'_, Expectations>, Error> {
        if let Some(given) = self.given.as_ref().filter(|given| !given.is_overlay) {
            return Ok(Cow::Borrowed(&given.answers));
        }
        let Some(os) = environment::os() else { return Ok(Cow::Owned(Expectations::default())) };
        let mut adapters: Vec<_> = environment.adapters().collect();
        adapters.extend(KQUEUE_LIBRARY);
        let answers = Expectations::built_in_about(scripted, transport, os, &adapters)?;
        Ok(Cow::Owned(match &self.given {
            Some(given) => answers.overlaid(given.answers.clone()),
            None => answers,
        }))
    }
}

fn load(folder: &Path, adapters: &[&'static str]) -> Result<Given, ExpectationsError> {
    let answers = match environment::os() {
        Some(os) => Expectations::of_folder(folder, os, adapters)?,
        None => Expectations::default(),
    };
    Ok(Given { divergences: Divergences::load(folder)?, answers, is_overlay: is_overlay(folder)? })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use matrix::backends::BACKENDS;
    use matrix::plan::Source;
    use metadata::Layer;

    use super::environment;

    #[test]
    fn contract_scenarios_that_cover_unscripted_behaviours_exist() {
        for excused in raw::omissions() {
            for id in excused.contract {
                assert!(scenarios::find(id).is_some(), "{}: there is no scenario {id}", excused.pattern);
            }
        }
    }

    #[test]
    fn the_code_and_the_matrix_agree_on_the_backends_of_this_system() {
        let environment = environment();
        let matrix = Source::load(None, &environment).expect("matrix.yml is well-formed").matrix;
        let listed: Vec<_> = matrix.backends.iter().map(|backend| backend.id.as_str()).collect();
        assert_eq!(listed, BACKENDS.map(|(name, _)| name));
        for (name, here) in BACKENDS {
            let listed = matrix.backend(name).is_some_and(|backend| backend.exists_on(std::env::consts::OS));
            assert_eq!(here.map(|backend| backend.name), listed.then_some(name));
        }
    }

    #[test]
    fn every_scenario_except_self_tests_runs_over_all_axes_of_its_file() {
        let environment = environment();
        let matrix = Source::load(None, &environment).expect("matrix.yml is well-formed").matrix;
        for description in environment.descriptions() {
            let run = matrix.scenario(description.id);
            if description.id.starts_with("selftest/") {
                assert!(run.is_none(), "{} is in matrix.yml", description.id);
                continue;
            }
            let run = run.unwrap_or_else(|| panic!("no entry of matrix.yml selects {}", description.id));
            assert!(run.variants.iter().copied().eq(description.axes.variants()), "{}", description.id);
        }
    }

    #[test]
    fn the_matrix_has_the_intended_size_and_unique_ids() {
        let environment = environment();
        let matrix = Source::load(None, &environment).expect("matrix.yml is well-formed").matrix;
        let cells = matrix.cells();
        let contract = cells.iter().filter(|cell| cell.layer == Layer::Contract);
        let linux = contract.filter(|cell| cell.id.backend != "kqueue").count();
        // A run must take minutes. A mistake in an axis multiplies the number of cells.
        assert!((400..=2000).contains(&linux), "{linux} cells on Linux");
        let ids: BTreeSet<_> = cells.iter().map(|cell| &cell.id).collect();
        assert_eq!(ids.len(), cells.len());
    }
}
