//! W02 to W09: wake-ups, and who comes first.

use super::LEVEL;
use crate::Row;
use crate::Transport::{None, Pipe, Tcp, Unix};

pub(super) const ROWS: &[Row] = &[
    Row {
        row: "W02",
        id: "waking/before-the-wait",
        question: "Does a wake-up end the wait that begins after it?",
        verbs: "wake, t waits, t answers as woken-before",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Row {
        row: "W08",
        id: "waking/rotation-one-slot",
        question: "Who is reported when four are ready and there is room for one event?",
        verbs: "a and pa are connected, b and pb are connected, c and pc are connected, \
                d and pd are connected, add a for reading, add b for reading, add c for reading, \
                add d for reading, pa sends 1, pb sends 1, pc sends 1, pd sends 1, \
                wait room 1 as 1-slot-wait-1, wait room 1 as 1-slot-wait-2, wait room 1 as 1-slot-wait-3, \
                wait room 1 as 1-slot-wait-4, wait room 1 as 1-slot-wait-5, wait room 1 as 1-slot-wait-6",
        transports: &[Pipe, Tcp, Unix],
        modes: LEVEL,
        bugs: &[
            "https://github.com/rust-lang/miri/issues/3812",
            "https://github.com/brazilofmux/tinymux/issues/943",
        ],
    },
    Row {
        row: "W08",
        id: "waking/rotation-three-slots",
        question: "Who is reported when four are ready and there is room for three events?",
        verbs: "a and pa are connected, b and pb are connected, c and pc are connected, \
                d and pd are connected, add a for reading, add b for reading, add c for reading, \
                add d for reading, pa sends 1, pb sends 1, pc sends 1, pd sends 1, \
                wait room 3 as 3-slots-wait-1, wait room 3 as 3-slots-wait-2, wait room 3 as 3-slots-wait-3, \
                wait room 3 as 3-slots-wait-4",
        transports: &[Pipe, Tcp, Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Row {
        row: "W08",
        id: "waking/order-of-becoming-ready",
        question: "In which order are descriptors reported that became ready one after the other?",
        verbs: "a and pa are connected, b and pb are connected, c and pc are connected, \
                d and pd are connected, add a for reading, add b for reading, add c for reading, \
                add d for reading, pc sends 1, pa sends 1, pd sends 1, pb sends 1, wait as became-ready-cadb",
        transports: &[Pipe, Tcp, Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Row {
        row: "W08",
        id: "waking/order-of-adding",
        question: "In which order are descriptors reported that were ready when they were added?",
        verbs: "a and pa are connected, b and pb are connected, c and pc are connected, \
                d and pd are connected, pa sends 1, pb sends 1, pc sends 1, pd sends 1, add d for reading, \
                add c for reading, add b for reading, add a for reading, wait as added-dcba",
        transports: &[Pipe, Tcp, Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Row {
        row: "W09",
        id: "waking/no-room",
        question: "What does a wait answer that has no room for events?",
        verbs: "own and peer are connected, add own for reading, peer sends 1, wait room 0 as room-0",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
];
