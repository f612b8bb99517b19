//! The measured answers of one kernel as a file of their own, for programs that know no other.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use metadata::{Asked, Column, Evidence, Os};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expectations::answers::{Columns, Expectation, Expectations, Source, Unstable};
use crate::expectations::version::{Range, Version, Versions};

/// The version of the format. A program reads this version and older ones.
const ORACLE_VERSION: u32 = 1;

/// A kernel with measured answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The system.
    pub os: Os,
    /// The newest measured version of the release.
    pub version: Version,
}

/// `linux-6.18`, `gvisor-20240729`: the release without its patch level.
impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = if self.os == Os::Gvisor { 1 } else { 2 };
        let numbers: Vec<_> = self.version.numbers().iter().take(parts).map(u32::to_string).collect();
        write!(f, "{}-{}", self.os, numbers.join("."))
    }
}

/// Returns the kernels with measured answers, sorted by system and version.
pub fn kernels(answers: &Expectations) -> Vec<Kernel> {
    let mut newest: BTreeMap<(Os, Vec<u32>), Kernel> = BTreeMap::new();
    for (os, answers) in answers.systems() {
        for version in answers.iter().flat_map(Expectation::measured_versions) {
            let release = version.numbers().iter().take(2).copied().collect();
            let kernel =
                newest.entry((os, release)).or_insert_with(|| Kernel { os, version: version.clone() });
            if version.numbers() > kernel.version.numbers() {
                kernel.version = version.clone();
            }
        }
    }
    newest.into_values().collect()
}

/// The measured answers of one kernel: the file of `pollmatrix expectations oracle`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema), schemars(title = "pollmatrix oracle"))]
pub struct Oracle {
    /// The version of this format: 1.
    pub schema_version: u32,
    /// The version of pollmatrix that wrote the file.
    pub pollmatrix: String,
    /// The kernel, without its patch level: `linux-6.18`.
    pub kernel: String,
    /// The system: `linux`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub os: Os,
    /// The newest measured version of the kernel: `6.18.44`.
    pub version: String,
    /// How the answers were measured.
    pub sources: Vec<OracleSource>,
    /// The answers, sorted by behaviour, state, interface and trigger. Each question has one.
    pub answers: Vec<OracleAnswer>,
}

/// How answers were measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct OracleSource {
    /// `M`: measured.
    pub evidence: Evidence,
    /// The machine and the program.
    pub text: String,
    /// The versions of this kernel that gave these answers.
    pub versions: Vec<String>,
}

/// The answer to one question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct OracleAnswer {
    /// The question.
    #[serde(flatten)]
    pub asked: Asked,
    /// Every allowed answer, in the notation of docs/expectations.md. A `*` stands for anything.
    pub answers: Vec<String>,
    /// How often each answer came, or the numbers behind a `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// Why another run may give other numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstable: Option<Unstable>,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The index of its source.
    pub source: usize,
}

/// Why a file is no oracle.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OracleError {
    /// The format is newer.
    #[error("it has version {0} of the format, and this program reads versions up to {ORACLE_VERSION}")]
    Newer(u32),
    /// A field has no value that it can have.
    #[error("the field `{0}` is '{1}', {2}")]
    Field(String, String, &'static str),
    /// There is no answer.
    #[error("it has no answers")]
    Empty,
}

impl Oracle {
    /// Returns the answers that were measured on this kernel. Hypotheses, and what was measured on other
    /// releases only, are left out.
    pub fn of(answers: &Expectations, kernel: &Kernel, pollmatrix: &str) -> Self {
        let (mut sources, mut found) = (Vec::<OracleSource>::new(), Vec::new());
        let versions = Versions::of_kernel(Some(&kernel.version));
        let of_system = answers.systems().filter(|(os, _)| *os == kernel.os).flat_map(|(_, all)| all);
        let measured = of_system.filter(|answer| answer.is_measured_on(versions));
        for answer in measured.filter(|answer| answer.range.contains(Some(&kernel.version))) {
            let of_release =
                answer.measured_versions().filter(|other| other.is_same_release(&kernel.version));
            let source = OracleSource {
                evidence: answer.source.evidence,
                text: answer.source.text.clone(),
                versions: of_release.map(ToString::to_string).collect(),
            };
            let index = sources.iter().position(|known| *known == source).unwrap_or_else(|| {
                sources.push(source);
                sources.len() - 1
            });
            found.push(OracleAnswer {
                asked: Asked {
                    behaviour: answer.behaviour.clone(),
                    variant: answer.variant.clone(),
                    api: answer.api.clone(),
                    trigger: answer.trigger.clone(),
                },
                answers: answer.allowed.clone(),
                seen: answer.seen.clone(),
                unstable: answer.unstable,
                note: answer.note.clone(),
                source: index,
            });
        }
        Self {
            schema_version: ORACLE_VERSION,
            pollmatrix: pollmatrix.to_owned(),
            kernel: kernel.to_string(),
            os: kernel.os,
            version: kernel.version.to_string(),
            sources,
            answers: found,
        }
    }

    /// Returns the kernel.
    ///
    /// # Errors
    /// The version is none.
    pub fn kernel(&self) -> Result<Kernel, OracleError> {
        let field =
            |_| OracleError::Field("version".into(), self.version.clone(), "which is no version: 6.18.44");
        Ok(Kernel { os: self.os, version: self.version.parse().map_err(field)? })
    }

    /// Checks a file that was read, and returns its answers.
    ///
    /// # Errors
    /// It is not what [`Oracle::of`] makes: the first mistake.
    pub fn expectations(&self) -> Result<Expectations, OracleError> {
        if self.schema_version > ORACLE_VERSION {
            return Err(OracleError::Newer(self.schema_version));
        }
        let Kernel { os, version } = self.kernel()?;
        if self.answers.is_empty() {
            return Err(OracleError::Empty);
        }
        let source = |source: &OracleSource| {
            Arc::new(Source {
                evidence: source.evidence,
                text: source.text.clone(),
                version: Some(version.clone()),
                poller: None,
                same_on: Vec::new(),
                url: None,
            })
        };
        let sources: Vec<_> = self.sources.iter().map(source).collect();
        let mut columns = Columns::new(Column::default());
        let expectation = |(index, answer): (usize, &OracleAnswer)| {
            let field = |name: &str, value: String, why| {
                OracleError::Field(format!("answers[{index}].{name}"), value, why)
            };
            if answer.answers.is_empty() {
                return Err(field("answers", String::new(), "and there must be an answer"));
            }
            let source = sources.get(answer.source).cloned();
            let unknown = || field("source", answer.source.to_string(), "and there is no such source");
            Ok(Expectation {
                behaviour: answer.asked.behaviour.clone(),
                variant: answer.asked.variant.clone(),
                api: answer.asked.api.clone(),
                trigger: answer.asked.trigger.clone(),
                allowed: answer.answers.clone(),
                seen: answer.seen.clone(),
                unstable: answer.unstable,
                column: columns.of(&answer.asked.api),
                source: source.ok_or_else(unknown)?,
                range: Range::default(),
                note: answer.note.clone(),
            })
        };
        let answers = self.answers.iter().enumerate().map(expectation).collect::<Result<_, _>>()?;
        Ok(Expectations::of_system(os, answers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oracle(name: &str) -> Oracle {
        let answers = Expectations::built_in().unwrap();
        let kernel = kernels(answers).into_iter().find(|kernel| kernel.to_string() == name);
        Oracle::of(answers, &kernel.unwrap_or_else(|| panic!("{name} is measured")), "1.2.3")
    }

    #[test]
    fn the_kernels_are_the_measured_releases_with_their_newest_patch_level() {
        let all = kernels(Expectations::built_in().unwrap());
        let names: Vec<_> = all.iter().map(ToString::to_string).collect();
        for name in
            ["linux-5.10", "linux-6.1", "linux-6.18", "freebsd-12.3", "gvisor-20240729", "openbsd-7.3"]
        {
            assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
        }
        assert!(!names.iter().any(|name| name.starts_with("macos")), "hypotheses only: {names:?}");
        let newest = all.iter().find(|kernel| kernel.to_string() == "linux-6.1").unwrap();
        assert_eq!(newest.version.to_string(), "6.1.192", "also measured: 6.1.176");
    }

    /// Linux 5.10 and 6.18 answer differently about edges of pipes, and no answer is in both under a bound.
    #[test]
    fn an_oracle_has_what_was_measured_on_its_kernel_and_nothing_else() {
        let built_in = Expectations::built_in().unwrap();
        for name in ["linux-5.10", "linux-6.18", "freebsd-12.3", "netbsd-7.99"] {
            let oracle = oracle(name);
            let version = oracle.kernel().unwrap().version;
            assert!(oracle.answers.len() > 500, "{name}: {}", oracle.answers.len());
            assert!(oracle.answers.is_sorted_by(|one, other| one.asked < other.asked), "{name}: each once");
            assert!(oracle.sources.iter().all(|source| source.evidence == Evidence::Measured), "{name}");
            for source in &oracle.sources {
                let is_of_it = |text: &String| text.parse::<Version>().unwrap().is_same_release(&version);
                assert!(!source.versions.is_empty() && source.versions.iter().all(is_of_it), "{source:?}");
            }
            for OracleAnswer { asked, answers, .. } in &oracle.answers {
                let known = built_in.expected(oracle.os, Some(&version), asked).unwrap();
                assert_eq!(*answers, known.allowed, "{name} {asked}");
            }
        }
        let [old, new] = ["linux-5.10", "linux-6.18"].map(oracle);
        let differs = |one: &&OracleAnswer| {
            new.answers.iter().any(|other| other.asked == one.asked && other.answers != one.answers)
        };
        assert!(old.answers.iter().filter(differs).count() > 20, "5.10 answers 31 questions differently");
    }

    #[test]
    fn the_answers_of_a_file_are_those_that_were_written() {
        let oracle = oracle("linux-6.18");
        let read = oracle.expectations().unwrap();
        let without_sources = |oracle: &Oracle| -> Vec<_> {
            oracle.answers.iter().map(|answer| OracleAnswer { source: 0, ..answer.clone() }).collect()
        };
        let again = Oracle::of(&read, &oracle.kernel().unwrap(), "1.2.3");
        assert_eq!(without_sources(&again), without_sources(&oracle));
        let column = |api: &str| {
            let (_, all) = read.systems().next().unwrap();
            Arc::clone(&all.iter().find(|answer| answer.api == api).unwrap().column)
        };
        assert_eq!(*column("epoll-add-before"), Column::of(metadata::Interface::Epoll));
    }

    #[test]
    fn a_file_that_is_no_oracle_is_refused_with_the_place() {
        let good = oracle("linux-6.18");
        let refused = |edit: fn(&mut Oracle)| {
            let mut oracle = good.clone();
            edit(&mut oracle);
            oracle.expectations().unwrap_err().to_string()
        };
        for (error, expected) in [
            (refused(|oracle| oracle.schema_version = 2), "it has version 2 of the format"),
            (refused(|oracle| oracle.version = "six".into()), "the field `version` is 'six'"),
            (refused(|oracle| oracle.answers[3].source = 9999), "`answers[3].source` is '9999'"),
            (refused(|oracle| oracle.answers[4].answers.clear()), "`answers[4].answers` is ''"),
            (refused(|oracle| oracle.answers.clear()), "it has no answers"),
        ] {
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_committed_schema_is_current() {
        metadata::schema::assert_current::<Oracle>(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../docs/oracle.schema.json"
        ));
    }
}
