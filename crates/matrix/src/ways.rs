//! The ways in which a target's cells can be run.

use std::fmt;

use metadata::did_you_mean;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

/// How the cells of a target can be run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Way {
    /// On this machine itself, if it is such a target.
    Native,
    /// On this machine, behind a command: an emulator, a sandbox, another dynamic linker, one's own script.
    Prefix(String),
    /// In a container of the image that `docker/NAME.Dockerfile` makes.
    Container(String),
    /// On another machine, reached with ssh.
    Ssh,
    /// Elsewhere: only the results are read here.
    Import,
}

impl Way {
    /// The name of every way, as `--via` takes it.
    pub const NAMES: [&'static str; 5] = ["native", "prefix", "container", "ssh", "import"];

    /// The name, without the command or image.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Prefix(_) => "prefix",
            Self::Container(_) => "container",
            Self::Ssh => "ssh",
            Self::Import => "import",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word, or `prefix: COMMAND`, or `container: IMAGE`.
impl<'de> Deserialize<'de> for Way {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WayVisitor;
        impl<'de> Visitor<'de> for WayVisitor {
            type Value = Way;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("native, ssh, import, prefix: COMMAND or container: IMAGE")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Way, E> {
                match text {
                    "native" => Ok(Way::Native),
                    "ssh" => Ok(Way::Ssh),
                    "import" => Ok(Way::Import),
                    "prefix" => Err(E::custom("the way 'prefix' needs a command: write prefix: COMMAND")),
                    "container" => {
                        Err(E::custom("the way 'container' needs an image: write container: IMAGE"))
                    }
                    _ => Err(unknown(text)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Way, A::Error> {
                let Some(name) = map.next_key::<String>()? else {
                    return Err(de::Error::invalid_length(0, &self));
                };
                let way = match name.as_str() {
                    "prefix" => Way::Prefix(map.next_value()?),
                    "container" => Way::Container(map.next_value()?),
                    "native" | "ssh" | "import" => {
                        return Err(de::Error::custom(format!(
                            "the way '{name}' takes nothing: write {name}"
                        )));
                    }
                    _ => return Err(unknown(&name)),
                };
                match map.next_key::<String>()? {
                    None => Ok(way),
                    Some(second) => Err(de::Error::custom(format!(
                        "'{second}' is in the same list item as '{name}': write each way as an item of its own"
                    ))),
                }
            }
        }
        deserializer.deserialize_any(WayVisitor)
    }
}

fn unknown<E: de::Error>(name: &str) -> E {
    E::custom(format!("unknown way '{name}': {}", did_you_mean(name, Way::NAMES)))
}
