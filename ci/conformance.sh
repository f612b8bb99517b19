#!/bin/sh
# ci/conformance.sh TARGET WAY [K/N]: runs the cells of TARGET in a way of matrix.yml, or the K-th of N parts of them, with
# executables that were built before:
#   ci/executable.sh s390x-linux-gnu executables/pollmatrix-s390x-linux-gnu
#   ci/executable.sh x86_64-linux-gnu executables/pollmatrix-x86_64-linux-gnu     (what drives the other)
#   ci/conformance.sh s390x-linux-gnu prefix 1/2
# The report is in pollmatrix-report, or in the folder that REPORT_DIR names. Exit code 1: cells failed.
# For sh: it runs in FreeBSD's base system, too.
set -eu

target=${1:?usage: ci/conformance.sh TARGET WAY [K/N]}
way=${2:?usage: ci/conformance.sh TARGET WAY [K/N]}
shard=${3:-1/1}
executables=${EXECUTABLES:-executables}
# What was packed for another machine may have lost its mode.
chmod +x "$executables"/pollmatrix-*

case $way in
  native) driver=$executables/pollmatrix-$target ;;
  *) driver=$executables/pollmatrix-${DRIVER:-x86_64-linux-gnu} ;;
esac
set -- --shard "$shard" --report-dir "${REPORT_DIR:-pollmatrix-report}"
[ "$way" = native ] || set -- --target "$target" --via "$way" --executables "$executables" "$@"
exec "$driver" run "$@"
