//! What the raw interfaces answer, per OS: `expectations/answers/OS.yml`.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metadata::{Evidence, Mode, Os, api_and_trigger, did_you_mean};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Location, Spanned};

use crate::catalogue;
use crate::error::ExpectationsError;
use crate::file::{Entries, matches_pattern};
use crate::version::{Range, Version};

/// One answer: what one interface says in one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The row of the catalogue: `V26`.
    pub behaviour: String,
    /// The state: `pipe:read-end-drained`. The part before the colon is what the descriptor is.
    pub variant: String,
    /// Who is asked: `poll`, `poll-events0` (with events=0), `select`, `kqueue-add-before` (registered before the state
    /// came about), `kqueue-add-after`, or another system call: `read`.
    pub api: String,
    /// `level`, `edge`, `oneshot`, …; `None` where there is no such thing.
    pub trigger: Option<String>,
    /// The allowed answers. A `*` stands for anything.
    pub allowed: Vec<String>,
    /// What was written down when it was measured, if that is not the one allowed answer: how often which answer came,
    /// or the numbers that a `*` stands for.
    pub seen: Option<String>,
    /// Why another run of the same system may answer with other numbers.
    pub unstable: Option<Unstable>,
    /// Where it comes from.
    pub source: Arc<Source>,
    /// Which versions answer so.
    pub range: Range,
    /// What else there is to say.
    pub note: Option<String>,
}

/// Where answers come from.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// How well it is known.
    pub evidence: Evidence,
    /// In words.
    pub text: String,
    /// The version that it was measured on.
    pub version: Option<Version>,
    /// Where to read more.
    pub url: Option<String>,
}

/// Why an answer has numbers in it that another run need not repeat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unstable {
    /// They depend on when which thread was run.
    Scheduling,
    /// They depend on the sizes of buffers and limits.
    Size,
    /// They depend on the machine's speed.
    Timing,
    /// They depend on a hash or another kind of dice.
    Chance,
    /// Two things happen at once in the kernel: it is one of the allowed answers and nothing else, whichever comes first.
    Race,
}

impl Unstable {
    /// The name in the files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scheduling => "scheduling",
            Self::Size => "size",
            Self::Timing => "timing",
            Self::Chance => "chance",
            Self::Race => "race",
        }
    }
}

/// What comparing an observation with an answer says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compared {
    /// It is one of the allowed answers.
    Same,
    /// It is not.
    Different,
    /// It is not, but the answer is unstable: that means nothing.
    Unclear,
}

impl Expectation {
    /// Compares an observation with it.
    pub fn compare(&self, observed: &str) -> Compared {
        if self.allowed.iter().any(|allowed| matches_pattern(allowed, observed)) {
            Compared::Same
        } else if self.unstable.is_some_and(|why| why != Unstable::Race) {
            Compared::Unclear
        } else {
            Compared::Different
        }
    }

    /// What was written down when it was measured.
    pub fn recorded(&self) -> &str {
        self.seen.as_deref().or(self.allowed.first().map(String::as_str)).unwrap_or_default()
    }

    /// Whether it is more than a hypothesis for this version: measured, and on this very version.
    pub fn is_measured_on(&self, version: &Version) -> bool {
        !self.source.evidence.is_hypothesis()
            && self
                .source
                .version
                .as_ref()
                .is_some_and(|measured| measured.is_a(version) || version.is_a(measured))
    }

    /// `poll@level`, or only the system call.
    pub fn question(&self) -> String {
        api_and_trigger(&self.api, self.trigger.as_deref())
    }

    pub(crate) fn key(&self) -> (&str, &str, &str, Option<&str>) {
        (&self.behaviour, &self.variant, &self.api, self.trigger.as_deref())
    }
}

/// Where the answers of a system are in a folder of expectations, or those of a subject there.
pub fn answers_file(os: Os, subject: Option<&str>) -> PathBuf {
    let folder = match subject {
        None => PathBuf::from("answers"),
        Some(subject) => Path::new("subjects").join(subject),
    };
    folder.join(format!("{os}.yml"))
}

/// The answers of all systems.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expectations(BTreeMap<Os, Vec<Expectation>>);

impl Expectations {
    /// Reads `answers/*.yml` in `dir`.
    ///
    /// # Errors
    /// A file that cannot be read, or the first thing that is wrong in one.
    pub fn load(dir: &Path) -> Result<Self, ExpectationsError> {
        let dir = dir.join("answers");
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| ExpectationsError::Read { path, source }
        };
        let mut answers = Self::default();
        for entry in std::fs::read_dir(&dir).map_err(failed(&dir))? {
            let path = entry.map_err(failed(&dir))?.path();
            if path.extension().is_some_and(|extension| extension == "yml") {
                let text = std::fs::read_to_string(&path).map_err(failed(&path))?;
                answers.read(&text, &path.display().to_string())?;
            }
        }
        Ok(answers)
    }

    /// Reads of `dir` what one system answers, `answers/OS.yml`, and what these subjects do there:
    /// `subjects/NAME/OS.yml`. What is not there is not known.
    ///
    /// # Errors
    /// A file that cannot be read, or the first thing that is wrong in it.
    pub fn load_of(dir: &Path, os: Os, subjects: &[&str]) -> Result<Self, ExpectationsError> {
        let mut answers = Self::default();
        for subject in std::iter::once(None).chain(subjects.iter().copied().map(Some)) {
            let path = dir.join(answers_file(os, subject));
            match std::fs::read_to_string(&path) {
                Ok(text) => answers.read(&text, &path.display().to_string())?,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(ExpectationsError::Read { path, source }),
            }
        }
        Ok(answers)
    }

    /// What is known of a system.
    #[cfg(test)]
    pub(crate) fn of(&self, os: Os) -> &[Expectation] {
        self.0.get(&os).map_or(&[], Vec::as_slice)
    }

    /// Adds what a file says. `file` is its name: `…/OS.yml`.
    pub(crate) fn read(&mut self, text: &str, file: &str) -> Result<(), ExpectationsError> {
        let parsed: FileText = ExpectationsError::read_yaml(text, file)?;
        let os = parsed.os.value;
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem != os.name() {
            let message = format!("the file {stem}.yml says that it is about {os}");
            let help = format!("call the file {os}.yml, or the system {stem}");
            return Err(ExpectationsError::at(file, parsed.os.referenced, message, help));
        }
        let all = self.0.entry(os).or_default();
        all.extend(parsed.check(file)?);
        // Answers to one key stay in the order of their versions.
        all.sort_by(|one, other| one.key().cmp(&other.key()));
        Ok(())
    }

    /// The systems that there are answers of, and these: sorted by row, variant, interface and trigger.
    pub fn systems(&self) -> impl Iterator<Item = (Os, &[Expectation])> {
        self.0.iter().map(|(os, answers)| (*os, answers.as_slice()))
    }

    /// What `os` is expected to say. `version` is that of its kernel; without it only what holds for all versions is found.
    pub fn find(
        &self,
        os: Os,
        version: Option<&Version>,
        (row, variant, api, trigger): (&str, &str, &str, Option<&str>),
    ) -> Option<&Expectation> {
        let answers = self.0.get(&os)?;
        let wanted = (row, variant, api, trigger);
        let start = answers.partition_point(|answer| answer.key() < wanted);
        let same = answers.iter().skip(start).take_while(|answer| answer.key() == wanted);
        same.into_iter().find(|answer| answer.range.contains(version))
    }
}

/// A file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    os: Spanned<Os>,
    /// The source of every answer that names none.
    source: Spanned<String>,
    sources: Entries<Source>,
    rows: Entries<Entries<Entries<Spanned<EntryText>>>>,
}

/// An answer as it is written: the one allowed answer, or all that can be said, or that per range of versions.
enum EntryText {
    Plain(String),
    Full(Box<ExpectationText>),
    Several(Vec<Spanned<ExpectationText>>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectationText {
    answers: Vec<String>,
    seen: Option<String>,
    unstable: Option<Unstable>,
    source: Option<Spanned<String>>,
    since: Option<Version>,
    until: Option<Spanned<Version>>,
    note: Option<String>,
}

impl<'de> Deserialize<'de> for EntryText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = EntryText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an answer in quotes, or { answers: [...], ... }, or a list of those")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<EntryText, E> {
                Ok(EntryText::Plain(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EntryText, A::Error> {
                ExpectationText::deserialize(MapAccessDeserializer::new(map))
                    .map(Box::new)
                    .map(EntryText::Full)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<EntryText, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(EntryText::Several)
            }
        }
        deserializer.deserialize_any(EntryVisitor)
    }
}

/// Makes an error at a place in a file.
pub(crate) struct InFile<'a>(pub(crate) &'a str);

impl InFile<'_> {
    pub(crate) fn error<T>(
        &self,
        at: Location,
        message: String,
        help: impl Into<String>,
    ) -> Result<T, ExpectationsError> {
        Err(ExpectationsError::at(self.0, at, message, help))
    }

    /// That the keys come in order. A reader, and a diff, finds things where they belong.
    pub(crate) fn check_sorted<V>(&self, entries: &Entries<V>) -> Result<(), ExpectationsError> {
        let wrong = entries.0.windows(2).find(|pair| pair[0].0.value > pair[1].0.value);
        let Some([(before, _), (after, _)]) = wrong else { return Ok(()) };
        let message = format!("'{}' comes after '{}'", after.value, before.value);
        self.error(after.referenced, message, "keep the keys sorted: byte by byte, as `LC_ALL=C sort` does")
    }
}

type Sources = HashMap<String, Arc<Source>>;

impl FileText {
    fn check(self, file: &str) -> Result<Vec<Expectation>, ExpectationsError> {
        let at = InFile(file);
        let mut sources = Sources::new();
        for (name, source) in self.sources.0 {
            if source.version.is_some() == source.evidence.is_hypothesis() {
                let message =
                    format!("the source '{}' is measured without a version, or the other way", name.value);
                return at.error(
                    name.referenced,
                    message,
                    "what was measured (M), and nothing else, has a `version`",
                );
            }
            sources.insert(name.value, Arc::new(source));
        }
        let usual = named(&at, &self.source, &sources)?;
        if let Some((row, _)) = self.rows.0.iter().find(|(row, _)| catalogue::title(&row.value).is_none()) {
            let message = format!("there is no row '{}' in the catalogue", row.value);
            return at.error(row.referenced, message, catalogue::help(&row.value));
        }
        at.check_sorted(&self.rows)?;
        let mut answers = Vec::new();
        for (row, variants) in self.rows.0 {
            at.check_sorted(&variants)?;
            for (variant, asked) in variants.0 {
                at.check_sorted(&asked)?;
                for (key, text) in asked.0 {
                    let (api, trigger) = split_key(&at, &key)?;
                    let several = match text.value {
                        EntryText::Plain(answer) => vec![(text.referenced, ExpectationText::plain(answer))],
                        EntryText::Full(full) => vec![(text.referenced, *full)],
                        EntryText::Several(list) => {
                            list.into_iter().map(|full| (full.referenced, full.value)).collect()
                        }
                    };
                    let first = answers.len();
                    for (place, full) in several {
                        let answer = Expectation {
                            behaviour: row.value.clone(),
                            variant: variant.value.clone(),
                            api: api.to_owned(),
                            trigger: trigger.map(str::to_owned),
                            ..full.check(&at, place, &usual, &sources)?
                        };
                        let same = answers
                            .iter()
                            .skip(first)
                            .any(|other: &Expectation| other.range.overlaps(&answer.range));
                        if same {
                            let message =
                                format!("two answers of '{}' hold for the same versions", key.value);
                            return at.error(
                                place,
                                message,
                                "give them `since` and `until` that leave no doubt",
                            );
                        }
                        answers.push(answer);
                    }
                    if answers.len() == first {
                        return at.error(
                            key.referenced,
                            format!("'{}' has no answer", key.value),
                            "give one, or remove it",
                        );
                    }
                }
            }
        }
        // The files are sorted by the written `api@trigger`, which is almost the order of the two.
        answers.sort_by(|a, b| a.key().cmp(&b.key()));
        Ok(answers)
    }
}

/// `poll@level`, or a system call alone.
pub(crate) fn split_key<'a>(
    at: &InFile<'_>,
    key: &'a Spanned<String>,
) -> Result<(&'a str, Option<&'a str>), ExpectationsError> {
    let Some((api, trigger)) = key.value.rsplit_once('@') else { return Ok((&key.value, None)) };
    let known = || Mode::ALL.iter().map(|mode| mode.published());
    if known().any(|known| known == trigger) {
        return Ok((api, Some(trigger)));
    }
    at.error(key.referenced, format!("unknown trigger '{trigger}'"), did_you_mean(trigger, known()))
}

fn named(
    at: &InFile<'_>,
    name: &Spanned<String>,
    sources: &Sources,
) -> Result<Arc<Source>, ExpectationsError> {
    if let Some(source) = sources.get(&name.value) {
        return Ok(Arc::clone(source));
    }
    let known = sources.keys().map(String::as_str);
    let message = format!("there is no source '{}' in this file", name.value);
    at.error(name.referenced, message, did_you_mean(&name.value, known))
}

impl ExpectationText {
    fn plain(answer: String) -> Self {
        Self {
            answers: vec![answer],
            seen: None,
            unstable: None,
            source: None,
            since: None,
            until: None,
            note: None,
        }
    }

    /// The answer, without what its keys say.
    fn check(
        self,
        at: &InFile<'_>,
        place: Location,
        usual: &Arc<Source>,
        sources: &Sources,
    ) -> Result<Expectation, ExpectationsError> {
        if self.answers.is_empty() || self.answers.iter().any(|answer| answer.is_empty() || answer == "*") {
            let help = "say what is answered; leave out what is not known, or record it";
            return at.error(place, "an answer that says nothing".into(), help);
        }
        let source = match &self.source {
            Some(name) => named(at, name, sources)?,
            None => Arc::clone(usual),
        };
        if self.seen.is_none() && self.answers.len() > 1 && !source.evidence.is_hypothesis() {
            let help = "add `seen`: how often which of them came";
            return at.error(place, "several answers were measured".into(), help);
        }
        let until_at = self.until.as_ref().map(|until| until.referenced);
        let range = Range { since: self.since, until: self.until.map(|until| until.value) };
        if range.is_empty() {
            let message = format!("no version is in {range}");
            return at.error(
                until_at.unwrap_or(place),
                message,
                "`since` is the first and `until` the last one",
            );
        }
        Ok(Expectation {
            behaviour: String::new(),
            variant: String::new(),
            api: String::new(),
            trigger: None,
            allowed: self.answers,
            seen: self.seen,
            unstable: self.unstable,
            source,
            range,
            note: self.note,
        })
    }
}

#[cfg(test)]
mod tests;
