//! The recorded answers that are wrong in every reading.

use std::collections::BTreeMap;

use metadata::{Defect, Os};
use pollmatrix_raw::expectations::Expectations;
use pollmatrix_raw::{Key, Promises, scenarios};

/// Returns the defects among the recorded answers of a poller, by behaviour, state and defect.
fn defects(os: Os, poller: &str, answers: &Expectations) -> Vec<(Defect, String)> {
    let mut found = Vec::new();
    for scenario in scenarios() {
        let script = scenario.script.parse().expect("the scripts of the catalogue are valid");
        for (transport, mode) in scenario
            .transports
            .iter()
            .flat_map(|transport| scenario.modes.iter().map(move |mode| (*transport, *mode)))
        {
            for key in pollmatrix_raw::keys(&script, transport, mode, poller, &[]) {
                let Key { variant, api, trigger } = &key;
                let recorded = answers.systems().filter(|(of, _)| *of == os).flat_map(|(_, all)| all);
                let recorded = recorded.filter(|answer| {
                    (
                        answer.behaviour.as_str(),
                        answer.variant.as_str(),
                        answer.api.as_str(),
                        answer.trigger.as_deref(),
                    ) == (scenario.behaviour, variant, api, *trigger)
                });
                let recorded = recorded
                    .flat_map(|answer| answer.allowed.iter().map(move |text| (&*answer.column, text)));
                for (column, answer) in recorded {
                    let promises = Promises::of(&script, transport, mode, poller, column.clone());
                    if let Some(defect) = promises.defect((variant, api, *trigger), answer) {
                        found.push((
                            defect,
                            format!("{} {} {variant}: {answer}", scenario.behaviour, scenario.id),
                        ));
                    }
                }
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// A false alarm would make a correct poller fail. Each of these is described in docs/findings or in the
/// file.
#[test]
fn the_recorded_answers_that_are_wrong_in_every_reading_are_known() {
    let mut all: BTreeMap<String, BTreeMap<Defect, usize>> = BTreeMap::new();
    let mut add = |name: &str, found: Vec<(Defect, String)>| {
        for (defect, _) in found {
            *all.entry(name.to_owned()).or_default().entry(defect).or_default() += 1;
        }
    };
    for os in [Os::Linux, Os::FreeBsd, Os::Gvisor, Os::MacOs, Os::NetBsd, Os::OpenBsd] {
        let answers = Expectations::built_in_of(os, &[]).expect("the expectations are well-formed");
        for poller in ["epoll", "kqueue", "poll", "select"] {
            add(&format!("{poller} of {os}"), defects(os, poller, &answers));
        }
    }
    for adapter in pollmatrix_raw::expectations::adapters() {
        let answers =
            Expectations::built_in_of(Os::Linux, &[adapter]).expect("the expectations are well-formed");
        let name = if adapter == "libkqueue" { "kqueue" } else { adapter };
        add(adapter, defects(Os::Linux, name, &answers));
    }
    let expected = [
        ("epoll of gvisor", Defect::DataNotReported, 4),
        ("epoll of linux", Defect::DataNotReported, 2),
        ("go-netpoll", Defect::EndedRegistration, 9),
        ("io-uring", Defect::EndedRegistration, 17),
        ("libev-epoll", Defect::ProgramEnded, 26),
        ("libev-poll", Defect::ProgramEnded, 26),
        ("libevent-epoll", Defect::Early, 1),
        ("libevent-poll", Defect::EndedRegistration, 25),
        ("libuv", Defect::ProgramEnded, 26),
    ];
    let expected = expected.map(|(name, defect, count)| (name.to_owned(), [(defect, count)].into()));
    assert_eq!(all, expected.into());
}
