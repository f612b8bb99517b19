#!/usr/bin/env bash
# ci/fmt.sh [--check]: formats everything, or checks that it is formatted.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cargo fmt --all -- "$@"
# rustfmt does not see the modules that the macro `family` declares.
rustfmt --edition 2024 "$@" crates/scenarios/src/*/*.rs
cargo fmt --manifest-path fuzz/Cargo.toml -- "$@"
