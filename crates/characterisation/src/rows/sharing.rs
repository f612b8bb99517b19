//! C01 to C10: connecting, and one listener for several threads.

use selector::Mode;

use super::{BOTH, LEVEL};
use crate::Row;
use crate::Transport::{Tcp, Unix};

pub(super) const ROWS: &[Row] = &[
    Row {
        row: "C01",
        id: "sharing/connected",
        question: "What is reported of a socket that was registered before it connects?",
        verbs: "listener listens, own is fresh, add own for writing, wait as registered-before-connect, \
                own connects to listener, wait as then-connected, wait as then-connected-second-wait, \
                own asks SO_ERROR?",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[
            "https://github.com/haproxy/haproxy/issues/1863",
            "https://github.com/tokio-rs/tokio/issues/3879",
        ],
    },
    Row {
        row: "C03",
        id: "sharing/connected-unix",
        question: "What is reported of a UNIX socket that was registered before it connects?",
        verbs: "listener listens, own is fresh, add own for writing, wait as registered-before-connect, \
                own connects to listener? as connected, wait",
        transports: &[Unix],
        modes: BOTH,
        bugs: &["https://github.com/tokio-rs/tokio/issues/3879"],
    },
    Row {
        row: "C03",
        id: "sharing/fresh-asked-for-one",
        question: "What is reported of a TCP socket that was never connected if only one direction is asked for?",
        verbs: "own is fresh, look at own for reading as fresh-socket-IN-only, add own for writing, \
                wait as fresh-socket-registered",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &["https://github.com/tokio-rs/tokio/issues/3879"],
    },
    Row {
        row: "C03",
        id: "sharing/waiter-then-connect",
        question: "Is a thread woken that waits when its socket connects?",
        verbs: "listener listens, own is fresh, watch own for writing, t waits, own connects to listener, \
                t answers as waiter-blocked-then-connect",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Row {
        row: "C06",
        id: "sharing/herd-of-pollers",
        question: "How many of eight threads wake up for one connection if each has a poller of its own?",
        verbs: "own listens, add own for reading, 8 threads wait alone, client reaches own, \
                threads answer as 8-pollers",
        transports: &[Tcp, Unix],
        modes: &[
            Mode::Level,
            Mode::Edge,
            Mode::OneShot,
            Mode::Dispatch,
            Mode::Exclusive,
            Mode::ExclusiveEdge,
        ],
        bugs: &[
            "https://github.com/puma/puma/issues/3934",
            "https://github.com/apache/trafficserver/issues/6031",
        ],
    },
    Row {
        row: "C07",
        id: "sharing/herd-in-one-poller",
        question: "How many of eight threads wake up for one connection if they share a poller?",
        verbs: "own listens, add own for reading, 8 threads wait, client reaches own, \
                threads answer as 8-threads",
        transports: &[Tcp, Unix],
        modes: &[Mode::Level, Mode::Edge, Mode::OneShot, Mode::Dispatch],
        bugs: &[],
    },
    Row {
        row: "C10",
        id: "sharing/exclusive-rules",
        question: "What may be changed of an exclusive registration, and what may it ask for?",
        verbs: "own listens, add own for reading exclusive? as ADD-EXCLUSIVE, \
                modify own for reading exclusive? as MOD-of-exclusive, \
                modify own for reading level? as MOD-plain-of-exclusive, remove own, \
                add own for everything exclusive? as ADD-EXCLUSIVE-everything, add own for reading level, \
                modify own for reading exclusive? as MOD-to-exclusive",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[
            "https://github.com/pjsip/pjproject/issues/2604",
            "https://github.com/unbit/uwsgi/issues/1252",
        ],
    },
];
