//! How an adapter's answers differ from those of the interface below it, the most surprising first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use matrix::{Environment, backends, environment};
use metadata::{Answer, Asked, CellResult, Check, Column, Difference, Interface, Meaning, Results, one_line};
use raw::expectations::NO_ANSWER;
use report::counted;
use serde::Serialize;

use crate::below::{closest, questions_below};
use crate::error::Error;
use crate::expectations::judge;

/// The width of the text.
pub const WIDTH: usize = 80;

/// A kind of difference. The order is that of the surprise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The answer is wrong in every reading.
    Wrong,
    /// A call would not block, and the adapter does not say so: its program waits.
    HidesReadiness,
    /// The adapter reports what the interface denies.
    Adds,
    /// The adapter does not show a hang-up, an error or the like.
    HidesDetail,
    /// The result of a call is another one.
    Result,
    /// Other words for the same: a flag that the others imply.
    Words,
    /// The meanings cannot be compared: counts, or the events of several descriptors.
    Unclear,
}

impl Kind {
    /// Returns what answers of this kind do.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Wrong => "wrong in every reading",
            Self::HidesReadiness => "hide readiness",
            Self::Adds => "add something",
            Self::HidesDetail => "hide a hang-up, an error or the like",
            Self::Result => "another result of a call",
            Self::Words => "other words for the same",
            Self::Unclear => "other numbers or orders",
        }
    }
}

/// Returns the parts of a difference: `hides readable`, `hides hang-up` and `adds end` are three. `None` if
/// the answers cannot be compared.
pub fn parts(difference: &Difference) -> Option<Vec<(Kind, String)>> {
    let (hides, adds) = match difference {
        Difference::None => return Some(Vec::new()),
        Difference::Result => return Some(vec![(Kind::Result, "another result of a call".into())]),
        Difference::Meanings { hides, adds } => (hides, adds),
        Difference::Unknown => return None,
    };
    let hidden = hides.iter().map(|meaning| match meaning {
        Meaning::Readable | Meaning::Writable => (Kind::HidesReadiness, format!("hides {meaning}")),
        _ => (Kind::HidesDetail, format!("hides {meaning}")),
    });
    Some(hidden.chain(adds.iter().map(|meaning| (Kind::Adds, format!("adds {meaning}")))).collect())
}

/// What is found in the answers of one adapter.
#[derive(PartialEq, Eq, Debug, Default)]
struct Found {
    /// The answers that can be compared.
    compared: usize,
    /// The answers that differ.
    different: usize,
    /// The number of answers, by difference. One answer can have several.
    differences: BTreeMap<(Kind, String), usize>,
}

/// Returns the triage of each adapter in the results. Empty without adapters.
///
/// # Errors
/// The expectations cannot be read.
pub fn triage(environment: &Environment, results: &Results) -> Result<String, Error> {
    let (adapters, own): (Vec<_>, Vec<_>) =
        results.characterisation().partition(|cell| !backends::is_own(&cell.backend));
    let Some(os) = environment::os().filter(|_| !adapters.is_empty()) else { return Ok(String::new()) };
    let (known, version) = (judge::load(environment.expectations(), os, results)?, raw::cell::kernel());
    let in_this_run: BTreeMap<&Asked, &str> =
        answers(own.into_iter()).map(|(asked, check)| (asked, &*check.observed)).collect();
    let of_interface = |interface: &Column, asked: &Asked| match in_this_run.get(asked) {
        Some(answer) => Some(vec![Answer::of(answer, asked.trigger.as_deref(), interface)]),
        None => known.expected(os, version.as_ref(), asked).map(|expected| expected.answers().collect()),
    };
    let column = |adapter: &str| results.runs.first().map(|run| run.column(adapter)).unwrap_or_default();
    let names: BTreeSet<_> = adapters.iter().map(|cell| cell.backend.as_str()).collect();
    let texts = names.into_iter().map(|adapter| {
        let column = column(adapter);
        let interface = closest(&column, os);
        let cells = adapters.iter().copied().filter(|cell| cell.backend == adapter);
        text(adapter, interface, &found((adapter, &column), interface, answers(cells), &of_interface))
    });
    Ok(texts.collect())
}

/// Returns the answers in cells, with their questions.
fn answers<'a>(cells: impl Iterator<Item = &'a CellResult>) -> impl Iterator<Item = (&'a Asked, &'a Check)> {
    let answered = |check: &&Check| check.observed != NO_ANSWER;
    cells
        .flat_map(move |cell| cell.checks.iter().filter(answered))
        .filter_map(|check| Some((check.asked.as_ref()?, check)))
}

fn found<'a>(
    (adapter, column): (&str, &Column),
    interface: Interface,
    answers: impl Iterator<Item = (&'a Asked, &'a Check)>,
    of_interface: &dyn Fn(&Column, &Asked) -> Option<Vec<Answer>>,
) -> Found {
    let (mut found, below_column) = (Found::default(), Column::of(interface));
    for (asked, check) in answers {
        let differences = match check.defect {
            Some(defect) => vec![(Kind::Wrong, defect.meaning().to_owned())],
            None => {
                let mut below = questions_below(asked, adapter, interface).into_iter();
                let below = below.find_map(|asked| of_interface(&below_column, &asked));
                let own = [Answer::of(&check.observed, asked.trigger.as_deref(), column)];
                let difference =
                    below.and_then(|below| Difference::least((&below_column, &below), (column, &own)));
                match difference.as_ref().and_then(parts) {
                    Some(parts) => parts,
                    None => continue,
                }
            }
        };
        found.compared += 1;
        found.different += usize::from(!differences.is_empty());
        for difference in differences {
            *found.differences.entry(difference).or_default() += 1;
        }
    }
    found
}

fn text(adapter: &str, interface: Interface, Found { compared, different, differences }: &Found) -> String {
    let adapter = one_line(adapter);
    if *compared == 0 {
        return wrapped(&format!("{adapter}: no answer can be compared with one of {interface}"));
    }
    if *different == 0 {
        return wrapped(&format!(
            "{adapter} answers as {interface} in all {compared} answers that can be compared"
        ));
    }
    let mut all: Vec<_> = differences.iter().collect();
    all.sort_by_key(|((kind, _), count)| (*kind, Reverse(*count)));
    let parts: Vec<_> = all.into_iter().map(|((_, words), count)| format!("{words} ({count})")).collect();
    let different = counted(*different, "answer");
    let beginning = format!("{adapter} differs from {interface} in {different} of {compared}");
    wrapped(&format!("{beginning}: {}", parts.join(", ")))
}

/// Returns what recorded answers mean, and what a given one means. If both are equal, the words of the
/// pollers.
pub fn in_words(
    (recorded_column, recorded): (&Column, &[String]),
    (column, given): (&Column, &str),
    trigger: Option<&str>,
) -> [String; 2] {
    let means = |text: &str, column: &Column| match metadata::is_silence(text) {
        true => "silent".to_owned(),
        false => Answer::of(text, trigger, column).meaning(column).unwrap_or_else(|| text.to_owned()),
    };
    let was: BTreeSet<_> = recorded.iter().map(|text| means(text, recorded_column)).collect();
    let is = means(given, column);
    match was.contains(&is) {
        true => [recorded.join(" or "), given.to_owned()],
        false => [was.into_iter().collect::<Vec<_>>().join(" or "), is],
    }
}

/// Breaks a text into lines. All but the first are indented.
pub fn wrapped(text: &str) -> String {
    hanging("", "  ", text)
}

/// Breaks a text into lines, with `first` before the first one and `rest` before the others.
pub fn hanging(first: &str, rest: &str, text: &str) -> String {
    let mut lines = vec![first.to_owned()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a first line");
        if line.trim().is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(format!("{rest}{word}"));
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use metadata::Defect;

    use super::*;

    fn asked(state: &str, api: &str) -> Asked {
        let trigger = Some("level".to_owned());
        Asked { behaviour: "V06".into(), variant: format!("tcp:{state}"), api: api.into(), trigger }
    }

    /// Returns the triage of `nio4r-epoll`, whose answers stand beside epoll's to the same question.
    fn triage_of(answers: &[(&str, &str, Option<Defect>)]) -> String {
        let state = |index: usize| format!("state-{index}");
        let check = |observed: &str, defect| Check { observed: observed.into(), defect, ..Check::default() };
        let own: Vec<_> = answers
            .iter()
            .enumerate()
            .map(|(index, (_, own, defect))| (asked(&state(index), "nio4r-epoll"), check(own, *defect)))
            .collect();
        let epoll = |column: &Column, question: &Asked| {
            let is_it = |index: &usize| asked(&state(*index), "epoll") == *question;
            let index = (0..answers.len()).find(is_it)?;
            Some(vec![Answer::of(answers[index].0, Some("level"), column)])
        };
        let own = own.iter().map(|(asked, check)| (asked, check));
        let words = [("readable", "readable"), ("writable", "writable"), ("hup", "hang-up")];
        let (column, interface) = (Column::new(None, &words), Interface::Epoll);
        text("nio4r-epoll", interface, &found(("nio4r-epoll", &column), interface, own, &epoll))
    }

    #[test]
    fn the_most_surprising_difference_is_first_and_the_more_frequent_one_of_a_kind() {
        let hides_hang_up = ("HUP", "readable", None);
        let text = triage_of(&[
            ("0", "EPERM", None),
            hides_hang_up,
            ("IN|ERR", "readable", None),
            hides_hang_up,
            ("OUT", "readable|writable", None),
            ("IN", "silent", None),
            ("IN|OUT", "readable|writable", None),
            ("IN|OUT|HUP", "silent", None),
            ("timed out x20", "early x17, timed out x3", Some(Defect::Early)),
        ]);
        let expected = "nio4r-epoll differs from epoll in 8 answers of 9: a wait returned before its\n  \
                        timeout (1), hides readable (2), hides writable (1), adds readable (1), hides\n  \
                        hang-up (3), hides error (1), another result of a call (1)\n";
        assert_eq!(text, expected);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn equal_answers_and_answers_that_cannot_be_compared_are_said_to_be() {
        assert_eq!(
            triage_of(&[("IN", "readable", None), ("HUP", "hup", None)]),
            "nio4r-epoll answers as epoll in all 2 answers that can be compared\n"
        );
        assert_eq!(
            triage_of(&[("IN", "signalled", None)]),
            "nio4r-epoll: no answer can be compared with one of epoll\n"
        );
    }
}
