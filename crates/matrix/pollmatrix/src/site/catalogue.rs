//! The behaviours with their scenarios and expected answers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use matrix::cell::short;
use matrix::command::quoted;
use metadata::{Evidence, Interface, Link, Os, Results, Scripted, Transport};
use raw::expectations::{ASSUMPTIONS, Divergences, Expectation, Expectations, History, Kind, Range, TOPICS};
use raw::verbs::{Action, Script};
use raw::{Omission, omissions, scenarios};
use report::html::catalogue::{
    Answer, AnswerRow, Assumption, Behaviour, Catalogue, Column, Divergence, Family, ScenarioEntry, Source,
    State, Topic, Unasked,
};
use report::sequence::Sequence;

use crate::below::closest;
use crate::error::Error;
use crate::expectations::{Question, questions, range};
use crate::kernel_answers::KernelAnswers;
use crate::sequence::sequence;

/// Returns the catalogue of the expectations in the folder `dir`, or of the built-in ones. Each kernel in
/// `results` has a column.
pub fn catalogue(dir: Option<&Path>, results: &Results) -> Result<Catalogue, Error> {
    let kernels = KernelAnswers::all(results);
    let of = |answers: &_, divergences: &_, history: &_| content(answers, divergences, history, &kernels);
    match dir {
        Some(dir) => Ok(of(&Expectations::load(dir)?, &Divergences::load(dir)?, &History::load(dir)?)),
        None => Ok(of(Expectations::built_in()?, Divergences::built_in()?, History::built_in()?)),
    }
}

fn content(
    answers: &Expectations,
    divergences: &Divergences,
    history: &History,
    kernels: &[KernelAnswers],
) -> Catalogue {
    let mut sources = Sources::default();
    let questions = questions(answers, |_, _| true);
    let is_measured = |answer: &Expectation| !answer.source.evidence.is_hypothesis();
    let measured_systems: BTreeSet<Os> =
        answers.systems().filter(|(_, of)| of.iter().any(is_measured)).map(|(os, _)| os).collect();
    let describe = |(id, title): &(&str, &str)| {
        let asked: Vec<_> = questions.iter().filter(|question| question.behaviour == *id).collect();
        behaviour((id, title), &asked, kernels, (history, &measured_systems), &mut sources)
    };
    let mut all: Vec<_> = raw::expectations::BEHAVIOURS.iter().map(describe).collect();
    let family = |(prefix, title): (&str, &str)| Family {
        prefix: prefix.to_owned(),
        title: title.to_owned(),
        behaviours: all.extract_if(.., |behaviour| behaviour.id.starts_with(prefix)).collect(),
    };
    let families = raw::expectations::FAMILIES.into_iter().map(family).collect();
    let topic = |topic: &raw::expectations::Topic| Topic {
        id: topic.id.to_owned(),
        title: topic.title.to_owned(),
        words: topic.words.to_owned(),
        behaviours: topic.behaviours.iter().map(|id| (*id).to_owned()).collect(),
    };
    let topics = TOPICS.iter().map(topic).collect();
    let assumption = |known: &raw::expectations::Assumption| {
        let [behaviour, state, asked] = known.shown_by.map(str::to_owned);
        Assumption { text: known.text.to_owned(), remedy: known.remedy.to_owned(), behaviour, state, asked }
    };
    Catalogue {
        families,
        topics,
        divergences: divergences.iter().map(divergence).collect(),
        assumptions: ASSUMPTIONS.iter().map(assumption).collect(),
    }
}

/// Systems that always have a column, so that the page shows where their answers are unknown.
const ALWAYS: [Os; 3] = [Os::Linux, Os::FreeBsd, Os::MacOs];

fn behaviour(
    (id, title): (&str, &str),
    asked: &[&Question<'_>],
    kernels: &[KernelAnswers],
    (history, measured_systems): (&History, &BTreeSet<Os>),
    sources: &mut Sources,
) -> Behaviour {
    let past = Past { history, behaviour: id };
    let others = asked.iter().flat_map(|question| question.answers.keys().copied());
    let mut others: Vec<_> = others.filter(|os| !ALWAYS.contains(os)).collect();
    others.sort_unstable();
    others.dedup();
    let today: Vec<_> = ALWAYS.into_iter().chain(others).collect();
    let kernels: Vec<_> = kernels.iter().filter(|kernel| kernel.of_behaviour(id).next().is_some()).collect();
    let then = past.systems();
    let column = |os: Os, name, past| Column { system: os.name().to_owned(), name, past, unmeasured: false };
    let now = today.iter().map(|&os| Column {
        unmeasured: !measured_systems.contains(&os),
        ..column(os, proper_name(os).to_owned(), false)
    });
    let measured = kernels
        .iter()
        .map(|kernel| column(kernel.os, format!("{} {}", proper_name(kernel.os), kernel.version), false));
    let before = then.iter().map(|&system| column(past.os(system), past.name(system), true));
    let columns: Vec<_> = now.chain(measured).chain(before).collect();

    let mut used = BTreeMap::new();
    let mut states: Vec<State> = Vec::new();
    let mut lines: BTreeMap<(&str, &str), AnswerRow> = BTreeMap::new();
    for question in asked {
        let place = |os: &Os| {
            let answers = question.answers.get(os).into_iter().flatten();
            answers.map(|answer| expected(*os, answer, sources, &mut used)).collect()
        };
        let mut places: Vec<Vec<_>> = today.iter().map(place).collect();
        places.resize(columns.len(), Vec::new());
        let line = AnswerRow { asked: question.asked.clone(), differs: question.differs(), answers: places };
        lines.insert((question.variant, &question.asked), line);
    }
    let empty = |asked: &str| AnswerRow {
        asked: asked.to_owned(),
        differs: false,
        answers: vec![Vec::new(); columns.len()],
    };
    for (column, kernel) in (today.len()..).zip(&kernels) {
        for (variant, question, seen) in kernel.of_behaviour(id) {
            let line = lines.entry((variant, question)).or_insert_with(|| empty(question));
            let label = sources.used(Evidence::Measured, &kernel.source, None, &mut used);
            let allowed: Vec<_> = seen.iter().cloned().collect();
            let means = means(kernel.os, question, &allowed);
            // Two versions of one system.
            let others =
                kernels.iter().zip(&line.answers[today.len()..]).filter(|(of, _)| of.os == kernel.os);
            let agree = |answers: &Answer| answers.allowed.iter().any(|answer| allowed.contains(answer));
            line.differs |= others.flat_map(|(_, answers)| answers).any(|answer| !agree(answer));
            line.answers[column].push(Answer { allowed, means, source: label, remarks: Vec::new() });
        }
    }
    for known in past.answers() {
        let line = lines.entry((&known.variant, &known.asked)).or_insert_with(|| empty(&known.asked));
        for (system, answer) in &known.answers {
            let label = past.source(*system, sources, &mut used);
            let allowed = vec![answer.clone()];
            let means = means(past.os(*system), &known.asked, &allowed);
            let answer = Answer { allowed, means, source: label, remarks: Vec::new() };
            if let Some(column) = then.iter().position(|of| of == system) {
                line.answers[today.len() + kernels.len() + column].push(answer);
            }
        }
    }
    for ((variant, _), line) in lines {
        match states.last_mut().filter(|state| state.name == variant) {
            Some(state) => state.rows.push(line),
            None => states.push(State { name: variant.to_owned(), rows: vec![line] }),
        }
    }
    Behaviour {
        id: id.to_owned(),
        title: title.to_owned(),
        scenarios: scenarios()
            .filter(|scenario| scenario.behaviour == id)
            .map(|scenario| asking(scenario, &columns, &states))
            .collect(),
        unasked: unasked(id),
        columns,
        states,
        sources: used.into_values().collect(),
    }
}

/// Returns the common name of a system.
pub const fn proper_name(os: Os) -> &'static str {
    match os {
        Os::DragonFly => "DragonFly BSD",
        Os::FreeBsd => "FreeBSD",
        Os::Gvisor => "gVisor",
        Os::Linux => "Linux",
        Os::MacOs => "macOS",
        Os::NetBsd => "NetBSD",
        Os::OpenBsd => "OpenBSD",
        _ => os.name(),
    }
}

/// Returns what the events of each answer of a system mean, in common words.
fn means(os: Os, asked: &str, allowed: &[String]) -> Vec<String> {
    let column = || {
        let (api, trigger) = asked.split_once('@')?;
        let interface: Interface = match api.split('-').next()? {
            "queue" => closest(&metadata::Column::default(), os),
            name => name.parse().ok()?,
        };
        Some((metadata::Column::of(interface), trigger))
    };
    let Some((column, trigger)) = column() else { return vec![String::new(); allowed.len()] };
    let meaning = |text: &String| metadata::Answer::of(text, Some(trigger), &column).meaning(&column);
    allowed.iter().map(|text| meaning(text).unwrap_or_default()).collect()
}

/// The questions whose answer a picture of a script shows, the clearest first.
const SHOWN: [&str; 6] =
    ["queue@level", "queue-add-before@level", "poll@level", "queue@edge", "queue-add-before@edge", "queue"];

/// Returns the picture of a script. Its bells have Linux's recorded answers over the first transport.
fn picture(scenario: &Scripted, columns: &[Column], states: &[State]) -> Sequence {
    let Ok(script) = scenario.script.parse::<Script>() else { return Sequence::default() };
    let title = script.clauses.iter().find_map(|clause| match &clause.action {
        Action::Title(title) => Some(title.as_str()),
        _ => None,
    });
    let transport = scenario.transports.first().map_or("", |transport| transport.name());
    let title = title.unwrap_or(transport);
    let linux = columns.iter().position(|column| column.name == proper_name(Os::Linux));
    sequence(&script, |state| {
        let name = state.map_or_else(|| title.to_owned(), |state| format!("{title}:{state}"));
        let state = states.iter().find(|of| of.name == name)?;
        let answers = |row: &AnswerRow| {
            let answer = row.answers.get(linux?)?.first()?;
            let (text, means) = (answer.allowed.first()?, answer.means.first()?);
            Some(format!("Linux: {}", if means.is_empty() { text } else { means }))
        };
        let shown = SHOWN.iter().find_map(|asked| state.rows.iter().find(|row| row.asked == *asked));
        shown.and_then(answers)
    })
}

fn asking(scenario: &Scripted, columns: &[Column], states: &[State]) -> ScenarioEntry {
    let names = |names: Vec<&str>| names.join(", ");
    let (over, modes) = (
        names(scenario.transports.iter().map(|transport| transport.name()).collect()),
        names(scenario.modes.iter().map(|trigger| trigger.name()).collect()),
    );
    // The defaults of `pollmatrix probe` are TCP and level-triggered.
    let mut command = vec!["pollmatrix".to_owned(), "probe".to_owned(), scenario.script.to_owned()];
    if let Some(transport) = scenario.transports.first().filter(|first| **first != Transport::Tcp) {
        command.extend(["--transport".to_owned(), transport.name().to_owned()]);
    }
    if let Some(trigger) = scenario.modes.first().filter(|first| **first != metadata::Mode::Level) {
        command.extend(["--mode".to_owned(), trigger.name().to_owned()]);
    }
    ScenarioEntry {
        id: scenario.id.to_owned(),
        question: scenario.question.to_owned(),
        command: quoted(&command),
        settings: format!("{over}; {modes}"),
        sequence: picture(scenario, columns, states),
        bugs: scenario.bugs.iter().map(|url| Link { text: short(url), url: (*url).to_owned() }).collect(),
    }
}

/// Returns the answers of this behaviour that no script asks for.
fn unasked(behaviour: &str) -> Vec<Unasked> {
    let of_this = |what: &str| match what.split_once(' ') {
        Some((of, answers)) => (of == behaviour).then(|| answers.to_owned()),
        None => (what == behaviour).then(String::new),
    };
    let each = omissions().iter().filter_map(|entry| Some((of_this(entry.pattern)?, entry)));
    let excused = |(what, entry): (String, &Omission)| Unasked {
        what,
        why: entry.reason.to_owned(),
        contract: entry.contract.iter().map(|id| (*id).to_owned()).collect(),
    };
    each.map(excused).collect()
}

type Used = BTreeMap<(usize, u32), Source>;

fn expected(os: Os, answer: &Expectation, sources: &mut Sources, used: &mut Used) -> Answer {
    let source = &answer.source;
    let confirmed: Vec<_> = answer.confirmed_versions().map(ToString::to_string).collect();
    let text = match confirmed.as_slice() {
        [] => Cow::from(&source.text),
        versions => format!("{}; the same on {}", source.text, versions.join(", ")).into(),
    };
    let label = sources.used(source.evidence, &text, source.url.as_deref(), used);
    let means = answer.answers().map(|one| one.meaning(&answer.column).unwrap_or_default()).collect();
    Answer { allowed: answer.allowed.clone(), means, source: label, remarks: remarks(os, answer) }
}

/// Returns the versions of an answer, the reason why it varies, and its note.
pub fn remarks(os: Os, answer: &Expectation) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend((answer.range != Range::default()).then(|| range(os, &answer.range)));
    remarks.extend(answer.unstable.map(|why| format!("varies: {}", why.name())));
    remarks.extend(answer.seen.as_ref().map(|seen| format!("seen: {seen}")));
    remarks.extend(answer.note.clone());
    remarks
}

/// The sources of the page: a letter and a number for each.
#[derive(Default)]
struct Sources {
    numbers: BTreeMap<(&'static str, String, Option<String>), u32>,
}

impl Sources {
    /// Returns the label of a source, and adds the source to those that a behaviour uses.
    fn used(&mut self, evidence: Evidence, text: &str, url: Option<&str>, used: &mut Used) -> String {
        let letter = evidence.letter();
        let key = (letter, text.to_owned(), url.map(str::to_owned));
        let next = self.numbers.keys().filter(|(of, ..)| *of == letter).count() + 1;
        let number = *self.numbers.entry(key).or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        let label = format!("{letter}{number}");
        let order = Evidence::ALL.iter().position(|known| *known == evidence).unwrap_or_default();
        used.entry((order, number)).or_insert_with(|| Source {
            label: label.clone(),
            evidence,
            text: text.to_owned(),
            url: url.map(str::to_owned),
        });
        label
    }
}

/// The answers of past systems to the questions of one behaviour.
struct Past<'a> {
    history: &'a History,
    behaviour: &'a str,
}

impl Past<'_> {
    fn answers(&self) -> impl Iterator<Item = &raw::expectations::PastAnswers> {
        self.history.answers().iter().filter(|answers| answers.behaviour == self.behaviour)
    }

    /// Returns the positions of the systems that have an answer.
    fn systems(&self) -> Vec<usize> {
        let has = |system: &usize| self.answers().any(|past| past.answers.iter().any(|(of, _)| of == system));
        (0..self.history.systems().len()).filter(has).collect()
    }

    fn os(&self, system: usize) -> Os {
        self.history.systems()[system].os
    }

    fn name(&self, system: usize) -> String {
        let system = &self.history.systems()[system];
        format!("{} {}", proper_name(system.os), system.version)
    }

    fn source(&self, system: usize, sources: &mut Sources, used: &mut Used) -> String {
        let system = &self.history.systems()[system];
        sources.used(system.evidence, &system.text, Some(&system.url), used)
    }
}

fn divergence(known: &raw::expectations::Divergence) -> Divergence {
    let versions = range(known.os, &known.range);
    let kind = match known.kind {
        Kind::Permitted => "permitted",
        Kind::KnownFail => "known-fail",
    };
    let url = known.url.as_deref().map(|url| format!(", {url}")).unwrap_or_default();
    Divergence {
        cells: known.cells.clone(),
        system: format!("{} {versions}", proper_name(known.os)).trim_end().to_owned(),
        check: known.check.clone(),
        observed: known.observed.clone(),
        documented: format!("{kind}: {} ({}){url}", known.source, known.evidence.meaning()),
    }
}
