# shellcheck shell=bash
# What the scripts in this folder share. Sourced: it moves to the top of the tree.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# Programs that ci/setup.sh builds or unpacks go here and nowhere else.
tools=${CARGO_TARGET_DIR:-$PWD/target}/ci-tools
PATH=$tools/bin:$tools/venv/bin:$PATH
export PATH

have() { command -v "$1" >/dev/null 2>&1; }

# not_run REASON: leave, saying that nothing was proven. 77 is the exit code for it (as in automake).
not_run() {
  echo "not run: $*"
  if [ -n "${CI_REASON_FILE:-}" ]; then echo "$*" >"$CI_REASON_FILE"; fi
  exit 77
}
