#!/usr/bin/env bash
# ci/answers.sh [REPORT]: compares the pages in docs/results with what this machine's pollers answered in a run, the one in
# pollmatrix-report or in the folder REPORT. Another kernel than the pages' may answer otherwise: that is no failure here.
set -euo pipefail
report=${1:-pollmatrix-report}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -f "$report/results.json" ] || not_run "$report has no results: run \`cargo run\` first"
page=docs/results/$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)/poll.md
[ -f "$page" ] || not_run "nothing is published of this system: $page is not there"
if cargo run -- publish "$report" --check; then exit; fi
measured=$(sed -n 's/^Measured on [^ ]* \([0-9.]*\) .*/\1/p' "$page")
kernel=$(uname -r | sed 's/[^0-9.].*//')
[ "$measured" = "$kernel" ] || not_run "the pages are of version $measured, this is $kernel: the differences are above"
exit 1
