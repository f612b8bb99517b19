#!/usr/bin/env bash
# ci/bench.sh [OPTION...] [WORK...]: compares fd-core's event loop with the bare system calls, mio and polling, and with libevent and
# libuv if pkg-config finds them. `ci/bench.sh --help` lists the options, `--list` the works. Exit codes: 0 every ratio was measured,
# 1 a ratio was noise, 2 an error.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

features=()
for library in libevent:libevent_core libuv:libuv; do
  if pkg-config --exists "${library#*:}" 2>/dev/null; then
    features+=("${library%:*}")
  else
    echo "without ${library%:*}: pkg-config does not find ${library#*:}" >&2
  fi
done
list=$(IFS=,; echo "${features[*]-}")
# Every function begins at a cache line, in all loops: where the linker happens to place a function changes a ratio by up to 0.04. The
# folder is apart from the other builds, because the flag would rebuild them.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/bench RUSTFLAGS="${RUSTFLAGS-} -C llvm-args=-align-all-functions=6"
exec cargo run --quiet --release -p pollmatrix-benchmarks --features "$list" -- "$@"
