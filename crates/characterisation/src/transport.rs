//! What the descriptors under test are.

/// A kind of descriptor, or of a pair of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transport {
    /// TCP over loopback.
    Tcp,
    /// UNIX stream sockets.
    Unix,
    /// UNIX datagram sockets.
    UnixDgram,
    /// UNIX sequenced-packet sockets, where there are any.
    Seqpacket,
    /// UDP over loopback.
    Udp,
    /// A pipe.
    Pipe,
    /// A FIFO in a directory of its own.
    Fifo,
    /// A pseudo-terminal.
    Pty,
    /// No transport: the line opens what it needs by itself.
    None,
}

impl Transport {
    /// Every transport.
    pub const ALL: [Self; 9] = [
        Self::Tcp,
        Self::Unix,
        Self::UnixDgram,
        Self::Seqpacket,
        Self::Udp,
        Self::Pipe,
        Self::Fifo,
        Self::Pty,
        Self::None,
    ];

    /// The name in ids, in matrix.yml and in the published answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::UnixDgram => "unix-dgram",
            Self::Seqpacket => "seqpacket",
            Self::Udp => "udp",
            Self::Pipe => "pipe",
            Self::Fifo => "fifo",
            Self::Pty => "pty",
            Self::None => "none",
        }
    }
}
