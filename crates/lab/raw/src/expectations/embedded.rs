//! The expectations that are built into the program.

use std::sync::OnceLock;

use metadata::Os;

use crate::expectations::answers::Expectations;
use crate::expectations::divergences::Divergences;
use crate::expectations::error::ExpectationsError;
use crate::expectations::history::History;

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

    /// The same, for one behaviour only. A cell needs no other, thousands of cells start, and to parse a
    /// whole file takes longer than most of them.
    ///
    /// # Errors
    /// As [`built_in`](Self::built_in).
    pub fn built_in_about(behaviour: &str, os: Os, adapters: &[&str]) -> Result<Self, ExpectationsError> {
        let files = built_in_files(os, adapters);
        Self::of_files(files.filter_map(|(file, text)| Some((file, excerpt(text, behaviour)?))))
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

/// The text of a file of answers without those of other behaviours. `None` if it has none of this one.
/// Only for built-in files, each of which a test compares with its whole.
fn excerpt(text: &str, behaviour: &str) -> Option<String> {
    let (head, behaviours) = text.split_once("\nbehaviours:\n")?;
    let mut kept = String::new();
    let mut is_wanted = false;
    for line in behaviours.split_inclusive('\n') {
        // The key of a behaviour is indented by two blanks, and everything in the behaviour by more.
        if let Some(key) = line.strip_prefix("  ").filter(|key| !key.starts_with(' ')) {
            is_wanted =
                key.trim_end().strip_suffix(':').is_some_and(|key| key.trim_matches('\'') == behaviour);
        }
        if is_wanted && line.starts_with(' ') {
            kept.push_str(line);
        }
    }
    (!kept.is_empty()).then(|| format!("{head}\nbehaviours:\n{kept}"))
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

    use super::*;

    #[test]
    fn an_excerpt_has_all_answers_about_its_behaviour_and_no_others() {
        for (os, whole) in Expectations::built_in().unwrap().systems() {
            let mut found = 0;
            for (behaviour, _) in crate::expectations::catalogue::BEHAVIOURS.iter().copied() {
                let about = Expectations::built_in_about(behaviour, os, &[]).unwrap();
                let expected: Vec<_> =
                    whole.iter().filter(|answer| answer.behaviour == behaviour).cloned().collect();
                assert_eq!(about.of(os), expected, "{os} {behaviour}");
                found += expected.len();
            }
            assert_eq!(found, whole.len(), "{os}");
        }
        let mio = |behaviour| Expectations::built_in_about(behaviour, Os::Linux, &["mio"]).unwrap();
        assert!(mio("V26").of(Os::Linux).iter().any(|answer| answer.api.starts_with("mio")));
        assert_eq!(mio("no such behaviour"), Expectations::default());
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
