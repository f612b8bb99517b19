//! Tests that this system answers as expected, scenario by scenario.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;

use metadata::Os;
use pollmatrix_raw::expectations::{Compared, Expectations};
use pollmatrix_raw::verbs::Script;
use pollmatrix_raw::{Key, PATIENCE, Setting, Stopped, keys, run, scenarios};
use selector::MakeSelector;

/// Makes `a queue` of a script.
const QUEUE: Option<MakeSelector> = Some(&poller_epoll::selector);

/// Returns the pollers of this system.
fn pollers() -> Vec<(&'static str, MakeSelector)> {
    vec![
        ("epoll", &poller_epoll::selector as MakeSelector),
        ("poll", &poller_poll::selector as MakeSelector),
        ("select", &poller_select::selector as MakeSelector),
    ]
}

#[test]
fn every_answer_is_expected() {
    let expectations = Expectations::built_in().unwrap_or_else(|error| panic!("{error}"));
    let kernel = pollmatrix_raw::cell::kernel();
    let only = std::env::var("POLLMATRIX_BEHAVIOURS").unwrap_or_default();
    let mut differences = BTreeSet::new();
    let mut compared = 0;
    for scenario in scenarios().filter(|scenario| scenario.id.contains(&only)) {
        let script: Script = scenario.script.parse().unwrap();
        for &transport in scenario.transports {
            for &mode in scenario.modes {
                for (name, make) in pollers() {
                    let place = format!(
                        "{} {} {} {mode:?} {name}",
                        scenario.behaviour,
                        scenario.id,
                        transport.name()
                    );
                    let setting =
                        Setting { transport, mode, make, queue: QUEUE, seed: 1, patience: PATIENCE };
                    let (transcript, ended) = run(scenario.script, setting);
                    match ended {
                        Ok(()) => {}
                        Err(Stopped::Unsupported(why))
                            if name != "epoll"
                                || [
                                    "mode",
                                    "no such argument",
                                    "no /dev/",
                                    "no disabled",
                                    "a filter of kqueue",
                                ]
                                .iter()
                                .any(|part| why.contains(part)) =>
                        {
                            continue;
                        }
                        Err(stopped) => {
                            differences
                                .insert(format!("{place}: {stopped}\n  {}", transcript.trace.join("\n  ")));
                            continue;
                        }
                    }
                    let views = make().unwrap().views(mode);
                    let announced = keys(&script, transport, mode, name, views);
                    let observed: Vec<_> = transcript
                        .observations
                        .iter()
                        .map(|seen| (seen.variant.clone(), seen.api.clone(), seen.trigger.clone()))
                        .collect();
                    let announced: Vec<_> = announced
                        .into_iter()
                        .map(|Key { variant, api, trigger }| (variant, api, trigger.map(str::to_owned)))
                        .collect();
                    assert_eq!(observed, announced, "{place}");
                    for seen in &transcript.observations {
                        let key = (
                            scenario.behaviour,
                            seen.variant.as_str(),
                            seen.api.as_str(),
                            seen.trigger.as_deref(),
                        );
                        let text = format!("{} {} {seen}", scenario.behaviour, seen.variant);
                        match expectations.find(Os::Linux, kernel.as_ref(), key) {
                            None => {
                                differences.insert(format!("NEW\t{text}"));
                            }
                            Some(answer)
                                if answer.compare(&seen.answer.to_string()) == Compared::Different =>
                            {
                                let allowed = answer.allowed.join(" or ");
                                differences
                                    .insert(format!("DIFFERENT\t{text} instead of {allowed} ({place})"));
                            }
                            Some(_) => compared += 1,
                        }
                    }
                }
            }
        }
    }
    let all: Vec<_> = differences.into_iter().collect();
    assert!(all.is_empty(), "{compared} answers are as expected, and these are not:\n{}", all.join("\n"));
    assert!(compared > 0, "no answer was compared");
}
