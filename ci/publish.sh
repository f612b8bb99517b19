#!/usr/bin/env bash
# ci/publish.sh [--execute]: packages every crate that is published, in the order of their dependencies, and builds each from its
# package alone. With --execute, uploads them, too.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

dry_run=(--dry-run)
case ${1:-} in
  '') ;;
  --execute) dry_run=() ;;
  *)
    echo "ci/publish.sh: unknown option '$1'; there is --execute" >&2
    exit 2
    ;;
esac
# A check may run beside uncommitted changes; an upload may not.
[ ${#dry_run[@]} -eq 0 ] || dry_run+=(--allow-dirty)
# cargo tells packages of one version apart neither in its home, where it unpacks them, nor in a target folder: without this, a crate
# is built with what the others were when this ran last.
target=${CARGO_TARGET_DIR:-target}/publish
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/pollmatrix-* "$target"/debug/.fingerprint/pollmatrix-*
# Nothing runs what is built here.
export CARGO_PROFILE_DEV_DEBUG=0
cargo publish --workspace --locked --target-dir "$target" ${dry_run[@]+"${dry_run[@]}"}
