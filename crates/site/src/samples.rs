//! Input for the tests.

use std::collections::BTreeMap;

use expectations::{Divergences, Expectations, History, Version};
use metadata::samples;
use metadata::{Asked, Evidence, Os, Results, Status};
use report::html::catalogue::{Behaviour, Catalogue, Family, ScenarioEntry};

use crate::{Contract, Costs, Curve, File, Input, Measured, build};

/// The built-in answers about a few behaviours, and results of this target.
pub struct Sample {
    pub answers: Vec<(Os, Expectations)>,
    pub catalogue: Catalogue,
    pub results: Results,
    pub measured: Vec<Measured>,
    pub url: String,
}

/// Returns the version in a release of Linux.
pub fn linux(release: &str) -> Version {
    Version::of_release(Os::Linux, release).unwrap()
}

/// Returns one answer of `poll` in a state of V26 on Linux.
pub fn measured(release: &str, observed: &str) -> Measured {
    let asked = Asked {
        row: "V26".into(),
        variant: "pipe:read-end-never-data".into(),
        api: "poll".into(),
        trigger: Some("level".into()),
    };
    Measured {
        os: Os::Linux,
        version: linux(release),
        poller: None,
        source: format!("measured on linux {release}"),
        answers: BTreeMap::from([(asked, [observed.to_owned()].into())]),
    }
}

impl Sample {
    /// Returns the answers about V26, which systems and pollers show differently, and results with a failure.
    pub fn new() -> Self {
        let subjects: Vec<_> = expectations::subjects().collect();
        let about = |os: Os| (os, Expectations::built_in_about("V26", os, &subjects).unwrap());
        let behaviour = |id: &str| Behaviour {
            id: id.into(),
            title: expectations::title(id).unwrap().into(),
            scenarios: vec![ScenarioEntry {
                id: format!("readiness/{id}"),
                question: format!("What of {id}?"),
                script: "own is fresh".into(),
                command: "pollmatrix probe 'own is fresh'".into(),
                settings: "tcp; level".into(),
                bugs: Vec::new(),
            }],
            ..Behaviour::default()
        };
        let behaviours = vec![behaviour("V26"), behaviour("V27")];
        let family = Family { prefix: "V".into(), title: "readiness".into(), behaviours };
        let mut results =
            samples::results("here", &[("a", "poll", Status::Pass), ("b", "poll", Status::Fail)]);
        results.scenarios.insert("group/name".into(), samples::scenario());
        results.runs[0].kernel = "6.18.44".into();
        Self {
            answers: [Os::Linux, Os::FreeBsd].map(about).into(),
            catalogue: Catalogue { families: vec![family], divergences: Vec::new() },
            results,
            measured: Vec::new(),
            url: "https://example.org/site/".into(),
        }
    }

    pub fn input(&self) -> Input<'_> {
        Input {
            answers: &self.answers,
            history: History::built_in().unwrap(),
            divergences: Divergences::built_in().unwrap(),
            catalogue: &self.catalogue,
            results: &self.results,
            of_kernels: &self.results,
            measured: &self.measured,
            url: &self.url,
            pollmatrix: "1.2.3",
        }
    }

    /// Returns the files of the site, with stand-ins for the report and the catalogue.
    pub fn files(&self) -> BTreeMap<String, String> {
        let contract = [Contract { id: "deletion/known", title: "It is deleted", clauses: &["S3"] }];
        let curve = Curve { title: "wait".into(), svg: "<svg role=\"img\"><title>wait</title></svg>".into() };
        let costs = Costs { curves: vec![curve.clone(), curve], style: ".grid { color: red; }" };
        let stand_in = "<!DOCTYPE html><html lang=\"en\"><body></body></html>";
        let others = ["report.html", "catalogue.html"].map(|path| (path.to_owned(), stand_in.to_owned()));
        let files = build(&self.input(), &contract, &costs);
        let count = files.len();
        let files: BTreeMap<_, _> =
            files.into_iter().map(|File { path, text }| (path, text)).chain(others).collect();
        assert_eq!(files.len(), count + 2, "each path is that of one file");
        files
    }
}

/// Returns the kind of evidence of a measurement.
pub const MEASURED: Evidence = Evidence::Measured;
