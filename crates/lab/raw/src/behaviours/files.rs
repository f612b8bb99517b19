//! F01 to F09: kinds of files that can be registered, and their readiness.

use metadata::Transport::{Fifo, None, Pipe};

use super::{BOTH, LEVEL};
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "F01",
        id: "files/regular",
        question: "Can a regular file be registered, and what does a poller report at its beginning and end?",
        script: "this is regular-file, own is a file of 0, look at own for reading as empty, \
                look at own for writing, look at own, middle is a file of 5 at 2, \
                look at middle for reading as 5-bytes-offset-2, look at middle for writing, look at middle, \
                end is a file of 5 at 5, look at end for reading as offset-at-EOF, look at end for writing, \
                look at end",
        transports: &[None],
        modes: LEVEL,
        bugs: &[
            "https://github.com/microsoft/WSL/issues/2838",
            "https://github.com/sysprog21/elfuse/pull/332",
            "https://github.com/golang/go/issues/19093",
        ],
    },
    Scripted {
        behaviour: "F01",
        id: "files/regular-watched",
        question: "Is a regular file readable before its end, at it, beyond it, and when it grows?",
        script: "this is regular-file, own is a file of 8, add own for reading? as offset-0, \
                wait as offset-0-first-wait, wait as offset-0-second-wait, beyond is a file of 8 at 108, \
                add beyond for reading in second? as offset-beyond-EOF, wait in second, \
                end is a file of 8 at 8, add end for reading in third? as at-EOF, wait in third, \
                end grows by 3, wait in third as at-EOF-then-append-by-other-fd",
        transports: &[None],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "F02",
        id: "files/dev-null",
        question: "Can /dev/null be registered, and what does a poller report for it?",
        script: "this is device, own is /dev/null, look at own for reading as /dev/null, \
                look at own for writing, look at own",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/sysprog21/elfuse/pull/316"],
    },
    Scripted {
        behaviour: "F02",
        id: "files/dev-zero",
        question: "Can /dev/zero be registered, and what does a poller report for it?",
        script: "this is device, own is /dev/zero, look at own for reading as /dev/zero, \
                look at own for writing, look at own",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/sysprog21/elfuse/pull/316"],
    },
    Scripted {
        behaviour: "F02",
        id: "files/dev-full",
        question: "Can /dev/full be registered, and what does a poller report for it?",
        script: "this is device, own is /dev/full, look at own for reading as /dev/full, \
                look at own for writing, look at own",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/sysprog21/elfuse/pull/316"],
    },
    Scripted {
        behaviour: "F02",
        id: "files/dev-urandom",
        question: "Can /dev/urandom be registered, and what does a poller report for it?",
        script: "this is device, own is /dev/urandom, look at own for reading as /dev/urandom, \
                look at own for writing, look at own",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/sysprog21/elfuse/pull/316"],
    },
    Scripted {
        behaviour: "F04",
        id: "files/directory",
        question: "Can a directory be registered, and what does a poller report for it?",
        script: "this is directory, own is a directory, look at own for reading, look at own for writing, \
                look at own",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "F06",
        id: "files/eventfd",
        question: "Can an eventfd be registered, and what does a poller report for it?",
        script: "this is eventfd, own is an eventfd, look at own for reading, look at own for writing, \
                look at own, own sends 8, look at own as counted",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "F06",
        id: "files/shared-memory",
        question: "Can shared memory be registered, and what does a poller report for it?",
        script: "this is shm, own is shared memory, look at own for reading, look at own for writing, \
                look at own",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "F06",
        id: "files/queue",
        question: "Can an epoll or kqueue descriptor be registered, and what does a poller report for one \
            without events?",
        script: "this is queue-fd, own is a queue, look at own for reading, look at own for writing, \
                look at own",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/sysprog21/elfuse/issues/386"],
    },
    Scripted {
        behaviour: "F09",
        id: "files/bpf",
        question: "Can a packet filter without an interface be registered, and what does a poller report \
            for it?",
        script: "this is bpf, own is /dev/bpf, look at own for reading as unbound, look at own for writing, \
                look at own",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/libuv/help/issues/9"],
    },
    Scripted {
        behaviour: "F05",
        id: "files/write-end-for-reading",
        question: "What does a poller report for a pipe's writing end that is registered for reading?",
        script: "own and peer are connected, add peer for reading? as R-on-write-end, wait as idle, \
                look at peer for reading, own closes, wait as reader-closed",
        transports: &[Pipe, Fifo],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "F05",
        id: "files/read-end-for-writing",
        question: "What does a poller report for a pipe's reading end that is registered for writing, and \
            can it be written?",
        script: "own and peer are connected, add own for writing? as W-on-read-end, wait, \
                look at own for writing, own sends 1? as write-to-read-end, peer closes, \
                wait as W-on-read-end-writer-closed",
        transports: &[Pipe, Fifo],
        modes: LEVEL,
        bugs: &[],
    },
];
