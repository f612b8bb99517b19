//! T10 to T14: how many descriptors there can be, and which numbers they have.

use metadata::Transport::{None, Pipe};

use super::LEVEL;
use crate::Scenario;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        behaviour: "T10",
        id: "limits/high-number",
        question: "What is reported of a descriptor whose number is beyond FD_SETSIZE?",
        script: "own and peer are connected, descriptors end at 4096, own moves to 2000, peer sends 1, \
                this is number, add own for reading? as 2000, wait",
        transports: &[Pipe],
        modes: LEVEL,
        bugs: &[
            "https://github.com/libuv/libuv/issues/4273",
            "https://github.com/quickjs-ng/quickjs/issues/1096",
        ],
    },
    Scenario {
        behaviour: "T10",
        id: "limits/nfds",
        question: "What answers a wait that looks at less than no descriptor, or at more than there can be?",
        script: "this is nfds, t waits with nfds -1, t answers as -1, t waits with nfds 100000, \
                t answers as 100000",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scenario {
        behaviour: "T11",
        id: "limits/entries",
        question: "What answers a wait on more entries than a process may have descriptors, if they are of none?",
        script: "this is rlimit-256, descriptors end at 256, t waits with nfds 300, t answers as nfds=300, \
                t waits with nfds 1024, t answers as nfds=1024, t waits with nfds 1100, \
                t answers as nfds=1100, t waits with nfds 5000, t answers as nfds=5000, \
                t waits with nfds 100000, t answers as nfds=100000",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scenario {
        behaviour: "T12",
        id: "limits/closed",
        question: "What answers a wait for a descriptor that is closed?",
        script: "own and peer are connected, add own for reading, own closes, wait as closed",
        transports: &[Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scenario {
        behaviour: "T12",
        id: "limits/closed-beyond-the-open",
        question: "What answers a wait for a closed descriptor whose number is above all that are open?",
        script: "own and peer are connected, own moves to 900, add own for reading, own closes, \
                wait as closed-900",
        transports: &[Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scenario {
        behaviour: "T13",
        id: "limits/no-poller",
        question: "What answers making a poller when there is no descriptor left?",
        script: "this is poller, descriptors run out, a poller is made? as no-descriptor-left, \
                descriptors are back, a poller is made? as again",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
];
