#!/usr/bin/env bash
# ci/site.sh [REPORT [SITE]]: builds the published pages in the folder SITE (default: site): index.html is the report in the folder
# REPORT (default: pollmatrix-report, from a run), beside it are the catalogue and the answers of each poller in that report.
set -euo pipefail
report=${1:-pollmatrix-report}
site=${2:-site}
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -f "$report/results.json" ] || not_run "$report has no results: run \`cargo run\` first"
if [ -n "${POLLMATRIX:-}" ]; then
  chmod +x "$POLLMATRIX"
  "$POLLMATRIX" publish "$report" --to "$site"
else
  cargo run -- publish "$report" --to "$site"
fi
cp "$report/report.html" "$site/index.html"
for page in index.html catalogue.html; do [ -s "$site/$page" ]; done
[ -n "$(find "$site/results" -name '*.md')" ]
