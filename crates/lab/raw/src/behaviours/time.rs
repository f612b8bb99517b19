//! T01 to T09: timeouts, and signals during a wait.

use metadata::Transport::{None, Pipe};

use super::LEVEL;
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "T01",
        id: "time/zero",
        question: "Does a wait with a timeout of zero return?",
        script: "this is timeout, t waits at most 0 s, t answers as 0",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T02",
        id: "time/never-early-1ms",
        question: "Does a wait of 1 millisecond ever return before its timeout?",
        script: "20 times, this is timeout, t waits at most 1 ms, t answers as 1ms",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/tokio-rs/mio/issues/1614"],
    },
    Scripted {
        behaviour: "T02",
        id: "time/never-early-5ms",
        question: "Does a wait of 5 milliseconds ever return before its timeout?",
        script: "20 times, this is timeout, t waits at most 5 ms, t answers as 5ms",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T02",
        id: "time/never-early-10ms",
        question: "Does a wait of 10 milliseconds ever return before its timeout?",
        script: "20 times, this is timeout, t waits at most 10 ms, t answers as 10ms",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T02",
        id: "time/never-early-50ms",
        question: "Does a wait of 50 milliseconds ever return before its timeout?",
        script: "20 times, this is timeout, t waits at most 50 ms, t answers as 50ms",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T03",
        id: "time/fractions-of-a-millisecond",
        question: "Does a wait of less than a millisecond ever return before its timeout?",
        script: "20 times, this is timeout, t waits at most 200 us, t answers as 200us, \
                t waits at most 999999 ns, t answers as 999999ns, t waits at most 1 ns, t answers as 1ns",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/tokio-rs/mio/issues/1614"],
    },
    Scripted {
        behaviour: "T03",
        id: "time/timespec-out-of-range",
        question: "What does a wait with an invalid timespec return?",
        script: "this is timespec, t waits with timespec 0 -1, t answers as tv_nsec=-1, \
                t waits with timespec 0 1000000000, t answers as tv_nsec=1e9, t waits with timespec -1 0, \
                t answers as tv_sec=-1",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T04",
        id: "time/negative",
        question: "What does a wait with a negative timeout return?",
        script: "this is timeout, t waits with timeout -1, t answers as timeout=-1, t waits with timeout -2, \
                t answers as timeout=-2, t waits with timeout -7, t answers as timeout=-7, \
                t waits with timeout -2147483648, t answers as timeout=INT_MIN, \
                t waits with timeout 2147483647, t answers as timeout=INT_MAX",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/TritonDataCenter/illumos-joyent/issues/136"],
    },
    Scripted {
        behaviour: "T04",
        id: "time/negative-timeval",
        question: "What does a wait with a negative timeval return?",
        script: "this is timeval, t waits with timeval -1 0, t answers as tv_sec=-1, \
                t waits with timeval 0 -1, t answers as tv_usec=-1",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T05",
        id: "time/time-left",
        question: "Does the system call write the remaining time to the timeout?",
        script: "own and peer are connected, peer sends 1, add own for reading, t waits with timeval 5 0, \
                t answers as time-left",
        transports: &[Pipe],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T05",
        id: "time/more-than-a-second-of-microseconds",
        question: "What does a wait return whose microseconds are a second or more?",
        script: "this is timeval, t waits with timeval 0 1200000, t answers as tv_usec=1200000",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T06",
        id: "time/interrupted",
        question: "Does a signal with a handler end a wait?",
        script: "this is signal, t waits, t is signalled, t answers as no-SA_RESTART",
        transports: &[None],
        modes: LEVEL,
        bugs: &["https://github.com/TritonDataCenter/illumos-joyent/issues/76"],
    },
    Scripted {
        behaviour: "T06",
        id: "time/interrupted-restarting",
        question: "Does a signal end a wait if its handler has SA_RESTART?",
        script: "this is signal, t waits, t is signalled restarting, t answers as SA_RESTART",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T07",
        id: "time/stopped-and-continued",
        question: "Does a wait continue after the process was stopped and continued, without a handler for \
            either signal?",
        script: "this is process, a child waits at most 2 s, the child is stopped and continued, \
                the child answers as SIGSTOP-SIGCONT",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T08",
        id: "time/huge-timespec",
        question: "What does a wait with a huge timespec return?",
        script: "this is timespec, t waits with timespec 2147483647 0, t answers as 2^31-1-s, \
                t waits with timespec 1099511627776 0, t answers as 2^40-s, \
                t waits with timespec 9223372036854775807 0, t answers as 2^63-1-s",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "T08",
        id: "time/huge-timeval",
        question: "What does a wait with a huge timeval return?",
        script: "this is timeval, t waits with timeval 100000001 0, t answers as 100000001-s, \
                t waits with timeval 2147483647 0, t answers as 2^31-1-s, \
                t waits with timeval 9223372036854775807 0, t answers as 2^63-1-s",
        transports: &[None],
        modes: LEVEL,
        bugs: &[],
    },
];
