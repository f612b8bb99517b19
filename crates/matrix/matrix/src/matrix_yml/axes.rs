//! The closed sets of names that only matrix.yml uses.

use metadata::named;

named! {
    /// How the executable for a target is built on a machine of another target.
    Build, "build":
    /// With the toolchain of this machine: `cargo build`.
    Host = "host",
    /// With the gcc cross linker of the target: [`Target::linker`](crate::matrix_yml::Target::linker).
    Gcc = "gcc",
    /// With zig as linker and C library: `cargo zigbuild`.
    Zig = "zig",
    /// Not built, only type-checked.
    Check = "check",
}

named! {
    /// A virtual machine that CI can boot on a Linux runner.
    Vm, "virtual machine":
    /// FreeBSD.
    FreeBsd = "freebsd",
}
