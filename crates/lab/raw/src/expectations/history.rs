//! The answers of past systems: `expectations/history.yml`.
//!
//! They are not expectations. An expectation has a range of versions, and an answer of an old version says
//! nothing about the versions between it and today.

use std::path::Path;

use metadata::{Evidence, Os, did_you_mean};
use serde::Deserialize;
use serde_saphyr::Spanned;

use crate::expectations::answers::{BehavioursText, InFile, is_overlay, split_key};
use crate::expectations::error::ExpectationsError;
use crate::expectations::file::Entries;
use crate::expectations::version::Version;

/// A past version of a system with published answers.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastSystem {
    /// The system.
    pub os: Os,
    /// Its version, as precisely as it is known.
    pub version: Version,
    /// The kind of evidence of its answers.
    pub evidence: Evidence,
    /// A description of the publication.
    pub text: String,
    /// The publication.
    pub url: String,
}

/// The answers of past systems to one question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastAnswers {
    /// The behaviour in the catalogue: `2.7`.
    pub behaviour: String,
    /// The state: `pipe:state-6a-drained`.
    pub variant: String,
    /// The interface with its trigger: `poll-IN@level`.
    pub asked: String,
    /// The answers, each with the index of its system in [`History::systems`], sorted by index.
    pub answers: Vec<(usize, String)>,
}

/// The known answers of past systems.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct History {
    systems: Vec<PastSystem>,
    answers: Vec<PastAnswers>,
}

impl History {
    /// Reads `history.yml` in `dir`. Without this file, the history is empty, or the built-in one if the
    /// folder is an [overlay](is_overlay).
    ///
    /// # Errors
    /// The file cannot be read, or has an error: see [`History::parse`].
    pub fn load(dir: &Path) -> Result<Self, ExpectationsError> {
        let path = dir.join("history.yml");
        match ExpectationsError::read_file(&path)? {
            Some(text) => Self::parse(&text, &path.display().to_string()),
            None if is_overlay(dir)? => Self::parse_built_in(),
            None => Ok(Self::default()),
        }
    }

    /// Parses and checks the history. `file` is the name for errors.
    ///
    /// # Errors
    /// The first error, with line, column and help.
    pub fn parse(text: &str, file: &str) -> Result<Self, ExpectationsError> {
        let parsed: HistoryText = ExpectationsError::read_yaml(text, file)?;
        parsed.check(&InFile(file))
    }

    /// Returns the systems, in the order of the file.
    pub fn systems(&self) -> &[PastSystem] {
        &self.systems
    }

    /// Returns the answers, sorted by behaviour, state and question.
    pub fn answers(&self) -> &[PastAnswers] {
        &self.answers
    }
}

/// The text form of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryText {
    systems: Entries<PastSystem>,
    behaviours: BehavioursText<Entries<Spanned<String>>>,
}

impl HistoryText {
    fn check(self, at: &InFile<'_>) -> Result<History, ExpectationsError> {
        at.check_sorted(&self.systems)?;
        let names: Vec<_> = self.systems.0.iter().map(|(name, _)| name.value.clone()).collect();
        let mut answers = Vec::new();
        for (behaviour, variant, key, past_answers) in at.questions(self.behaviours)? {
            split_key(at, &key)?;
            at.check_sorted(&past_answers)?;
            let mut past = Vec::new();
            for (name, answer) in past_answers.0 {
                let Some(system) = names.iter().position(|known| *known == name.value) else {
                    let message = format!("there is no system '{}' in this file", name.value);
                    let help = did_you_mean(&name.value, names.iter().map(String::as_str));
                    return at.error(name.referenced, message, help);
                };
                if answer.value.is_empty() {
                    let help = "leave out systems without a published answer";
                    return at.error(answer.referenced, "an empty answer".into(), help);
                }
                past.push((system, answer.value));
            }
            answers.push(PastAnswers { behaviour, variant, asked: key.value, answers: past });
        }
        Ok(History { systems: self.systems.0.into_iter().map(|(_, system)| system).collect(), answers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents of the test's `pipepoll.out` and `pipeselect.out`, in the order of the states: `0`, `I`n,
    /// `H`up, `B`oth; `c`lear, `s`et.
    const PUBLISHED: [(&str, &str, &str); 3] = [
        ("FreeBSD 4", "0IBB 0III I0I0 I0II IIII", "csss csss scsc scss ssss"),
        ("FreeBSD 7", "0IBB 0III 00I0 00II 0000", "csss csss ccsc ccss cccc"),
        ("Linux 2.6.10", "0IBH 0IBB 00I0 H0IB H0HH", "csss csss ccsc scss scss"),
    ];

    /// The states in the order of the test, under the names of the scripts.
    const STATES: [&str; 20] = [
        "pipe:state-4-idle",
        "pipe:state-5-data",
        "pipe:state-6-data+writer-gone",
        "pipe:state-6a-drained",
        "unix:state-4-idle",
        "unix:state-5-data",
        "unix:state-6-data+writer-gone",
        "unix:state-6a-drained",
        "fifo:state-0-no-writer-yet",
        "fifo:state-1-writer-opened",
        "fifo:state-2-data",
        "fifo:state-2a-drained-writer-open",
        "fifo:state-3-writer-gone",
        "fifo:state-4-new-writer",
        "fifo:state-5-data",
        "fifo:state-6-data+writer-gone",
        "fifo:state-6a-drained",
        "fifo:state-6b-second-reader(its-view)",
        "fifo:state-6b-second-reader(first-reader-view)",
        "fifo:state-6c-second-reader-closed",
    ];

    #[test]
    fn the_published_results_of_freebsds_test_are_complete() {
        let history = History::built_in().unwrap();
        let answer = |system: usize, variant: &str, asked: &str| {
            let found = history
                .answers()
                .iter()
                .find(|answers| (answers.variant.as_str(), answers.asked.as_str()) == (variant, asked))
                .unwrap_or_else(|| panic!("no answer for {variant} {asked}"));
            found.answers.iter().find(|(of, _)| *of == system).map(|(_, answer)| answer.as_str())
        };
        for (system, (name, poll, select)) in PUBLISHED.into_iter().enumerate() {
            let pairs = |results: &str, asked: &str| -> Vec<_> {
                let letters: Vec<char> = results.chars().filter(|letter| *letter != ' ').collect();
                assert_eq!(letters.len(), STATES.len(), "{name} {asked}");
                STATES.iter().map(|state| answer(system, state, asked)).zip(letters).collect()
            };
            for (answer, letter) in pairs(poll, "poll-IN@level") {
                let expected = match letter {
                    '0' => "-",
                    'I' => "IN",
                    'H' => "HUP",
                    _ => "IN|HUP",
                };
                assert_eq!(answer, Some(expected), "{name}");
            }
            for (answer, letter) in pairs(select, "select-R@level") {
                assert_eq!(answer, Some(if letter == 's' { "r--" } else { "---" }), "{name}");
            }
        }
        assert_eq!(history.answers().len(), 2 * STATES.len(), "there are no other answers");
    }

    const FILE: &str = "systems:
  a-1: { os: linux, version: '1', evidence: T, text: 'a test', url: 'https://example.org' }
  b-2: { os: freebsd, version: '2', evidence: T, text: 'a test', url: 'https://example.org' }
behaviours:
  '2.7':
    'pipe:one':
      poll-IN@level: { a-1: 'IN', b-2: '-' }
      poll@level: { b-2: '-' }
";

    #[test]
    fn an_error_has_a_position_and_a_message() {
        let read = History::parse(FILE, "h.yml").unwrap();
        assert_eq!(read.answers()[0].answers, [(0, "IN".to_owned()), (1, "-".to_owned())]);
        for (replace, by, message) in [
            ("{ a-1: 'IN'", "{ a-2: 'IN'", "h.yml:7:24: there is no system 'a-2'"),
            ("'2.7'", "'2.8'", "there is no behaviour '2.8'"),
            ("poll@level", "poll@levle", "unknown trigger 'levle'"),
            ("{ b-2: '-' }", "{ b-2: '' }", "an empty answer"),
            ("a-1: 'IN', b-2: '-'", "b-2: '-', a-1: 'IN'", "'a-1' comes after 'b-2'"),
            ("version: '2'", "verison: '2'", "unknown field `verison`"),
        ] {
            assert!(FILE.contains(replace), "{replace}");
            let error = History::parse(&FILE.replacen(replace, by, 1), "h.yml").expect_err(by).to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
