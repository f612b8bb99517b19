//! C01 to C14: connects, accepts, and listeners that threads share.

use metadata::{
    Mode,
    Transport::{Seqpacket, Tcp, Unix},
};

use super::{BOTH, EDGE, LEVEL};
use metadata::Scripted;

/// Every mode.
const EVERY: &[Mode] =
    &[Mode::Level, Mode::Edge, Mode::OneShot, Mode::Dispatch, Mode::Exclusive, Mode::ExclusiveEdge];

/// Every mode in which several threads can wait in one poller.
const SHARED: &[Mode] = &[Mode::Level, Mode::Edge, Mode::OneShot, Mode::Dispatch];

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "C01",
        id: "sharing/connected",
        question: "What does a poller report before a connect, and after it succeeded?",
        script: "peer listens, own is fresh, add own, wait as registered-before-connect, \
                own connects to peer? as loopback, wait as connected, own asks SO_ERROR?",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[
            "https://github.com/haproxy/haproxy/issues/1863",
            "https://github.com/haproxy/haproxy/issues/2368",
        ],
    },
    Scripted {
        behaviour: "C01",
        id: "sharing/connected-edge",
        question: "How often does a poller report a successful connect?",
        script: "peer listens, own is fresh, add own, wait as registered-before-connect, \
                own connects to peer, wait 2 times as connected",
        transports: &[Tcp],
        modes: EDGE,
        bugs: &["https://github.com/haproxy/haproxy/issues/1863"],
    },
    Scripted {
        behaviour: "C01",
        id: "sharing/connect-pending",
        question: "What does a poller report for a connect while the listener's accept queue is full?",
        script: "peer listens backlog 0, first reaches peer, own is fresh, watch own, \
                own connects to peer? as connect-pending-first, \
                look at own as connect-pending(accept-queue-full), own sends 1?, own reads?, \
                own connects to peer? as connect-pending-again",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "C02",
        id: "sharing/refused",
        question: "What reports a refused connect: the wait, SO_ERROR, or the first call?",
        script: "own is fresh, own connects to nobody?, add own for both, wait as refused, \
                own reads? as refused-then-read, own asks SO_ERROR?, own sends 1?, wait",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &["https://github.com/netty/netty/pull/7738"],
    },
    Scripted {
        behaviour: "C02",
        id: "sharing/refused-while-writing",
        question: "What reports a refused connect if the interest is writing only and the first call is a \
            write?",
        script: "own is fresh, own connects to nobody?, add own for writing, wait as refused-W, \
                own sends 1? as refused-then-written, own asks SO_ERROR?, own reads?, wait",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &["https://github.com/netty/netty/pull/7738"],
    },
    Scripted {
        behaviour: "C04",
        id: "sharing/error-asked-twice",
        question: "Is SO_ERROR cleared when it is read, and what does a poller report after that?",
        script: "own and peer are connected, add own for both, peer resets, wait as reset, \
                own asks SO_ERROR twice? as after-SO_ERROR, wait, own reads?, own sends 1?",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "C05",
        id: "sharing/reset-in-queue",
        question: "What does a listener report and accept if the first connection in its queue was reset?",
        script: "own listens, first reaches own, second reaches own, first resets, add own for reading, \
                wait as first-of-two-reset, own accepts one?, look at one as accepted-reset, \
                own accepts two? as second-accept, own accepts three? as third-accept, wait as all-accepted",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "C03",
        id: "sharing/unix-connected",
        question: "What does a poller report for a UNIX connect, which completes immediately?",
        script: "peer listens, own is fresh, own connects to peer?, add own, wait as connected-added-after",
        transports: &[Unix, Seqpacket],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "C03",
        id: "sharing/registered-before-connect",
        question: "What does a poller report for a socket that is registered before it connects?",
        script: "peer listens, own is fresh, add own, wait as registered-before-connect, \
                own connects to peer? as connecting, wait as connected",
        transports: &[Unix, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/tokio-rs/tokio/issues/3879"],
    },
    Scripted {
        behaviour: "C03",
        id: "sharing/fresh-registered",
        question: "What does a poller report for a TCP socket that has not connected yet?",
        script: "own is fresh, add own, wait as fresh-socket-registered, \
                look at own for reading as fresh-socket-IN-only",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &["https://github.com/tokio-rs/tokio/issues/3879"],
    },
    Scripted {
        behaviour: "C03",
        id: "sharing/connects-while-waiting",
        question: "Does a connect wake a waiting thread?",
        script: "peer listens, own is fresh, watch own, t waits, own connects to peer, \
                t answers as waiter-blocked-then-connect",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "C06",
        id: "sharing/poller-per-thread",
        question: "How many threads does one connection wake if each has the listener in its own poller?",
        script: "20 times, own listens, add own for reading, 8 threads wait alone, client reaches own, \
                threads answer as one-poller-per-thread",
        transports: &[Tcp, Unix],
        modes: EVERY,
        bugs: &[
            "https://github.com/puma/puma/issues/3934",
            "https://github.com/apache/trafficserver/issues/6031",
        ],
    },
    Scripted {
        behaviour: "C07",
        id: "sharing/shared-poller",
        question: "How many threads does one connection wake if they share the poller that has the listener?",
        script: "20 times, own listens, add own for reading, 8 threads wait, client reaches own, \
                threads answer as one-shared-poller",
        transports: &[Tcp, Unix],
        modes: SHARED,
        bugs: &[],
    },
    Scripted {
        behaviour: "C08",
        id: "sharing/threads",
        question: "How many threads does one connection wake if each thread waits for the listener itself?",
        script: "20 times, own listens, add own for reading, 8 threads wait, client reaches own, \
                threads answer as threads",
        transports: &[Tcp, Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "C09",
        id: "sharing/accepted-by-poller-per-thread",
        question: "Is every connection of a burst accepted if each thread has the listener in its own \
            poller?",
        script: "own listens backlog 128, add own for reading, 8 threads accept from own alone, \
                100 clients reach own, threads answer as one-poller-per-thread-burst",
        transports: &[Tcp, Unix],
        modes: EVERY,
        bugs: &[],
    },
    Scripted {
        behaviour: "C09",
        id: "sharing/accepted-by-shared-poller",
        question: "Is every connection of a burst accepted if the threads share the poller that has the \
            listener?",
        script: "own listens backlog 128, add own for reading, 8 threads accept from own, \
                100 clients reach own, threads answer as one-shared-poller-burst",
        transports: &[Tcp, Unix],
        modes: SHARED,
        bugs: &[],
    },
    Scripted {
        behaviour: "C10",
        id: "sharing/exclusive-rules",
        question: "Which interests may an exclusive registration have, and can it be modified?",
        script: "own listens, add own for both? as exclusive, modify own for both? as modified, \
                modify own for both level? as modified-to-level, remove own? as removed, \
                add own for everything? as with-RDHUP, add own for both level? as level, \
                modify own for both? as level-modified-to-exclusive",
        transports: &[Tcp],
        modes: &[Mode::Exclusive, Mode::ExclusiveEdge],
        bugs: &["https://github.com/pjsip/pjproject/pull/2604", "https://github.com/unbit/uwsgi/issues/1252"],
    },
    Scripted {
        behaviour: "C11",
        id: "sharing/one-by-one-poller-per-thread",
        question: "How many threads serve connections that arrive one by one if each has the listener in \
            its own poller?",
        script: "own listens backlog 128, add own for reading, 8 threads accept from own alone, \
                32 clients reach own one by one, threads share as one-poller-per-thread-one-by-one",
        transports: &[Tcp, Unix],
        modes: &[Mode::Exclusive, Mode::ExclusiveEdge],
        bugs: &[
            "https://github.com/puma/puma/issues/3934",
            "https://github.com/apache/trafficserver/issues/6031",
        ],
    },
    Scripted {
        behaviour: "C11",
        id: "sharing/one-by-one-shared-poller",
        question: "How many threads serve connections that arrive one by one if they share the poller?",
        script: "own listens backlog 128, add own for reading, 8 threads accept from own, \
                32 clients reach own one by one, threads share as one-shared-poller-one-by-one",
        transports: &[Tcp, Unix],
        modes: SHARED,
        bugs: &[],
    },
    Scripted {
        behaviour: "C14",
        id: "sharing/reuse-port",
        question: "Which of two listeners on one port does a poller report after 64 clients connected?",
        script: "own is fresh, own sets SO_REUSEPORT, own listens backlog 128, other listens backlog 128 \
                 beside own, add own for reading, 64 clients reach own, wait as the-first-of-two-listeners, \
                 add other for reading in second, wait in second as the-second-of-two-listeners",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "C12",
        id: "sharing/no-descriptor-left",
        question: "What does a poller report for a listener whose connections cannot be accepted because no \
            descriptor is free?",
        script: "own listens, first reaches own, second reaches own, watch own for reading, \
                descriptors run out, own accepts conn?, wait as after-EMFILE, descriptors are back, \
                own accepts one? as descriptors-back, own accepts two? as descriptors-back-second, \
                own accepts three? as descriptors-back-third",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
];
