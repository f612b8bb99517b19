//! Measured answers beside the recorded ones of a kernel: what an emulation layer does otherwise.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use matrix::backends;
use metadata::{Asked, CellResult, Column, Difference, Results, Run, Status, one_line};
use raw::expectations::{Compared, Expectation, Kernel, NO_ANSWER, TOPICS, Version};
use report::{counted, first_line, markdown};
use serde::Serialize;

use crate::error::Error;
use crate::expectations::judge;
use crate::expectations::oracle::Known;
use crate::input;
use crate::triage::{Kind, hanging, in_words, parts, wrapped};

/// The results of one run beside the recorded answers of a kernel.
#[derive(Serialize)]
pub struct Against {
    /// The target of the run.
    target: String,
    /// What ran: `gvisor 20221219.0, prefix (runsc do)`.
    measured: String,
    /// The kernel with the recorded answers: `linux-6.18`.
    kernel: String,
    /// The number of answers that are compared.
    compared: usize,
    /// The number of answers that are the recorded ones.
    same: usize,
    /// Answers whose numbers vary from run to run.
    vary: usize,
    /// Answers that differ.
    different: usize,
    /// Answers to questions without a recorded answer.
    not_recorded: usize,
    /// Cells without an answer to a question that the kernel has answered.
    cells_without_answer: usize,
    /// The differences by topic, the most important first.
    topics: Vec<TopicDifferences>,
    /// The cells without an answer, by reason, the most frequent first.
    without_answer: Vec<Unanswered>,
}

/// What differs about one topic.
#[derive(Serialize)]
struct TopicDifferences {
    topic: &'static str,
    title: &'static str,
    /// The number of answers.
    answers: usize,
    behaviours: Vec<BehaviourDifferences>,
}

/// What differs about one behaviour.
#[derive(Serialize)]
struct BehaviourDifferences {
    behaviour: String,
    title: &'static str,
    differences: Vec<Sentence>,
}

/// Answers that one sentence describes.
#[derive(Serialize)]
struct Sentence {
    kind: Kind,
    /// `epoll, pipe, read-end-never-data: recorded hang-up, measured readable`.
    sentence: String,
    /// The number of answers.
    answers: usize,
    /// A cell that shows it.
    cell: String,
    /// The recorded and the measured words of that cell.
    recorded: String,
    measured: String,
}

/// Cells without an answer for one reason.
#[derive(Serialize)]
struct Unanswered {
    status: Status,
    reason: String,
    cells: usize,
    /// One of the cells.
    cell: String,
}

/// An answer that differs.
struct Found<'a> {
    kind: Kind,
    asked: Asked,
    cell: &'a CellResult,
    recorded: [String; 2],
    measured: [String; 2],
}

impl Against {
    /// Compares each run in the results with a kernel.
    ///
    /// # Errors
    /// A run has no answer of a poller of its system.
    pub fn all(path: &Path, results: &Results, known: &Known) -> Result<Vec<Self>, Error> {
        let all: Vec<_> = results.runs.iter().map(|run| Self::of(results, run, known)).collect();
        match all.iter().any(|one| one.compared + one.not_recorded + one.cells_without_answer > 0) {
            true => Ok(all),
            false => Err(input::without_answers(path)),
        }
    }

    fn of(results: &Results, run: &Run, known: &Known) -> Self {
        let version = run.system().and_then(|os| Version::of_release(os, &run.kernel));
        let system = run.system().map_or_else(|| run.os.clone(), |os| os.to_string());
        let release = version.map_or_else(|| run.kernel.clone(), |version| version.to_string());
        let mut against = Self {
            target: run.target.clone(),
            measured: format!("{system} {release}, {}", run.runner_in_full()),
            kernel: known.kernel.to_string(),
            compared: 0,
            same: 0,
            vary: 0,
            different: 0,
            not_recorded: 0,
            cells_without_answer: 0,
            topics: Vec::new(),
            without_answer: Vec::new(),
        };
        let (mut found, mut unanswered) = (Vec::new(), BTreeMap::<(String, Status), (usize, String)>::new());
        let is_of_run = |cell: &&CellResult| cell.target == run.target && backends::is_own(&cell.backend);
        for cell in results.characterisation().filter(is_of_run) {
            let answered = against.compare(results, run, known, cell, &mut found);
            if let Some(reason) = without_answer(known, cell, &answered) {
                against.cells_without_answer += 1;
                let same = unanswered.entry((reason, cell.status)).or_insert_with(|| (0, cell.id.clone()));
                same.0 += 1;
            }
        }
        against.different = found.len();
        against.topics = topics(found);
        let unanswered = unanswered.into_iter();
        against.without_answer = unanswered
            .map(|((reason, status), (cells, cell))| Unanswered { status, reason, cells, cell })
            .collect();
        against.without_answer.sort_by_key(|one| Reverse(one.cells));
        against
    }

    /// Compares the answers of a cell. Returns the questions that it answered.
    fn compare<'a>(
        &mut self,
        results: &Results,
        run: &Run,
        known: &Known,
        cell: &'a CellResult,
        found: &mut Vec<Found<'a>>,
    ) -> BTreeSet<Asked> {
        let mut answered = BTreeSet::new();
        if !judge::has_verdict(cell.status) {
            return answered;
        }
        let (promises, column) = (judge::promises(results, cell), run.column(&cell.backend));
        for check in cell.checks.iter().filter(|check| check.observed != NO_ANSWER) {
            let Some(asked) = &check.asked else { continue };
            answered.insert(asked.clone());
            let Some(expected) = expected(known, asked) else {
                self.not_recorded += 1;
                continue;
            };
            self.compared += 1;
            match expected.compare(&check.observed) {
                Compared::Same => self.same += 1,
                Compared::Unclear => self.vary += 1,
                Compared::Different => {
                    let trigger = asked.trigger.as_deref();
                    let given = (&column, check.observed.as_str());
                    let [recorded, measured] =
                        in_words((&expected.column, &expected.allowed), given, trigger);
                    let defect = raw::cell::defect(&promises, asked, &check.observed);
                    found.push(Found {
                        kind: defect.map_or_else(|| kind(expected, given, trigger), |_| Kind::Wrong),
                        asked: asked.clone(),
                        cell,
                        recorded: [recorded, expected.allowed.join(" or ")],
                        measured: [
                            match defect {
                                Some(defect) => format!("{measured} ({})", defect.meaning()),
                                None => measured,
                            },
                            check.observed.clone(),
                        ],
                    });
                }
            }
        }
        answered
    }

    /// Returns whether an answer differs, or is missing.
    pub const fn has_difference(&self) -> bool {
        self.different > 0 || self.cells_without_answer > 0
    }

    /// Returns whether an answer means something else, or a program did not end as it must.
    pub fn has_regression(&self) -> bool {
        let kinds = self.topics.iter().flat_map(|topic| &topic.behaviours).flat_map(|of| &of.differences);
        let has_ended = |one: &Unanswered| matches!(one.status, Status::Timeout | Status::Crash);
        kinds.into_iter().any(|one| one.kind < Kind::Words) || self.without_answer.iter().any(has_ended)
    }

    /// Returns the numbers in sentences.
    fn head(&self) -> Vec<String> {
        let Self { measured, kernel, compared, same, vary, different, .. } = self;
        let mut lines = vec![format!("{measured}, beside the recorded answers of {kernel}")];
        let varies = if *vary > 0 { format!(", {vary} vary from run to run") } else { String::new() };
        lines.push(format!("{compared} answers compared: {same} the same, {different} differ{varies}"));
        if *different > 0 {
            let mut kinds = BTreeMap::<Kind, usize>::new();
            let all = self.topics.iter().flat_map(|topic| &topic.behaviours).flat_map(|of| &of.differences);
            all.for_each(|one| *kinds.entry(one.kind).or_default() += one.answers);
            let kinds: Vec<_> =
                kinds.iter().map(|(kind, count)| format!("{} ({count})", kind.words())).collect();
            lines.push(format!("of those that differ: {}", kinds.join(", ")));
        }
        if self.cells_without_answer > 0 {
            lines.push(format!(
                "{} cells gave no answer here that {kernel} has; their reasons are at the end",
                self.cells_without_answer
            ));
        }
        if self.not_recorded > 0 {
            lines.push(format!("{} answers have no recorded one of {kernel}", self.not_recorded));
        }
        lines
    }

    /// Returns the text for a terminal, at most 80 columns wide but for names of cells.
    pub fn text(&self) -> String {
        let mut out: String = self.head().iter().map(|line| wrapped(&one_line(line))).collect();
        for topic in &self.topics {
            let _ = write!(
                out,
                "\n{}",
                wrapped(&format!("{}: {}", topic.title, counted(topic.answers, "answer")))
            );
            for of in &topic.behaviours {
                out += &hanging("  ", "    ", &one_line(&format!("{} {}", of.behaviour, of.title)));
                for one in &of.differences {
                    out += &hanging("    ", "      ", &one_line(&one.counted()));
                }
            }
        }
        if !self.without_answer.is_empty() {
            let _ = writeln!(out, "\nNo answer here:");
        }
        for one in &self.without_answer {
            out += &hanging("  ", "    ", &one_line(&one.counted()));
            let _ = writeln!(out, "    {}", one_line(&one.cell));
        }
        out
    }

    /// Returns the text for a comment on a pull request.
    pub fn markdown(&self) -> String {
        let mut lines = Vec::new();
        for (index, line) in self.head().iter().enumerate() {
            let heading = if index == 0 { "### pollmatrix: " } else { "" };
            lines.push(format!("{heading}{}\n", markdown::text(&one_line(line))));
        }
        for topic in &self.topics {
            lines.push(format!(
                "**{}: {}**\n",
                markdown::text(topic.title),
                counted(topic.answers, "answer")
            ));
            for one in topic.behaviours.iter().flat_map(|of| of.differences.iter().map(move |one| (of, one)))
            {
                let text = format!("{}: {}", one.0.behaviour, one.1.counted());
                lines.push(format!("- {}", markdown::text(&one_line(&text))));
            }
            lines.push(String::new());
        }
        let no_answer = |one: &Unanswered| format!("- {}", markdown::text(&one_line(&one.counted())));
        if !self.without_answer.is_empty() {
            lines.push("**No answer here**\n".to_owned());
        }
        lines.extend(self.without_answer.iter().map(no_answer));
        lines.join("\n") + "\n"
    }
}

impl Sentence {
    fn counted(&self) -> String {
        if self.answers > 1 {
            format!("{} ({})", self.sentence, counted(self.answers, "answer"))
        } else {
            self.sentence.clone()
        }
    }
}

impl Unanswered {
    fn counted(&self) -> String {
        format!("{} {}: {}", counted(self.cells, "cell"), self.status, self.reason)
    }
}

/// Returns the recorded answer to a question. That of the system's queue stands for another system's.
fn expected<'a>(known: &'a Known, asked: &Asked) -> Option<&'a Expectation> {
    let Kernel { os, version } = &known.kernel;
    let find = |asked: &Asked| known.answers.expected(*os, Some(version), asked);
    let other_queue = |from: &str, to: &str| {
        let rest = asked.api.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('-'))?;
        find(&Asked { api: format!("{to}{rest}"), ..asked.clone() })
    };
    find(asked).or_else(|| other_queue("kqueue", "epoll")).or_else(|| other_queue("epoll", "kqueue"))
}

/// Returns how an answer differs from the recorded one.
fn kind(expected: &Expectation, (column, answer): (&Column, &str), trigger: Option<&str>) -> Kind {
    let recorded: Vec<_> = expected.answers().collect();
    let given = [metadata::Answer::of(answer, trigger, column)];
    let difference = Difference::least((&expected.column, &recorded), (column, &given));
    let Some(parts) = difference.as_ref().and_then(parts) else { return Kind::Unclear };
    parts.into_iter().map(|(kind, _)| kind).min().unwrap_or(Kind::Words)
}

/// Returns why a cell gave no answer to a question that the kernel has answered. `None` if it gave all.
fn without_answer(known: &Known, cell: &CellResult, answered: &BTreeSet<Asked>) -> Option<String> {
    let has_missing = cell.checks.iter().any(|check| check.observed == NO_ANSWER);
    if judge::has_verdict(cell.status) && cell.status != Status::Unsupported && !has_missing {
        return None;
    }
    let scenario = raw::find(&cell.scenario)?;
    let script = scenario.script.parse().ok()?;
    let asked = raw::asked_of(&script, cell.params.transport, cell.params.trigger, &cell.backend);
    let Kernel { os, version } = &known.kernel;
    let is_missing = |key: raw::Key| {
        let asked = Asked {
            behaviour: scenario.behaviour.to_owned(),
            variant: key.variant,
            api: key.api,
            trigger: key.trigger.map(str::to_owned),
        };
        // The answers to system calls are in the cells of the other pollers, too.
        let is_own = metadata::is_api_of(&asked.api, &cell.backend);
        is_own && !answered.contains(&asked) && known.answers.expected(*os, Some(version), &asked).is_some()
    };
    let is_missing = asked.into_iter().any(is_missing);
    is_missing.then(|| first_line(cell.reason.as_deref().unwrap_or("no reason is given")))
}

/// Sorts differences by topic and behaviour, the most important first, each in one sentence.
fn topics(found: Vec<Found<'_>>) -> Vec<TopicDifferences> {
    type Key = (String, Kind, String, String, String);
    let mut sentences: BTreeMap<Key, (Found<'_>, BTreeSet<String>, BTreeSet<String>, usize)> =
        BTreeMap::new();
    for one in found {
        let state = one.asked.state().to_owned();
        let [means, _] = &one.recorded;
        let key = (one.asked.behaviour.clone(), one.kind, state, means.clone(), one.measured[0].clone());
        let (poller, kind) = (poller(&one.asked), descriptor(&one.asked));
        let same = sentences.entry(key).or_insert_with(|| (one, BTreeSet::new(), BTreeSet::new(), 0));
        same.1.insert(poller);
        same.2.insert(kind);
        same.3 += 1;
    }
    let mut behaviours: BTreeMap<String, Vec<Sentence>> = BTreeMap::new();
    for ((behaviour, kind, state, recorded, measured), (first, pollers, kinds, count)) in sentences {
        let listed = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(" and ");
        let place = [listed(pollers), listed(kinds), state];
        let place: Vec<_> = place.into_iter().filter(|part| !part.is_empty()).collect();
        behaviours.entry(behaviour).or_default().push(Sentence {
            kind,
            sentence: format!("{}: recorded {recorded}, measured {measured}", place.join(", ")),
            answers: count,
            cell: first.cell.id.clone(),
            recorded: first.recorded[1].clone(),
            measured: first.measured[1].clone(),
        });
    }
    let worst = |all: &[Sentence]| all.iter().map(|one| one.kind).min();
    let total = |all: &[Sentence]| all.iter().map(|one| one.answers).sum::<usize>();
    let mut of_topic = |topic: &'static str, title: &'static str, is_about: &dyn Fn(&str) -> bool| {
        let is_about = |(id, _): &(String, Vec<Sentence>)| is_about(id);
        let (mut of, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut behaviours).into_iter().partition(is_about);
        behaviours = rest.into_iter().collect();
        of.iter_mut().for_each(|(_, all)| all.sort_by_key(|one| (one.kind, Reverse(one.answers))));
        of.sort_by_key(|(_, all)| (worst(all), Reverse(total(all))));
        let key = of.iter().filter_map(|(_, all)| worst(all)).min()?;
        let answers = of.iter().map(|(_, all)| total(all)).sum();
        let behaviour = |(behaviour, differences): (String, Vec<Sentence>)| BehaviourDifferences {
            title: raw::expectations::title(&behaviour).unwrap_or_default(),
            behaviour,
            differences,
        };
        let behaviours = of.into_iter().map(behaviour).collect();
        Some((key, TopicDifferences { topic, title, answers, behaviours }))
    };
    let known = TOPICS
        .iter()
        .filter_map(|topic| of_topic(topic.id, topic.title, &|id| topic.behaviours.contains(&id)));
    let mut topics: Vec<_> = known.collect();
    // A file can have behaviours that this catalogue lacks.
    topics.extend(of_topic("other", "other behaviours", &|_| true));
    topics.sort_by_key(|(kind, topic)| (*kind, Reverse(topic.answers)));
    topics.into_iter().map(|(_, topic)| topic).collect()
}

/// Returns the poller with its mode if that is not the usual one, or the system call.
fn poller(asked: &Asked) -> String {
    let api = asked.api.trim_end_matches("-add-before").trim_end_matches("-add-after");
    match asked.trigger.as_deref() {
        None | Some("level") => api.to_owned(),
        Some(mode) => format!("{api} {mode}"),
    }
}

/// Returns the kind of descriptor.
fn descriptor(asked: &Asked) -> String {
    asked.variant.split(':').next().unwrap_or_default().to_owned()
}
