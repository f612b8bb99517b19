#!/usr/bin/env bash
# ci/instructions.sh: counts the instructions, the read-modify-writes and the divisions that an event costs in fd-core's loop, and
# compares them with the bare loop and with limits. The counts do not depend on the machine's speed or load.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ "$(uname -sm)" = 'Linux x86_64' ] || not_run "the limits are for Linux on x86_64"
for tool in valgrind objdump; do have "$tool" || not_run "$tool is not installed (ci/setup.sh installs it)"; done
cargo run --quiet --release -p pollmatrix-benchmarks -- --instructions
