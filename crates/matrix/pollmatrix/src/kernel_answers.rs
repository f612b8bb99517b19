//! The answers of each kernel in the results of runs, for the columns of the catalogue.

use std::collections::{BTreeMap, BTreeSet};

use metadata::{Os, Results};
use raw::expectations::Version;

use crate::expectations::record::{collect, source};
use crate::expectations::shared_name;

/// One kernel, and its answers.
pub struct KernelAnswers {
    /// The system.
    pub os: Os,
    /// Its version and its processor: `6.1.192, x86_64`.
    pub version: String,
    /// A description of the runs.
    pub source: String,
    answers: BTreeMap<(String, String, String), BTreeSet<String>>,
}

impl KernelAnswers {
    /// Returns the kernels in `results`, sorted by system, version and processor.
    pub fn all(results: &Results) -> Vec<Self> {
        let mut kernels: BTreeMap<(Os, Vec<u32>, String), Self> = BTreeMap::new();
        for run in &results.runs {
            let Some(os) = run.system() else { continue };
            let Some(version) = Version::of_release(os, &run.kernel) else { continue };
            // Answers of the kernel's own pollers only.
            let Some(answers) = collect(results, run).remove(&None) else { continue };
            let key = (os, version.numbers().to_vec(), run.arch.clone());
            let kernel = kernels.entry(key).or_insert_with(|| Self {
                os,
                version: format!("{version}, {}", run.arch),
                source: source(run, &version, None).1,
                answers: BTreeMap::new(),
            });
            for (asked, counts) in answers {
                let name = shared_name(&asked.api_and_trigger());
                let seen = kernel.answers.entry((asked.behaviour, asked.variant, name)).or_default();
                seen.extend(counts.into_keys());
            }
        }
        kernels.into_values().collect()
    }

    /// Returns the questions about a behaviour that this kernel answered: the state, the question, and the
    /// answers.
    pub fn of_behaviour<'a>(
        &'a self,
        behaviour: &str,
    ) -> impl Iterator<Item = (&'a str, &'a str, &'a BTreeSet<String>)> {
        let is_it = move |((of, variant, asked), answers): (&'a (String, String, String), _)| {
            (of == behaviour).then_some((variant.as_str(), asked.as_str(), answers))
        };
        self.answers.iter().filter_map(is_it)
    }
}
