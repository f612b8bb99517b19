//! A15 and A17: descriptors that another thread waits for or another process has open.

use metadata::Transport::{Pipe, Unix};

use super::LEVEL;
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "A15",
        id: "waiting/number-reopened-new-peer-writes",
        question: "Does the new file under a re-used number wake a thread that waits for this number?",
        script: "own and peer are connected, other and far are connected, add own for reading, t waits, \
                own closes, other takes the number of own, far sends 1, \
                t answers as reopened-then-new-peer-writes",
        transports: &[Unix, Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A15",
        id: "waiting/number-reopened-old-peer-writes",
        question: "Does the old file wake a waiting thread after its number was re-used?",
        script: "own and peer are connected, other and far are connected, add own for reading, t waits, \
                own closes, other takes the number of own, peer sends 1?, \
                t answers as reopened-then-old-peer-writes",
        transports: &[Unix, Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A17",
        id: "waiting/forked",
        question: "Does a forked child share the poller, and does a removal in the child affect the parent?",
        script: "own and peer are connected, add own for reading, peer sends 1, \
                in a child wait as child-wait, in a child remove own? as child-delete, \
                wait as parent-after-child-delete",
        transports: &[Unix, Pipe],
        modes: LEVEL,
        bugs: &[
            "https://github.com/python/cpython/issues/110395",
            "https://github.com/libuv/libuv/issues/1583",
            "https://github.com/lopter/lightsd/issues/16",
        ],
    },
    Scripted {
        behaviour: "A17",
        id: "waiting/forked-child-keeps-copy",
        question: "What does a poller report for a closed descriptor while a forked child has a copy, and \
            after the child exited?",
        script: "own and peer are connected, add own for reading, a child is forked, own closes, \
                peer sends 1, wait as parent-closes-fd-child-keeps-copy, the child ends, wait as child-gone",
        transports: &[Unix, Pipe],
        modes: LEVEL,
        bugs: &[],
    },
];
