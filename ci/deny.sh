#!/usr/bin/env bash
# ci/deny.sh [CHECK...]: cargo-deny's checks of licences, banned crates and sources (deny.toml). Advisories only on request
# (`ci/deny.sh advisories`): they need a database from the network, and change without a change here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

have cargo-deny || not_run "cargo-deny is not installed (ci/setup.sh installs it)"
[ $# -gt 0 ] || set -- licenses bans sources
cargo deny --locked --workspace check "$@"
