//! A01 to A24: registrations and their lifetime.

use metadata::Transport::{Fifo, None, Pipe, Seqpacket, Tcp, Udp, Unix, UnixDgram};

use super::{BOTH, EDGE, LEVEL};
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "A01",
        id: "registration/added-twice",
        question: "Can a descriptor be added twice, and which registration gets the event?",
        script: "own and peer are connected, add own for reading, add own for reading called again? as \
                 twice, peer sends 1, wait",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &["https://github.com/nanovms/nanos/pull/1178"],
    },
    Scripted {
        behaviour: "A01",
        id: "registration/added-twice-edge-then-level",
        question: "Does adding an edge-triggered descriptor again make it level-triggered?",
        script: "own and peer are connected, add own for reading edge, \
                add own for reading level? as edge-then-add-level, peer sends 1, \
                wait as edge-then-add-level-first-wait, wait as edge-then-add-level-second-wait",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A01",
        id: "registration/added-twice-level-then-edge",
        question: "Does adding a level-triggered descriptor again make it edge-triggered?",
        script: "own and peer are connected, add own for reading level, \
                add own for reading edge? as level-then-add-edge, peer sends 1, \
                wait as level-then-add-edge-first-wait, wait as level-then-add-edge-second-wait",
        transports: &[Unix],
        modes: EDGE,
        bugs: &[],
    },
    Scripted {
        behaviour: "A02",
        id: "registration/copy-added",
        question: "Are a descriptor and its copy two registrations?",
        script: "own and peer are connected, copy is a copy of own, add own for reading, \
                add copy for reading? as both-added, peer sends 1, wait",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A03",
        id: "registration/absent",
        question: "What does a change of a registration that never existed, or was removed, return?",
        script: "own and peer are connected, remove own? as remove-absent, \
                modify own for reading? as modify-absent, add own for reading, remove own? as remove-once, \
                remove own? as remove-twice",
        transports: &[Pipe, Unix],
        modes: LEVEL,
        bugs: &["https://github.com/ponylang/ponyc/pull/5121"],
    },
    Scripted {
        behaviour: "A04",
        id: "registration/closed-number",
        question: "What does a change return for a closed number, or for one that another file has now?",
        script: "own and peer are connected, add own for reading, own closes, \
                add own for reading? as add-closed, modify own for reading? as modify-closed, \
                remove own? as remove-closed, new and far are connected, new takes the number of own, \
                remove new? as remove-number-reused",
        transports: &[Pipe, Tcp],
        modes: LEVEL,
        bugs: &["https://github.com/buytenh/ivykis/issues/26"],
    },
    Scripted {
        behaviour: "A05",
        id: "registration/closed",
        question: "Does closing a descriptor remove its registration, even if the peer stays active?",
        script: "own and peer are connected, add own for reading, own closes, wait as after-close, \
                peer sends 1?, wait as after-close+peer-write",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket, Udp, Pipe, Fifo],
        modes: LEVEL,
        bugs: &[
            "https://github.com/sysprog21/elfuse/issues/78",
            "https://github.com/microsoft/litebox/issues/1264",
            "https://github.com/nanovms/nanos/pull/1178",
        ],
    },
    Scripted {
        behaviour: "A06",
        id: "registration/closed-with-copy",
        question: "What does a poller report for a closed number while a copy is open, and can its \
            registration be removed?",
        script: "own and peer are connected, add own for reading, copy is a copy of own, own closes, \
                peer sends 1, wait as original-closed, remove copy? as remove-copy, \
                remove own? as remove-original, copy closes, wait as copy-closed-too",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &["https://github.com/h2o/h2o/issues/1100", "https://github.com/dwrensha/gj/issues/3"],
    },
    Scripted {
        behaviour: "A07",
        id: "registration/number-reused",
        question: "Which file does a poller report when a number is re-used while a copy of the first file \
            is open?",
        script: "own and peer are connected, add own for reading, copy is a copy of own, own closes, \
                new and far are connected, new takes the number of own, \
                add new for reading? as number-reused, peer sends 1, far sends 1, wait",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &["https://github.com/nanovms/nanos/pull/1178"],
    },
    Scripted {
        behaviour: "A07",
        id: "registration/number-reused-unremoved",
        question: "Can a number be added again that was closed without a removal, and does the poller report \
            its new file?",
        script: "own and peer are connected, add own for reading, own closes, \
                new and far are connected, new takes the number of own, \
                add new for reading? as number-reused-unremoved, far sends 1, wait",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "A08",
        id: "registration/closed-after-harvest",
        question: "Does a poller report a descriptor that was closed after an event of it was in a batch?",
        script: "own and peer are connected, other and far are connected, add own for reading, \
                add other for reading, peer sends 1, far sends 1, wait as harvested, other closes, \
                new and newfar are connected, new takes the number of other, newfar sends 1, \
                wait as number-reused",
        transports: &[Tcp, Unix],
        modes: LEVEL,
        bugs: &[
            "https://github.com/creytiv/re/issues/266",
            "https://github.com/socketry/io-event/issues/71",
            "https://github.com/jiixyj/epoll-shim/issues/62",
        ],
    },
    Scripted {
        behaviour: "A09",
        id: "registration/removed-after-harvest",
        question: "Does a poller report a descriptor that was removed after an event of it was in a batch?",
        script: "own and peer are connected, add own for reading, peer sends 1, wait as harvested, \
                remove own? as removed, wait",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A10",
        id: "registration/added-again",
        question: "Which registration gets the event of a descriptor that was removed and added again while \
            ready?",
        script: "own and peer are connected, add own for reading, peer sends 1, remove own, \
                add own for reading called again, wait as removed-then-added",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A10",
        id: "registration/modified-while-ready",
        question: "Which registration gets the event of a descriptor that was modified while ready?",
        script: "own and peer are connected, add own for reading, peer sends 1, \
                modify own for reading called again, wait as modified-then-waited",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: BOTH,
        bugs: &["https://github.com/rust-lang/miri/pull/4676"],
    },
    Scripted {
        behaviour: "A11",
        id: "registration/two-pollers",
        question: "Do two pollers report the same descriptor, and does removal from one affect the other?",
        script: "own and peer are connected, add own for reading, add own for reading in second, \
                peer sends 1, wait as in-first, wait in second as in-second, remove own, \
                wait as removed-from-first, wait in second as left-in-second",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A12",
        id: "registration/added-while-waiting",
        question: "Does adding a ready descriptor wake a waiting thread?",
        script: "own and peer are connected, peer sends 1, t waits, add own for reading, \
                t answers as ADD-ready-while-waiting",
        transports: &[Pipe, Unix],
        modes: LEVEL,
        bugs: &["https://github.com/unikraft/unikraft/pull/1310"],
    },
    Scripted {
        behaviour: "A12",
        id: "registration/added-idle-while-waiting",
        question: "Does an event of a descriptor that was added during the wait wake the thread?",
        script: "own and peer are connected, t waits, add own for reading, peer sends 1, \
                t answers as ADD-idle-while-waiting-then-data",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A12",
        id: "registration/modified-while-waiting",
        question: "Does a modification to an interest that is already ready wake a waiting thread?",
        script: "own and peer are connected, peer sends 1, add own for nothing, t waits, \
                modify own for reading, t answers as MOD-while-waiting",
        transports: &[Pipe, Unix],
        modes: LEVEL,
        bugs: &["https://github.com/unikraft/unikraft/pull/1310"],
    },
    Scripted {
        behaviour: "A12",
        id: "registration/removed-while-waiting",
        question: "Does an event of a descriptor that was removed during the wait wake the thread?",
        script: "own and peer are connected, add own for reading, t waits, remove own, peer sends 1, \
                t answers as DEL-while-waiting",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A13",
        id: "registration/closed-while-waiting",
        question: "Does closing a descriptor during the wait wake the thread, and does later activity of \
            the peer?",
        script: "own and peer are connected, add own for reading, t waits, own closes, t answers as closed, \
                peer sends 1?, t answers as closed-then-peer-wrote",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket, Udp, Pipe, Fifo],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A13",
        id: "registration/closed-beside-a-wait",
        question: "What does the peer of a connection read that was closed while a thread waits for it, during \
            that wait and after it?",
        script: "own and peer are connected, add own for reading, t waits, own closes, peer reads? as \
                closed-beside-a-wait, wake, t answers as closed-beside-a-wait, peer reads? as \
                closed-after-the-wait",
        transports: &[Tcp, Unix, Seqpacket],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A14",
        id: "registration/poller-closed-while-waiting",
        question: "Does closing the poller during the wait wake the thread, and do later events?",
        script: "own and peer are connected, add own for reading, t waits, close, t answers as \
                 poller-closed, peer sends 1, t answers as poller-closed-then-data",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &["https://github.com/lionheart/openradar-mirror/issues/16814"],
    },
    Scripted {
        behaviour: "A19",
        id: "registration/no-descriptor",
        question: "What does registering -1 return, and does the poller report other registrations?",
        script: "own and peer are connected, none is no descriptor, peer sends 1, add none for reading? as \
                 number--1, add own for reading? as beside-number--1, wait",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A20",
        id: "registration/closed-beside-idle",
        question: "Does a wait return at once for a closed descriptor beside an idle one?",
        script: "own and peer are connected, other and far are connected, add own for reading, \
                add other for reading, own closes, wait as closed-beside-idle",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &["https://github.com/WebAssembly/WASI/issues/506"],
    },
    Scripted {
        behaviour: "A21",
        id: "registration/bad-number",
        question: "What does a poller report for a closed number, with and without interest?",
        script: "own and peer are connected, own closes, look at own as closed-number",
        transports: &[Unix, Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A22",
        id: "registration/hang-up-asked-for-nothing",
        question: "Does a registration without interest report a hang-up?",
        script: "own and peer are connected, peer closes, look at own for nothing",
        transports: &[Tcp, Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &["https://github.com/NixOS/nix/pull/13847"],
    },
    Scripted {
        behaviour: "A22",
        id: "registration/blocked-asked-for-nothing",
        question: "Does the close of the peer wake a thread that waits without interest?",
        script: "own and peer are connected, add own for nothing, t waits, peer closes, \
                t answers as blocked-events-0",
        transports: &[Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &["https://github.com/NixOS/nix/pull/13847"],
    },
    Scripted {
        behaviour: "A22",
        id: "registration/blocked-asked-for-nothing-reset",
        question: "Does a reset by the peer wake a thread that waits without interest?",
        script: "own and peer are connected, add own for nothing, t waits, peer resets, \
                t answers as blocked-events-0-reset",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A22",
        id: "registration/blocked-writer",
        question: "What does a thread that waits for room get when the reader closes, and what does a later \
            wait report?",
        script: "peer and own are connected, own fills, add own for writing, t waits, peer closes, \
                t answers as blocked-full, look at own for writing",
        transports: &[Unix, Pipe, Fifo],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A22",
        id: "registration/blocked-writer-reset",
        question: "What does a thread that waits for room get when the peer resets, and what does a later \
            wait report?",
        script: "peer and own are connected, own fills, add own for writing, t waits, peer resets, \
                t answers as blocked-full-reset, look at own for writing",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A23",
        id: "registration/queue-in-poller",
        question: "What does a poller report for a registered queue: idle, with events, and after its \
            events ended?",
        script: "this is nesting, inner is a queue, own and peer are connected, add own for reading in \
                 inner, add inner for reading, wait as inner-idle, peer sends 1, wait as inner-ready, wait \
                 as inner-ready-2nd-wait, own reads, wait as inner-source-drained",
        transports: &[Unix, Pipe],
        modes: BOTH,
        bugs: &[
            "https://github.com/rcore-os/tgoskits/pull/2378",
            "https://github.com/sysprog21/elfuse/issues/386",
        ],
    },
    Scripted {
        behaviour: "A23",
        id: "registration/queue-in-poller-waiting",
        question: "Does an event in a registered queue wake a thread that waits in the outer poller?",
        script: "this is nesting, inner is a queue, own and peer are connected, add own for reading in \
                 inner, add inner for reading, t waits, peer sends 1, t answers as \
                 waiter-blocked-then-inner-ready",
        transports: &[Unix, Pipe],
        modes: BOTH,
        bugs: &["https://github.com/rcore-os/tgoskits/pull/2378"],
    },
    Scripted {
        behaviour: "A23",
        id: "registration/queue-in-itself",
        question: "Can a queue be registered in itself, for writing in another one, and in a cycle?",
        script: "this is nesting, own is a queue, add own for reading in own? as itself, other is a queue, \
                add own for writing in other? as for-writing, remove own in other? as removed, \
                add own for reading in other? as cycle-first, add other for reading in own? as cycle-of-2",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/sysprog21/elfuse/pull/332"],
    },
    Scripted {
        behaviour: "A23",
        id: "registration/queue-chain",
        question: "How deep can queues be nested, and does an event in the innermost queue reach the \
            outermost one?",
        script: "this is nesting, own and peer are connected, a1 is a queue, a2 is a queue, a3 is a queue, \
                 a4 is a queue, a5 is a queue, a6 is a queue, add own for reading in a1, add a1 for reading \
                 in a2? as 1-deep, add a2 for reading in a3? as 2-deep, add a3 for reading in a4? as 3-deep, \
                 add a4 for reading in a5? as 4-deep, add a5 for reading in a6? as 5-deep, add a4 for \
                 reading, peer sends 1, wait as 4-deep-then-data",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A24",
        id: "registration/listed-twice-for-reading",
        question: "What does a poller report for a descriptor that is listed twice for reading?",
        script: "own and peer are connected, peer sends 1, add own for reading, \
                add own for reading called again? as IN+IN-listed, wait",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "A24",
        id: "registration/listed-twice-for-both",
        question: "What does a poller report for a descriptor that is listed once for reading and once for \
            writing?",
        script: "own and peer are connected, peer sends 1, add own for reading, \
                add own for writing called again? as IN+OUT-listed, wait",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
];
