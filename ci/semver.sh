#!/usr/bin/env bash
# ci/semver.sh [COMMIT]: cargo-semver-checks for the libraries that other programs use: does the version in Cargo.toml allow the
# changes since COMMIT (default: origin/main)?
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

have cargo-semver-checks || not_run "cargo-semver-checks is not installed (cargo install --locked cargo-semver-checks)"
base=${1:-origin/main}
git rev-parse --quiet --verify "$base^{commit}" >/dev/null || not_run "there is no commit $base to compare with"
libraries=()
for crate in fd-core poller-epoll poller-poll poller-select; do libraries+=(--package "pollmatrix-$crate"); done
cargo semver-checks --baseline-rev "$base" "${libraries[@]}"
