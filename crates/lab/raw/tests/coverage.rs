//! Tests that a script asks for every answer, or that an omission gives the reason.

use std::collections::BTreeSet;

use metadata::Mode;
use pollmatrix_raw::expectations::{BEHAVIOURS, Expectations, title};
use pollmatrix_raw::verbs::{Action, Call, Direction, Script};
use pollmatrix_raw::{Omission, asked_on, keys, omissions, scenarios};
use selector::{Interest, Registered, View};
use wildmatch::WildMatch;

const fn view(api: &'static str, registered: Registered) -> View {
    View { api, interest: Interest::ALL, registered }
}

#[test]
fn every_recording_has_a_script_or_an_omission() {
    let expectations = Expectations::built_in().unwrap_or_else(|error| panic!("{error}"));
    let scripted: BTreeSet<_> = scenarios().map(|scenario| scenario.behaviour).collect();
    let mut used = BTreeSet::new();
    let mut failures = Vec::new();
    for (os, recorded) in expectations.systems() {
        let asked = asked_on(os);
        for answer in recorded.iter().filter(|answer| scripted.contains(answer.behaviour.as_str())) {
            let key = format!("{} {} {}", answer.behaviour, answer.variant, answer.question());
            // A pattern may also cover answers that a script asks for, but at least one must need it.
            if asked.contains(&key) {
                continue;
            }
            match omissions().iter().position(|omission| WildMatch::new(omission.pattern).matches(&key)) {
                Some(reason) => {
                    used.insert(reason);
                }
                None => failures.push(format!("{os} {key}: {}", answer.recorded())),
            }
        }
    }
    for (index, Omission { pattern, .. }) in omissions().iter().enumerate() {
        if pattern.contains(' ') {
            if !used.contains(&index) {
                failures.push(format!("{pattern}: an omission that no recording needs"));
            }
        } else if title(pattern).is_none() {
            failures.push(format!("{pattern}: an omission, and not a behaviour of the catalogue"));
        } else if scripted.contains(pattern) {
            failures.push(format!("{pattern}: an omission, and a script asks for it"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} recordings or omissions are wrong:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn every_behaviour_has_a_scenario_or_an_omission() {
    let scripted: BTreeSet<_> = scenarios().map(|scenario| scenario.behaviour).collect();
    for (id, title) in BEHAVIOURS.iter() {
        let omitted = omissions().iter().any(|omission| omission.pattern == *id);
        assert!(scripted.contains(id) || omitted, "{id}: {title}");
    }
    for scenario in scenarios() {
        assert!(
            title(scenario.behaviour).is_some(),
            "{}: there is no behaviour {}",
            scenario.id,
            scenario.behaviour
        );
    }
}

#[test]
fn every_scenario_has_a_unique_id_a_question_and_bug_urls() {
    let mut names = BTreeSet::new();
    for scenario in scenarios() {
        assert!(names.insert(scenario.id), "duplicate id {}", scenario.id);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '/';
        assert!(scenario.id.chars().all(plain) && scenario.id.matches('/').count() == 1, "{}", scenario.id);
        assert!(scenario.question.ends_with('?'), "{}: {}", scenario.id, scenario.question);
        assert!(scenario.bugs.iter().all(|bug| bug.starts_with("https://")), "{}", scenario.id);
        assert!(!scenario.transports.is_empty() && !scenario.modes.is_empty(), "{}", scenario.id);
    }
    assert!(names.len() > 200, "{}", names.len());
}

/// There, macOS answers ENOTCONN and leaves the sending side open (`soshutdownlock_final`): a script must ask
/// with a question mark, or shut the writing side only.
#[test]
fn no_script_requires_that_both_sides_are_shut_after_the_other_end_has_shut_its_writing_side() {
    for scenario in scenarios() {
        let script: Script = scenario.script.parse().unwrap();
        let mut shut = BTreeSet::new();
        for clause in &script.clauses {
            let Action::Call(name, Call::Shuts(direction)) = &clause.action else { continue };
            let is_shut_elsewhere = shut.iter().any(|other| other != name);
            let requires = !clause.is_question && *direction == Direction::Both;
            assert!(!(requires && is_shut_elsewhere), "{}: {}", scenario.id, clause.action);
            if *direction != Direction::Read {
                shut.insert(name.clone());
            }
        }
    }
}

/// A script in canonical form is run exactly as it is written.
#[test]
fn every_script_is_canonical_and_asks_something() {
    for scenario in scenarios() {
        let script: Script =
            scenario.script.parse().unwrap_or_else(|error| panic!("{}: {error}", scenario.id));
        assert_eq!(script.to_string(), scenario.script, "{}", scenario.id);
        for &mode in scenario.modes {
            let level =
                [view("kqueue-add-before", Registered::Before), view("kqueue-add-after", Registered::After)];
            let views = if mode == Mode::Edge { &level[..1] } else { &level };
            let asked = keys(&script, scenario.transports[0], mode, "kqueue", views);
            assert!(!asked.is_empty(), "{} {mode:?}", scenario.id);
            // An expectation has one key: two answers under the same key could not be compared.
            let different: BTreeSet<_> = asked.iter().collect();
            assert_eq!(different.len(), asked.len(), "{} {mode:?}: {asked:#?}", scenario.id);
        }
    }
}
