//! The values that distinguish cells: transport, trigger, layer, operating system.

use crate::named;

named! {
    /// The kind of descriptor under test.
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
    /// None: the scenario opens its own descriptors.
    None = "none",
}

named! {
    /// When a poller reports a ready descriptor again. matrix.yml, ids and results.json call this `trigger`.
    Mode, "trigger":
    /// Reported as long as the descriptor is ready.
    Level = "level",
    /// Reported when the descriptor becomes ready.
    Edge = "edge",
    /// Reported once, until the registration is modified or added again.
    OneShot = "oneshot",
    /// Reported once, until the registration is enabled again. kqueue only.
    Dispatch = "dispatch",
    /// Level-triggered, reported to at least one of several pollers. epoll only.
    Exclusive = "exclusive",
    /// Edge-triggered, reported to at least one of several pollers. epoll only.
    ExclusiveEdge = "exclusive-edge",
    /// Edge-triggered, reported once, until the registration is modified or added again.
    EdgeOneShot = "edge-oneshot",
}

impl Mode {
    /// Returns the name in the published answers, which join an added flag with a plus sign:
    /// `exclusive+edge`.
    pub const fn published(self) -> &'static str {
        match self {
            Self::ExclusiveEdge => "exclusive+edge",
            Self::EdgeOneShot => "edge+oneshot",
            plain => plain.name(),
        }
    }
}

named! {
    /// Whether an answer must be the same on every system.
    Layer, "layer":
    /// The answer must hold on every backend and operating system.
    Contract = "contract",
    /// The raw poller's own answer, recorded per operating system.
    Characterisation = "characterisation",
}

named! {
    /// An operating system, named as in `std::env::consts::OS` and `cfg(target_os)`, or a kernel that
    /// imitates one.
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
    /// gVisor, which runs programs of Linux.
    Gvisor = "gvisor",
}
