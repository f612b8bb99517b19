#!/usr/bin/env bash
# ci/miri.sh [FILTER]: runs the unit tests of the table and its parts under Miri, which checks unsafe code against the rules of the
# language.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cargo miri --version >/dev/null 2>&1 || not_run "Miri is not installed: rustup +nightly component add miri rust-src, then cargo +nightly miri"
filters=("$@")
[ $# -gt 0 ] || filters=(table:: group_word:: update_list:: task_queue:: context:: core::)
# The tests open files and need real descriptor numbers.
export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
cargo miri test -p fd-core --lib -- "${filters[@]}"
