//! matrix.yml as it is written, and as the rest of the program sees it.

use std::time::Duration;

use metadata::{Layer, Mode, Os, Transport, Variant};
use serde::Deserialize;
use serde_saphyr::Spanned;

use crate::axes::Build;
use crate::ci::{Ci, CiText};
use crate::ways::Way;

/// The one description of what is tested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    /// What is tested, in the order of the file.
    pub backends: Vec<Backend>,
    /// Where it is tested.
    pub targets: Vec<Target>,
    /// What is looked at.
    pub scenarios: Vec<Scenario>,
}

/// A poller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backend {
    /// `epoll`.
    pub id: String,
    /// The systems that have it.
    pub os: Vec<Os>,
    /// The triggers that it honours.
    pub triggers: Vec<Mode>,
}

/// A kind of machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// `x86_64-linux-gnu`.
    pub id: String,
    /// What rustc calls it.
    pub triple: String,
    /// Its operating system.
    pub os: Os,
    /// Its processor, by the name that `std::env::consts::ARCH` has for it.
    pub arch: String,
    /// How its executable is made elsewhere.
    pub build: Build,
    /// How its cells can be run, the preferred one first.
    pub ways: Vec<Way>,
    /// Where CI runs it. A target without this is not in the workflow.
    pub ci: Option<Ci>,
}

/// A scenario and the parameters it is run with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scenario {
    /// `group/name`.
    pub id: String,
    /// The property, as a sentence.
    pub title: String,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The parameters that it is run with. Excludes are not looked at: they may name a backend.
    pub variants: Vec<Variant>,
    /// The combinations to leave out.
    pub exclude: Vec<Exclude>,
    /// How long one attempt of one cell may take.
    pub timeout: Duration,
}

/// Leaves out the cells that have all of the given values.
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
    /// Whether the cell of `variant` on `backend` is left out.
    pub fn matches(&self, variant: &Variant, backend: &str) -> bool {
        self.backend.as_deref().is_none_or(|wanted| wanted == backend)
            && self.transport.is_none_or(|wanted| wanted == variant.transport)
            && self.trigger.is_none_or(|wanted| wanted == variant.trigger)
            && self.threads.is_none_or(|wanted| wanted == variant.threads)
            && self.groups.is_none_or(|wanted| wanted == variant.groups)
    }

    /// Whether nothing is given, which would leave everything out.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Backend {
    /// Whether `os` has it.
    pub fn exists_on(&self, os: &str) -> bool {
        self.os.iter().any(|known| known.name() == os)
    }
}

impl Target {
    /// The way of this name; of several containers the first.
    pub fn way(&self, name: &str) -> Option<&Way> {
        self.ways.iter().find(|way| way.name() == name)
    }

    /// The gcc that links for it, by the name that Debian and its descendants have for it, if that is how its executable
    /// is made: `arm-linux-gnueabihf-gcc` for armv7-unknown-linux-gnueabihf.
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
    /// The backend of this name.
    pub fn backend(&self, id: &str) -> Option<&Backend> {
        self.backends.iter().find(|backend| backend.id == id)
    }

    /// The scenario of this id.
    pub fn scenario(&self, id: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.id == id)
    }

    /// The group of each scenario, in the order of the file; a group is there once per scenario.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().filter_map(|scenario| scenario.id.split('/').next())
    }

    /// The target of this id.
    pub fn target(&self, id: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.id == id)
    }

    /// The target whose cells an executable built for `triple` runs by itself.
    pub fn native_target(&self, triple: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.triple == triple && target.way("native").is_some())
    }
}

/// The file as it is written.
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
    /// Seconds.
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
    pub(crate) ways: Vec<Spanned<Way>>,
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
    /// `GROUP/NAME`, or `GROUP/*` for all of a group.
    pub(crate) id: Spanned<String>,
    pub(crate) transports: Option<Vec<Transport>>,
    pub(crate) triggers: Option<Vec<Mode>>,
    pub(crate) threads: Option<Vec<usize>>,
    pub(crate) groups: Option<Vec<usize>>,
    #[serde(default)]
    pub(crate) exclude: Vec<Spanned<Exclude>>,
    /// Seconds.
    pub(crate) timeout: Option<u64>,
}
