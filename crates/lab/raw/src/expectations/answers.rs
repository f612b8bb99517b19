//! The expected answers of the raw interfaces, per operating system: `expectations/answers/OS.yml`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metadata::{Answer, Column, Evidence, Interface, Mode, Os, Word, api_and_trigger, did_you_mean};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_saphyr::{Location, Spanned};

use crate::expectations::catalogue;
use crate::expectations::error::ExpectationsError;
use crate::expectations::error_numbers::with_usual_names;
use crate::expectations::file::{Entries, matches_pattern};
use crate::expectations::version::{Range, Version, Versions, is_same_release_of_library};
use crate::{asked_on, omissions};

/// The expected answer of one interface in one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The behaviour in the catalogue: `V26`.
    pub behaviour: String,
    /// The state: `pipe:read-end-drained`. The part before the colon is the kind of descriptor.
    pub variant: String,
    /// The interface: `poll`, `poll-events0` (with events=0), `select`, `kqueue-add-before` (registered
    /// before the state began), `kqueue-add-after`, or another system call: `read`.
    pub api: String,
    /// `level`, `edge`, `oneshot`, …; `None` for other system calls.
    pub trigger: Option<String>,
    /// The allowed answers. A `*` matches any text.
    pub allowed: Vec<String>,
    /// The record of the measurement, if it differs from the allowed answer: counts of several answers, or
    /// the numbers that a `*` matches.
    pub seen: Option<String>,
    /// The reason why another run on the same system may give other numbers.
    pub unstable: Option<Unstable>,
    /// The words of the poller. Those of a system call are none.
    pub column: Arc<Column>,
    /// The source.
    pub source: Arc<Source>,
    /// The versions of the system for which it holds.
    pub range: Range,
    /// A remark.
    pub note: Option<String>,
}

/// A source of expectations.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The kind of evidence.
    pub evidence: Evidence,
    /// A description.
    pub text: String,
    /// The version of the measured system.
    pub version: Option<Version>,
    /// The version of the measured poller as it names itself, if it is not one of the system's own.
    pub poller: Option<String>,
    /// The other versions that gave the same answers to all of its questions that cells ask.
    #[serde(default)]
    pub same_on: Vec<Version>,
    /// A page with details.
    pub url: Option<String>,
}

/// The reason why another run may give other numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unstable {
    /// The numbers depend on the scheduling of threads.
    Scheduling,
    /// The numbers depend on the sizes of buffers and limits.
    Size,
    /// The numbers depend on the machine's speed.
    Timing,
    /// The numbers depend on a hash or another source of randomness.
    Chance,
    /// Two events race in the kernel. Each order has one of the allowed answers; other answers are wrong.
    Race,
}

impl Unstable {
    /// Returns the name in the files.
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

/// The result of comparing an answer with its expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compared {
    /// The answer is allowed.
    Same,
    /// The answer is not allowed.
    Different,
    /// The answer is not in the list, but the expectation is unstable: the difference means nothing.
    Unclear,
}

impl Expectation {
    /// Compares an observed answer with the expectation.
    pub fn compare(&self, observed: &str) -> Compared {
        if self.allowed.iter().any(|allowed| matches_pattern(allowed, observed)) {
            Compared::Same
        } else if self.unstable.is_some_and(|why| why != Unstable::Race) {
            Compared::Unclear
        } else {
            Compared::Different
        }
    }

    /// Returns the allowed answers with their meaning.
    pub fn answers(&self) -> impl Iterator<Item = Answer> {
        self.allowed.iter().map(|text| Answer::of(text, self.trigger.as_deref(), &self.column))
    }

    /// Returns the record of the measurement.
    pub fn recorded(&self) -> &str {
        self.seen.as_deref().or(self.allowed.first().map(String::as_str)).unwrap_or_default()
    }

    /// Returns whether it was measured or confirmed on these versions. Otherwise it is a hypothesis for them.
    ///
    /// The version of an adapter decides about its answers, whatever the kernel is. Patch levels do not
    /// count: a kernel or a library with the same first two numbers is the same one. If a patch level answers
    /// differently, the answers have ranges of versions, and this one is in its range.
    pub fn is_measured_on(&self, versions: Versions<'_>) -> bool {
        if let (Some(measured), Some(tested)) = (&self.source.poller, versions.poller) {
            return is_same_release_of_library(measured, tested);
        }
        let is_same =
            |kernel: &Version| self.measured_versions().any(|measured| measured.is_same_release(kernel));
        versions.kernel.is_some_and(is_same)
    }

    /// Returns whether it was measured or confirmed on exactly this version of the kernel.
    pub(crate) fn is_measured_on_patch_level(&self, version: &Version) -> bool {
        self.measured_versions().any(|measured| measured.is_a(version) || version.is_a(measured))
    }

    /// Returns the versions on which it was measured or confirmed.
    pub fn measured_versions(&self) -> impl Iterator<Item = &Version> {
        self.source.version.iter().chain(self.confirmed_versions())
    }

    /// Returns the versions within its range on which it was confirmed: [`Source::same_on`].
    pub fn confirmed_versions(&self) -> impl Iterator<Item = &Version> {
        self.source.same_on.iter().filter(|version| self.range.contains(Some(version)))
    }

    /// Returns the interface with its trigger: `poll@level`, or the system call alone.
    pub fn question(&self) -> String {
        api_and_trigger(&self.api, self.trigger.as_deref())
    }

    pub(crate) fn key(&self) -> (&str, &str, &str, Option<&str>) {
        (&self.behaviour, &self.variant, &self.api, self.trigger.as_deref())
    }
}

/// Returns the path of a system's answers in a folder of expectations. With `adapter`, the path of an
/// adapter's answers.
pub fn answers_file(os: Os, adapter: Option<&str>) -> PathBuf {
    let folder = match adapter {
        None => PathBuf::from("answers"),
        Some(adapter) => Path::new("adapters").join(adapter),
    };
    folder.join(format!("{os}.yml"))
}

/// Returns whether the files of a folder are read over the built-in ones: it has no `divergences.yml`. A
/// folder with that file is complete, and is read in their place.
///
/// # Errors
/// There is no such folder.
pub fn is_overlay(dir: &Path) -> Result<bool, ExpectationsError> {
    let failed = |source| ExpectationsError::Read { path: dir.to_path_buf(), source };
    match dir.join("divergences.yml").symlink_metadata() {
        Ok(_) => Ok(false),
        // `read_dir` also refuses a file.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            std::fs::read_dir(dir).map(|_| true).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// The expectations of all systems.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expectations(BTreeMap<Os, Vec<Expectation>>);

impl Expectations {
    /// Reads `answers/*.yml` in `dir`, over the built-in ones if it is an [overlay](is_overlay).
    ///
    /// # Errors
    /// A file cannot be read, or has an error: the first one.
    pub fn load(dir: &Path) -> Result<Self, ExpectationsError> {
        let is_overlay = is_overlay(dir)?;
        let dir = dir.join("answers");
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| ExpectationsError::Read { path, source }
        };
        let mut answers = Self::default();
        let entries = match std::fs::read_dir(&dir) {
            Err(error) if is_overlay && error.kind() == ErrorKind::NotFound => None,
            entries => Some(entries.map_err(failed(&dir))?),
        };
        for entry in entries.into_iter().flatten() {
            let path = entry.map_err(failed(&dir))?.path();
            if path.extension().is_some_and(|extension| extension == "yml") {
                let text = metadata::read_text(&path).map_err(failed(&path))?;
                answers.read(&text, &path.display().to_string())?;
            }
        }
        Ok(if is_overlay { Self::parse_built_in()?.overlaid(answers) } else { answers })
    }

    /// Reads the answers of one system in `dir`, `answers/OS.yml`, and those of these adapters on it,
    /// `adapters/NAME/OS.yml`. Missing files are skipped. If it is an [overlay](is_overlay), they are put
    /// over the built-in ones.
    ///
    /// # Errors
    /// A file cannot be read, or has an error: the first one.
    pub fn load_of(dir: &Path, os: Os, adapters: &[&str]) -> Result<Self, ExpectationsError> {
        let answers = Self::of_folder(dir, os, adapters)?;
        Ok(if is_overlay(dir)? { Self::built_in_of(os, adapters)?.overlaid(answers) } else { answers })
    }

    /// The same, without the built-in ones.
    ///
    /// # Errors
    /// As [`load_of`](Self::load_of).
    pub fn of_folder(dir: &Path, os: Os, adapters: &[&str]) -> Result<Self, ExpectationsError> {
        let mut answers = Self::default();
        for adapter in std::iter::once(None).chain(adapters.iter().copied().map(Some)) {
            let path = dir.join(answers_file(os, adapter));
            if let Some(text) = ExpectationsError::read_file(&path)? {
                answers.read(&text, &path.display().to_string())?;
            }
        }
        Ok(answers)
    }

    /// Puts answers in the place of those to the same questions.
    #[must_use]
    pub fn overlaid(mut self, over: Self) -> Self {
        for (os, answers) in over.0 {
            let all = self.0.entry(os).or_default();
            let keys: BTreeSet<_> = answers.iter().map(Expectation::key).collect();
            all.retain(|answer| !keys.contains(&answer.key()));
            all.extend(answers);
            all.sort_by(|one, other| one.key().cmp(&other.key()));
        }
        self
    }

    /// Returns the expectations of one system.
    pub(crate) fn of_system(os: Os, mut answers: Vec<Expectation>) -> Self {
        answers.sort_by(|one, other| one.key().cmp(&other.key()));
        Self(BTreeMap::from([(os, answers)]))
    }

    /// Returns the expectations of a system.
    #[cfg(test)]
    pub(crate) fn of(&self, os: Os) -> &[Expectation] {
        self.0.get(&os).map_or(&[], Vec::as_slice)
    }

    /// Adds the expectations of a file. `file` is its name: `…/OS.yml`.
    ///
    /// # Errors
    /// The text has an error: the first one.
    pub fn read(&mut self, text: &str, file: &str) -> Result<(), ExpectationsError> {
        let parsed: FileText = ExpectationsError::read_yaml(text, file)?;
        let os = parsed.os.value;
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem != os.name() {
            let message = format!("the file {stem}.yml has `os: {os}`");
            let help = format!("rename the file to {os}.yml, or change `os` to {stem}");
            return Err(ExpectationsError::at(file, parsed.os.referenced, message, help));
        }
        let all = self.0.entry(os).or_default();
        let with_usual_names = |mut answer: Expectation| {
            answer.allowed.iter_mut().for_each(|allowed| *allowed = with_usual_names(os, allowed));
            answer
        };
        all.extend(parsed.check(file)?.into_iter().map(with_usual_names));
        // The sort is stable: expectations with the same key stay in the order of their versions.
        all.sort_by(|one, other| one.key().cmp(&other.key()));
        Ok(())
    }

    /// Returns the systems and their expectations, sorted by behaviour, variant, interface and trigger.
    pub fn systems(&self) -> impl Iterator<Item = (Os, &[Expectation])> {
        self.0.iter().map(|(os, answers)| (*os, answers.as_slice()))
    }

    /// Returns the places of hypotheses that no scenario asks about on their system: no run can confirm or
    /// contradict them. Behaviours that are omitted as a whole cannot be asked at all, and are none.
    pub fn orphans(&self) -> Vec<String> {
        let is_omitted = |behaviour: &str| omissions().iter().any(|omission| omission.pattern == behaviour);
        let orphans = self.systems().flat_map(|(os, answers)| {
            let asked = asked_on(os);
            let hypotheses = answers.iter().filter(|answer| answer.source.evidence.is_hypothesis());
            let key = |answer: &Expectation| {
                format!("{} {} {}", answer.behaviour, answer.variant, answer.question())
            };
            let orphans = hypotheses.filter(|answer| !is_omitted(&answer.behaviour)).map(key);
            orphans.filter(move |key| !asked.contains(key)).map(move |key| format!("{os}: {key}"))
        });
        orphans.collect()
    }

    /// Returns the bounds of versions that no measurement supports, each with its place and the reason.
    ///
    /// A measured answer is measured in its range, and each bound stands between two measured versions.
    /// Bounds of other sources, such as a manual page, are hypotheses.
    pub fn unmeasured_bounds(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (os, answers) in self.systems() {
            for same in answers.chunk_by(|one, other| one.key() == other.key()) {
                let place = |answer: &Expectation| {
                    format!("{os}: {} {} {}", answer.behaviour, answer.variant, answer.question())
                };
                let reasons = same.iter().filter_map(|answer| Some((answer, unmeasured(answer, same)?)));
                problems.extend(reasons.map(|(answer, why)| format!("{}: {why}", place(answer))));
            }
        }
        problems
    }

    /// Finds the expectation for a key. `version` is the kernel's; without it, only expectations for all
    /// versions match.
    pub fn find(
        &self,
        os: Os,
        version: Option<&Version>,
        (behaviour, variant, api, trigger): (&str, &str, &str, Option<&str>),
    ) -> Option<&Expectation> {
        let answers = self.0.get(&os)?;
        let wanted = (behaviour, variant, api, trigger);
        let start = answers.partition_point(|answer| answer.key() < wanted);
        let same = answers.iter().skip(start).take_while(|answer| answer.key() == wanted);
        same.into_iter().find(|answer| answer.range.contains(version))
    }
}

/// Returns why a bound of a measured answer is not supported. `same` are all answers of its key.
fn unmeasured(answer: &Expectation, same: &[Expectation]) -> Option<String> {
    let version = answer.source.version.as_ref()?;
    let range = &answer.range;
    if !range.contains(Some(version)) {
        return Some(format!("the answer {range} was measured on {version}"));
    }
    let is_measured =
        |is_it: &dyn Fn(&Version) -> bool| same.iter().flat_map(Expectation::measured_versions).any(is_it);
    if let Some(since) = &range.since
        && !is_measured(&|other| !other.is_since(since))
    {
        return Some(format!("no answer was measured before {since}"));
    }
    if let Some(until) = &range.until
        && !is_measured(&|other| !other.is_until(until))
    {
        return Some(format!("no answer was measured after {until}"));
    }
    None
}

/// The text form of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    os: Spanned<Os>,
    /// Of an adapter's file: the interface below the poller, and its words.
    over: Option<Interface>,
    #[serde(default)]
    words: BTreeMap<String, Word>,
    /// The source of every expectation that names none.
    source: Spanned<String>,
    sources: Entries<Source>,
    behaviours: BehavioursText<Spanned<EntryText>>,
}

/// The text form of an entry: one allowed answer, all fields, or a list with one element per range of
/// versions.
enum EntryText {
    Plain(String),
    Full(Box<ExpectationText>),
    Several(Vec<Spanned<ExpectationText>>),
}

#[derive(Default, Deserialize)]
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

/// Makes errors with a position in this file.
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

    /// Checks that the keys are sorted, so that readers find them and diffs stay small.
    pub(crate) fn check_sorted<V>(&self, entries: &Entries<V>) -> Result<(), ExpectationsError> {
        let wrong = entries.0.windows(2).find(|pair| pair[0].0.value > pair[1].0.value);
        let Some([(before, _), (after, _)]) = wrong else { return Ok(()) };
        let message = format!("'{}' comes after '{}'", after.value, before.value);
        self.error(after.referenced, message, "keep the keys sorted: byte by byte, as `LC_ALL=C sort` does")
    }

    /// Returns the questions in the order of the file. Their behaviours exist, and their keys are sorted.
    pub(crate) fn questions<V>(
        &self,
        behaviours: BehavioursText<V>,
    ) -> Result<Vec<QuestionText<V>>, ExpectationsError> {
        let is_unknown = |(id, _): &&(Spanned<String>, _)| catalogue::title(&id.value).is_none();
        if let Some((unknown, _)) = behaviours.0.iter().find(is_unknown) {
            let message = format!("there is no behaviour '{}' in the catalogue", unknown.value);
            return self.error(unknown.referenced, message, catalogue::suggestion(&unknown.value));
        }
        self.check_sorted(&behaviours)?;
        let mut questions = Vec::new();
        for (behaviour, variants) in behaviours.0 {
            self.check_sorted(&variants)?;
            for (variant, asked) in variants.0 {
                self.check_sorted(&asked)?;
                for (key, value) in asked.0 {
                    questions.push((behaviour.value.clone(), variant.value.clone(), key, value));
                }
            }
        }
        Ok(questions)
    }
}

/// A question of a file: the behaviour, the state, the interface with its trigger, and the value.
type QuestionText<V> = (String, String, Spanned<String>, V);

/// The questions of a file, by behaviour, state, and interface with trigger.
pub(crate) type BehavioursText<V> = Entries<Entries<Entries<V>>>;

type Sources = HashMap<String, Arc<Source>>;

/// The columns of a file: that of its poller, or those of the kernel's interfaces.
pub(crate) struct Columns(Arc<Column>, HashMap<Interface, Arc<Column>>);

impl Columns {
    pub(crate) fn new(own: Column) -> Self {
        Self(Arc::new(own), HashMap::new())
    }

    /// Returns the column of `poll`, `epoll-add-before`.
    pub(crate) fn of(&mut self, api: &str) -> Arc<Column> {
        let name = api.split('-').next().filter(|_| self.0.words.is_empty());
        match name.and_then(Interface::of_name) {
            Some(interface) => {
                Arc::clone(self.1.entry(interface).or_insert_with(|| Arc::new(Column::of(interface))))
            }
            None => Arc::clone(&self.0),
        }
    }
}

impl FileText {
    fn check(self, file: &str) -> Result<Vec<Expectation>, ExpectationsError> {
        let at = InFile(file);
        let mut sources = Sources::new();
        for (name, source) in self.sources.0 {
            if source.version.is_some() == source.evidence.is_hypothesis() {
                let message = format!(
                    "the source '{}' is measured without a version, or has one without being measured",
                    name.value
                );
                let help = "give measured sources (M), and only those, a `version`";
                return at.error(name.referenced, message, help);
            }
            if source.version.is_none() && source.poller.is_some() {
                let message =
                    format!("the source '{}' names a poller's version without being measured", name.value);
                return at.error(name.referenced, message, "only a measured source (M) has `poller`");
            }
            if source.version.is_none() && !source.same_on.is_empty() {
                let message = format!("the source '{}' is the same on other versions of none", name.value);
                return at.error(name.referenced, message, "only a measured source (M) has `same_on`");
            }
            sources.insert(name.value, Arc::new(source));
        }
        let usual = named(&at, &self.source, &sources)?;
        let mut columns = Columns::new(Column { over: self.over, words: self.words });
        let mut answers: Vec<Expectation> = Vec::new();
        for (behaviour, variant, key, text) in at.questions(self.behaviours)? {
            let (api, trigger) = split_key(&at, &key)?;
            let several = match text.value {
                EntryText::Plain(answer) => vec![(text.referenced, ExpectationText::plain(answer))],
                EntryText::Full(full) => vec![(text.referenced, *full)],
                EntryText::Several(list) => {
                    list.into_iter().map(|full| (full.referenced, full.value)).collect()
                }
            };
            let first = answers.len();
            for (position, full) in several {
                let answer = Expectation {
                    behaviour: behaviour.clone(),
                    variant: variant.clone(),
                    api: api.to_owned(),
                    trigger: trigger.map(str::to_owned),
                    column: columns.of(api),
                    ..full.check(&at, position, &usual, &sources)?
                };
                if answers[first..].iter().any(|other| other.range.overlaps(&answer.range)) {
                    let message = format!("two answers of '{}' hold for the same versions", key.value);
                    let help = "give them `since` and `until` that do not overlap";
                    return at.error(position, message, help);
                }
                answers.push(answer);
            }
            if answers.len() == first {
                let message = format!("'{}' has no answer", key.value);
                return at.error(key.referenced, message, "give one, or remove it");
            }
        }
        // The files are sorted by the text `api@trigger`, which is not always the order of the pair.
        answers.sort_by(|a, b| a.key().cmp(&b.key()));
        Ok(answers)
    }
}

/// Splits `poll@level` into interface and trigger. A system call has no trigger.
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
        Self { answers: vec![answer], ..Self::default() }
    }

    /// Checks the fields. The result lacks the fields of its key.
    fn check(
        self,
        at: &InFile<'_>,
        position: Location,
        usual: &Arc<Source>,
        sources: &Sources,
    ) -> Result<Expectation, ExpectationsError> {
        if self.answers.is_empty() || self.answers.iter().any(|answer| answer.is_empty() || answer == "*") {
            let help =
                "give the answer, or leave the entry out; `pollmatrix expectations record` measures it";
            return at.error(position, "an empty answer, or one that allows everything".into(), help);
        }
        // An error of Rust's standard library, and so of this program.
        if let Some(foreign) = self.answers.iter().find(|answer| answer.contains("(os error ")) {
            let message = format!("'{foreign}' is a message of pollmatrix, and no answer of a poller");
            return at.error(position, message, "remove it: the question is unsupported");
        }
        let source = match &self.source {
            Some(name) => named(at, name, sources)?,
            None => Arc::clone(usual),
        };
        if self.seen.is_none() && self.answers.len() > 1 && !source.evidence.is_hypothesis() {
            let help = "add `seen` with the count of each answer";
            return at.error(position, "several answers were measured".into(), help);
        }
        let until_at = self.until.as_ref().map(|until| until.referenced);
        let range = Range { since: self.since, until: self.until.map(|until| until.value) };
        if range.is_empty() {
            let message = format!("no version is in {range}");
            return at.error(
                until_at.unwrap_or(position),
                message,
                "`since` is the first version and `until` the last one",
            );
        }
        Ok(Expectation {
            behaviour: String::new(),
            variant: String::new(),
            api: String::new(),
            trigger: None,
            column: Arc::default(),
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
