#!/usr/bin/env bash
# ci/report.sh RESULTS MERGED [BASE]: joins every results.json below the folder RESULTS into one report in the folder MERGED,
# and judges it. Exit code 1: a cell failed; or one that passed in the report in the folder BASE, if there is such a folder,
# does not pass any more or is gone. If the kernel of a target is another one than in BASE, kernels.md lists its other answers.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

results=${1:?usage: ci/report.sh RESULTS MERGED [BASE]}
merged=${2:?usage: ci/report.sh RESULTS MERGED [BASE]}
base=${3:-}
pollmatrix=${POLLMATRIX:-executables/pollmatrix-x86_64-linux-gnu}
chmod +x "$pollmatrix"
files=()
while IFS= read -r file; do files+=("$file"); done < <(find "$results" -name results.json | sort)
[ ${#files[@]} -gt 0 ] || {
  echo "ci/report.sh: there is no results.json below $results" >&2
  exit 2
}

# Several machines may have run the same cell: another release, a container. The worst answer is the target's.
code=0
"$pollmatrix" merge --prefer worst "${files[@]}" --report-dir "$merged" || code=$?
# 1: cells failed.
[ "$code" -le 1 ] || exit "$code"
if [ -e "$base/results.json" ]; then
  compared=0
  "$pollmatrix" diff "$base/results.json" "$merged/results.json" --fail-on regression --format markdown >"$merged/diff.md" ||
    compared=$?
  [ "$compared" -le "$code" ] || code=$compared
  # What a new kernel answers, if a machine has one: the statuses are judged above.
  compared=0
  "$pollmatrix" diff --by-kernel "$base/results.json" "$merged/results.json" --format markdown >"$merged/kernels.md" || compared=$?
  # 2: several machines of one target have different kernels.
  [ "$compared" -ne 2 ] || rm -f "$merged/kernels.md"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  for part in "$merged/kernels.md" "$merged/diff.md" "$merged/report.md"; do
    if [ -e "$part" ]; then cat "$part" >>"$GITHUB_STEP_SUMMARY"; fi
  done
fi
exit "$code"
