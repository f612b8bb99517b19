//! The questions that the scenarios ask of the pollers of each system.

use std::collections::BTreeSet;

use metadata::{Mode, Os, Transport, api_and_trigger};
use selector::{Interest, Registered, View};

use crate::keys::{Key, keys};
use crate::tables::scenarios;
use crate::verbs::Script;

const fn view(api: &'static str, interest: Interest, registered: Registered) -> View {
    View { api, interest, registered }
}

const EPOLL: [View; 2] = [
    view("epoll-add-before", Interest::ALL, Registered::Before),
    view("epoll-add-after", Interest::ALL, Registered::After),
];
const KQUEUE: [View; 2] = [
    view("kqueue-add-before", Interest::ALL, Registered::Before),
    view("kqueue-add-after", Interest::ALL, Registered::After),
];
const POLL: [View; 2] =
    [view("poll", Interest::ALL, Registered::After), view("poll-events0", Interest::NONE, Registered::After)];
const SELECT: [View; 1] = [view("select", Interest::ALL, Registered::After)];

/// Returns the names of the pollers of a system, whichever system this is.
fn pollers(os: Os) -> impl Iterator<Item = &'static str> {
    let queue = match os {
        Os::Linux | Os::Gvisor => Some("epoll"),
        Os::FreeBsd | Os::MacOs | Os::NetBsd | Os::OpenBsd | Os::DragonFly => Some("kqueue"),
        Os::Illumos => None,
    };
    queue.into_iter().chain(["poll", "select"])
}

/// Returns the questions that a script asks of one of the kernel's pollers, whichever system this is. In edge
/// mode, an earlier registration is the only view.
pub fn asked_of(script: &Script, transport: Transport, mode: Mode, poller: &str) -> Vec<Key> {
    let level: &[View] = match poller {
        "epoll" => &EPOLL,
        "kqueue" => &KQUEUE,
        "poll" => &POLL,
        "select" => &SELECT,
        _ => &[],
    };
    let views = match mode {
        Mode::Level => level,
        Mode::Edge if matches!(poller, "epoll" | "kqueue") => &level[..1],
        _ => &[],
    };
    keys(script, transport, mode, poller, views)
}

/// Returns the questions that the scenarios ask of the pollers of a system: the behaviour, the state, and the
/// interface with its trigger, such as `V06 tcp:after-read-0 poll@level`.
///
/// # Panics
/// If a built-in script is malformed; a test reads all of them.
pub fn asked_on(os: Os) -> BTreeSet<String> {
    let mut asked = BTreeSet::new();
    for scenario in scenarios() {
        let script: Script = scenario.script.parse().unwrap_or_else(|why| panic!("{}: {why}", scenario.id));
        let variants = scenario
            .transports
            .iter()
            .flat_map(|transport| scenario.modes.iter().map(move |mode| (*transport, *mode)));
        for (transport, mode) in variants {
            for name in pollers(os) {
                for key in asked_of(&script, transport, mode, name) {
                    let question = api_and_trigger(&key.api, key.trigger);
                    asked.insert(format!("{} {} {question}", scenario.behaviour, key.variant));
                }
            }
        }
    }
    asked
}
