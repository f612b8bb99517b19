#!/usr/bin/env bash
# ci/models.sh [FILTER]: the exhaustive models of the table's protocol, the real code under every interleaving of up to three preemptions (loom).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Apart from the native builds: the flag would rebuild everything each time.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/loom
RUSTFLAGS="--cfg loom" cargo test --release -p fd-core --lib -- "models::${1:-}"
