//! The questions that the scenarios ask of the pollers of each system.

use std::collections::BTreeSet;

use metadata::{Mode, Os, api_and_trigger};
use selector::{Interest, Registered, View};

use crate::keys::keys;
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

/// Returns the name and the views in level mode of each poller of a system, whichever system this is. In edge
/// mode, an earlier registration is the only view.
fn pollers(os: Os) -> impl Iterator<Item = (&'static str, &'static [View])> {
    let queue = match os {
        Os::Linux | Os::Gvisor => Some(("epoll", &EPOLL[..])),
        Os::FreeBsd | Os::MacOs | Os::NetBsd | Os::OpenBsd | Os::DragonFly => Some(("kqueue", &KQUEUE[..])),
        Os::Illumos => None,
    };
    queue.into_iter().chain([("poll", &POLL[..]), ("select", &SELECT[..])])
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
            for (name, level) in pollers(os) {
                let views = match mode {
                    Mode::Level => level,
                    Mode::Edge if matches!(name, "epoll" | "kqueue") => &level[..1],
                    _ => &[],
                };
                for key in keys(&script, transport, mode, name, views) {
                    let question = api_and_trigger(&key.api, key.trigger);
                    asked.insert(format!("{} {} {question}", scenario.behaviour, key.variant));
                }
            }
        }
    }
    asked
}
