//! T10 to T14: limits on descriptors and their numbers.

use metadata::Transport::{None, Pipe};

use super::LEVEL;
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "T10",
        id: "limits/high-number",
        question: "What does a poller report for a descriptor whose number is beyond FD_SETSIZE?",
        script: "own and peer are connected, descriptors end at 4096, own moves to 2000, peer sends 1, \
                this is number, add own for reading? as 2000, wait",
        transports: &[Pipe],
        modes: LEVEL,
        bugs: &[
            "https://github.com/libuv/libuv/issues/4273",
            "https://github.com/quickjs-ng/quickjs/issues/1096",
        ],
    },
    Scripted {
        behaviour: "T10",
        id: "limits/nfds",
        question: "What does a wait return for a negative number of descriptors, or for more than the limit \
            allows?",
        script: "this is nfds, t waits with nfds -1, t answers as -1, t waits with nfds 100000, \
                t answers as 100000",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T11",
        id: "limits/entries",
        question: "What does a wait return for more entries than the descriptor limit, if all entries are \
            -1?",
        script: "this is rlimit-256, descriptors end at 256, t waits with nfds 300, t answers as nfds=300, \
                t waits with nfds 1024, t answers as nfds=1024, t waits with nfds 1100, \
                t answers as nfds=1100, t waits with nfds 5000, t answers as nfds=5000, \
                t waits with nfds 100000, t answers as nfds=100000",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T12",
        id: "limits/closed",
        question: "What does a wait for a closed descriptor return?",
        script: "own and peer are connected, add own for reading, own closes, wait as closed",
        transports: &[Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T12",
        id: "limits/closed-beyond-the-open",
        question: "What does a wait return for a closed descriptor whose number is above all open ones?",
        script: "own and peer are connected, own moves to 900, add own for reading, own closes, \
                wait as closed-900",
        transports: &[Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T13",
        id: "limits/no-poller",
        question: "What does making a poller return when no descriptor is free?",
        script: "this is poller, descriptors run out, a poller is made? as no-descriptor-left, \
                descriptors are back, a poller is made? as again",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
];
