#!/usr/bin/env bash
# ci/fmt.sh [--check]: formats all Rust code, or checks its format.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cargo fmt --all -- "$@"
# rustfmt does not find modules that the macro `family!` declares.
rustfmt --edition 2024 "$@" crates/matrix/scenarios/src/*/*.rs
cargo fmt --manifest-path fuzz/Cargo.toml -- "$@"
cargo fmt --manifest-path proofs/Cargo.toml -p benchmarks -p orderings -- "$@"
