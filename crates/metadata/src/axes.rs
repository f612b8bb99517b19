//! What cells are told apart by.

use crate::named;

named! {
    /// What the descriptors under test are.
    Transport, "transport":
    /// A TCP connection or listener over loopback.
    Tcp = "tcp",
    /// A UNIX stream socket pair or listener.
    Unix = "unix",
    /// UNIX datagram sockets.
    UnixDgram = "unix-dgram",
    /// UNIX sequenced-packet sockets.
    Seqpacket = "seqpacket",
    /// UDP over loopback.
    Udp = "udp",
    /// A pipe.
    Pipe = "pipe",
    /// A FIFO.
    Fifo = "fifo",
    /// A pseudo-terminal.
    Pty = "pty",
    /// None: the scenario opens what it needs by itself.
    None = "none",
}

named! {
    /// When a poller reports a ready descriptor again. The `trigger` of matrix.yml, of ids and of results.json.
    Mode, "trigger":
    /// As long as it is ready.
    Level = "level",
    /// When it becomes ready.
    Edge = "edge",
    /// Once, until it is modified or added again.
    OneShot = "oneshot",
    /// Once, until it is enabled again: kqueue's.
    Dispatch = "dispatch",
    /// As long as it is ready, to one of several pollers: epoll's.
    Exclusive = "exclusive",
    /// When it becomes ready, to one of several pollers: epoll's.
    ExclusiveEdge = "exclusive-edge",
}

impl Mode {
    /// The name in the published answers, where a flag of its own is added to a mode: `exclusive+edge`.
    pub const fn published(self) -> &'static str {
        match self {
            Self::ExclusiveEdge => "exclusive+edge",
            plain => plain.name(),
        }
    }
}

named! {
    /// Whether an answer must be the same everywhere.
    Layer, "layer":
    /// Must hold on every backend and OS.
    Contract = "contract",
    /// The raw backend's own answer, recorded per OS.
    Characterisation = "characterisation",
}

named! {
    /// An operating system, by the name that `std::env::consts::OS` and `cfg(target_os)` have for it.
    Os, "operating system":
    /// Linux.
    Linux = "linux",
    /// FreeBSD.
    FreeBsd = "freebsd",
    /// macOS.
    MacOs = "macos",
    /// NetBSD.
    NetBsd = "netbsd",
    /// OpenBSD.
    OpenBsd = "openbsd",
    /// DragonFly BSD.
    DragonFly = "dragonfly",
    /// illumos.
    Illumos = "illumos",
}
