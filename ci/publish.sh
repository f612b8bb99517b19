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
# cargo unpacks the packages into its home once per version, and would build the next change of that version with those of the last.
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/pollmatrix-*
cargo publish --workspace --locked ${dry_run[@]+"${dry_run[@]}"}
