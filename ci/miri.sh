#!/usr/bin/env bash
# ci/miri.sh [FILTER]: the unit tests of the table and of what it is made of, under Miri: its unsafe code against the rules of the language.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cargo miri --version >/dev/null 2>&1 || not_run "Miri is not installed: rustup +nightly component add miri rust-src, then cargo +nightly miri"
filters=("$@")
[ $# -gt 0 ] || filters=(table:: group_word:: update_list:: task_queue:: context:: core::)
# Tests open files, and the numbers of the system's descriptors are theirs.
export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
cargo miri test -p fd-core --lib -- "${filters[@]}"
