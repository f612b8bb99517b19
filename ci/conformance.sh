#!/bin/sh
# ci/conformance.sh TARGET RUNNER [K/N]: runs the cells of TARGET, or the K-th of N parts of them, by a runner of matrix.yml (native,
# prefix, container …), with executables that were built before:
#   ci/executable.sh s390x-linux-gnu executables/pollmatrix-s390x-linux-gnu
#   ci/executable.sh x86_64-linux-gnu executables/pollmatrix-x86_64-linux-gnu     (drives the other one)
#   ci/conformance.sh s390x-linux-gnu prefix 1/2
# The report is in pollmatrix-report, or in the folder that REPORT_DIR names. Exit code 1: cells failed.
# POSIX sh, because it also runs in FreeBSD's base system.
set -eu

target=${1:?usage: ci/conformance.sh TARGET RUNNER [K/N]}
runner=${2:?usage: ci/conformance.sh TARGET RUNNER [K/N]}
shard=${3:-1/1}
executables=${EXECUTABLES:-executables}
# Executables that were packed for another machine may have lost their mode.
chmod +x "$executables"/pollmatrix-*

case $runner in
  native) driver=$executables/pollmatrix-$target ;;
  *) driver=$executables/pollmatrix-${DRIVER:-x86_64-linux-gnu} ;;
esac
set -- --shard "$shard" --report-dir "${REPORT_DIR:-pollmatrix-report}"
[ "$runner" = native ] || set -- --target "$target" --runner "$runner" --executables "$executables" "$@"
exec "$driver" run "$@"
