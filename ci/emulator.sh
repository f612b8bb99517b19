#!/usr/bin/env bash
# ci/emulator.sh TARGET: installs qemu-user and the target's C library, which the prefix in matrix.yml needs to run executables for
# another processor.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

id=${1:?usage: ci/emulator.sh TARGET}
select_matrix_target "$id"
[ "$linker" != - ] || not_run "$id has no prefix that needs a C library"
architecture=$(debian_architecture "$linker")
# The processor itself runs i386 code.
[ "$architecture" = i386 ] || need_packages "qemu-${linker%%-*}-static" qemu-user-static
[ -e "/usr/${linker%-gcc}/lib/libc.so.6" ] || need_packages '' "libc6-$architecture-cross"
