//! That what was measured elsewhere is asked: no recording of FreeBSD or Linux is left without a line, unless
//! there is a reason.

use std::collections::BTreeSet;

use characterisation::verbs::Script;
use characterisation::{Omission, keys, omissions, scenarios};
use expectations::{BEHAVIOURS, Expectations, title};
use metadata::{Mode, Os};
use selector::{Interest, Registered, View};
use wildmatch::WildMatch;

const fn view(api: &'static str, interest: Interest, registered: Registered) -> View {
    View { api, interest, registered }
}

/// A poller, and through what it is looked at in level and in edge mode.
type Poller = (&'static str, Vec<View>, Vec<View>);

/// The pollers of a system that was measured. They need not run here for this.
fn pollers(os: Os) -> [Poller; 3] {
    let (name, before, after) = match os {
        Os::Linux => ("epoll", "epoll-add-before", "epoll-add-after"),
        _ => ("kqueue", "kqueue-add-before", "kqueue-add-after"),
    };
    let before = view(before, Interest::ALL, Registered::Before);
    [
        (name, vec![before, view(after, Interest::ALL, Registered::After)], vec![before]),
        (
            "poll",
            vec![
                view("poll", Interest::ALL, Registered::After),
                view("poll-events0", Interest::NONE, Registered::After),
            ],
            vec![],
        ),
        ("select", vec![view("select", Interest::ALL, Registered::After)], vec![]),
    ]
}

/// `V06 tcp:after-read-0 poll@level`, of everything that a line asks there.
fn asked(os: Os) -> BTreeSet<String> {
    let mut asked = BTreeSet::new();
    for scenario in scenarios() {
        let line: Script = scenario.script.parse().unwrap();
        for &transport in scenario.transports {
            for &mode in scenario.modes {
                for (name, level, edge) in pollers(os) {
                    let views = match mode {
                        Mode::Level => level,
                        Mode::Edge => edge,
                        _ => vec![],
                    };
                    for key in keys(&line, transport, mode, name, &views) {
                        let trigger = key.trigger.map(|trigger| format!("@{trigger}")).unwrap_or_default();
                        asked.insert(format!("{} {} {}{trigger}", scenario.behaviour, key.variant, key.api));
                    }
                }
            }
        }
    }
    asked
}

#[test]
fn every_recording_is_asked_or_has_a_reason() {
    let answers = Expectations::built_in().unwrap_or_else(|error| panic!("{error}"));
    let scripted: BTreeSet<_> = scenarios().map(|scenario| scenario.behaviour).collect();
    let mut used = BTreeSet::new();
    let mut forgotten = Vec::new();
    for (os, recorded) in answers.systems().filter(|(os, _)| matches!(os, Os::FreeBsd | Os::Linux)) {
        let asked = asked(os);
        for answer in recorded.iter().filter(|answer| scripted.contains(answer.behaviour.as_str())) {
            let key = format!("{} {} {}", answer.behaviour, answer.variant, answer.question());
            // A pattern may cover answers that are asked, too; it must be needed for one that is not.
            if asked.contains(&key) {
                continue;
            }
            match omissions().iter().position(|omission| WildMatch::new(omission.pattern).matches(&key)) {
                Some(reason) => {
                    used.insert(reason);
                }
                None => forgotten.push(format!("{os} {key}: {}", answer.recorded())),
            }
        }
    }
    for (index, Omission { pattern, .. }) in omissions().iter().enumerate() {
        if pattern.contains(' ') {
            if !used.contains(&index) {
                forgotten
                    .push(format!("{pattern}: excused, and nothing is recorded of it that is not asked"));
            }
        } else if title(pattern).is_none() {
            forgotten.push(format!("{pattern}: excused, and no row of the catalogue"));
        } else if scripted.contains(pattern) {
            forgotten.push(format!("{pattern}: excused as a whole, and there is a line for it"));
        }
    }
    assert!(forgotten.is_empty(), "{} are not asked:\n{}", forgotten.len(), forgotten.join("\n"));
}

#[test]
fn every_row_of_the_catalogue_is_a_scenario_or_has_a_reason() {
    let scripted: BTreeSet<_> = scenarios().map(|scenario| scenario.behaviour).collect();
    // X: what was measured beside the catalogue.
    for (row, title) in BEHAVIOURS.iter().filter(|(row, _)| !row.starts_with('X')) {
        let excused = omissions().iter().any(|omission| omission.pattern == *row);
        assert!(scripted.contains(row) || excused, "{row}: {title}");
    }
    for scenario in scenarios() {
        assert!(
            title(scenario.behaviour).is_some(),
            "{}: there is no row {}",
            scenario.id,
            scenario.behaviour
        );
    }
}

#[test]
fn every_scenario_has_a_name_a_question_and_bugs_with_addresses() {
    let mut names = BTreeSet::new();
    for scenario in scenarios() {
        assert!(names.insert(scenario.id), "{} is there twice", scenario.id);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '/';
        assert!(scenario.id.chars().all(plain) && scenario.id.matches('/').count() == 1, "{}", scenario.id);
        assert!(scenario.question.ends_with('?'), "{}: {}", scenario.id, scenario.question);
        assert!(scenario.bugs.iter().all(|bug| bug.starts_with("https://")), "{}", scenario.id);
        assert!(!scenario.transports.is_empty() && !scenario.modes.is_empty(), "{}", scenario.id);
    }
}

/// What is performed is what is written, and nothing is written that observes nothing.
#[test]
fn every_line_is_canonical_and_asks_something() {
    for scenario in scenarios() {
        let line: Script = scenario.script.parse().unwrap_or_else(|error| panic!("{}: {error}", scenario.id));
        assert_eq!(line.to_string(), scenario.script, "{}", scenario.id);
        for &mode in scenario.modes {
            let (_, level, edge) = &pollers(Os::FreeBsd)[0];
            let views = if mode == Mode::Edge { edge } else { level };
            let asked = keys(&line, scenario.transports[0], mode, "kqueue", views);
            assert!(!asked.is_empty(), "{} {mode:?}", scenario.id);
            // Two answers under one key: neither could be expected.
            let different: BTreeSet<_> = asked.iter().collect();
            assert_eq!(different.len(), asked.len(), "{} {mode:?}: {asked:#?}", scenario.id);
        }
    }
}
