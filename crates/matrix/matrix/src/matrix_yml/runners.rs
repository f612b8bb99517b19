//! The runners of a target, as the key `runners` of matrix.yml and the option `--runner` name them.

use std::fmt;

use metadata::did_you_mean;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

/// How the cells of a target are started.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Runner {
    /// Directly on this machine, if it is a machine of the target.
    Native,
    /// On this machine, behind a command: an emulator, a sandbox, another dynamic linker, a script.
    Prefix(String),
    /// In a container of the image that `docker/NAME.Dockerfile` builds.
    Container(String),
    /// In a virtual machine that `vm/NAME.yml` describes.
    Vm(String),
    /// On another machine, over ssh.
    Ssh,
    /// Not started: the results come from a file.
    Import,
}

impl Runner {
    /// The name of every runner, as `--runner` takes it.
    pub const NAMES: [&'static str; 6] = ["native", "prefix", "container", "vm", "ssh", "import"];

    /// Returns the name, without the command, image or machine.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Prefix(_) => "prefix",
            Self::Container(_) => "container",
            Self::Vm(_) => "vm",
            Self::Ssh => "ssh",
            Self::Import => "import",
        }
    }

    /// Returns the runner as `--runner` takes it, with the image of a container or the name of a machine.
    pub fn label(&self) -> String {
        match self {
            Self::Container(image) => format!("container:{image}"),
            Self::Vm(machine) => format!("vm:{machine}"),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word, or `prefix: COMMAND`, `container: IMAGE` or `vm: MACHINE`.
impl<'de> Deserialize<'de> for Runner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RunnerVisitor;
        impl<'de> Visitor<'de> for RunnerVisitor {
            type Value = Runner;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("native, ssh, import, prefix: COMMAND, container: IMAGE or vm: MACHINE")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Runner, E> {
                match text {
                    "native" => Ok(Runner::Native),
                    "ssh" => Ok(Runner::Ssh),
                    "import" => Ok(Runner::Import),
                    "prefix" => Err(E::custom("the runner 'prefix' needs a command: write prefix: COMMAND")),
                    "container" => {
                        Err(E::custom("the runner 'container' needs an image: write container: IMAGE"))
                    }
                    "vm" => Err(E::custom("the runner 'vm' needs a machine: write vm: MACHINE")),
                    _ => Err(unknown(text)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Runner, A::Error> {
                let Some(name) = map.next_key::<String>()? else {
                    return Err(de::Error::invalid_length(0, &self));
                };
                let runner = match name.as_str() {
                    "prefix" => Runner::Prefix(map.next_value()?),
                    "container" => Runner::Container(map.next_value()?),
                    "vm" => Runner::Vm(map.next_value()?),
                    "native" | "ssh" | "import" => {
                        return Err(de::Error::custom(format!(
                            "the runner '{name}' takes no value: write {name}"
                        )));
                    }
                    _ => return Err(unknown(&name)),
                };
                match map.next_key::<String>()? {
                    None => Ok(runner),
                    Some(second) => Err(de::Error::custom(format!(
                        "'{second}' is in the same list item as '{name}': write each runner as its own item"
                    ))),
                }
            }
        }
        deserializer.deserialize_any(RunnerVisitor)
    }
}

fn unknown<E: de::Error>(name: &str) -> E {
    E::custom(format!("unknown runner '{name}': {}", did_you_mean(name, Runner::NAMES)))
}
