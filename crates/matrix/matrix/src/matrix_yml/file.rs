//! The types of matrix.yml: as the file spells them, and as the rest of the program sees them.

use std::time::Duration;

use metadata::{Layer, Mode, Os, Transport, Variant};
use serde::Deserialize;
use serde_saphyr::Spanned;

use crate::matrix_yml::axes::Build;
use crate::matrix_yml::ci::{Ci, CiText};
use crate::matrix_yml::runners::Runner;

/// A parsed and checked matrix.yml.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    /// The backends under test, in the order of the file.
    pub backends: Vec<Backend>,
    /// The targets to test on.
    pub targets: Vec<Target>,
    /// The scenarios to run.
    pub scenarios: Vec<Scenario>,
}

/// A poller under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backend {
    /// The name, such as `epoll`.
    pub id: String,
    /// The systems that have it.
    pub os: Vec<Os>,
    /// The triggers that it supports.
    pub triggers: Vec<Mode>,
}

/// A kind of machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name, such as `x86_64-linux-gnu`.
    pub id: String,
    /// The target triple of rustc.
    pub triple: String,
    /// The operating system.
    pub os: Os,
    /// The processor, as in `std::env::consts::ARCH`.
    pub arch: String,
    /// How its executable is built on other machines.
    pub build: Build,
    /// The runners that can start its cells, the preferred one first.
    pub runners: Vec<Runner>,
    /// Where CI runs it. A target without this value is not in the workflow.
    pub ci: Option<Ci>,
}

/// A scenario and the parameters to run it with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scenario {
    /// The id, `group/name`.
    pub id: String,
    /// The property to test, as a sentence.
    pub title: String,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The parameters to run it with, before excludes, which can depend on the backend.
    pub variants: Vec<Variant>,
    /// The combinations to leave out.
    pub exclude: Vec<Exclude>,
    /// The time limit of one attempt of one cell.
    pub timeout: Duration,
}

/// Excludes the cells that have all of the given values.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exclude {
    /// Cells of this backend.
    pub backend: Option<String>,
    /// Cells with this transport.
    pub transport: Option<Transport>,
    /// Cells with this trigger.
    pub trigger: Option<Mode>,
    /// Cells with this number of threads.
    pub threads: Option<usize>,
    /// Cells with this number of groups.
    pub groups: Option<usize>,
}

impl Exclude {
    /// Returns whether this excludes the cell of `variant` on `backend`.
    pub fn matches(&self, variant: &Variant, backend: &str) -> bool {
        self.backend.as_deref().is_none_or(|wanted| wanted == backend)
            && self.transport.is_none_or(|wanted| wanted == variant.transport)
            && self.trigger.is_none_or(|wanted| wanted == variant.trigger)
            && self.threads.is_none_or(|wanted| wanted == variant.threads)
            && self.groups.is_none_or(|wanted| wanted == variant.groups)
    }

    /// Returns whether no value is given, which would exclude every cell.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Backend {
    /// Returns whether `os` has this backend.
    pub fn exists_on(&self, os: &str) -> bool {
        self.os.iter().any(|known| known.name() == os)
    }
}

impl Target {
    /// Returns the runner of this name; of several containers, the first.
    pub fn runner(&self, name: &str) -> Option<&Runner> {
        self.runners.iter().find(|runner| runner.name() == name)
    }

    /// Returns the name of the gcc that links for this target, as Debian and its descendants name it:
    /// `arm-linux-gnueabihf-gcc` for armv7-unknown-linux-gnueabihf. `None` if the build is not
    /// [`Build::Gcc`].
    pub fn linker(&self) -> Option<String> {
        if self.build != Build::Gcc {
            return None;
        }
        let (processor, system) = self.triple.split_once("-unknown-")?;
        let processor = match processor {
            "armv7" => "arm",
            "riscv64gc" => "riscv64",
            same => same,
        };
        Some(format!("{processor}-{system}-gcc"))
    }
}

impl Matrix {
    /// Returns the backend of this name.
    pub fn backend(&self, id: &str) -> Option<&Backend> {
        self.backends.iter().find(|backend| backend.id == id)
    }

    /// Returns the scenario of this id.
    pub fn scenario(&self, id: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.id == id)
    }

    /// Returns the group of each scenario, in the order of the file. A group appears once per scenario.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().filter_map(|scenario| scenario.id.split('/').next())
    }

    /// Returns the target of this id.
    pub fn target(&self, id: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.id == id)
    }

    /// Returns the target whose cells an executable built for `triple` runs natively.
    pub fn native_target(&self, triple: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.triple == triple && target.runner("native").is_some())
    }
}

/// The file, as its author spells it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileText {
    pub(crate) version: Spanned<u32>,
    pub(crate) defaults: DefaultsText,
    pub(crate) backends: Vec<Spanned<BackendText>>,
    pub(crate) targets: Vec<Spanned<TargetText>>,
    pub(crate) scenarios: Vec<ScenarioText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DefaultsText {
    /// In seconds.
    pub(crate) timeout: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackendText {
    pub(crate) id: String,
    pub(crate) os: OsSet,
    pub(crate) triggers: Vec<Mode>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetText {
    pub(crate) id: String,
    pub(crate) triple: String,
    pub(crate) os: Os,
    pub(crate) arch: String,
    pub(crate) build: Option<Build>,
    #[serde(default)]
    pub(crate) runners: Vec<Spanned<Runner>>,
    pub(crate) ci: Option<Spanned<CiText>>,
}

/// A list of systems, or the word `all`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OsSet(pub(crate) Vec<Os>);

impl<'de> Deserialize<'de> for OsSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = OsSet;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of operating systems, or the word 'all'")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<OsSet, E> {
                if text == "all" {
                    Ok(OsSet(Os::ALL.to_vec()))
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
                }
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<OsSet, A::Error> {
                let mut systems = Vec::new();
                while let Some(os) = list.next_element()? {
                    systems.push(os);
                }
                Ok(OsSet(systems))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioText {
    /// `FAMILY/NAME`, or `FAMILY/*` for all of a group.
    pub(crate) id: Spanned<String>,
    pub(crate) transports: Option<Vec<Transport>>,
    pub(crate) triggers: Option<Vec<Mode>>,
    pub(crate) threads: Option<Vec<usize>>,
    pub(crate) groups: Option<Vec<usize>>,
    #[serde(default)]
    pub(crate) exclude: Vec<Spanned<Exclude>>,
    /// In seconds.
    pub(crate) timeout: Option<u64>,
}
