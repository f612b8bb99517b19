//! The expectations that are built into the program.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use metadata::{Os, Scripted, Transport};

use crate::expectations::answers::Expectations;
use crate::expectations::divergences::Divergences;
use crate::expectations::error::ExpectationsError;
use crate::expectations::history::History;
use crate::keys;

macro_rules! answers {
    ($($os:ident $name:literal)*) => {
        [$((
            Os::$os,
            concat!("expectations/answers/", $name, ".yml"),
            include_str!(concat!("../../data/answers/", $name, ".yml")),
        ),)*]
    };
}

const ANSWERS: [(Os, &str, &str); 7] = answers! {
    DragonFly "dragonfly"
    FreeBsd "freebsd"
    Gvisor "gvisor"
    Linux "linux"
    MacOs "macos"
    NetBsd "netbsd"
    OpenBsd "openbsd"
};

macro_rules! adapters {
    ($($os:ident $file:literal: $($adapter:literal)*;)*) => {
        [$($((
            Os::$os,
            $adapter,
            concat!("expectations/adapters/", $adapter, "/", $file, ".yml"),
            include_str!(concat!("../../data/adapters/", $adapter, "/", $file, ".yml")),
        ),)*)*]
    };
}

const ADAPTERS: [(Os, &str, &str, &str); 18] = adapters! {
    Linux "linux":
        "go-netpoll" "io-uring" "java-nio" "libev-epoll" "libev-poll" "libev-select" "libevent-epoll"
        "libevent-poll" "libevent-select" "libkqueue" "libuv" "mio" "node-net" "polling" "python-epoll"
        "python-poll" "python-select" "tokio";
};

const DIVERGENCES: &str = include_str!("../../data/divergences.yml");

const HISTORY: &str = include_str!("../../data/history.yml");

impl Expectations {
    /// Returns the built-in expectations of kernels.
    ///
    /// # Errors
    /// A built-in file has an error. The tests exclude this.
    pub fn built_in() -> Result<&'static Self, &'static ExpectationsError> {
        static READ: OnceLock<Result<Expectations, ExpectationsError>> = OnceLock::new();
        READ.get_or_init(Self::parse_built_in).as_ref()
    }

    pub(crate) fn parse_built_in() -> Result<Self, ExpectationsError> {
        Self::of_files(ANSWERS.map(|(_, file, text)| (file, text)))
    }

    /// Parses the built-in expectations of one system, and of these adapters on it.
    ///
    /// # Errors
    /// As [`built_in`](Self::built_in).
    pub fn built_in_of(os: Os, adapters: &[&str]) -> Result<Self, ExpectationsError> {
        Self::of_files(built_in_files(os, adapters))
    }

    /// The same, for one scenario over one transport only. A cell needs no other answers, thousands of cells
    /// start, and to parse a whole file takes longer than most of them.
    ///
    /// # Errors
    /// As [`built_in`](Self::built_in).
    pub fn built_in_about(
        scenario: &Scripted,
        transport: Transport,
        os: Os,
        adapters: &[&str],
    ) -> Result<Self, ExpectationsError> {
        // A script that cannot be parsed has no answers.
        let script = scenario.script.parse();
        let variants = script.map(|script| keys::variants(&script, transport)).unwrap_or_default();
        let about = |text| excerpt(text, scenario.behaviour, &variants);
        let files = built_in_files(os, adapters);
        Self::of_files(files.filter_map(|(file, text)| Some((file, about(text)?))))
    }

    /// Parses files: their names and texts.
    fn of_files<N: AsRef<str>, T: AsRef<str>>(
        files: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Self, ExpectationsError> {
        let mut answers = Self::default();
        for (file, text) in files {
            answers.read(text.as_ref(), file.as_ref())?;
        }
        Ok(answers)
    }
}

/// The files of one system, and of these adapters on it, with their texts.
fn built_in_files(os: Os, adapters: &[&str]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_system = ANSWERS.iter().filter(move |(of, ..)| *of == os).map(|(_, file, text)| (*file, *text));
    let of_adapters = ADAPTERS.iter().filter(move |(of, name, ..)| *of == os && adapters.contains(name));
    of_system.chain(of_adapters.map(|(.., file, text)| (*file, *text)))
}

/// The text of a file of answers with those about some variants of one behaviour, and their sources. `None`
/// if it has no such answers. Only for built-in files, each of which a test compares with its whole.
fn excerpt(text: &str, behaviour: &str, variants: &BTreeSet<String>) -> Option<String> {
    let (head, behaviours) = text.split_once("\nbehaviours:\n")?;
    let (head, sources) = head.split_once("\nsources:\n")?;
    let (_, of_behaviour) = sections(behaviours, 2).find(|(key, _)| *key == behaviour)?;
    let kept: String = sections(of_behaviour, 4)
        .filter(|(variant, _)| variants.contains(*variant))
        .map(|(variant, answers)| format!("    '{variant}':\n{answers}"))
        .collect();
    if kept.is_empty() {
        return None;
    }
    let is_named = |name: &str| [head, &kept].iter().any(|text| text.contains(&format!("source: {name}")));
    let sources: String = sections(sources, 2)
        .filter(|(name, _)| is_named(name))
        .map(|(name, source)| format!("  {name}:\n{source}"))
        .collect();
    Some(format!("{head}\nsources:\n{sources}\nbehaviours:\n  '{behaviour}':\n{kept}"))
}

/// Splits a text at its keys with this indentation, and returns each with the lines below it, which are
/// indented by more.
fn sections(text: &str, indentation: usize) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (line, below) = rest.split_once('\n')?;
        let found = key(line, indentation)?;
        let inner = below.split_inclusive('\n').take_while(|line| key(line, indentation).is_none());
        let (section, next) = below.split_at(inner.map(str::len).sum());
        rest = next;
        Some((found, section))
    })
}

/// The key in a line, if it has this indentation.
fn key(line: &str, indentation: usize) -> Option<&str> {
    let key = line.get(indentation..).filter(|key| !key.starts_with(' '))?;
    Some(key.trim_end().strip_suffix(':')?.trim_matches('\''))
}

/// Returns the names of the adapters and libraries with built-in answers.
pub fn adapters() -> impl Iterator<Item = &'static str> {
    ADAPTERS.iter().map(|(_, adapter, ..)| *adapter)
}

impl Divergences {
    /// Returns the built-in divergences.
    ///
    /// # Errors
    /// The built-in file has an error. The tests exclude this.
    pub fn built_in() -> Result<&'static Self, &'static ExpectationsError> {
        static READ: OnceLock<Result<Divergences, ExpectationsError>> = OnceLock::new();
        READ.get_or_init(Self::parse_built_in).as_ref()
    }

    pub(crate) fn parse_built_in() -> Result<Self, ExpectationsError> {
        Self::parse(DIVERGENCES, "expectations/divergences.yml")
    }
}

impl History {
    /// Returns the built-in answers of past systems.
    ///
    /// # Errors
    /// The built-in file has an error. The tests exclude this.
    pub fn built_in() -> Result<&'static Self, &'static ExpectationsError> {
        static READ: OnceLock<Result<History, ExpectationsError>> = OnceLock::new();
        READ.get_or_init(Self::parse_built_in).as_ref()
    }

    pub(crate) fn parse_built_in() -> Result<Self, ExpectationsError> {
        Self::parse(HISTORY, "expectations/history.yml")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use metadata::Mode;
    use selector::{Interest, Registered, View};

    use super::*;
    use crate::expectations::Expectation;

    #[test]
    fn an_excerpt_has_all_answers_to_its_scenario_and_no_others() {
        let of_adapters = ["mio"];
        let view = View { api: "epoll", interest: Interest::ALL, registered: Registered::After };
        for &os in Os::ALL {
            let whole = Expectations::built_in_of(os, &of_adapters).unwrap();
            for scenario in crate::scenarios() {
                let script = scenario.script.parse().unwrap();
                for &transport in scenario.transports {
                    let variants = keys::variants(&script, transport);
                    let due = keys::keys(&script, transport, Mode::Level, "epoll", &[view]);
                    assert!(due.iter().all(|key| variants.contains(&key.variant)), "{}", scenario.id);
                    let is_asked = |answer: &&Expectation| {
                        answer.behaviour == scenario.behaviour && variants.contains(&answer.variant)
                    };
                    let expected: Vec<_> = whole.of(os).iter().filter(is_asked).cloned().collect();
                    let about = Expectations::built_in_about(scenario, transport, os, &of_adapters).unwrap();
                    assert_eq!(about.of(os), expected, "{os} {} {transport}", scenario.id);
                }
            }
        }
        let of_v26 = crate::scenarios().find(|scenario| scenario.behaviour == "V26").unwrap();
        let about = |scenario: &Scripted| {
            let transport = scenario.transports[0];
            Expectations::built_in_about(scenario, transport, Os::Linux, &["mio"]).unwrap()
        };
        assert!(about(of_v26).of(Os::Linux).iter().any(|answer| answer.api.starts_with("mio")));
        let unknown = Scripted { behaviour: "no such behaviour", ..*of_v26 };
        assert_eq!(about(&unknown), Expectations::default());
    }

    #[test]
    fn the_built_in_files_are_those_of_the_folder() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../expectations");
        assert_eq!(Expectations::built_in().unwrap(), &Expectations::load(&dir).unwrap());
        for (os, all) in Expectations::built_in().unwrap().systems() {
            let alone =
                [Expectations::built_in_of(os, &[]).unwrap(), Expectations::load_of(&dir, os, &[]).unwrap()];
            assert!(alone.iter().all(|alone| alone.systems().collect::<Vec<_>>() == [(os, all)]), "{os}");
        }
        let mut adapters = Vec::new();
        for folder in std::fs::read_dir(dir.join("adapters")).unwrap() {
            let folder = folder.unwrap();
            let name = folder.file_name().into_string().unwrap();
            for file in std::fs::read_dir(folder.path()).unwrap() {
                let path = file.unwrap().path();
                let os: Os = path.file_stem().and_then(|stem| stem.to_str()).unwrap().parse().unwrap();
                let both = Expectations::built_in_of(os, &[&name]).unwrap();
                assert_eq!(both, Expectations::load_of(&dir, os, &[&name]).unwrap());
                assert!(
                    both.of(os).len() > Expectations::built_in_of(os, &[]).unwrap().of(os).len(),
                    "{name}"
                );
                assert!(both.of(os).is_sorted_by_key(|answer| answer.key()));
                adapters.push((os, name.clone()));
            }
        }
        assert_eq!(adapters.len(), ADAPTERS.len(), "{adapters:?}");
        let (built_in, loaded) = (Divergences::built_in().unwrap(), Divergences::load(&dir).unwrap());
        assert_eq!(built_in.iter().count(), loaded.iter().count());
        assert_eq!(History::built_in().unwrap(), &History::load(&dir).unwrap());
    }
}
