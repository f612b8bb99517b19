#!/usr/bin/env bash
# ci/tsan.sh [OPTION...]: runs the core's tests and cells of the matrix under ThreadSanitizer. A data race fails a test, or is the
# reason of a cell's set-up error. Options go to `pollmatrix run`; without options, it runs the cells with two threads.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -gt 0 ] || set -- --filter '*-2t?g@*'
triple=$(rustc -vV | sed -n 's/^host: //p')
# Scenarios fork while threads exist; their children only make system calls.
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 die_after_fork=0 ${TSAN_OPTIONS:-}"
# Under the sanitizer, looking up the function names of a panic in debug information takes minutes.
export RUST_BACKTRACE=0
ci/targets.sh tsan "$triple"
folder=${CARGO_TARGET_DIR:-target}/cross/tsan
"$folder/$triple/debug/pollmatrix" run --slow 10 --report-dir "$folder/report" "$@"
