//! The closed sets of names that matrix.yml alone has.

use metadata::named;

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
