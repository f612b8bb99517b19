#!/usr/bin/env bash
# ci/executable.sh TARGET [FILE]: builds the executable for a target of matrix.yml as its `build` says: with the profile
# POLLMATRIX_PROFILE (dev or release; default: release). It stays where `pollmatrix run --target TARGET` looks for it, with a copy
# in FILE.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

id=${1:?usage: ci/executable.sh TARGET [FILE]}
select_matrix_target "$id"
folder=${CARGO_TARGET_DIR:-target}
profile=${POLLMATRIX_PROFILE:-release}
if [ "$triple" = "$(rustc -vV | sed -n 's/^host: //p')" ]; then
  cargo build --profile "$profile" --bin pollmatrix
  built=$folder/${profile/#dev/debug}/pollmatrix
else
  built=$folder/cross/$triple/${profile/#dev/debug}/pollmatrix
  case $build in
    gcc)
      need_standard_library "$triple"
      need_packages "$linker" "gcc-${linker%-gcc}" "libc6-dev-$(debian_architecture "$linker")-cross"
      variable=$(printf '%s' "CARGO_TARGET_${triple}_LINKER" | tr 'a-z-' 'A-Z_')
      export "$variable=$linker"
      ci/targets.sh executable "$triple"
      ;;
    zig) ci/targets.sh zig "$triple" ;;
    host) not_run "the executable for $id must be built on such a machine" ;;
    check) not_run "$id is type-checked only (ci/targets.sh check $triple)" ;;
  esac
fi
if [ $# -gt 1 ]; then
  mkdir -p "$(dirname "$2")"
  cp "$built" "$2"
fi
