//! That what was measured elsewhere is asked: no recording of FreeBSD or Linux is left without a line, unless
//! there is a reason.

use std::collections::BTreeSet;

use characterisation::verbs::Script;
use characterisation::{Unscripted, keys, rows, unscripted};
use expectations::{Answers, ROWS, title};
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
    for row in rows() {
        let line: Script = row.verbs.parse().unwrap();
        for &transport in row.transports {
            for &mode in row.modes {
                for (name, level, edge) in pollers(os) {
                    let views = match mode {
                        Mode::Level => level,
                        Mode::Edge => edge,
                        _ => vec![],
                    };
                    for key in keys(&line, transport, mode, name, &views) {
                        let trigger = key.trigger.map(|trigger| format!("@{trigger}")).unwrap_or_default();
                        asked.insert(format!("{} {} {}{trigger}", row.row, key.variant, key.api));
                    }
                }
            }
        }
    }
    asked
}

#[test]
fn every_recording_is_asked_or_has_a_reason() {
    let answers = Answers::built_in().unwrap_or_else(|error| panic!("{error}"));
    let scripted: BTreeSet<_> = rows().map(|row| row.row).collect();
    let mut used = BTreeSet::new();
    let mut forgotten = Vec::new();
    for (os, recorded) in answers.systems().filter(|(os, _)| matches!(os, Os::FreeBsd | Os::Linux)) {
        let asked = asked(os);
        for answer in recorded.iter().filter(|answer| scripted.contains(answer.row.as_str())) {
            let key = format!("{} {} {}", answer.row, answer.variant, answer.asked());
            // A pattern may cover answers that are asked, too; it must be needed for one that is not.
            if asked.contains(&key) {
                continue;
            }
            match unscripted().iter().position(|excused| WildMatch::new(excused.what).matches(&key)) {
                Some(reason) => {
                    used.insert(reason);
                }
                None => forgotten.push(format!("{os} {key}: {}", answer.recorded())),
            }
        }
    }
    for (index, Unscripted { what, .. }) in unscripted().iter().enumerate() {
        if what.contains(' ') {
            if !used.contains(&index) {
                forgotten.push(format!("{what}: excused, and nothing is recorded of it that is not asked"));
            }
        } else if title(what).is_none() {
            forgotten.push(format!("{what}: excused, and no row of the catalogue"));
        } else if scripted.contains(what) {
            forgotten.push(format!("{what}: excused as a whole, and there is a line for it"));
        }
    }
    assert!(forgotten.is_empty(), "{} are not asked:\n{}", forgotten.len(), forgotten.join("\n"));
}

#[test]
fn every_row_of_the_catalogue_is_a_scenario_or_has_a_reason() {
    let scripted: BTreeSet<_> = rows().map(|row| row.row).collect();
    // X: what was measured beside the catalogue.
    for (row, title) in ROWS.iter().filter(|(row, _)| !row.starts_with('X')) {
        let excused = unscripted().iter().any(|excused| excused.what == *row);
        assert!(scripted.contains(row) || excused, "{row}: {title}");
    }
    for row in rows() {
        assert!(title(row.row).is_some(), "{}: there is no row {}", row.id, row.row);
    }
}

#[test]
fn every_scenario_has_a_name_a_question_and_bugs_with_addresses() {
    let mut names = BTreeSet::new();
    for row in rows() {
        assert!(names.insert(row.id), "{} is there twice", row.id);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '/';
        assert!(row.id.chars().all(plain) && row.id.matches('/').count() == 1, "{}", row.id);
        assert!(row.question.ends_with('?'), "{}: {}", row.id, row.question);
        assert!(row.bugs.iter().all(|bug| bug.starts_with("https://")), "{}", row.id);
        assert!(!row.transports.is_empty() && !row.modes.is_empty(), "{}", row.id);
    }
}

/// What is performed is what is written, and nothing is written that observes nothing.
#[test]
fn every_line_is_canonical_and_asks_something() {
    for row in rows() {
        let line: Script = row.verbs.parse().unwrap_or_else(|error| panic!("{}: {error}", row.id));
        assert_eq!(line.to_string(), row.verbs, "{}", row.id);
        for &mode in row.modes {
            let (_, level, edge) = &pollers(Os::FreeBsd)[0];
            let views = if mode == Mode::Edge { edge } else { level };
            let asked = keys(&line, row.transports[0], mode, "kqueue", views);
            assert!(!asked.is_empty(), "{} {mode:?}", row.id);
            // Two answers under one key: neither could be expected.
            let different: BTreeSet<_> = asked.iter().collect();
            assert_eq!(different.len(), asked.len(), "{} {mode:?}: {asked:#?}", row.id);
        }
    }
}
