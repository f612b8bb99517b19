//! E01 to E16: edges and one-shots.

use metadata::{
    Mode,
    Transport::{Fifo, None, Pipe, Seqpacket, Tcp, Udp, Unix, UnixDgram},
};

use super::{BOTH, EDGE, LEVEL, ONCE};
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "E01",
        id: "edges/added-when-ready",
        question: "Does an edge-triggered registration report data that arrived before it, and only once?",
        script: "own and peer are connected, peer sends 3, add own for reading, wait as first-wait, \
                wait as second-wait",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket, Udp, Pipe, Fifo],
        modes: EDGE,
        bugs: &["https://github.com/microsoft/WSL/issues/8923"],
    },
    Scripted {
        behaviour: "E02",
        id: "edges/partial-read",
        question: "Does a partial read cause a new edge for the remaining data?",
        script: "own and peer are connected, add own for reading, peer sends 6, wait as 6-bytes, own reads \
                 1, wait as after-read-1-of-6",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket, Udp, Pipe, Fifo],
        modes: EDGE,
        bugs: &["https://github.com/microsoft/WSL/issues/8923"],
    },
    Scripted {
        behaviour: "E03",
        id: "edges/new-data",
        question: "Do new data cause an edge while older data are unread, and do two writes cause one edge?",
        script: "own and peer are connected, add own for reading, peer sends 1, wait as 1-byte, peer sends \
                 1, wait as new-data-while-unread, own drains, peer sends 1, wait as drained-then-new-data, \
                 own drains, peer sends 2, peer sends 2, wait as two-writes, wait as two-writes-second-wait",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket, Udp, Pipe, Fifo],
        modes: EDGE,
        bugs: &[
            "https://github.com/shadow/shadow/issues/2673",
            "https://github.com/microsoft/WSL/issues/8923",
            "https://github.com/microsoft/WSL/issues/2462",
        ],
    },
    Scripted {
        behaviour: "E04",
        id: "edges/modified",
        question: "Does modifying a registration report the current readiness as a new edge?",
        script: "own and peer are connected, peer sends 3, add own for reading, take, modify own for \
                 reading, wait as MOD-same, modify own for both, wait as MOD-adds-OUT, remove own, add own \
                 for reading, wait as DEL+ADD",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: EDGE,
        bugs: &["https://github.com/unikraft/unikraft/pull/1310"],
    },
    Scripted {
        behaviour: "E05",
        id: "edges/eventfd",
        question: "Does every write to an eventfd cause an edge, and every read?",
        script: "this is eventfd, own is an eventfd, add own for both, wait 2 times as eventfd-add, \
                own sends 8, wait as eventfd-write, own sends 8, wait as eventfd-2nd-write, \
                wait as eventfd-no-change, own reads, wait as eventfd-read",
        transports: &[None],
        modes: EDGE,
        bugs: &[
            "https://github.com/microsoft/WSL/issues/2462",
            "https://github.com/rust-lang/miri/pull/4676",
            "https://github.com/shadow/shadow/issues/2673",
        ],
    },
    Scripted {
        behaviour: "E06",
        id: "edges/writer-never-full",
        question: "Do its own writes and the peer's reads cause edges on a writer whose buffer was never \
            full?",
        script: "peer and own are connected, watch own for writing, own sends 1, wait as own-write, \
                peer reads 1, wait as peer-read",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket, Udp, Pipe, Fifo],
        modes: EDGE,
        bugs: &[],
    },
    Scripted {
        behaviour: "E07",
        id: "edges/fifo-reader-reopened",
        question: "Does a FIFO's writer get an event when the last reader closes and when another one opens?",
        script: "peer opens for reading, own opens for writing, watch own for writing, peer closes, \
                wait as reader-closed, again opens for reading, wait as reader-reopened, own sends 1?",
        transports: &[Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "E07",
        id: "edges/fifo-writer-opens",
        question: "Does a FIFO's reader get an edge when a writer opens the FIFO?",
        script: "own opens for reading, watch own for reading, writer opens for writing, \
                wait as reader:writer-opens",
        transports: &[Fifo],
        modes: EDGE,
        bugs: &[],
    },
    Scripted {
        behaviour: "E08",
        id: "edges/fifo-writers",
        question: "What does a FIFO's reader get when the last writer closes, and when another one opens, \
            writes and closes?",
        script: "own opens for reading, writer opens for writing, watch own, writer closes, \
                wait as last-writer-closes, next opens for writing, wait as new-writer-opens, next sends 1, \
                wait as new-writer-writes, next closes, wait as new-writer-closes-with-data",
        transports: &[Fifo],
        modes: BOTH,
        bugs: &["https://github.com/golang/go/issues/24164"],
    },
    Scripted {
        behaviour: "E08",
        id: "edges/fifo-blocked-when-writer-closes",
        question: "Does the close of a FIFO's last writer wake a waiting thread?",
        script: "own and peer are connected, add own for reading, t waits, peer closes, \
                t answers as blocked-when-last-writer-closes",
        transports: &[Fifo],
        modes: LEVEL,
        bugs: &["https://github.com/golang/go/issues/24164"],
    },
    Scripted {
        behaviour: "E09",
        id: "edges/fifo-no-writer",
        question: "What does a poller report for a FIFO that never had a writer, and for a reader that \
            opened after the last writer closed?",
        script: "own opens for reading, look at own as never-had-writer, own reads?, writer opens for \
                 writing, writer closes, look at own as had-writer, second opens for reading, look at second \
                 as new-reader-with-EOF-pending, look at own as old-reader-after-new-reader-opened",
        transports: &[Fifo],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "E10",
        id: "edges/one-shot",
        question: "What does a one-shot registration report first, after its event, and after a \
            modification?",
        script: "own and peer are connected, peer sends 3, add own for both, wait as R+W-first-wait, \
                wait as R+W-second-wait, peer closes, wait as then-peer-closes, \
                modify own? as MOD-rearm-after-close, wait as MOD-rearm-after-close",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: ONCE,
        bugs: &[
            "https://github.com/sysprog21/elfuse/pull/5",
            "https://github.com/shadow/shadow/issues/349",
            "https://github.com/apache/nuttx/pull/8871",
        ],
    },
    Scripted {
        behaviour: "E11",
        id: "edges/shared-by-threads",
        question: "How many of eight threads that wait in one poller does one event wake?",
        script: "20 times, own and peer are connected, add own for reading, 8 threads wait, peer sends 1, \
                 threads answer as 8-threads-one-poller",
        transports: &[Pipe, Unix],
        modes: &[Mode::Level, Mode::Edge, Mode::OneShot, Mode::Dispatch],
        bugs: &[],
    },
    Scripted {
        behaviour: "E12",
        id: "edges/two-directions",
        question: "Does a poller report two ready directions as one event or as two?",
        script: "own and peer are connected, peer sends 1, add own for both, wait as one-wait",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &[
            "https://github.com/python/cpython/issues/110038",
            "https://github.com/redis/redis/issues/2428",
        ],
    },
    Scripted {
        behaviour: "E12",
        id: "edges/two-directions-one-slot",
        question: "What does a poller report for two ready directions when there is room for one event?",
        script: "own and peer are connected, peer sends 1, add own for both, wait room 1 as one-slot-1, \
                wait room 1 as one-slot-2, wait room 1 as one-slot-3",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: BOTH,
        bugs: &[
            "https://github.com/python/cpython/issues/110038",
            "https://github.com/mheily/libkqueue/issues/89",
        ],
    },
    Scripted {
        behaviour: "E13",
        id: "edges/pending-then-drained",
        question: "Does a poller report an event whose cause ended before the wait?",
        script: "own and peer are connected, add own for reading, peer sends 1, own drains, \
                wait as event-pending-then-drained",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "E13",
        id: "edges/pending-then-removed",
        question: "Does a poller report an event whose registration was removed before the wait?",
        script: "own and peer are connected, add own for reading, peer sends 1, remove own, \
                wait as event-pending-then-delete",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: EDGE,
        bugs: &[],
    },
    Scripted {
        behaviour: "E13",
        id: "edges/pending-then-asked-for-nothing",
        question: "Does a poller report a pending event after its interest was removed, and after the \
            interest was added again?",
        script: "own and peer are connected, add own for reading, peer sends 1, modify own for nothing, \
                wait as event-pending-then-MOD-0, modify own for reading, wait as then-MOD-IN",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: EDGE,
        bugs: &[],
    },
    Scripted {
        behaviour: "E14",
        id: "edges/handed-over",
        question: "Does a second poller report unread data that the first poller has reported?",
        script: "own and peer are connected, peer sends 1, add own for both, wait as consumed-in-A, \
                add own for both in second, wait in second as added-to-B",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: EDGE,
        bugs: &[],
    },
    Scripted {
        behaviour: "E15",
        id: "edges/end-is-sticky",
        question: "Does a poller report the end of a connection again, and after the data before it were \
            read?",
        script: "own and peer are connected, add own for reading, peer sends 3, peer shuts write, \
                wait as first-wait, wait as second-wait, own drains, wait as drained",
        transports: &[Tcp, Unix],
        modes: BOTH,
        bugs: &["https://github.com/h2o/h2o/issues/603"],
    },
    Scripted {
        behaviour: "E15",
        id: "edges/pipe-end-is-sticky",
        question: "Does a poller report the end of a pipe again, and after the data before it were read?",
        script: "own and peer are connected, add own for reading, peer sends 3, peer closes, \
                wait as first-wait, wait as second-wait, own drains, wait as drained",
        transports: &[Pipe, Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "E16",
        id: "edges/hang-up-asked-for-nothing",
        question: "Does a poller report a hang-up to a registration without interest, and how often?",
        script: "own and peer are connected, add own for nothing, peer closes, wait as events-0-first-wait, \
                wait as events-0-second-wait",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: BOTH,
        bugs: &["https://github.com/h2o/h2o/issues/603", "https://github.com/oven-sh/bun/issues/37101"],
    },
];
