#!/usr/bin/env bash
# ci/test-all.sh [OPTION...]: builds the executable of every target that can be built here, installs emulators and libraries for
# them, runs the whole matrix on every target that this machine can run, and writes one report to pollmatrix-report.
# Options go to `pollmatrix run`: --resume continues an interrupted run, --filter '*-2t1g@*' runs a part.
# A target that cannot be built or run is in the report with the reason.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

reason=$(mktemp)
trap 'rm -f "$reason"' EXIT
# Options that name the targets without an executable, for the report.
not_run=()

# try COMMAND...: runs a command that may fail. Sets `why` to the reason, or to nothing.
try() {
  local code=0
  why=
  : >"$reason"
  CI_REASON_FILE=$reason "$@" || code=$?
  case $code in
    0) ;;
    77) why=$(cat "$reason") ;;
    *)
      why="failed ($code): $*"
      echo "ci/test-all.sh: $why; continuing without it" >&2
      ;;
  esac
}

cargo build --release --bin pollmatrix
while IFS=$'\t' read -r id _ build linker; do
  case $build in
    host | check) continue ;;
  esac
  echo "== $id"
  try ci/executable.sh "$id" </dev/null
  if [ -n "$why" ]; then
    not_run+=(--not-run "$id=not built ($why)")
    continue
  fi
  if [ "$linker" != - ]; then try ci/emulator.sh "$id" </dev/null; fi
done <ci/targets.tsv
for description in vm/*.yml; do
  machine=${description#vm/}
  if grep -q '^untested:' "$description"; then
    echo "== vm:${machine%.yml}: untested, not used"
    continue
  fi
  try ci/vm.sh "vm:${machine%.yml}" </dev/null
  [ -z "$why" ] || echo "== vm:${machine%.yml}: $why"
done
engine=${CONTAINER:-docker}
if have "$engine" && "$engine" info >/dev/null 2>&1 && [ -z "${POLLMATRIX_BASE:-}" ]; then
  # For machines without a registry. An image that exists is used.
  "$engine" image inspect pollmatrix-base >/dev/null 2>&1 || try ci/base-image.sh
fi
rm -f "$reason"
exec "${CARGO_TARGET_DIR:-target}/release/pollmatrix" run --target all ${not_run[@]+"${not_run[@]}"} "$@"
