//! W01 to W17: wake-ups, threads, and more events than room.

use metadata::{
    Mode,
    Transport::{None, Pipe, Tcp, Unix},
};

use super::{BOTH, EDGE, LEVEL};
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "W01",
        id: "waking/coalesce",
        question: "Do a thousand wake-ups end one wait, and none later?",
        script: "this is wake-up, wake 1000 times, t waits, t answers as 1000-wakes, t waits, \
                t answers as 1000-wakes-second-wait",
        transports: &[None],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "W02",
        id: "waking/before-wait",
        question: "Does a wake-up before the wait end the wait?",
        script: "20 times, this is wake-up, wake, t waits, t answers as before-wait",
        transports: &[None],
        modes: BOTH,
        bugs: &["https://github.com/haproxy/haproxy/issues/1841"],
    },
    Scripted {
        behaviour: "W03",
        id: "waking/shared-poller",
        question: "How many threads does one wake-up of a shared poller wake?",
        script: "20 times, this is wake-up, 4 threads wait, wake, threads answer as 4-waiters",
        transports: &[None],
        modes: EDGE,
        bugs: &[],
    },
    Scripted {
        behaviour: "W04",
        id: "waking/from-signal-handler",
        question: "Does a wake-up from a signal handler end the wait?",
        script: "20 times, this is wake-up, t waits, t is signalled and wakes, t answers as in-handler, \
                t waits, t answers as after-handler",
        transports: &[None],
        modes: BOTH,
        bugs: &["https://github.com/haproxy/haproxy/issues/1841"],
    },
    Scripted {
        behaviour: "W08",
        id: "waking/rotation",
        question: "Which descriptors does a poller report when there is room for one of four ready ones?",
        script: "zero and p0 are connected, one and p1 are connected, two and p2 are connected, \
                three and p3 are connected, p0 sends 1, p1 sends 1, p2 sends 1, p3 sends 1, \
                add zero for reading, add one for reading, add two for reading, add three for reading, \
                wait 12 times room 1 as 4-ready-1-slot",
        transports: &[Tcp, Unix, Pipe],
        modes: LEVEL,
        bugs: &[
            "https://github.com/rust-lang/miri/issues/3812",
            "https://github.com/brazilofmux/tinymux/issues/943",
        ],
    },
    Scripted {
        behaviour: "W08",
        id: "waking/rotation-three-slots",
        question: "Which descriptors does a poller report when there is room for three of four ready ones?",
        script: "zero and p0 are connected, one and p1 are connected, two and p2 are connected, \
                three and p3 are connected, p0 sends 1, p1 sends 1, p2 sends 1, p3 sends 1, \
                add zero for reading, add one for reading, add two for reading, add three for reading, \
                wait 6 times room 3 as 4-ready-3-slots",
        transports: &[Tcp, Unix, Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "W08",
        id: "waking/drained-before-its-turn",
        question: "Does a poller still report an event for which it had no room, when the data have been read?",
        script: "zero and p0 are connected, one and p1 are connected, add zero for reading, \
                add one for reading, p0 sends 1, p1 sends 1, wait room 1 as first-of-two, zero drains?, \
                one drains?, wait as drained",
        transports: &[Tcp, Unix, Pipe],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "W08",
        id: "waking/order-of-readiness",
        question: "In which order does a poller report descriptors that became ready after they were added?",
        script: "zero and p0 are connected, one and p1 are connected, two and p2 are connected, \
                three and p3 are connected, add zero for reading, add one for reading, add two for reading, \
                add three for reading, p2 sends 1, p0 sends 1, p3 sends 1, p1 sends 1, \
                wait as became-ready-two-zero-three-one",
        transports: &[Tcp, Unix, Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "W08",
        id: "waking/order-of-addition",
        question: "In which order does a poller report descriptors that were ready when they were added?",
        script: "zero and p0 are connected, one and p1 are connected, two and p2 are connected, \
                three and p3 are connected, p0 sends 1, p1 sends 1, p2 sends 1, p3 sends 1, \
                add three for reading, add two for reading, add one for reading, add zero for reading, \
                wait as ready-when-added-three-two-one-zero",
        transports: &[Tcp, Unix, Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "W09",
        id: "waking/no-room",
        question: "What does a wait with room for zero events return, and with a negative number?",
        script: "own and peer are connected, peer sends 1, add own for reading, wait room 0 as room-0, \
                t waits with room -1, t answers as room-negative",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "W10",
        id: "waking/two-threads-look",
        question: "Does a ready descriptor show in every wait of two threads that poll in a loop?",
        script: "own and peer are connected, peer sends 1, add own for reading, 2 threads look 2000 times, \
                threads answer as 2-threads",
        transports: &[Pipe, Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "W11",
        id: "waking/told-once",
        question: "Does each of many events go to exactly one of the threads that share a poller?",
        script: "20 times, 4 threads collect, 50 pairs are added and written, threads answer as 4-threads",
        transports: &[Pipe, Unix],
        modes: &[Mode::Edge, Mode::OneShot, Mode::Dispatch],
        bugs: &[],
    },
];
