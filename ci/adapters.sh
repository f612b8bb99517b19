#!/usr/bin/env bash
# ci/adapters.sh [OPTION...]: builds the adapters whose library is installed, checks that they speak the protocol, and asks each the
# characterisation's questions. Fails if an answer is not the recorded one. The options go to `pollmatrix run`.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pkg-config --exists libuv 2>/dev/null || not_run "libuv is not installed (Debian: libuv1-dev pkg-config)"
make -C subjects/libuv
cargo build --bin pollmatrix
pollmatrix=${CARGO_TARGET_DIR:-target}/debug/pollmatrix
"$pollmatrix" subject-check subjects/libuv/adapter
"$pollmatrix" run --subject subjects/libuv/adapter --report-dir "${CARGO_TARGET_DIR:-target}/adapters" "$@"
