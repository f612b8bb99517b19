//! V01 to V34: the readiness of one descriptor in each state.

use metadata::Transport::{Fifo, Pipe, Pty, Seqpacket, Tcp, Udp, Unix, UnixDgram};

use super::{BOTH, LEVEL};
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "V01",
        id: "readiness/unconnected-inet",
        question: "What does a poller report for a TCP or UDP socket that was never connected?",
        script: "own is fresh, look at own as fresh, own binds, look at own as bound",
        transports: &[Tcp, Udp],
        modes: LEVEL,
        bugs: &["https://github.com/tokio-rs/tokio/issues/3879"],
    },
    Scripted {
        behaviour: "V02",
        id: "readiness/unconnected-unix",
        question: "What does a poller report for a UNIX socket that was never connected?",
        script: "own is fresh, look at own as fresh, own binds, look at own as bound",
        transports: &[Unix, UnixDgram, Seqpacket],
        modes: LEVEL,
        bugs: &["https://github.com/tokio-rs/tokio/issues/3879"],
    },
    Scripted {
        behaviour: "V03",
        id: "readiness/listener-idle",
        question: "What does a poller report for a listener without connections?",
        script: "own listens, watch own, look at own as idle",
        transports: &[Tcp, Unix, Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V04",
        id: "readiness/listener-pending",
        question: "What does a poller report for a listener with pending connections?",
        script: "own listens, watch own, a reaches own, look at own as 1-pending, b reaches own, \
                c reaches own, look at own as 3-pending, own accepts conn, \
                look at own as 3-pending-1-accepted, b closes, c closes, \
                look at own as 2-pending-both-clients-closed",
        transports: &[Tcp, Unix, Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V05",
        id: "readiness/connected-idle",
        question: "What does a poller report for an idle connected socket?",
        script: "own and peer are connected, watch own, look at own",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket, Udp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V05",
        id: "readiness/pipe-idle",
        question: "What does a poller report for the two ends of an empty pipe?",
        script: "own and peer are connected, watch own, watch peer in second, look at own as read-end, \
                look at peer as write-end",
        transports: &[Pipe, Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V05",
        id: "readiness/data",
        question: "What does a poller report when data arrive, when they are partly read, and when they are \
            drained?",
        script: "own and peer are connected, watch own, peer sends 3, look at own as 3-bytes, peer sends 2, \
                look at own as 3+2-bytes, own reads 1?, look at own as after-read-1, own drains, \
                look at own as drained",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket, Udp, Pipe, Fifo],
        modes: BOTH,
        bugs: &["https://github.com/microsoft/WSL/issues/8923"],
    },
    Scripted {
        behaviour: "V06",
        id: "readiness/peer-shut-write",
        question: "What does a poller report after the peer shut down its writing side?",
        script: "own and peer are connected, watch own, peer shuts write, look at own, own reads?, \
                look at own as after-read-0",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: BOTH,
        bugs: &[
            "https://github.com/google/gvisor/pull/7356",
            "https://github.com/oven-sh/bun/pull/37077",
            "https://github.com/tokio-rs/tokio/issues/449",
        ],
    },
    Scripted {
        behaviour: "V07",
        id: "readiness/own-shut-write",
        question: "What does a poller report after this end shut down its writing side?",
        script: "own and peer are connected, watch own, own shuts write, look at own",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/tokio-rs/mio/issues/1893", "https://github.com/tokio-rs/mio/issues/1091"],
    },
    Scripted {
        behaviour: "V08",
        id: "readiness/own-shut-read",
        question: "What does a poller report after this end shut down its reading side, and when data \
            arrive then?",
        script: "own and peer are connected, watch own, own shuts read, look at own, \
                look at peer as peer-side, peer sends 3? as then-peer-writes, look at own, own reads?",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V08",
        id: "readiness/own-shut-read-after-peer-shut-write",
        question: "What does a poller report after the peer shut down its writing side and then this end \
            its reading side?",
        script: "own and peer are connected, peer shuts write, own shuts read? as peer-WR-then-own-RD, \
                look at own",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V09",
        id: "readiness/own-shut-both",
        question: "What does a poller report for both ends after this end shut down both directions?",
        script: "own and peer are connected, watch own, own shuts both, look at own as own-RDWR, \
                look at peer as own-RDWR-peer-side",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/google/gvisor/issues/7331"],
    },
    Scripted {
        behaviour: "V09",
        id: "readiness/both-shut-write",
        question: "What does a poller report after both ends shut down their writing sides?",
        script: "own and peer are connected, watch own, own shuts write, peer shuts write, \
                look at own as own-WR-peer-WR",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/google/gvisor/issues/7331"],
    },
    Scripted {
        behaviour: "V09",
        id: "readiness/peer-shut-both",
        question: "What does a poller report after the peer shut down both directions?",
        script: "own and peer are connected, watch own, peer shuts both, look at own as peer-RDWR",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/google/gvisor/issues/7331"],
    },
    Scripted {
        behaviour: "V09",
        id: "readiness/peer-closed",
        question: "What does a poller report after the peer closed, and after a later write of this end?",
        script: "own and peer are connected, watch own, peer closes, look at own as peer-close, own sends \
                 1?, look at own as peer-close-then-own-write, own asks SO_ERROR twice?, own sends 1?",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/google/gvisor/issues/7331"],
    },
    Scripted {
        behaviour: "V10",
        id: "readiness/data-then-shut",
        question: "What does a poller report after the peer sent data and shut down its writing side?",
        script: "own and peer are connected, watch own, peer sends 3, peer shuts write, \
                look at own as data+shut, own reads twice?, look at own as data+shut-drained",
        transports: &[Tcp, Unix, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/netty/netty/issues/4317", "https://github.com/netty/netty/issues/6391"],
    },
    Scripted {
        behaviour: "V10",
        id: "readiness/data-then-closed",
        question: "What does a poller report after the peer sent data and closed?",
        script: "own and peer are connected, watch own, peer sends 3, peer closes, look at own as \
                 data+close, own reads twice?, look at own as data+close-drained",
        transports: &[Tcp, Unix, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/netty/netty/issues/4317", "https://github.com/netty/netty/issues/6391"],
    },
    Scripted {
        behaviour: "V11",
        id: "readiness/reset",
        question: "What does a poller report after a reset, and after SO_ERROR was read?",
        script: "own and peer are connected, watch own, peer resets, look at own, own asks SO_ERROR twice?, \
                remove own, look at own as after-SO_ERROR, own reads?, own sends 1?",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[
            "https://github.com/google/gvisor/issues/7331",
            "https://github.com/cloudius-systems/osv/issues/35",
        ],
    },
    Scripted {
        behaviour: "V11",
        id: "readiness/reset-for-writing",
        question: "What reports a reset if the interest is writing only?",
        script: "own and peer are connected, add own for writing, peer resets, wait as writing-only, \
                own asks SO_ERROR?",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V11",
        id: "readiness/reset-then-read",
        question: "What does a poller report after a read returned the error of a reset?",
        script: "own and peer are connected, watch own, peer resets, look at own, own reads twice?, \
                look at own as after-read",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &["https://github.com/oven-sh/bun/pull/37077"],
    },
    Scripted {
        behaviour: "V11",
        id: "readiness/reset-after-own-shut-write",
        question: "What does a poller report after a reset if this end had shut down its writing side?",
        script: "own and peer are connected, own shuts write, watch own, peer resets, \
                look at own as own-WR-then-RST",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V12",
        id: "readiness/data-then-reset",
        question: "What does a poller report when a reset follows unread data?",
        script: "own and peer are connected, watch own, peer sends 3, peer resets, look at own, \
                own asks SO_ERROR twice?, look at own as after-SO_ERROR, own reads twice?",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V12",
        id: "readiness/data-then-reset-then-read",
        question: "Can data that arrived before a reset be read?",
        script: "own and peer are connected, watch own, peer sends 3, peer resets, look at own, \
                own reads thrice?",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V13",
        id: "readiness/peer-closed-unread",
        question: "What does a poller report when the peer closed without reading this end's data?",
        script: "own and peer are connected, own sends 3, watch own, peer closes, look at own, \
                own asks SO_ERROR twice?, look at own as after-SO_ERROR, own reads?, own sends 1?",
        transports: &[Tcp, Unix, UnixDgram, Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V14",
        id: "readiness/connect-refused",
        question: "What does a poller report when a non-blocking connect is refused?",
        script: "own is fresh, watch own, own connects to nobody?, look at own, own asks SO_ERROR twice?, \
                look at own as after-SO_ERROR, own connects to nobody? as connect-again",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[
            "https://github.com/haproxy/haproxy/issues/1863",
            "https://github.com/tornadoweb/tornado/issues/223",
            "https://github.com/rustyrussell/ccan/issues/128",
        ],
    },
    Scripted {
        behaviour: "V14",
        id: "readiness/connect-refused-by-bound",
        question: "What does a poller report when the address of a refused connect is bound, but not \
            listening?",
        script: "peer is fresh, peer binds, own connects to peer? as bound-not-listening, look at own",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V14",
        id: "readiness/connect-refused-unix",
        question: "What does a poller report for a UNIX socket whose connect was refused immediately?",
        script: "own is fresh, watch own, own connects to nobody?, look at own as refused, own asks \
                 SO_ERROR?",
        transports: &[Unix],
        modes: BOTH,
        bugs: &["https://github.com/tokio-rs/tokio/issues/3879"],
    },
    Scripted {
        behaviour: "V14",
        id: "readiness/connect-backlog-full",
        question: "What does a poller report for a UNIX socket whose connect found the accept queue full?",
        script: "listener listens backlog 1, a reaches listener, b reaches listener, own is fresh, \
                own connects to listener? as backlog-full, look at own",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V14",
        id: "readiness/connect-refused-for-reading",
        question: "What reports the error of a refused connect if the interest is reading only?",
        script: "own is fresh, add own for reading, own connects to nobody? as reading-only, wait, \
                own asks SO_ERROR?",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &["https://github.com/netty/netty/pull/7738"],
    },
    Scripted {
        behaviour: "V14",
        id: "readiness/connect-refused-for-writing",
        question: "What reports the error of a refused connect if the interest is writing only?",
        script: "own is fresh, add own for writing, own connects to nobody? as writing-only, wait, \
                own asks SO_ERROR?",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &["https://github.com/oven-sh/bun/issues/32257"],
    },
    Scripted {
        behaviour: "V14",
        id: "readiness/connect-refused-then-read",
        question: "Does a read consume the error of a refused connect?",
        script: "own is fresh, own connects to nobody? as read-first, own reads?, own asks SO_ERROR?",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V15",
        id: "readiness/urgent",
        question: "What does a poller report for an urgent byte, and after the byte was received?",
        script: "own and peer are connected, watch own, peer sends urgent, look at own, own receives \
                 urgent?, look at own as after-recv-oob",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[
            "https://github.com/libuv/libuv/issues/4597",
            "https://github.com/cloudius-systems/osv/issues/35",
        ],
    },
    Scripted {
        behaviour: "V15",
        id: "readiness/urgent-for-reading",
        question: "Does a poller report an urgent byte if the interest is reading only?",
        script: "own and peer are connected, add own for reading, peer sends urgent, wait as reading-only, \
                own reads?, wait as after-read",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V15",
        id: "readiness/urgent-inline",
        question: "What does a poller report for an urgent byte with SO_OOBINLINE?",
        script: "own and peer are connected, own sets SO_OOBINLINE, watch own, peer sends urgent, \
                look at own as OOBINLINE",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V15",
        id: "readiness/urgent-among-data",
        question: "What does a poller report for an urgent byte among normal data?",
        script: "own and peer are connected, peer sends 2, peer sends urgent, peer sends 2, \
                look at own as data+oob+data",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V15",
        id: "readiness/urgent-unix",
        question: "Do UNIX sockets support urgent bytes, and what does a poller report for one?",
        script: "own and peer are connected, peer sends urgent?, look at own",
        transports: &[Unix],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V16",
        id: "readiness/low-water-mark",
        question: "What does a poller report below and above SO_RCVLOWAT?",
        script: "own and peer are connected, own sets SO_RCVLOWAT 10, watch own, peer sends 3, \
                look at own as lowat10-3bytes, peer sends 10, look at own as lowat10-13bytes",
        transports: &[Tcp, Unix],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V16",
        id: "readiness/send-low-water-mark",
        question: "Can SO_SNDLOWAT be set?",
        script: "own and peer are connected, own sets SO_SNDLOWAT 10?, look at own as sndlowat10",
        transports: &[Tcp],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V17",
        id: "readiness/low-water-mark-then-shut",
        question: "What does a poller report below SO_RCVLOWAT after the peer shut down its writing side?",
        script: "own and peer are connected, own sets SO_RCVLOWAT 10, watch own, peer sends 3, \
                peer shuts write, look at own",
        transports: &[Tcp, Unix],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V18",
        id: "readiness/unix-peer-closed",
        question: "What does a poller report when the peer of a UNIX socket closed after reading everything?",
        script: "own and peer are connected, watch own, peer closes, look at own, own reads?, \
                own asks SO_ERROR?, own sends 1?",
        transports: &[Unix, Seqpacket],
        modes: BOTH,
        bugs: &["https://github.com/oven-sh/bun/pull/37077", "https://github.com/tokio-rs/mio/issues/1893"],
    },
    Scripted {
        behaviour: "V19",
        id: "readiness/unix-peer-closed-unread",
        question: "What does a poller report when the peer of a UNIX socket closed with unread data?",
        script: "own and peer are connected, own sends 3, watch own, peer closes, look at own, \
                own asks SO_ERROR twice?, look at own as after-SO_ERROR, own reads?, own sends 1?",
        transports: &[Unix, Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V20",
        id: "readiness/dgram-peer-closed",
        question: "What does a poller report when the peer of a UNIX datagram socket closed?",
        script: "own and peer are connected, watch own, peer closes, look at own, own reads?, \
                own asks SO_ERROR?, own sends 1?",
        transports: &[UnixDgram],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V20",
        id: "readiness/dgram-blocked-when-peer-closes",
        question: "Does the close of a UNIX datagram socket's peer wake a waiting thread?",
        script: "own and peer are connected, add own for reading, t waits, peer closes, t answers as \
                 blocked, look at own for reading",
        transports: &[UnixDgram],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V21",
        id: "readiness/dgram-full",
        question: "What does a poller report while a UNIX datagram peer's queue is full, and as it drains?",
        script: "own and peer are connected, watch own, own fills by 100?, look at own as full, peer reads, \
                look at own as full-1-read, own sends 100?, peer drains, look at own as drained",
        transports: &[UnixDgram],
        modes: BOTH,
        bugs: &[
            "https://github.com/virtualsquare/vde-2/issues/19",
            "https://github.com/wazuh/wazuh/issues/37349",
        ],
    },
    Scripted {
        behaviour: "V21",
        id: "readiness/dgram-bound-full",
        question: "What does a poller report when the queue of a bound UNIX datagram socket is full, and \
            when that socket closes?",
        script: "this is unix-dgram-connected-to-bound, peer is fresh, peer binds, own connects to peer?, \
                watch own, own fills by 100?, look at own as full, peer closes, \
                look at own as receiver-closed, own sends 100?",
        transports: &[UnixDgram],
        modes: BOTH,
        bugs: &["https://github.com/libkrun/libkrun/issues/556"],
    },
    Scripted {
        behaviour: "V22",
        id: "readiness/empty-datagram",
        question: "What does a poller report for an empty datagram?",
        script: "own and peer are connected, watch own, peer sends nothing?, look at own as zero-length, \
                own reads twice?, look at own as after-read",
        transports: &[Udp, UnixDgram],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V23",
        id: "readiness/udp-refused",
        question: "What does a poller report for a connected UDP socket whose peer is unreachable?",
        script: "own connects to nobody, watch own, own sends 1, look at own, own asks SO_ERROR twice?, \
                look at own as after-SO_ERROR",
        transports: &[Udp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V23",
        id: "readiness/udp-refused-then-read",
        question: "Does a read return the error when a UDP socket's peer is unreachable?",
        script: "own connects to nobody, watch own, own sends 1, look at own, own reads twice?",
        transports: &[Udp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V24",
        id: "readiness/empty-packet",
        question: "What does a poller report for an empty sequenced packet?",
        script: "own and peer are connected, watch own, peer sends nothing?, look at own as zero-length, \
                own reads twice?, look at own as after-read",
        transports: &[Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V25",
        id: "readiness/pipe-data-writer-closed",
        question: "What does a poller report for a pipe's reading end with data and no writer?",
        script: "own and peer are connected, watch own, peer sends 3, peer closes, look at own as read-end",
        transports: &[Pipe, Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V26",
        id: "readiness/pipe-drained-writer-closed",
        question: "What does a poller report for a pipe's drained reading end without a writer?",
        script: "own and peer are connected, watch own, peer sends 3, peer closes, take, \
                own reads twice? as read-end, look at own as read-end-drained",
        transports: &[Pipe, Fifo],
        modes: BOTH,
        bugs: &["https://github.com/golang/go/issues/24164"],
    },
    Scripted {
        behaviour: "V26",
        id: "readiness/pipe-writer-closed",
        question: "What does a poller report for a pipe's reading end whose writer closed without writing?",
        script: "own and peer are connected, watch own, peer closes, look at own as read-end-never-data",
        transports: &[Pipe, Fifo],
        modes: BOTH,
        bugs: &["https://github.com/golang/go/issues/24164"],
    },
    Scripted {
        behaviour: "V26",
        id: "readiness/pipe-writer-closed-again",
        question: "Does a poller report again that a pipe has no writer?",
        script: "own and peer are connected, add own for reading, peer closes, \
                wait as writer-closed-first-wait, wait as writer-closed-second-wait",
        transports: &[Pipe, Fifo],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V27",
        id: "readiness/pipe-reader-closed",
        question: "What does a poller report for a pipe's writing end without a reader?",
        script: "peer and own are connected, watch own, peer closes, look at own as write-end-space, \
                look at own for reading, look at own for writing, own sends 1?",
        transports: &[Pipe, Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V27",
        id: "readiness/pipe-reader-closed-again",
        question: "Does a poller report again that a pipe has no reader, and can the writing end be added \
            again?",
        script: "peer and own are connected, watch own for writing, peer closes, \
                wait as reader-closed-first-wait, wait as reader-closed-second-wait, \
                add own for writing? as reader-closed-then-re-add",
        transports: &[Pipe, Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V28",
        id: "readiness/pipe-full-reader-closed",
        question: "What does a poller report for a full pipe's writing end without a reader?",
        script: "peer and own are connected, own fills, watch own, peer closes, \
                look at own as write-end-full, look at own for writing",
        transports: &[Pipe, Fifo],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V29",
        id: "readiness/full",
        question: "How much of a full channel must be read before the channel is writable?",
        script: "peer and own are connected, own fills, watch own, look at own as full, peer reads up to 1, \
                look at own as full-1-byte-read, peer reads up to 512, look at own as full-512-read",
        transports: &[Pipe, Fifo, Unix, Tcp],
        modes: BOTH,
        bugs: &["https://github.com/microsoft/WSL/issues/1025"],
    },
    Scripted {
        behaviour: "V30",
        id: "readiness/full-then-read",
        question: "Is a full channel writable after PIPE_BUF or more bytes were read, and does each read \
            cause an edge?",
        script: "peer and own are connected, own fills, watch own, peer reads up to 512, take, peer reads up \
                 to PIPE_BUF, look at own as full-PIPE_BUF-read, peer reads up to PIPE_BUF+4096, look at own \
                 as full-PIPE_BUF+4096-read, peer reads 1, look at own as then-1-more-byte-read, peer \
                 drains, look at own as drained",
        transports: &[Pipe, Fifo, Unix, Tcp],
        modes: BOTH,
        bugs: &["https://github.com/microsoft/WSL/issues/1025"],
    },
    Scripted {
        behaviour: "V31",
        id: "readiness/pty-master",
        question: "What does a poller report for a pseudo-terminal's master while its slave writes and \
            closes?",
        script: "own and peer are connected, watch own, look at own as master-idle, peer sends 3, \
                look at own as master-3-bytes, peer closes, look at own as master-3-bytes-slave-closed, \
                own reads twice?, look at own as master-drained-slave-closed",
        transports: &[Pty],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V31",
        id: "readiness/pty-slave",
        question: "What does a poller report for a pseudo-terminal's slave when the master closes?",
        script: "peer and own are connected, watch own, look at own as slave-idle, peer closes, \
                look at own as slave-master-closed, own reads?",
        transports: &[Pty],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V31",
        id: "readiness/pty-never-opened",
        question: "What does a poller report for a pseudo-terminal's master whose slave was never open?",
        script: "own is fresh, look at own as master-slave-never-opened",
        transports: &[Pty],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V32",
        id: "readiness/listener-shut-read",
        question: "What does a poller report for a listener that was shut down for reading?",
        script: "own listens, watch own, own shuts read? as SHUT_RD, look at own, own accepts conn?",
        transports: &[Tcp, Unix, Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V32",
        id: "readiness/listener-shut-write",
        question: "What does a poller report for a listener that was shut down for writing?",
        script: "own listens, watch own, own shuts write? as SHUT_WR, look at own",
        transports: &[Tcp, Unix, Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V32",
        id: "readiness/listener-shut-both",
        question: "What does a poller report for a listener that was shut down, and does it still accept \
            connects?",
        script: "own listens, watch own, own shuts both? as SHUT_RDWR, look at own, own asks SO_ERROR?, \
                own accepts conn?, new reaches own?, own accepts later? as SHUT_RDWR-after-new-connect",
        transports: &[Tcp, Unix, Seqpacket],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V32",
        id: "readiness/listener-shut-wakes",
        question: "Does the shutdown of a listener wake a waiting thread?",
        script: "own listens, add own for reading, t waits, own shuts both? as SHUT_RDWR-blocked, t answers",
        transports: &[Tcp, Unix, Seqpacket],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V33",
        id: "readiness/dgram-own-shut-read",
        question: "What does a poller report for a datagram socket that was shut down for reading?",
        script: "own and peer are connected, watch own, own shuts read? as SHUT_RD, look at own, own reads?, \
                own sends 1?",
        transports: &[Udp, UnixDgram],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V33",
        id: "readiness/dgram-own-shut-write",
        question: "What does a poller report for a datagram socket that was shut down for writing?",
        script: "own and peer are connected, watch own, own shuts write? as SHUT_WR, look at own, own \
                 reads?, own sends 1?",
        transports: &[Udp, UnixDgram],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V33",
        id: "readiness/dgram-own-shut-both",
        question: "What does a poller report for a datagram socket that was shut down in both directions?",
        script: "own and peer are connected, watch own, own shuts both? as SHUT_RDWR, look at own, \
                own reads?, own sends 1?",
        transports: &[Udp, UnixDgram],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V33",
        id: "readiness/dgram-unconnected-shut-both",
        question: "What does a poller report for an unconnected datagram socket that was shut down in both \
            directions?",
        script: "own is fresh, own shuts both? as unconnected-RDWR, look at own",
        transports: &[Udp, UnixDgram],
        modes: LEVEL,
        bugs: &[],
    },
    Scripted {
        behaviour: "V34",
        id: "readiness/end-in-accept-queue",
        question: "What does a poller report when a client closed before it is accepted?",
        script: "own listens, watch own, client reaches own, client closes, look at own as FIN-in-queue, \
                own accepts conn?, look at conn as accepted-FIN-conn, \
                look at own as listener-after-that-accept",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "V34",
        id: "readiness/reset-in-accept-queue",
        question: "What does a poller report when a client reset its connection before it is accepted?",
        script: "own listens, watch own, client reaches own, client resets, look at own as RST-in-queue, \
                own accepts conn?, look at conn as accepted-conn, conn asks SO_ERROR?, conn reads?",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &["https://github.com/MisterTea/EternalTerminal/issues/756"],
    },
    Scripted {
        behaviour: "V34",
        id: "readiness/data-and-reset-in-accept-queue",
        question: "What does a poller report when a client sent data and reset its connection before it is \
            accepted?",
        script: "own listens, watch own, client reaches own, client sends 3, client resets, \
                look at own as data+RST-in-queue, own accepts conn?, conn reads twice?",
        transports: &[Tcp],
        modes: BOTH,
        bugs: &["https://github.com/ofiwg/libfabric/issues/6501"],
    },
];
