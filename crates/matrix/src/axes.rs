//! The closed sets of names in matrix.yml: a value outside its set is an error with a suggestion.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use crate::nearest::did_you_mean;

/// An enum whose variants have names, with everything that follows from the names.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident, $kind:literal: $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $type {
            /// Every value, in the order in which cells are listed.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name used in matrix.yml and in ids.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|value| value.name() == text).ok_or_else(|| {
                    let names = Self::ALL.iter().map(|value| value.name());
                    format!("unknown {} '{text}': {}", $kind, did_you_mean(text, names))
                })
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

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
    /// When a backend reports a ready descriptor again.
    Trigger, "trigger":
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

named! {
    /// How the executable for a target is made on a machine that is not such a target itself.
    Build, "build":
    /// As any other program of this machine: `cargo build`.
    Host = "host",
    /// With the gcc cross linker of the target: [`Target::linker`](crate::Target::linker).
    Gcc = "gcc",
    /// With zig as linker and C library: `cargo zigbuild`.
    Zig = "zig",
    /// Not at all: type-checked only.
    Check = "check",
}

named! {
    /// A virtual machine that CI can boot on a Linux runner.
    Vm, "virtual machine":
    /// FreeBSD.
    FreeBsd = "freebsd",
}
