#!/usr/bin/env bash
# ci/tsan.sh [OPTION...]: the core's tests, and cells of the matrix, under ThreadSanitizer. A data race is a failed test, or a cell that
# is broken and shows the race. Options go to `pollmatrix run`; without any, the cells with two threads are run.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -gt 0 ] || set -- --filter '*-2t?g@*'
triple=$(rustc -vV | sed -n 's/^host: //p')
# Scenarios fork with threads, and the child only makes system calls.
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 die_after_fork=0 ${TSAN_OPTIONS:-}"
# The names of a panic's functions are looked for in debug information: minutes, under the sanitizer.
export RUST_BACKTRACE=0
ci/targets.sh tsan "$triple"
folder=${CARGO_TARGET_DIR:-target}/cross/tsan
"$folder/$triple/debug/pollmatrix" run --slow 10 --report-dir "$folder/report" "$@"
