//! That what was measured elsewhere is asked: no recording of FreeBSD is left without a line, unless there is a reason.

use std::collections::BTreeSet;

use characterisation::{keys, rows, unscripted};
use expectations::Answers;
use matrix::Os;
use selector::{Interest, Mode, Registered, View};
use wildmatch::WildMatch;

const fn view(api: &'static str, interest: Interest, registered: Registered) -> View {
    View { api, interest, registered }
}

/// Through what the pollers of FreeBSD are looked at. They need not run here for this.
fn pollers() -> [(&'static str, Vec<View>, Vec<View>); 3] {
    let before = view("kqueue-add-before", Interest::ALL, Registered::Before);
    [
        ("kqueue", vec![before, view("kqueue-add-after", Interest::ALL, Registered::After)], vec![before]),
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

/// `V06 tcp:after-read-0 poll@level`, of everything that a line asks on FreeBSD.
fn asked() -> BTreeSet<String> {
    let mut asked = BTreeSet::new();
    for row in rows() {
        let line = row.verbs.parse().unwrap();
        for &transport in row.transports {
            for &mode in row.modes {
                for (name, level, edge) in pollers() {
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
fn every_recording_of_freebsd_is_asked_or_has_a_reason() {
    let answers = Answers::built_in().unwrap_or_else(|error| panic!("{error}"));
    let asked = asked();
    let (_, recorded) = answers.systems().find(|(os, _)| *os == Os::FreeBsd).unwrap();
    let scripted: BTreeSet<_> = rows().map(|row| row.row).collect();
    let mut used = BTreeSet::new();
    let mut forgotten = Vec::new();
    for answer in recorded.iter().filter(|answer| scripted.contains(answer.row.as_str())) {
        let key = format!("{} {} {}", answer.row, answer.variant, answer.asked());
        let reason = unscripted().iter().position(|excused| WildMatch::new(excused.what).matches(&key));
        match (asked.contains(&key), reason) {
            (true, None) => {}
            (true, Some(_)) => forgotten.push(format!("{key}: is asked, and is excused too")),
            (false, Some(reason)) => {
                used.insert(reason);
            }
            (false, None) => forgotten.push(format!("{key}: {}", answer.recorded())),
        }
    }
    for (index, excused) in unscripted().iter().enumerate() {
        let whole_row = !excused.what.contains(' ');
        if !used.contains(&index) && !whole_row {
            forgotten.push(format!("{}: excused, and nothing is recorded of it", excused.what));
        }
    }
    assert!(forgotten.is_empty(), "{} are not asked:\n{}", forgotten.len(), forgotten.join("\n"));
}
