//! Compares the answers of two sides to one line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metadata::{Answer, Column, Interest, Meaning, Outcome, STALE_TOKEN, Said};
use raw::verbs::{Action, Call, Clause};

use crate::line::Line;
use crate::model::Model;
use crate::side::{About, End, Features, Performed, Runs};

/// The first clause to which two sides answer differently.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The number of the clause, from 0. That of the first missing answer if a side ended early.
    pub clause: usize,
    /// The answer of the left side.
    pub left: String,
    /// The answer of the right side.
    pub right: String,
    /// The part of the answers that differs.
    pub what: Contrast,
    /// A side ended early: no later answer can be compared.
    pub is_end: bool,
}

/// The words that one side has and the other one does not have.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Contrast {
    /// The words of the left side alone.
    pub left: BTreeSet<String>,
    /// The words of the right side alone.
    pub right: BTreeSet<String>,
}

impl Contrast {
    fn of(left: impl Into<String>, right: impl Into<String>) -> Self {
        let set = |word: String| if word.is_empty() { BTreeSet::new() } else { BTreeSet::from([word]) };
        Self { left: set(left.into()), right: set(right.into()) }
    }

    /// Returns whether a line that shows this contrast can have the same cause as a line that shows the other
    /// one: the same sides have words of their own, and one of them shares a word.
    pub fn is_like(&self, other: &Self) -> bool {
        let same_sides =
            self.left.is_empty() == other.left.is_empty() && self.right.is_empty() == other.right.is_empty();
        same_sides && (!self.left.is_disjoint(&other.left) || !self.right.is_disjoint(&other.right))
    }

    fn is_none(&self) -> bool {
        self.left.is_empty() && self.right.is_empty()
    }
}

/// `only left: IN; only right: HUP`, without numbers.
impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |words: &BTreeSet<String>| {
            without_numbers(&words.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
        };
        match (self.left.is_empty(), self.right.is_empty()) {
            (false, true) => write!(f, "only left: {}", words(&self.left)),
            (true, _) => write!(f, "only right: {}", words(&self.right)),
            (false, false) => write!(f, "left: {}; right: {}", words(&self.left), words(&self.right)),
        }
    }
}

/// The rules by which two sides are compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The left side.
    pub left: About,
    /// The right side.
    pub right: About,
    features: Features,
}

/// The events of a wait, each with the name of its registration.
type Events = Vec<(String, String)>;

impl Comparison {
    /// Returns the rules for these sides.
    pub fn of(left: &About, right: &About) -> Self {
        Self { features: left.features.and(&right.features), left: left.clone(), right: right.clone() }
    }

    /// Returns the features that both sides have.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Returns whether both sides are the same interface, so that the order of events counts.
    fn is_one_interface(&self) -> bool {
        let of_left = self.left.column.interface();
        self.left.name == self.right.name || (of_left.is_some() && of_left == self.right.column.interface())
    }

    /// Returns whether answers are compared word for word.
    pub fn is_exact(&self) -> bool {
        self.is_one_interface() || self.left.column.has_words_of(&self.right.column)
    }

    /// Returns the differences between the answers to a line, in the order of the clauses. With several runs,
    /// answers differ if no answer of one side agrees with an answer of the other one.
    ///
    /// After a change that one side refuses, nothing is compared: everything else follows from it. The same
    /// contrast counts once.
    pub fn differences(&self, line: &Line, left: &Runs, right: &Runs) -> Vec<Difference> {
        let mut model = Model::new(line.transport, line.mode, &self.features);
        let mut found = Vec::new();
        for (index, clause) in line.clauses().iter().enumerate() {
            let answers = |runs: &Runs| -> Option<BTreeSet<String>> {
                runs.iter().map(|run| run.answers.get(index).cloned()).collect()
            };
            let (Some(lefts), Some(rights)) = (answers(left), answers(right)) else {
                found.extend(self.different_end(index, left, right));
                return found;
            };
            let pairs = lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right)));
            let compared: Vec<_> =
                pairs.map(|(left, right)| (left, right, self.compare(clause, &model, left, right))).collect();
            if let Some((left, right, Some(what))) = compared.first()
                && compared.iter().all(|(_, _, what)| what.is_some())
                && !found.iter().any(|known: &Difference| known.what == *what)
            {
                found.push(Difference {
                    clause: index,
                    left: if lefts.len() == 1 { (*left).clone() } else { listed(&lefts) },
                    right: if rights.len() == 1 { (*right).clone() } else { listed(&rights) },
                    what: what.clone(),
                    is_end: false,
                });
                if matches!(clause.action, Action::Change(_)) {
                    return found;
                }
            }
            // A clause that is not modelled changes nothing in the model.
            let _ = model.advance(clause);
        }
        found.extend(self.different_end(line.clauses().len(), left, right));
        found
    }

    /// Returns the difference between the ends, unless one of them says nothing about the poller.
    fn different_end(&self, clause: usize, left: &Runs, right: &Runs) -> Option<Difference> {
        let ends = |runs: &Runs| runs.iter().map(|run| run.end.clone()).collect::<BTreeSet<_>>();
        let (left, right) = (ends(left), ends(right));
        let is_silent = |end: &End| matches!(end, End::Unsupported(_) | End::NotRecorded);
        if left.iter().chain(&right).any(is_silent) {
            return None;
        }
        let kinds = |ends: &BTreeSet<End>| ends.iter().map(kind_of_end).collect::<BTreeSet<_>>();
        let (left_kinds, right_kinds) = (kinds(&left), kinds(&right));
        if !left_kinds.is_disjoint(&right_kinds) {
            return None;
        }
        let describe = |ends: &BTreeSet<End>| ends.iter().map(describe_end).collect::<Vec<_>>().join(" or ");
        let first =
            |kinds: &BTreeSet<&str>| kinds.iter().next().map_or_else(String::new, ToString::to_string);
        let what = Contrast::of(first(&left_kinds), first(&right_kinds));
        Some(Difference { clause, left: describe(&left), right: describe(&right), what, is_end: true })
    }

    /// Returns the difference between two answers to one clause.
    fn compare(&self, clause: &Clause, model: &Model, left: &str, right: &str) -> Option<Contrast> {
        if left == right {
            return None;
        }
        match &clause.action {
            Action::Wait { poller, .. }
            | Action::ThreadWaits { poller, .. }
            | Action::Waiters { poller, .. } => self.compare_waits(&model.interests(poller), left, right),
            Action::ThreadAnswers(_) | Action::ThreadsAnswer => {
                self.compare_waits(&model.interests(raw::verbs::FIRST), left, right)
            }
            Action::Change(_) => {
                let of = |text: &str| -> Option<BTreeSet<String>> {
                    Some(Outcome::of_call(text).errors()?.into_iter().map(str::to_owned).collect())
                };
                let (Some(left), Some(right)) = (of(left), of(right)) else { return exact(left, right) };
                // Libraries refuse some calls with errors of their own.
                let both_refuse = !left.is_empty() && !right.is_empty() && !self.is_one_interface();
                (left != right && !both_refuse).then(|| Contrast::of(outcome(&left), outcome(&right)))
            }
            // The room depends on the sizes of buffers.
            Action::Call(_, Call::Fills(_)) => exact(&without_numbers(left), &without_numbers(right)),
            Action::Look { .. } | Action::MakePoller => None,
            _ => exact(left, right),
        }
    }

    fn compare_waits(
        &self,
        interests: &BTreeMap<&str, Interest>,
        left: &str,
        right: &str,
    ) -> Option<Contrast> {
        let of = |column: &Column, text: &str| -> Vec<Outcome> {
            Answer::of_wait(text, column).rounds().flatten().cloned().collect()
        };
        let (lefts, rights) = (of(&self.left.column, left), of(&self.right.column, right));
        if lefts.len() != rights.len() {
            return exact(left, right);
        }
        let pairs = lefts.iter().zip(&rights);
        pairs.into_iter().find_map(|(left, right)| match (left, right) {
            (Outcome::NotWoken | Outcome::Woken, Outcome::NotWoken | Outcome::Woken) => {
                exact(&class(left), &class(right))
            }
            _ => match (events(left, interests), events(right, interests)) {
                (Some(left), Some(right)) => self.compare_events(interests, &left, &right),
                _ => exact(&class(left), &class(right)),
            },
        })
    }

    fn compare_events(
        &self,
        interests: &BTreeMap<&str, Interest>,
        left: &[(String, String)],
        right: &[(String, String)],
    ) -> Option<Contrast> {
        let is_stale = |events: &[(String, String)]| events.iter().any(|(name, _)| name == STALE_TOKEN);
        let stale = |of| if is_stale(of) { STALE_TOKEN } else { "" };
        if is_stale(left) != is_stale(right) {
            return Some(Contrast::of(stale(left), stale(right)));
        }
        match self.is_exact() {
            true => self.compare_exactly(left, right),
            false => self.compare_meanings(interests, left, right),
        }
    }

    fn compare_exactly(&self, left: &[(String, String)], right: &[(String, String)]) -> Option<Contrast> {
        let sorted = |events: &[(String, String)]| {
            let mut events = events.to_vec();
            events.sort();
            events
        };
        if sorted(left) == sorted(right) {
            let order = self.is_one_interface() && left != right;
            return order.then(|| Contrast::of("one order of the events", "another order"));
        }
        let (lefts, rights) = (words(&self.left.column, left), words(&self.right.column, right));
        let empty = BTreeSet::new();
        let names: BTreeSet<_> = lefts.keys().chain(rights.keys()).collect();
        for name in names {
            let (left, right) = (lefts.get(name).unwrap_or(&empty), rights.get(name).unwrap_or(&empty));
            if left == right {
                continue;
            }
            let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
                one.difference(other).cloned().collect::<BTreeSet<_>>()
            };
            return Some(Contrast { left: only(left, right), right: only(right, left) });
        }
        // The same words in another number of events.
        let count = |events: usize, other: usize| if events > other { "more events" } else { "" };
        Some(Contrast::of(count(left.len(), right.len()), count(right.len(), left.len())))
            .filter(|contrast| !contrast.is_none())
    }

    fn compare_meanings(
        &self,
        interests: &BTreeMap<&str, Interest>,
        left: &[(String, String)],
        right: &[(String, String)],
    ) -> Option<Contrast> {
        let names: BTreeSet<_> = left.iter().chain(right).map(|(name, _)| name).collect();
        names.into_iter().find_map(|name| {
            let interest = interests.get(name.as_str()).copied().unwrap_or(Interest::NONE);
            let report = |column: &Column, events: &[(String, String)]| {
                let own = events.iter().filter(|(of, _)| of == name).map(|(_, record)| record.as_str());
                column.report(own, interest)
            };
            let reports = report(&self.left.column, left).into_iter().zip(report(&self.right.column, right));
            let mut contrast = Contrast::default();
            for (meaning, (left, right)) in Meaning::ALL.iter().zip(reports) {
                if left.contradicts(right) {
                    let side = if left == Said::Yes { &mut contrast.left } else { &mut contrast.right };
                    side.insert(meaning.name().to_owned());
                }
            }
            Some(contrast).filter(|contrast| !contrast.is_none())
        })
    }
}

/// Returns the words of each registration.
fn words(column: &Column, events: &[(String, String)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, record) in events {
        let of = all.entry(name.clone()).or_default();
        match column.split(record).as_slice() {
            [] => _ = of.insert("an event without a word".into()),
            words => of.extend(words.iter().map(ToString::to_string)),
        }
    }
    all
}

fn exact(left: &str, right: &str) -> Option<Contrast> {
    (left != right).then(|| Contrast::of(left, right))
}

fn class(wait: &Outcome) -> String {
    match wait {
        Outcome::Reported(_) if wait.events().next().is_none() => "no event".into(),
        Outcome::Reported(_) => "events".into(),
        Outcome::NotWoken => "asleep".into(),
        other => other.to_string(),
    }
}

/// Returns the events of a wait: none of a thread that sleeps, or was woken without one. Returns `None` for
/// anything else, such as an errno.
fn events(wait: &Outcome, interests: &BTreeMap<&str, Interest>) -> Option<Events> {
    // The only registration is not named.
    let only = interests.keys().next().copied().unwrap_or_default();
    match wait {
        Outcome::NotWoken | Outcome::Woken => Some(Vec::new()),
        Outcome::Reported(_) => {
            let events = wait.events();
            Some(events.map(|(of, record)| (of.unwrap_or(only).to_owned(), record.to_owned())).collect())
        }
        _ => None,
    }
}

fn outcome(errors: &BTreeSet<String>) -> String {
    match errors.is_empty() {
        true => "done".into(),
        false => errors.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
    }
}

fn listed(answers: &BTreeSet<String>) -> String {
    answers.iter().map(String::as_str).collect::<Vec<_>>().join(" or ")
}

fn kind_of_end(end: &End) -> &'static str {
    match end {
        End::Performed => "performed",
        End::Unsupported(_) => "unsupported",
        End::Broken(_) => "broken",
        End::Crash(_) => "crash",
        End::Hang(_) => "hang",
        End::NotRecorded => "not recorded",
    }
}

fn describe_end(end: &End) -> String {
    match end {
        End::Performed | End::NotRecorded => kind_of_end(end).to_owned(),
        End::Unsupported(why) | End::Broken(why) | End::Crash(why) | End::Hang(why) => {
            format!("{}: {why}", kind_of_end(end))
        }
    }
}

/// Replaces each number by `N`.
pub fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter.is_ascii_digit() {
            true if out.ends_with('N') => {}
            true => out.push('N'),
            false => out.push(letter),
        }
    }
    out
}

/// Returns the one performance of a line as a set of runs.
pub fn single(performed: Performed) -> Runs {
    BTreeSet::from([performed])
}

#[cfg(test)]
mod tests {
    use metadata::Mode;

    use super::*;

    fn about(name: &str) -> About {
        let features = Features::every(&[Mode::Level, Mode::Edge]);
        let interface = |name: &str| name.parse().map(Column::of).ok();
        let column = interface(name.trim_start_matches("python-")).unwrap_or_else(|| {
            Column::new(None, &[("readable", "readable"), ("writable", "writable"), ("read_closed", "end")])
        });
        About { name: name.into(), system: "linux".into(), column, features }
    }

    fn runs(runs: &[&[&str]]) -> Runs {
        let one = |answers: &&[&str]| Performed {
            answers: answers.iter().map(ToString::to_string).collect(),
            end: End::Performed,
        };
        runs.iter().map(one).collect()
    }

    fn differences(
        sides: [&str; 2],
        line: &str,
        left: &[&[&str]],
        right: &[&[&str]],
    ) -> Vec<(usize, String)> {
        let comparison = Comparison::of(&about(sides[0]), &about(sides[1]));
        let found = comparison.differences(&line.parse().unwrap(), &runs(left), &runs(right));
        found.into_iter().map(|difference| (difference.clause, difference.what.to_string())).collect()
    }

    const LINE: &str = "unix level: own and peer are connected, add own?, wait";
    const TWO: &str = "unix level: own and peer are connected, add own?, add peer?, wait";

    #[test]
    fn pollers_with_the_same_words_are_compared_word_for_word() {
        let wait =
            |left, right| differences(["epoll", "poll"], LINE, &[&["ok", "0", left]], &[&["ok", "0", right]]);
        assert_eq!(wait("IN|HUP", "IN|HUP"), []);
        assert_eq!(wait("silent", "-"), []);
        assert_eq!(wait("IN|HUP", "IN"), [(2, "only left: HUP".to_owned())]);
        assert_eq!(wait("silent", "OUT"), [(2, "only right: OUT".to_owned())]);
        assert_eq!(wait("EBADF", "NVAL"), [(2, "left: EBADF; right: events".to_owned())]);
    }

    #[test]
    fn pollers_with_other_words_are_compared_by_their_meanings() {
        let wait = |left, right| {
            differences(["epoll", "select"], LINE, &[&["ok", "0", left]], &[&["ok", "0", right]])
        };
        assert_eq!(wait("IN|OUT|HUP", "rw-"), []);
        assert_eq!(wait("OUT", "rw-"), [(2, "only right: readable".to_owned())]);
    }

    /// The interest of no registration is unknown: by its meaning, nothing would contradict it.
    #[test]
    fn an_event_of_no_registration_is_a_difference_between_any_two() {
        for (other, event, both) in [
            ("poll", "OUT", "own:OUT stale-token:IN"),
            ("select", "-w-", "own:-w- stale-token:r--"),
            ("mio", "writable", "own:writable stale-token:readable"),
        ] {
            let sides = ["epoll", other];
            let wait = |left, right| differences(sides, LINE, &[&["ok", "0", left]], &[&["ok", "0", right]]);
            assert_eq!(wait("OUT", event), []);
            assert_eq!(wait("OUT", both), [(2, "only right: stale-token".to_owned())]);
            assert_eq!(wait("stale-token:IN", "silent"), [(2, "only left: stale-token".to_owned())]);
        }
    }

    #[test]
    fn the_order_of_events_counts_within_one_interface() {
        let wait = |sides, left, right| {
            differences(sides, TWO, &[&["ok", "0", "0", left]], &[&["ok", "0", "0", right]])
        };
        let (one, other) = ("own:OUT peer:OUT", "peer:OUT own:OUT");
        assert_eq!(wait(["epoll", "poll"], one, other), []);
        assert_eq!(
            wait(["epoll", "python-epoll"], one, other),
            [(3, "left: one order of the events; right: another order".to_owned())]
        );
        assert_eq!(wait(["epoll", "poll"], one, "own:OUT"), [(3, "only left: OUT".to_owned())]);
    }

    #[test]
    fn answers_that_vary_differ_only_if_no_two_agree() {
        let line = "unix level: own and peer are connected, add own?, 2 threads wait, threads answer";
        let run = |answer: &'static str| ["ok", "0", "ok", answer];
        let (one, two, none) = (run("wakes=1/2"), run("wakes=2/2"), run("wakes=0/2"));
        let compare = |left: &[&[&str]], right: &[&[&str]]| differences(["epoll", "poll"], line, left, right);
        assert_eq!(compare(&[&one, &two], &[&two]), []);
        assert_eq!(compare(&[&one, &two], &[&none]).len(), 1);
    }

    #[test]
    fn everything_after_a_refused_change_follows_from_it() {
        let line = "unix level: own and peer are connected, add own?, add own?, wait";
        let (left, right) = (["ok", "0", "EEXIST", "OUT"], ["ok", "0", "0", "OUT OUT"]);
        let compare = |sides| differences(sides, line, &[&left], &[&right]);
        assert_eq!(compare(["epoll", "python-epoll"]), [(2, "left: EEXIST; right: done".to_owned())]);
    }

    #[test]
    fn a_thread_that_sleeps_has_no_event() {
        let line = "unix level: own and peer are connected, add own?, t waits, t answers";
        let compare = |left, right| {
            differences(["epoll", "poll"], line, &[&["ok", "0", "ok", left]], &[&["ok", "0", "ok", right]])
        };
        assert_eq!(compare("not woken", "OUT"), [(3, "only right: OUT".to_owned())]);
        assert_eq!(compare("not woken", "woken"), [(3, "left: asleep; right: woken".to_owned())]);
    }

    #[test]
    fn a_contrast_is_like_another_one_of_the_same_sides_that_shares_a_word() {
        let of = |left: &[&str], right: &[&str]| Contrast {
            left: left.iter().map(ToString::to_string).collect(),
            right: right.iter().map(ToString::to_string).collect(),
        };
        assert!(of(&["IN", "OUT"], &[]).is_like(&of(&["IN"], &[])));
        assert!(of(&["OUT"], &["NVAL"]).is_like(&of(&["IN"], &["NVAL"])), "one side has the same words");
        assert!(!of(&["IN"], &[]).is_like(&of(&["OUT"], &[])));
        assert!(!of(&["IN"], &["OUT"]).is_like(&of(&["IN"], &[])));
        assert!(!of(&[], &["IN"]).is_like(&of(&["IN"], &[])));
    }

    #[test]
    fn an_end_of_one_side_alone_is_a_difference_unless_it_is_unsupported() {
        let comparison = Comparison::of(&about("epoll"), &about("poll"));
        let line: Line = LINE.parse().unwrap();
        let left = runs(&[&["ok", "0", "OUT"]]);
        let ended = |end| single(Performed { answers: vec!["ok".into(), "0".into()], end });
        let found = comparison.differences(&line, &left, &ended(End::Crash("killed by SIGSEGV".into())));
        assert_eq!((found[0].clause, found[0].is_end), (2, true));
        assert_eq!(found[0].right, "crash: killed by SIGSEGV");
        assert_eq!(comparison.differences(&line, &left, &ended(End::Unsupported("no".into()))), []);
    }

    #[test]
    fn the_sizes_of_buffers_are_not_compared() {
        let line = "unix level: own and peer are connected, own fills?";
        let compare = |left, right| differences(["epoll", "poll"], line, &[&["ok", left]], &[&["ok", right]]);
        assert_eq!(compare("219264 B: EAGAIN", "8192 B: EAGAIN"), []);
        assert_eq!(compare("219264 B: EAGAIN", "0 B: EPIPE").len(), 1);
    }
}
